"""Run a study: pass batches of tasks to the scheduler, and write their results to the store.

Only one run at a time can write to a store.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from importlib import import_module
from typing import Any

import numpy as np

from truerisk.core.errors import StudyIncomplete, TrueRiskError
from truerisk.core.progress import report_progress
from truerisk.engines.running.executors import one_thread, open_workers
from truerisk.engines.workers.crews import Shared, versions
from truerisk.engines.workers.scheduler import BatchRun
from truerisk.study.limits import end_child, run_batch, run_in_this_process_or_child
from truerisk.study.queue import DEFAULT_RULES, Queue, Rules
from truerisk.study.schema import TaskOutcome
from truerisk.study.store import Cell, Store
from truerisk.study.tasks import SharedWork, Work

COMMIT_EVERY = 0.2  # Results that arrive within so many seconds share a transaction.
COMMIT_SIZE = 1_000
# The pause between transactions is this multiple of the last duration: writing takes 5 %.
COMMIT_PAUSE = 20.0
COMMIT_LATEST = 1.0  # No result waits longer than so many seconds to be written.
HEARTBEAT = 10.0


def run_cells(
    store: Store,
    cells: Iterable[Cell],
    work: Work,
    executor: Any = None,
    *,
    arrays: Sequence[np.ndarray] = (),
    rules: Rules = DEFAULT_RULES,
) -> None:
    """Run all tasks of the given cells for which the store has no result yet.

    The function returns when every task is done, failed or quarantined. It raises StudyIncomplete
    if it has to stop earlier. The results found until then are stored, even after
    KeyboardInterrupt.
    """
    queue, writer = Queue(rules), _OutcomeWriter(store, rules.unit)
    for cell in cells:
        ended_numbers = store.ended_numbers(cell)
        queue.add(cell, ended_numbers, store.suspects(cell))
        writer.total += cell.n_wanted
        writer.ended += len(ended_numbers)
    if not queue:
        return
    shared_work = SharedWork(work, rules.limits, arrays)
    with open_workers(executor, StudyIncomplete) as workers:
        is_local = workers is None
        batch_run = BatchRun(
            workers,
            Shared(
                run_in_this_process_or_child if is_local else run_batch,
                (shared_work,),
                StudyIncomplete,
            ),
            queue,
        )
        store.begin_run(1 if workers is None else workers.workers, versions())
        writer.tell()
        try:
            with (
                _limit_to_one_thread() if is_local else nullcontext(),
                closing(batch_run.results()) as batch_results,
            ):
                for _, outcomes in batch_results:
                    writer.fates += outcomes
                    queue.record_times(outcomes)
                    writer.store_when_due(
                        sum(
                            len(submission.batch.numbers)
                            for submission in batch_run.submitted.values()
                        )
                    )
            writer.store()
        except BaseException:
            for outcomes in batch_run.rescued():
                writer.fates += outcomes
            # If the disk is full, the error that is already being raised reports it.
            with suppress(TrueRiskError):
                writer.store()
                store.end_run()
            raise
    store.end_run()


@contextmanager
def _limit_to_one_thread() -> Iterator[None]:
    """Limit the numeric libraries of this process to one thread while the block runs.

    The limit is set once for all tasks, because finding the loaded BLAS takes milliseconds.
    """
    import_module("scipy.linalg")  # The limit affects only libraries that are already loaded.
    import_module("sklearn.utils.extmath")
    with one_thread():
        yield
    end_child()


class _OutcomeWriter:
    """Buffer of task outcomes, which writes them to the store and then reports the progress."""

    def __init__(self, store: Store, unit: str) -> None:
        self.total = self.ended = 0
        self.fates: list[TaskOutcome] = []
        self._store, self._unit = store, unit
        self._stored_at = time.monotonic()
        # This is the duration of the last transaction, which is mostly waiting for the disk.
        self._last_write_seconds = 0.0

    def tell(self) -> None:
        report_progress(self.ended, self.total, self._unit)

    def store_when_due(self, running: int) -> None:
        """Write the buffered outcomes if enough time has passed or enough are buffered.

        Tasks suspected of ending their worker are written at once, because they may end this
        process next.
        """
        seconds_since_store = time.monotonic() - self._stored_at
        pause_seconds = max(
            COMMIT_EVERY, min(COMMIT_PAUSE * self._last_write_seconds, COMMIT_LATEST)
        )
        is_due = self.fates and (
            seconds_since_store > pause_seconds or len(self.fates) >= COMMIT_SIZE
        )
        if (
            is_due
            or seconds_since_store > HEARTBEAT
            or not all(outcome.is_final for outcome in self.fates)
        ):
            self.store(running)

    def store(self, running: int = 0) -> None:
        start_time = time.monotonic()
        self._store.save(self.fates, running=running)
        self.ended += sum(outcome.is_final for outcome in self.fates)
        self.fates = []
        self._stored_at = time.monotonic()
        self._last_write_seconds = self._stored_at - start_time
        self.tell()
