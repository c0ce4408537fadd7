"""Worker processes of our own: begun once, kept for the next run, ended with their parent.

Ctrl-C amid the work of a library that holds locks is heard when it has let go of them. Python
raises KeyboardInterrupt between any two of its steps: also where a pool has taken a lock and has
not yet noted it, or has made a thread and not yet begun it. Such a pool waits for itself when the
program ends, without end.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from threading import Thread
from types import FrameType
from typing import Any

from truerisk.engines.workers.crews import Crew, Shared
from truerisk.engines.workers.parcels import Parcel, abandoned, run_parcel

IDLE = 120  # seconds before a worker without work ends; ending just as work comes breaks the pool
LOOK_EVERY = 0.5  # seconds between looks at the parent


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
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    end_with_parent(parent)


def end_with_parent(parent: int) -> None:
    """End this process as soon as its parent has ended, from a thread of its own.

    A parent that was killed tells no one.
    """
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    _wait_for_end(parent)
    abandoned()
    # Nobody waits for the batch. SIGTERM may be ignored, as whoever began the parent wished.
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def _wait_for_end(parent: int) -> None:
    """Return when the parent has ended: Linux says so at once, other systems are asked again.

    Linux could also signal the end of a parent (PR_SET_PDEATHSIG), but of the thread that began
    the worker, which a user may end before the process.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # an old kernel, or no descriptor is left
            descriptor = os.pidfd_open(parent)
            try:
                if os.getppid() == parent:
                    ended = select.poll()
                    ended.register(descriptor, select.POLLIN)
                    ended.poll()
            finally:
                os.close(descriptor)
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY)


SIGNALS = (signal.SIGINT, signal.SIGTERM)
TICK = 0.1  # seconds after which Ctrl-C is heard


@contextmanager
def uninterrupted() -> Iterator[None]:
    """What happens in the block happens whole; signals that came meanwhile are heard at its end."""
    came: list[tuple[int, FrameType | None]] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append((number, frame))

    heard: dict[int, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():  # no other one is interrupted
            for one in SIGNALS:
                if callable(handler := signal.getsignal(one)):
                    heard[one] = handler
                    signal.signal(one, note)
        yield
    finally:
        _restore(list(heard.items()))
        _hear(heard, came)


def _restore(handlers: list[tuple[int, Any]]) -> None:
    """All of them, also where a signal that comes meanwhile is heard by one that is back."""
    if handlers:
        (number, handler), *others = handlers
        try:
            _restore(others)
        finally:
            signal.signal(number, handler)


def _hear(handlers: dict[int, Any], came: list[tuple[int, FrameType | None]]) -> None:
    """Each signal by its handler, the next one also where that raises."""
    if came:
        (number, frame), *others = came
        try:
            handlers[number](number, frame)
        finally:
            _hear(handlers, others)


def done_of(
    futures: Collection[Future[Any]], seconds: float | None = None, *, every: bool = False
) -> set[Future[Any]]:
    """Those that are done once one is, or every one, or the seconds are over."""
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        left = TICK if end is None else min(TICK, max(0.0, end - time.monotonic()))
        with uninterrupted():
            done, others = wait(futures, left, ALL_COMPLETED if every else FIRST_COMPLETED)
        if not others or (done and not every) or (end is not None and time.monotonic() >= end):
            return done


@contextmanager
def born_deaf() -> Iterator[None]:
    """A process that begins in the block is not interrupted before it says `hears_again`.

    Otherwise Ctrl-C, which a terminal sends to all processes, would end it amid its imports.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # one that begins in the block ends the deafness
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
