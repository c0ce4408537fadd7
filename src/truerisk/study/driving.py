"""The loop of a run: give out batches, store what comes back, outlive workers. One per store."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.core.errors import StudyIncomplete, TrueRiskError
from truerisk.core.progress import tell
from truerisk.engines.workers.interruptions import done_of
from truerisk.study.pool import Pool
from truerisk.study.pools import pool_of
from truerisk.study.queue import Queue
from truerisk.study.states import Fate
from truerisk.study.store import Cell, Store
from truerisk.study.tasks import Batch, Limits, Order, Work, versions

__all__ = ["COMMIT_SIZE", "Rules", "drive"]

TICK = 0.5  # seconds after which a wait looks around
COMMIT_EVERY = 0.2  # seconds; results that came in between share a transaction
COMMIT_SIZE = 1_000
COMMIT_PAUSE = 20.0  # between transactions, times what the last one took: 5 % for the disk …
COMMIT_LATEST = 1.0  # … but no result waits for more seconds than these
HEARTBEAT = 10.0
BREAKING = 30.0  # seconds that a broken pool may take to say so of all its batches
SLACK = 120.0  # seconds beyond its tasks' limits after which a batch counts as lost


@dataclass(frozen=True)
class Rules:
    """How a run behaves.

    `attempts` is how often a task may end its worker before it is quarantined, `patience` how many
    seconds the run waits where there are no workers.
    """

    attempts: int = 3
    patience: float = 60.0
    limits: Limits = field(default_factory=Limits)
    unit: str = "replicates"


def drive(
    store: Store,
    cells: Iterable[Cell],
    work: Work,
    executor: Any = None,
    *,
    arrays: Sequence[np.ndarray] = (),
    rules: Rules = Rules(),
) -> None:
    """Do all that the cells want and the store does not hold.

    Returns when every task has ended: done, failed or quarantined. StudyIncomplete says that it
    stopped before; what was found until then is stored, also on KeyboardInterrupt.
    """
    driver = _Driver(store, list(cells), Order(work, rules.limits, versions()), rules)
    if not driver.queue:
        return
    pool = driver.pool = pool_of(executor)
    try:
        store.begin(pool.workers, driver.order.versions)
        pool.share(arrays, folder_of(store.path))
        driver.run()
        store.end()
    except BaseException:
        driver.rescue()
        pool.close(kill=True)
        raise
    pool.close()


def folder_of(store: Path) -> Path:
    """Where the large arrays of a store lie for processes of this machine."""
    return store.with_name(f"{store.name}.data")


@dataclass(frozen=True, eq=False)
class _Flight:
    batch: Batch
    alone: bool
    since: float


class _Driver:
    pool: Pool

    def __init__(self, store: Store, cells: Sequence[Cell], order: Order, rules: Rules) -> None:
        self.store, self.order, self.rules = store, order, rules
        self.queue = Queue(rules.attempts)
        self.total = sum(cell.wanted for cell in cells)
        self.ended = 0
        for cell in cells:
            ended = store.ended(cell)
            self.queue.add(cell, ended, store.suspects(cell))
            self.ended += len(ended)
        self.flying: dict[Future[Any], _Flight] = {}
        self.found: list[Fate] = []
        self.stored_at = time.monotonic()
        self.storing = 0.0  # seconds of the last transaction, most of them waits for the disk
        self.lacking_since: float | None = None
        self.answered = False

    def run(self) -> None:
        """Until nothing waits and nothing flies."""
        tell(self.ended, self.total, self.rules.unit)
        while self.queue or self.flying:
            self._fill()
            if self.flying:
                done = done_of(self.flying, TICK)
                for future in done:
                    if future in self.flying:
                        self._land(future)
            else:
                done = set()
                time.sleep(TICK)
            if not done:
                self._look_around()
            self._store_when_due()
        self._store()

    def rescue(self) -> None:
        """Before giving up: keep what has come back and is not stored yet."""
        for future, flight in self.flying.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                self.found += future.result()
            elif flight is not None:
                future.cancel()
        self.flying = {}
        try:
            self._store()
            self.store.end()
        except TrueRiskError:
            return  # the disk is full: the error on its way says so

    # ------------------------------------------------------------ giving out

    def _fill(self) -> None:
        """As many batches as keep the pool busy; a suspect flies alone."""
        if any(flight.alone for flight in self.flying.values()):
            return
        if not self.flying and self.pool.missing() is not None:
            self._look_around()
            return
        self.queue.slots = self.pool.slots
        while len(self.flying) < max(self.pool.slots, 1):
            batch = self.queue.next()
            if batch is None:
                break
            if not self._submit(batch, alone=False):
                return
        if not self.flying:
            batch = self.queue.next_alone()
            if batch is not None:
                self._submit(batch, alone=True)

    def _submit(self, batch: Batch, *, alone: bool) -> bool:
        try:
            future = self.pool.submit(self.order, batch)
        except Exception as error:
            if not self.pool.deaths(error) and not isinstance(error, OSError | TimeoutError):
                raise
            self.queue.give_back(batch, alone=alone)
            self._survive()
            return False
        self.flying[future] = _Flight(batch, alone, time.monotonic())
        return True

    # ------------------------------------------------------------ coming back

    def _land(self, future: Future[Any]) -> None:
        flight = self.flying.pop(future)
        try:
            fates: list[Fate] = future.result(timeout=0)
        except CancelledError:  # the scheduler was lost: nobody's fault
            self.queue.give_back(flight.batch, alone=flight.alone)
            self.pool.replace()
        except StudyIncomplete:
            self.queue.give_back(flight.batch, alone=flight.alone)
            raise
        except Exception as error:  # noqa: BLE001  whatever an executor raises
            self._failed(flight, error)
        else:
            self.answered = True
            self.lacking_since = None
            self.queue.timed(fates)
            self.found += fates

    def _failed(self, flight: _Flight, error: Exception) -> None:
        deaths = self.pool.deaths(error)
        if deaths:
            self.found += self.queue.blame(flight.batch, alone=flight.alone, deaths=deaths)
            self._survive()
        elif self.answered:
            self.found += self.queue.unsendable(flight.batch, error)
        else:
            raise StudyIncomplete(
                f"the executor cannot run the tasks ({type(error).__name__}: {error}): all workers "
                "need truerisk and what the study imports."
            ) from error

    def _survive(self) -> None:
        """Workers died: with those of one pool all its batches are lost; then new workers."""
        self._store()
        if self.pool.breaks_as_a_whole:
            done = done_of(self.flying, BREAKING, every=True)
            for future, flight in list(self.flying.items()):
                del self.flying[future]
                if future in done and not future.cancelled() and future.exception() is None:
                    self.found += future.result()
                else:
                    self.found += self.queue.blame(flight.batch, alone=flight.alone)
            self._store()
        self.pool.replace()

    # ------------------------------------------------------------ looking around

    def _look_around(self) -> None:
        """No wait is without a limit: for workers, nor for a batch whose tasks have one."""
        lacking = self.pool.missing()
        now = time.monotonic()
        if lacking is None:
            self.lacking_since = None
        elif self.lacking_since is None:
            self.lacking_since = now
        elif now - self.lacking_since > self.rules.patience:
            raise StudyIncomplete(
                f"{lacking} for {self.rules.patience:g} s: what was found is stored, and the "
                "study goes on when it is run again."
            )
        seconds = self.rules.limits.seconds
        if seconds is not None:
            for future, flight in list(self.flying.items()):
                ahead = 1 + len(self.flying)  # batches that may have waited for one another
                if now - flight.since > ahead * len(flight.batch.numbers) * seconds + SLACK:
                    del self.flying[future]
                    future.cancel()
                    self.found += self.queue.blame(flight.batch, alone=flight.alone)

    def _store_when_due(self) -> None:
        since = time.monotonic() - self.stored_at
        pause = max(COMMIT_EVERY, min(COMMIT_PAUSE * self.storing, COMMIT_LATEST))
        due = self.found and (since > pause or len(self.found) >= COMMIT_SIZE)
        if due or since > HEARTBEAT:
            self._store()

    def _store(self) -> None:
        """On the disk first, then acknowledged."""
        running = sum(len(flight.batch.numbers) for flight in self.flying.values())
        started = time.monotonic()
        self.store.save(self.found, running=running)
        self.ended += sum(fate.ends for fate in self.found)
        self.found = []
        self.stored_at = time.monotonic()
        self.storing = self.stored_at - started
        tell(self.ended, self.total, self.rules.unit)
