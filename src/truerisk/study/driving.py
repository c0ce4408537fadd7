"""A run of a study, which passes batches to the scheduler and stores the results.

There is one run per store at a time.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from importlib import import_module
from typing import Any

import numpy as np

from truerisk.core.errors import StudyIncomplete, TrueRiskError
from truerisk.core.progress import tell
from truerisk.engines.running.executors import one_thread, open_workers
from truerisk.engines.workers.crews import Shared, versions
from truerisk.engines.workers.scheduler import BatchRun
from truerisk.study.limits import end_child, run_batch, run_here
from truerisk.study.queue import USUAL, Queue, Rules
from truerisk.study.schema import Fate
from truerisk.study.store import Cell, Store
from truerisk.study.tasks import Order, Work

COMMIT_EVERY = 0.2  # Seconds. Results that arrive in between share a transaction.
COMMIT_SIZE = 1_000
# Pause between transactions, in units of the last one's duration: 5 % of the time for the disk …
COMMIT_PAUSE = 20.0
COMMIT_LATEST = 1.0  # … but no result waits for more seconds than this.
HEARTBEAT = 10.0


def drive(
    store: Store,
    cells: Iterable[Cell],
    work: Work,
    executor: Any = None,
    *,
    arrays: Sequence[np.ndarray] = (),
    rules: Rules = USUAL,
) -> None:
    """Run all tasks of the cells whose results the store does not have.

    It returns when every task has ended: done, failed or quarantined. StudyIncomplete says that it
    stopped before that. Results up to then are stored, also after KeyboardInterrupt.
    """
    queue, disk = Queue(rules), _Disk(store, rules.unit)
    for cell in cells:
        ended = store.ended(cell)
        queue.add(cell, ended, store.suspects(cell))
        disk.total += cell.wanted
        disk.ended += len(ended)
    if not queue:
        return
    order = Order(work, rules.limits, arrays)
    with open_workers(executor, StudyIncomplete) as workers:
        here = workers is None
        run = BatchRun(
            workers, Shared(run_here if here else run_batch, (order,), StudyIncomplete), queue
        )
        store.begin(1 if workers is None else workers.workers, versions())
        disk.tell()
        try:
            with _one_thread() if here else nullcontext(), closing(run.results()) as coming:
                for _, fates in coming:
                    disk.fates += fates
                    queue.timed(fates)
                    disk.store_when_due(
                        sum(len(flight.batch.numbers) for flight in run.flying.values())
                    )
            disk.store()
        except BaseException:
            for fates in run.rescued():
                disk.fates += fates
            # The disk is full, which the error that is being raised reports.
            with suppress(TrueRiskError):
                disk.store()
                store.end()
            raise
    store.end()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit this process to one thread, once for all tasks.

    Finding the BLAS takes milliseconds.
    """
    import_module("scipy.linalg")  # Libraries that are loaded later would not be limited.
    import_module("sklearn.utils.extmath")
    with one_thread():
        yield
    end_child()


class _Disk:
    """Task outcomes on their way to the store: first written, then acknowledged."""

    def __init__(self, store: Store, unit: str) -> None:
        self.total = self.ended = 0
        self.fates: list[Fate] = []
        self._store, self._unit = store, unit
        self._stored_at = time.monotonic()
        self._storing = 0.0  # seconds of the last transaction, mostly spent waiting for the disk

    def tell(self) -> None:
        tell(self.ended, self.total, self._unit)

    def store_when_due(self, running: int) -> None:
        """Store suspected tasks immediately, because this process may end next."""
        since = time.monotonic() - self._stored_at
        pause = max(COMMIT_EVERY, min(COMMIT_PAUSE * self._storing, COMMIT_LATEST))
        due = self.fates and (since > pause or len(self.fates) >= COMMIT_SIZE)
        if due or since > HEARTBEAT or not all(outcome.ends for outcome in self.fates):
            self.store(running)

    def store(self, running: int = 0) -> None:
        started = time.monotonic()
        self._store.save(self.fates, running=running)
        self.ended += sum(outcome.ends for outcome in self.fates)
        self.fates = []
        self._stored_at = time.monotonic()
        self._storing = self._stored_at - started
        self.tell()
