"""The loop of all runs: it gives batches to a worker pool and returns their outcomes.

A worker that dies loses the batches in flight, one of which may have caused its death. The
`Batches` decide what happens to them: they run again, and suspected batches run alone, so that the
batch whose worker dies then is known to be the cause.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from concurrent.futures import CancelledError, Future
from typing import Any

from truerisk.core.errors import TrueRiskError
from truerisk.core.frozen import frozen
from truerisk.engines.workers.crews import Shared, WorkerPool
from truerisk.engines.workers.processes import done_of, uninterrupted

TICK = 0.5  # seconds after which a wait checks workers and limits
BREAKING = 30.0  # seconds that a broken pool may take to report it for all its batches
Landed = tuple[Any, Any]  # a finished batch and its result
STILLBORN = 3  # number of times in a row that workers may die before they have a batch


class Batches(ABC):
    """Batches that wait to be run, and decisions on those that do not return.

    `slots` is the maximum number in flight, which is 0 if there are no workers. A pool without
    workers is waited for during `patience` seconds.
    """

    slots: int = 0
    patience: float

    @abstractmethod
    def __bool__(self) -> bool:
        """Return True if a batch is waiting."""

    @abstractmethod
    def next(self) -> Any | None:
        """Return a batch that may run next to others."""

    @abstractmethod
    def next_alone(self) -> Any | None:
        """Return a batch that has to run alone."""

    @abstractmethod
    def give_back(self, batch: Any, *, alone: bool) -> None:
        """Queue a batch again that could not run for reasons outside of it."""

    @abstractmethod
    def blame(self, batch: Any, error: BaseException | None, *, deaths: int, alone: bool) -> Any:
        """Return the result of a batch over which workers died or that was never heard of again.

        The result None says that it will run again.
        """

    @abstractmethod
    def failed(self, batch: Any, error: BaseException, *, alone: bool) -> Any:
        """Return the result of a batch that the executor could not run; None to run it again."""

    @abstractmethod
    def stopped(self, reason: str | BaseException) -> TrueRiskError:
        """Return the error to raise if no workers are left, with the reason.

        The reason is what is missing, or why the workers died.
        """

    def content(self, batch: Any) -> Any:
        """Return the content of a batch that is sent to a worker."""
        return batch

    def longest(self, batch: Any, ahead: int) -> float | None:
        """Return the seconds after which a batch counts as lost; None if there is no limit.

        The batch waits behind `ahead` other batches.
        """
        return None


@frozen(eq=False)
class _Flight:
    batch: Any
    alone: bool
    since: float


class BatchRun:
    """A run of all batches on a worker pool or, without one, in this process."""

    def __init__(self, workers: WorkerPool | None, shared: Shared, batches: Batches) -> None:
        self.workers, self.shared, self.batches = workers, shared, batches
        self.flying: dict[Future[Any], _Flight] = {}
        self._stillborn = 0
        # Time since which no result has arrived, or workers have been missing.
        self._quiet = time.monotonic()

    def results(self) -> Generator[Landed, None, None]:
        """Yield (batch, result) for every finished batch, and (None, ()) in between.

        The pauses let the caller check for interruptions. A caller that stops early has to close
        the generator, which ends the running batches.
        """
        workers, batches = self.workers, self.batches
        if workers is None:
            while (batch := batches.next() or batches.next_alone()) is not None:
                yield batch, self.shared(batches.content(batch))
            return
        if batches:
            workers.share(self.shared)
        try:
            while batches or self.flying:
                yield from self._begin(workers)
                done = done_of(self.flying, TICK)
                for future in done:
                    if future in self.flying:
                        yield from self._land(workers, future)
                if not done:
                    yield from self._look_around(workers)
                yield None, ()
        # This includes Ctrl-C and close(): running batches are no longer needed.
        except BaseException:
            with uninterrupted():
                # Workers end before futures are cancelled, since otherwise loky's thread would
                # complain.
                workers.end()
                for future in self.flying:
                    future.cancel()
            raise

    def rescued(self) -> Iterator[Any]:
        """Yield results that had arrived before an interruption and were not yet reported."""
        for future in self.flying:
            if future.done() and _error_of(future) is None:
                yield future.result()

    # ------------------------------------------------------------ giving out

    def _begin(self, workers: WorkerPool) -> Iterator[Landed]:
        """Start as many batches as keep the pool busy; a suspected batch runs alone."""
        if any(flight.alone for flight in self.flying.values()):
            return
        if not self.flying and workers.missing() is not None:
            time.sleep(TICK)
            return
        self.batches.slots = workers.slots
        while len(self.flying) < workers.slots and (batch := self.batches.next()) is not None:
            if not (yield from self._submit(workers, batch, alone=False)):
                return
        if not self.flying and (batch := self.batches.next_alone()) is not None:
            yield from self._submit(workers, batch, alone=True)

    def _submit(
        self, workers: WorkerPool, batch: Any, *, alone: bool
    ) -> Generator[Landed, None, bool]:
        """Return True if the batch has started; the pool may be found dead only now."""
        try:
            future = workers.submit(self.batches.content(batch))
        except Exception as error:
            if not workers.unsent(error):
                raise
            self.batches.give_back(batch, alone=alone)
            self._stillborn += 1
            if self._stillborn > STILLBORN:
                raise self.batches.stopped(
                    f"workers died {self._stillborn} times in a row before they had a batch "
                    f"({type(error).__name__})"
                ) from error
            yield from self._after(workers, error)
            return False
        self.flying[future] = _Flight(batch, alone, time.monotonic())
        return True

    # ------------------------------------------------------------ coming back

    def _land(
        self, workers: WorkerPool, future: Future[Any], lost: BaseException | None = None
    ) -> Iterator[Landed]:
        """Yield the outcome of a batch; `lost` is the error of a broken pool, handled elsewhere."""
        flight = self.flying.pop(future)
        error = _error_of(future) if future.done() else lost
        if error is None:
            self._stillborn, self._quiet = 0, time.monotonic()
            yield flight.batch, future.result()
            return
        failure, deaths = None, 1 if error is lost else workers.deaths(error)
        if deaths:
            failure = self.batches.blame(flight.batch, error, deaths=deaths, alone=flight.alone)
        elif isinstance(error, CancelledError) and workers.replace():
            self.batches.give_back(flight.batch, alone=flight.alone)
        else:
            failure = self.batches.failed(flight.batch, error, alone=flight.alone)
        if failure is not None:
            yield flight.batch, failure
        if deaths and lost is None:
            yield from self._after(workers, error)

    def _after(self, workers: WorkerPool, error: BaseException) -> Iterator[Landed]:
        """Handle dead workers: a broken pool loses all its batches, and then new workers start."""
        if workers.breaks_as_a_whole:
            done_of(self.flying, BREAKING, every=True)
            for future in list(self.flying):
                yield from self._land(workers, future, error)
        if not workers.replace():
            raise self.batches.stopped(error) from error

    # ------------------------------------------------------------ looking around

    def _look_around(self, workers: WorkerPool) -> Iterator[Landed]:
        """Enforce the limits on waiting for workers and for batches whose tasks have a limit."""
        lacking, now = workers.missing(), time.monotonic()
        if lacking is None:
            self._quiet = now
        elif now - self._quiet > self.batches.patience:
            raise self.batches.stopped(f"{lacking} for {self.batches.patience:g} s")
        for future, flight in list(self.flying.items()):
            most = self.batches.longest(flight.batch, len(self.flying))
            if most is not None and now - flight.since > most:
                del self.flying[future]
                future.cancel()
                failure = self.batches.blame(flight.batch, None, deaths=1, alone=flight.alone)
                if failure is not None:
                    yield flight.batch, failure


def _error_of(future: Future[Any]) -> BaseException | None:
    """Return the error of a finished future, which includes its cancellation."""
    try:
        return future.exception()
    except BaseException as error:  # noqa: BLE001  CancelledError is none of Exception's
        return error
