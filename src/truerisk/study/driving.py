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
from truerisk.engines.running.executors import limit_to_one_thread, open_workers
from truerisk.engines.workers.crews import SharedCall, versions
from truerisk.engines.workers.scheduler import BatchRun
from truerisk.study.limits import end_child, run_batch, run_in_this_process_or_child
from truerisk.study.queue import DEFAULT_RUN_OPTIONS, Queue, StudyRunOptions
from truerisk.study.schema import TaskOutcome
from truerisk.study.store import Cell, Store
from truerisk.study.tasks import ReplicateFunction, SharedTaskInputs

MIN_COMMIT_SECONDS = 0.2  # Results that arrive within so many seconds share a transaction.
COMMIT_SIZE = 1_000
# The pause between transactions is this multiple of the last duration: writing takes 5 %.
COMMIT_PAUSE_FACTOR = 20.0
MAX_COMMIT_SECONDS = 1.0  # No result waits longer than so many seconds to be written.
HEARTBEAT_SECONDS = 10.0


def run_cells(
    store: Store,
    cells: Iterable[Cell],
    work: ReplicateFunction,
    executor: Any = None,
    *,
    arrays: Sequence[np.ndarray] = (),
    rules: StudyRunOptions = DEFAULT_RUN_OPTIONS,
) -> None:
    """Run all tasks of the given cells for which the store has no result yet.

    The function returns when every task is done, failed or quarantined. It raises StudyIncomplete
    if it has to stop earlier. The results found until then are stored, even after
    KeyboardInterrupt.
    """
    queue, outcome_writer = Queue(rules), _OutcomeWriter(store, rules.progress_unit)
    for cell in cells:
        ended_numbers = store.ended_numbers(cell)
        queue.add(cell, ended_numbers, store.suspect_attempts(cell))
        outcome_writer.total += cell.n_wanted
        outcome_writer.ended += len(ended_numbers)
    if not queue:
        return
    shared_work = SharedTaskInputs(work, rules.limits, arrays)
    with open_workers(executor, StudyIncomplete) as worker_pool:
        is_local = worker_pool is None
        batch_run = BatchRun(
            worker_pool,
            SharedCall(
                run_in_this_process_or_child if is_local else run_batch,
                (shared_work,),
                StudyIncomplete,
            ),
            queue,
        )
        store.begin_run(1 if worker_pool is None else worker_pool.workers, versions())
        outcome_writer.report()
        try:
            with (
                _limit_to_one_thread() if is_local else nullcontext(),
                closing(batch_run.results()) as batch_results,
            ):
                for _, outcomes in batch_results:
                    outcome_writer.buffered_outcomes += outcomes
                    queue.record_times(outcomes)
                    outcome_writer.store_when_due(
                        sum(
                            len(submission.batch.replicate_numbers)
                            for submission in batch_run.submitted.values()
                        )
                    )
            outcome_writer.store()
        except BaseException:
            for outcomes in batch_run.unyielded_results():
                outcome_writer.buffered_outcomes += outcomes
            # If the disk is full, the error that is already being raised reports it.
            with suppress(TrueRiskError):
                outcome_writer.store()
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
    with limit_to_one_thread():
        yield
    end_child()


class _OutcomeWriter:
    """Buffer of task outcomes, which writes them to the store and then reports the progress."""

    def __init__(self, store: Store, unit: str) -> None:
        self.total = self.ended = 0
        self.buffered_outcomes: list[TaskOutcome] = []
        self._store, self._unit = store, unit
        self._stored_at = time.monotonic()
        # This is the duration of the last transaction, which is mostly waiting for the disk.
        self._last_write_seconds = 0.0

    def report(self) -> None:
        report_progress(self.ended, self.total, self._unit)

    def store_when_due(self, n_running: int) -> None:
        """Write the buffered outcomes if enough time has passed or enough are buffered.

        Tasks suspected of ending their worker are written at once, because they may end this
        process next.
        """
        seconds_since_store = time.monotonic() - self._stored_at
        pause_seconds = max(
            MIN_COMMIT_SECONDS,
            min(COMMIT_PAUSE_FACTOR * self._last_write_seconds, MAX_COMMIT_SECONDS),
        )
        is_due = self.buffered_outcomes and (
            seconds_since_store > pause_seconds or len(self.buffered_outcomes) >= COMMIT_SIZE
        )
        if (
            is_due
            or seconds_since_store > HEARTBEAT_SECONDS
            or not all(outcome.is_final for outcome in self.buffered_outcomes)
        ):
            self.store(n_running)

    def store(self, running: int = 0) -> None:
        start_time = time.monotonic()
        self._store.save(self.buffered_outcomes, running=running)
        self.ended += sum(outcome.is_final for outcome in self.buffered_outcomes)
        self.buffered_outcomes = []
        self._stored_at = time.monotonic()
        self._last_write_seconds = self._stored_at - start_time
        self.report()
