"""What is done next: cells take turns, batches are worth sending, suspects come last."""

import numpy as np

from truerisk.study.queue import Queue, StudyRunOptions
from truerisk.study.schema import State, TaskOutcome
from truerisk.study.store import Cell


def cell(id_, wanted=10):
    """A cell without content."""
    return Cell(id_, str(id_), {}, wanted)


def queue(*cells, slots=2, attempts=2, ended=(), suspects=None):
    """A queue of all tasks of the cells."""
    made = Queue(StudyRunOptions(max_attempts=attempts))
    made.slots = slots
    for each in cells:
        made.add(each, np.array(ended, dtype=int), suspects or {})
    return made


def taken(made):
    """All batches that may run beside others."""
    batches = []
    while (batch := made.pop_batch()) is not None:
        batches.append((batch.cell_number, batch.replicate_numbers))
    return batches


def done(cell_, number, seconds):
    """A task that took so long."""
    return TaskOutcome(cell_.id, number, State.DONE, seconds)


def test_queue_lets_cells_take_turns():
    made = queue(cell(1, 3), cell(2, 2))
    assert taken(made) == [(1, (0,)), (2, (0,)), (1, (1,)), (2, (1,)), (1, (2,))]
    assert not made


def test_queue_gives_no_ended_tasks_and_suspects_alone():
    made = queue(cell(1, 5), ended=[0, 2], suspects={3: 1})
    assert taken(made) == [(1, (1,)), (1, (4,))]
    assert made
    assert made.pop_isolated_batch().replicate_numbers == (3,)
    assert made.pop_isolated_batch() is None


def test_queue_finds_the_task_that_kills_its_worker():
    one = cell(1, 4)
    made = queue(one)
    made.record_times([done(one, 0, 0.05)])
    batch = made.pop_batch()
    assert len(batch.replicate_numbers) == 2
    fates = made.handle_lost_batch(batch, alone=False)
    assert {fate.state for fate in fates} == {State.SUSPECT}
    again = [b for b in (made.pop_batch() for _ in range(5)) if b is not None]
    assert sorted(n for b in again for n in b.replicate_numbers) == [0, 1, 2, 3]
    (guilty,) = [b for b in again if b.replicate_numbers == (1,)]
    made.handle_lost_batch(guilty, alone=False)
    assert made.pop_batch() is None
    guilty = made.pop_isolated_batch()
    assert guilty.replicate_numbers == (1,)
    assert [(f.state, f.attempts) for f in made.handle_lost_batch(guilty, alone=True)] == [
        (State.SUSPECT, 1)
    ]
    (fate,) = made.handle_lost_batch(made.pop_isolated_batch(), alone=True)
    assert (fate.state, fate.attempts) == (State.QUARANTINED, 2)
    assert not made


def timed_queue(wanted, seconds, **options):
    one = cell(1, wanted)
    made = queue(one, **options)
    made.record_times([done(one, 0, seconds)])
    return one, made


def test_queue_sends_quick_tasks_together_and_one_by_one_without_workers():
    one, made = timed_queue(10_000, 0.01)
    assert len(made.pop_batch().replicate_numbers) == 20
    made.record_times([done(one, 1, 10.0)])
    assert len(made.pop_batch().replicate_numbers) == 1
    assert len(timed_queue(8, 0.001)[1].pop_batch().replicate_numbers) == 3
    assert len(timed_queue(100, 0.0001, slots=0)[1].pop_batch().replicate_numbers) == 1


def test_queue_takes_batch_that_cannot_be_sent_apart():
    _, made = timed_queue(4, 0.05)
    assert made.handle_failed_batch(made.pop_batch(), ValueError("too large"), alone=False) is None
    last = [made.pop_batch() for _ in range(4)][-1]
    (fate,) = made.handle_failed_batch(last, ValueError("too large"), alone=False)
    assert fate.state is State.FAILED
    assert "too large" in fate.error
