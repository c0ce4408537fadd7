"""The loop of all runs: batches are given to a crew, and what becomes of each comes back.

A worker that dies takes along the batches in flight, of which one may be guilty. What becomes of
them is for the batches to say (`Batches`): they run again, and suspects run when nothing else does,
so that the one whose worker dies then is known.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from concurrent.futures import CancelledError, Future
from typing import Any

from truerisk.core.errors import TrueRiskError
from truerisk.core.frozen import frozen
from truerisk.engines.workers.crews import Crew, Shared
from truerisk.engines.workers.processes import done_of, uninterrupted

TICK = 0.5  # seconds after which a wait looks around
BREAKING = 30.0  # seconds that a broken pool may take to say so of all its batches
Landed = tuple[Any, Any]  # a batch, and what came of it
STILLBORN = 3  # times in a row that workers may die before a batch is with them


class Batches(ABC):
    """Batches that wait to be run, and what becomes of those that do not come back.

    `slots` is how many are in flight at most, 0 where there are no workers; a crew without workers
    is waited for `patience` seconds.
    """

    slots: int = 0
    patience: float

    @abstractmethod
    def __bool__(self) -> bool:
        """Whether any batch waits."""

    @abstractmethod
    def next(self) -> Any | None:
        """A batch that may run beside others."""

    @abstractmethod
    def next_alone(self) -> Any | None:
        """A batch that runs when nothing else does."""

    @abstractmethod
    def give_back(self, batch: Any, *, alone: bool) -> None:
        """A batch that was not run, through no fault of its own."""

    @abstractmethod
    def blame(self, batch: Any, error: BaseException | None, *, deaths: int, alone: bool) -> Any:
        """So many workers died over the batch, or nobody hears of it; what is its result by that.

        None says that it will run again.
        """

    @abstractmethod
    def failed(self, batch: Any, error: BaseException, *, alone: bool) -> Any:
        """The executor failed with the batch, not with a worker; its result, None to run again."""

    @abstractmethod
    def stopped(self, reason: str | BaseException) -> TrueRiskError:
        """No workers: what is missing, or of what they died."""

    def content(self, batch: Any) -> Any:
        """What is sent of a batch."""
        return batch

    def longest(self, batch: Any, ahead: int) -> float | None:
        """Seconds after which a batch is lost, behind so many others; None for any time."""
        return None


@frozen(eq=False)
class _Flight:
    batch: Any
    alone: bool
    since: float


class BatchRun:
    """All batches, on a crew or, without one, in this process."""

    def __init__(self, crew: Crew | None, shared: Shared, batches: Batches) -> None:
        self.crew, self.shared, self.batches = crew, shared, batches
        self.flying: dict[Future[Any], _Flight] = {}
        self._stillborn = 0
        self._quiet = time.monotonic()  # since when nothing has come back, or workers are missing

    def results(self) -> Generator[Landed, None, None]:
        """(batch, result) of every batch as it is done; (None, ()) in between, to look around.

        Whoever may stop listening closes it: what runs is ended.
        """
        crew, batches = self.crew, self.batches
        if crew is None:
            while (batch := batches.next() or batches.next_alone()) is not None:
                yield batch, self.shared(batches.content(batch))
            return
        if batches:
            crew.share(self.shared)
        try:
            while batches or self.flying:
                yield from self._begin(crew)
                done = done_of(self.flying, TICK)
                for future in done:
                    if future in self.flying:
                        yield from self._land(crew, future)
                if not done:
                    yield from self._look_around(crew)
                yield None, ()
        except BaseException:  # Ctrl-C and close() as well: nobody waits for what still runs
            with uninterrupted():
                crew.end()  # before futures are cancelled: loky's thread would complain
                for future in self.flying:
                    future.cancel()
            raise

    def rescued(self) -> Iterator[Any]:
        """After an interruption: results that had come back and nobody has heard of."""
        for future in self.flying:
            if future.done() and _error_of(future) is None:
                yield future.result()

    # ------------------------------------------------------------ giving out

    def _begin(self, crew: Crew) -> Iterator[Landed]:
        """As many batches as keep the crew busy; a suspect flies alone."""
        if any(flight.alone for flight in self.flying.values()):
            return
        if not self.flying and crew.missing() is not None:
            time.sleep(TICK)
            return
        self.batches.slots = crew.slots
        while len(self.flying) < crew.slots and (batch := self.batches.next()) is not None:
            if not (yield from self._submit(crew, batch, alone=False)):
                return
        if not self.flying and (batch := self.batches.next_alone()) is not None:
            yield from self._submit(crew, batch, alone=True)

    def _submit(self, crew: Crew, batch: Any, *, alone: bool) -> Generator[Landed, None, bool]:
        """Whether the batch has begun; a crew may be found dead only now."""
        try:
            future = crew.submit(self.batches.content(batch))
        except Exception as error:
            if not crew.unsent(error):
                raise
            self.batches.give_back(batch, alone=alone)
            self._stillborn += 1
            if self._stillborn > STILLBORN:
                raise self.batches.stopped(
                    f"workers died {self._stillborn} times in a row before they had a batch "
                    f"({type(error).__name__})"
                ) from error
            yield from self._after(crew, error)
            return False
        self.flying[future] = _Flight(batch, alone, time.monotonic())
        return True

    # ------------------------------------------------------------ coming back

    def _land(
        self, crew: Crew, future: Future[Any], lost: BaseException | None = None
    ) -> Iterator[Landed]:
        """What came of a batch; `lost` is of what its pool died, which is then seen to already."""
        flight = self.flying.pop(future)
        error = _error_of(future) if future.done() else lost
        if error is None:
            self._stillborn, self._quiet = 0, time.monotonic()
            yield flight.batch, future.result()
            return
        failure, deaths = None, 1 if error is lost else crew.deaths(error)
        if deaths:
            failure = self.batches.blame(flight.batch, error, deaths=deaths, alone=flight.alone)
        elif isinstance(error, CancelledError) and crew.replace():
            self.batches.give_back(flight.batch, alone=flight.alone)
        else:
            failure = self.batches.failed(flight.batch, error, alone=flight.alone)
        if failure is not None:
            yield flight.batch, failure
        if deaths and lost is None:
            yield from self._after(crew, error)

    def _after(self, crew: Crew, error: BaseException) -> Iterator[Landed]:
        """Workers died: with those of one pool all its batches are lost; then new workers."""
        if crew.breaks_as_a_whole:
            done_of(self.flying, BREAKING, every=True)
            for future in list(self.flying):
                yield from self._land(crew, future, error)
        if not crew.replace():
            raise self.batches.stopped(error) from error

    # ------------------------------------------------------------ looking around

    def _look_around(self, crew: Crew) -> Iterator[Landed]:
        """No wait is without a limit: for workers, nor for a batch whose tasks have one."""
        lacking, now = crew.missing(), time.monotonic()
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
    """The error of a future that is done; that it was cancelled is one, too."""
    try:
        return future.exception()
    except BaseException as error:  # noqa: BLE001  CancelledError is none of Exception's
        return error
