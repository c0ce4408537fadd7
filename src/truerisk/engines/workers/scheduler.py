"""The loop of all runs, which submits batches of fits to a worker pool and yields their results.

A worker that dies loses the submitted batches, one of which may have caused its death. The
`BatchQueue` decides what happens to them: they run again, and suspected batches run alone, so that
the batch whose worker dies then is known to be the cause.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from concurrent.futures import CancelledError, Future
from typing import Any

from truerisk.core.arguments import mention
from truerisk.core.errors import TrueRiskError, describe_error
from truerisk.core.frozen import frozen
from truerisk.engines.workers.crews import SharedCall, WorkerPool
from truerisk.engines.workers.processes import delay_signals, wait_for_futures

# Number of seconds between two checks of the workers and of time limits.
SECONDS_BETWEEN_CHECKS = 0.5
# After a pool broke, all its futures must fail within this number of seconds.
MAX_POOL_FAILURE_SECONDS = 30.0
FinishedBatch = tuple[Any, Any]  # Type of a finished batch with its result.
# Workers may die this many times in a row before any has received a batch; then the run fails.
MAX_DEATHS_BEFORE_BATCH = 3


class BatchQueue(ABC):
    """Queue of batches to run, which decides what happens to batches that fail or are lost.

    `slots` is the maximum number of batches submitted at a time, which is 0 if there are no
    workers. A pool without workers is waited for during `patience` seconds.
    """

    slots: int = 0
    patience: float

    @abstractmethod
    def __bool__(self) -> bool:
        """Return True if a batch is waiting to be run."""

    @abstractmethod
    def pop_batch(self) -> Any | None:
        """Return a batch that may run at the same time as others, or None."""

    @abstractmethod
    def pop_isolated_batch(self) -> Any | None:
        """Return a batch that must not run at the same time as others, or None."""

    @abstractmethod
    def requeue(self, batch: Any, *, alone: bool) -> None:
        """Queue a batch again that did not run for reasons other than the batch itself."""

    @abstractmethod
    def handle_lost_batch(
        self, batch: Any, error: BaseException | None, *, deaths: int, alone: bool
    ) -> Any:
        """Return the result to record for a lost batch: its worker died or it exceeded its time.

        None means that the batch will run again.
        """

    @abstractmethod
    def handle_failed_batch(self, batch: Any, error: BaseException, *, alone: bool) -> Any:
        """Return the result to record for a batch that could not run, or None to run it again."""

    @abstractmethod
    def no_workers_error(self, reason: str | BaseException) -> TrueRiskError:
        """Return the error to raise if no workers are left.

        The reason is a sentence that says what is missing, or the exception by which the workers
        died.
        """

    def payload(self, batch: Any) -> Any:
        """Return the part of a batch that is sent to a worker."""
        return batch

    def time_limit(self, batch: Any, ahead: int) -> float | None:
        """Return the seconds after which a batch counts as lost, or None if there is no limit.

        The batch waits behind `ahead` other batches.
        """
        return None


@frozen(eq=False)
class _Submission:
    batch: Any
    runs_alone: bool
    submission_time: float


class BatchRun:
    """Run of all batches on a worker pool or, without a pool, in this process."""

    def __init__(self, workers: WorkerPool | None, shared: SharedCall, batches: BatchQueue) -> None:
        self.workers, self.batch_function, self.batches = workers, shared, batches
        self.submitted: dict[Future[Any], _Submission] = {}
        self._deaths_before_batch = 0
        # Time at which the last result arrived, or at which workers were last available.
        self._last_result_time = time.monotonic()

    def results(self) -> Generator[FinishedBatch, None, None]:
        """Yield the pair (batch, result) for every finished batch, and (None, ()) in between.

        The empty pairs let the caller check for interruptions. A caller that stops early has to
        close the generator, which ends the running batches.
        """
        workers, batches = self.workers, self.batches
        if workers is None:
            while (batch := batches.pop_batch() or batches.pop_isolated_batch()) is not None:
                yield batch, self.batch_function(batches.payload(batch))
            return
        if batches:
            workers.send_shared_call(self.batch_function)
        try:
            while batches or self.submitted:
                yield from self._submit_waiting_batches(workers)
                done_futures = wait_for_futures(self.submitted, SECONDS_BETWEEN_CHECKS)
                for future in done_futures:
                    if future in self.submitted:
                        yield from self._finish(workers, future)
                if not done_futures:
                    yield from self._check_limits(workers)
                yield None, ()
        # Ctrl-C and close() are caught too, because the running batches are no longer needed then.
        except BaseException:
            with delay_signals():
                # Workers end before futures are cancelled, or loky's thread would report an error.
                workers.terminate()
                for future in self.submitted:
                    future.cancel()
            raise

    def unyielded_results(self) -> Iterator[Any]:
        """Yield the results that had arrived before an interruption and were not yet yielded."""
        for future in self.submitted:
            if future.done() and _exception_of_future(future) is None:
                yield future.result()

    # ------------------------------------------------------------ submitting batches

    def _submit_waiting_batches(self, workers: WorkerPool) -> Iterator[FinishedBatch]:
        """Submit as many batches as keep the pool busy.

        A batch suspected of killing workers is submitted only if no other batch runs.
        """
        if any(submission.runs_alone for submission in self.submitted.values()):
            return
        if not self.submitted and workers.missing_resource() is not None:
            time.sleep(SECONDS_BETWEEN_CHECKS)
            return
        self.batches.slots = workers.slots
        while (
            len(self.submitted) < workers.slots and (batch := self.batches.pop_batch()) is not None
        ):
            if not (yield from self._submit(workers, batch, runs_alone=False)):
                return
        if not self.submitted and (batch := self.batches.pop_isolated_batch()) is not None:
            yield from self._submit(workers, batch, runs_alone=True)

    def _submit(
        self, workers: WorkerPool, batch: Any, *, runs_alone: bool
    ) -> Generator[FinishedBatch, None, bool]:
        """Submit a batch; return False if it was not submitted because workers had died."""
        try:
            future = workers.submit(self.batches.payload(batch))
        except Exception as error:
            if isinstance(error, TrueRiskError):
                raise
            if not workers.was_not_submitted(error):
                raise self.batch_function.error_class(
                    f"the executor takes no task ({describe_error(error)}): use another one, or "
                    f"{mention('n_jobs', 1)} to see whether the tasks run in this process."
                ) from error
            self.batches.requeue(batch, alone=runs_alone)
            self._deaths_before_batch += 1
            if self._deaths_before_batch > MAX_DEATHS_BEFORE_BATCH:
                raise self.batches.no_workers_error(
                    f"workers died {self._deaths_before_batch} times in a row before they had "
                    f"a batch ({type(error).__name__})"
                ) from error
            yield from self._handle_deaths(workers, error)
            return False
        self.submitted[future] = _Submission(batch, runs_alone, time.monotonic())
        return True

    # ------------------------------------------------------------ handling results

    def _finish(
        self, workers: WorkerPool, future: Future[Any], pool_error: BaseException | None = None
    ) -> Iterator[FinishedBatch]:
        """Yield the batch of a done future with its result, or let the queue decide if it failed.

        `pool_error` is the error of a broken pool, whose workers the caller replaces.
        """
        submission = self.submitted.pop(future)
        error = _exception_of_future(future) if future.done() else pool_error
        if error is None:
            self._deaths_before_batch, self._last_result_time = 0, time.monotonic()
            yield submission.batch, future.result()
            return
        failure_result, n_deaths = None, 1 if error is pool_error else workers.count_deaths(error)
        if n_deaths:
            failure_result = self.batches.handle_lost_batch(
                submission.batch, error, deaths=n_deaths, alone=submission.runs_alone
            )
        elif isinstance(error, CancelledError) and workers.replace():
            self.batches.requeue(submission.batch, alone=submission.runs_alone)
        else:
            failure_result = self.batches.handle_failed_batch(
                submission.batch, error, alone=submission.runs_alone
            )
        if failure_result is not None:
            yield submission.batch, failure_result
        if n_deaths and pool_error is None:
            yield from self._handle_deaths(workers, error)

    def _handle_deaths(self, workers: WorkerPool, error: BaseException) -> Iterator[FinishedBatch]:
        """Handle the death of workers, and start new ones or raise.

        A broken pool first loses all its submitted batches.
        """
        if workers.breaks_as_a_whole:
            wait_for_futures(self.submitted, MAX_POOL_FAILURE_SECONDS, waits_for_all=True)
            for future in list(self.submitted):
                yield from self._finish(workers, future, error)
        if not workers.replace():
            raise self.batches.no_workers_error(error) from error

    # ------------------------------------------------------------ time limits

    def _check_limits(self, workers: WorkerPool) -> Iterator[FinishedBatch]:
        """Raise if workers have been missing for too long; end batches that exceeded their time."""
        missing_reason, current_time = workers.missing_resource(), time.monotonic()
        if missing_reason is None:
            self._last_result_time = current_time
        elif current_time - self._last_result_time > self.batches.patience:
            raise self.batches.no_workers_error(f"{missing_reason} for {self.batches.patience:g} s")
        for future, submission in list(self.submitted.items()):
            time_limit = self.batches.time_limit(submission.batch, len(self.submitted))
            if time_limit is not None and current_time - submission.submission_time > time_limit:
                del self.submitted[future]
                future.cancel()
                failure_result = self.batches.handle_lost_batch(
                    submission.batch, None, deaths=1, alone=submission.runs_alone
                )
                if failure_result is not None:
                    yield submission.batch, failure_result


def _exception_of_future(future: Future[Any]) -> BaseException | None:
    """Return the exception of a finished future, or its CancelledError, or None."""
    try:
        return future.exception()
    except BaseException as error:  # noqa: BLE001  CancelledError is not a subclass of Exception.
        return error
