"""Worker processes of our own: begun once, kept for the next run, ended with their parent."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import Future
from threading import Thread
from typing import Any

from truerisk.engines.workers.crews import Crew, Shared
from truerisk.engines.workers.interruptions import born_deaf, hears_again, uninterrupted
from truerisk.engines.workers.parcels import Parcel, abandoned, run_parcel

__all__ = ["Processes", "reusable_workers"]

IDLE = 120  # seconds before a worker without work ends; ending just as work comes breaks the pool
LOOK_EVERY = 2.0  # seconds


class Processes(Crew):
    """So many of them, who map what their batches share; a broken pool is replaced."""

    def __init__(self, n_workers: int) -> None:
        self.workers = n_workers
        self._pool: Any = None
        self._parcel: Parcel | None = None

    def share(self, shared: Shared) -> None:
        self._parcel = Parcel(shared)

    def submit(self, batch: Any) -> Future[Any]:
        assert self._parcel is not None
        with uninterrupted():
            if self._pool is None:
                self._pool = reusable_workers(self.workers)
            with born_deaf():  # after what loky begins for itself, which would end the deafness
                future: Future[Any] = self._pool.submit(run_parcel, self._parcel.path, batch)
            return future

    def replace(self) -> bool:
        """Another pool takes the next batch; a broken one is not given out again."""
        self._pool = None
        return True

    def end(self) -> None:
        with uninterrupted():
            if self._pool is not None:
                self._pool.shutdown(kill_workers=True)

    def close(self) -> None:
        if self._parcel is not None:
            self._parcel.remove()


def reusable_workers(n_workers: int) -> Any:
    """The pool of all runs with so many workers; one that broke is not given out again."""
    from loky import cpu_count, get_reusable_executor

    return get_reusable_executor(
        max_workers=n_workers,
        initializer=_depend,
        initargs=(os.getpid(),),
        timeout=IDLE,
        env=_threads(cpu_count() // n_workers),
    )


def _threads(most: int) -> dict[str, str]:
    """Threads of a model share the cores with the other workers, unless the user says otherwise.

    Those that wait sleep: spinning on the cores of others costs a hundred-fold. Sleeping and
    waking costs LightGBM, whose loops are short, twice the time of one thread a worker.
    """
    ours = {"OMP_WAIT_POLICY": "PASSIVE", "OMP_THREAD_LIMIT": str(max(most, 1))}
    return {name: os.environ.get(name, value) for name, value in ours.items()}


def _depend(parent: int) -> None:
    """A worker lives as long as its parent, which alone hears Ctrl-C from a terminal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hears_again()
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """A parent that was killed tells no one."""
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY)
    abandoned()
    os.kill(os.getpid(), signal.SIGTERM)  # nobody waits for the batch
