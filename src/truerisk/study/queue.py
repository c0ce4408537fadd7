"""Queue of the tasks of a study, which decides the order and the size of batches.

Cells alternate. Batches are large enough to be worth the overhead of sending them. When a worker
process ends, all batches in flight are lost, whether or not they caused it, and go to the end of
the queue. The tasks of a batch that is lost a second time become suspects. They are run one by one
after all other tasks, until the task that ends its worker is found and quarantined.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field

import numpy as np

from truerisk.core.errors import StudyIncomplete
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.engines.workers.scheduler import Batches
from truerisk.study.schema import State, TaskOutcome
from truerisk.study.store import Cell
from truerisk.study.tasks import Batch, Limits, failed_outcome, traceback_text

WORTH_SENDING = 0.2  # A batch should take at least so many seconds, as sending costs milliseconds.
MAX_BATCH_SIZE = 2_000
# A batch counts as lost so many seconds after the time limits of its tasks.
LOST_BATCH_SECONDS = 120.0


@frozen
class Rules:
    """Options of a run of a study: attempts, patience, limits, and the unit shown as progress.

    A task that has ended its worker `attempts` times is quarantined. `patience` is the number of
    seconds for which the run waits if there are no workers.
    """

    attempts: int = 3
    patience: float = 60.0
    limits: Limits = field(default_factory=Limits)
    unit: str = "replicates"


DEFAULT_RULES = Rules()


@dataclass(eq=False)
class _CellTasks:
    """The tasks of a cell that were not yet sent to a worker, and the times of finished tasks."""

    cell: Cell
    numbers: np.ndarray
    n_taken: int = 0
    seconds: float = 0.0
    n_timed: int = 0

    @property
    def n_left(self) -> int:
        return len(self.numbers) - self.n_taken

    def take(self, batch_size: int) -> Batch:
        replicate_numbers = self.numbers[self.n_taken : self.n_taken + batch_size]
        self.n_taken += len(replicate_numbers)
        return Batch(self.cell.id, self.cell.content, tuple(replicate_numbers.tolist()))


class Queue(Batches):
    """Queue of a study's tasks, from which the scheduler takes batches."""

    def __init__(self, rules: Rules) -> None:
        self.rules, self.patience = rules, rules.patience
        self._cells_with_tasks: deque[_CellTasks] = deque()
        self._tasks_of_cell: dict[int, _CellTasks] = {}
        self._retried_batches: deque[Batch] = deque()
        self._isolated_batches: deque[Batch] = deque()
        self._losses_of_task: Counter[tuple[int, int]] = Counter()
        self._attempts_of_task: Counter[tuple[int, int]] = Counter()
        self._has_results = False

    def add(self, cell: Cell, ended_numbers: np.ndarray, suspects: Mapping[int, int]) -> None:
        """Add to the queue those tasks of a cell that have not ended.

        `suspects` maps tasks that ended their worker in an earlier run to their number of attempts.
        They are run alone.
        """
        is_unfinished = np.ones(cell.n_wanted, dtype=bool)
        is_unfinished[ended_numbers] = False
        is_unfinished[list(suspects)] = False
        cell_tasks = _CellTasks(cell, np.flatnonzero(is_unfinished))
        self._tasks_of_cell[cell.id] = cell_tasks
        if cell_tasks.n_left:
            self._cells_with_tasks.append(cell_tasks)
        for replicate_number, n_tries in sorted(suspects.items()):
            self._attempts_of_task[cell.id, replicate_number] = n_tries
            self._isolated_batches.append(Batch(cell.id, cell.content, (replicate_number,)))

    def __bool__(self) -> bool:
        return bool(self._cells_with_tasks or self._retried_batches or self._isolated_batches)

    @override
    def next(self) -> Batch | None:
        if not self._cells_with_tasks:
            return self._retried_batches.popleft() if self._retried_batches else None
        cell_tasks = self._cells_with_tasks[0]
        self._cells_with_tasks.rotate(-1)
        batch = cell_tasks.take(self._size(cell_tasks))
        if not cell_tasks.n_left:
            self._cells_with_tasks.remove(cell_tasks)
        return batch

    @override
    def next_alone(self) -> Batch | None:
        return self._isolated_batches.popleft() if self._isolated_batches else None

    def record_times(self, outcomes: Sequence[TaskOutcome]) -> None:
        """Record the running times of tasks, which determine the size of the next batches."""
        for outcome in outcomes:
            if outcome.seconds:  # A task whose worker ended has no running time.
                cell_tasks = self._tasks_of_cell[outcome.cell]
                cell_tasks.seconds += outcome.seconds
                cell_tasks.n_timed += 1
                self._has_results = True

    @override
    def give_back(self, batch: Batch, *, alone: bool) -> None:
        (self._isolated_batches if alone else self._retried_batches).append(batch)

    def failed(
        self, batch: Batch, error: BaseException, *, alone: bool
    ) -> list[TaskOutcome] | None:
        """Handle an error of the executor: return the failed outcome, or None to retry the batch.

        A batch of several tasks is halved and retried, until the task that causes the error is
        alone. That task has failed.
        """
        if isinstance(error, StudyIncomplete | CancelledError):
            self.give_back(batch, alone=alone)
            raise error if isinstance(error, StudyIncomplete) else self.no_workers_error(error)
        if not self._has_results or not isinstance(error, Exception):
            raise StudyIncomplete(
                f"the executor cannot run the tasks ({type(error).__name__}: {error}): all workers "
                "need truerisk and what the study imports."
            ) from error
        if len(batch.numbers) > 1:
            self._retried_batches.extend(_split_into_halves(batch))
            return None
        return [failed_outcome(batch, batch.numbers[0], 0.0, traceback_text(error))]

    def blame(
        self, batch: Batch, error: BaseException | None = None, *, deaths: int = 1, alone: bool
    ) -> list[TaskOutcome]:
        """Return the outcomes of tasks whose worker ended: each is suspected or quarantined."""
        if alone and len(batch.numbers) == 1:
            return [self._tried_alone(batch, deaths)]
        if not alone and not self._was_lost_twice(batch):
            self._retried_batches.extend(_split_into_halves(batch))
        # The tasks are run one by one, as a new worker costs more time than a small batch.
        else:
            self._isolated_batches.extend(
                Batch(batch.cell, batch.content, (replicate_number,))
                for replicate_number in batch.numbers
            )
        return [
            _suspected_outcome(batch, replicate_number, 0) for replicate_number in batch.numbers
        ]

    def time_limit_of(self, batch: Batch, ahead: int) -> float | None:
        """Return the seconds after which a batch counts as lost, or None without a time limit.

        `ahead` is the number of batches that the same worker may have to run before it.
        """
        seconds = self.rules.limits.seconds
        return (
            None
            if seconds is None
            else (1 + ahead) * len(batch.numbers) * seconds + LOST_BATCH_SECONDS
        )

    @override
    def no_workers_error(self, reason: str | BaseException) -> StudyIncomplete:
        if isinstance(reason, str):
            return StudyIncomplete(
                f"{reason}: what was found is stored, and the study goes on when it is run again."
            )
        return StudyIncomplete(
            "a worker of the executor died, and an executor that was given is not replaced: what "
            "was found is stored; give a new one and run again, or a number of workers."
        )

    def _tried_alone(self, batch: Batch, deaths: int) -> TaskOutcome:
        (replicate_number,) = batch.numbers
        self._attempts_of_task[batch.cell, replicate_number] += deaths
        n_tries = self._attempts_of_task[batch.cell, replicate_number]
        if n_tries < self.rules.attempts:
            self._isolated_batches.append(batch)
            return _suspected_outcome(batch, replicate_number, n_tries)
        reason = f"its worker ended {n_tries} times, each time with no other task in flight."
        return TaskOutcome(
            batch.cell,
            replicate_number,
            State.QUARANTINED,
            attempts=n_tries,
            error=f"quarantined: {reason}",
        )

    def _was_lost_twice(self, batch: Batch) -> bool:
        """Count a lost worker for each task of a batch; return True if a task has lost two."""
        self._losses_of_task.update(
            (batch.cell, replicate_number) for replicate_number in batch.numbers
        )
        return any(
            self._losses_of_task[batch.cell, replicate_number] > 1
            for replicate_number in batch.numbers
        )

    def _size(self, cell_tasks: _CellTasks) -> int:
        if not self.slots or not cell_tasks.n_timed:
            return 1
        mean_seconds = max(cell_tasks.seconds / cell_tasks.n_timed, 1e-6)
        fair_batch_size = (
            sum(other_tasks.n_left for other_tasks in self._cells_with_tasks) // (2 * self.slots)
            + 1
        )
        return max(1, min(round(WORTH_SENDING / mean_seconds), fair_batch_size, MAX_BATCH_SIZE))


def _split_into_halves(batch: Batch) -> Iterable[Batch]:
    middle_index = len(batch.numbers) // 2
    halves = (batch.numbers[:middle_index], batch.numbers[middle_index:])
    return [
        Batch(batch.cell, batch.content, half_numbers) for half_numbers in halves if half_numbers
    ]


def _suspected_outcome(batch: Batch, replicate_number: int, n_tries: int) -> TaskOutcome:
    return TaskOutcome(
        batch.cell, replicate_number, State.SUSPECT, attempts=n_tries, error="its worker ended"
    )
