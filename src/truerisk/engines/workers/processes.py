"""Our own worker processes: started once, reused by the next run, ended with their parent.

Ctrl-C during the work of a library that holds locks is handled after it has released them. Python
may raise KeyboardInterrupt between any two of its steps, for example when a pool has acquired a
lock and not yet noted it, or has created a thread and not yet started it. Such a pool would wait
for itself forever when the program ends.
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

from truerisk.core.overrides import override
from truerisk.engines.workers.crews import Shared, WorkerPool
from truerisk.engines.workers.parcels import Payload, abandoned, run_payload

IDLE = 120  # Seconds before an idle worker ends. If it ends just as work arrives, the pool breaks.
LOOK_EVERY = 0.5  # seconds between looks at the parent


class Processes(WorkerPool):
    """A number of processes that map the data shared by their batches.

    A broken pool is replaced.
    """

    def __init__(self, n_workers: int) -> None:
        self.workers = n_workers
        self._pool: Any = None
        self._payload: Payload | None = None

    @override
    def share(self, shared: Shared) -> None:
        self._payload = Payload(shared)

    @override
    def submit(self, batch: Any) -> Future[Any]:
        assert self._payload is not None
        with uninterrupted():
            if self._pool is None:
                self._pool = reusable_workers(self.workers)
            # It follows loky's own processes, whose start would unblock the signal.
            with born_deaf():
                future: Future[Any] = self._pool.submit(run_payload, self._payload.path, batch)
            return future

    def replace(self) -> bool:
        """Let another pool take the next batch, since a broken pool is not reused."""
        self._pool = None
        return True

    @override
    def end(self) -> None:
        with uninterrupted():
            if self._pool is not None:
                self._pool.shutdown(kill_workers=True)

    @override
    def close(self) -> None:
        if self._payload is not None:
            self._payload.remove()


def reusable_workers(n_workers: int) -> Any:
    """Return the pool that all runs with this number of workers share, unless it is broken."""
    from loky import cpu_count, get_reusable_executor

    return get_reusable_executor(
        max_workers=n_workers,
        initializer=_depend,
        initargs=(os.getpid(),),
        timeout=IDLE,
        env=_threads(cpu_count() // n_workers),
    )


def _threads(most: int) -> dict[str, str]:
    """Return environment variables that make a model's threads share the cores with other workers.

    Settings of the user have priority. Waiting threads sleep, because spinning on cores that others
    use costs a hundredfold. Sleeping and waking makes LightGBM, whose loops are short, take twice
    the time of one thread per worker.
    """
    ours = {"OMP_WAIT_POLICY": "PASSIVE", "OMP_THREAD_LIMIT": str(max(most, 1))}
    return {name: os.environ.get(name, value) for name, value in ours.items()}


def _depend(parent: int) -> None:
    """End this worker with its parent, which alone handles Ctrl-C from a terminal."""
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
    # The batch is no longer needed. SIGTERM may be ignored, if the parent's parent chose so.
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def _wait_for_end(parent: int) -> None:
    """Return when the parent has ended: Linux says so at once, other systems are asked again.

    Linux could also signal the end of a parent (PR_SET_PDEATHSIG), but of the thread that began
    the worker, which a user may end before the process.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # The kernel is old, or no descriptor is left.
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
TICK = 0.1  # seconds after which Ctrl-C is handled


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Run the block without interruption; signals that arrive meanwhile are handled at its end."""
    came: list[tuple[int, FrameType | None]] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append((number, frame))

    heard: dict[int, Any] = {}
    try:
        # Signals interrupt only the main thread.
        if threading.current_thread() is threading.main_thread():
            for one in SIGNALS:
                if callable(handler := signal.getsignal(one)):
                    heard[one] = handler
                    signal.signal(one, note)
        yield
    finally:
        _restore(list(heard.items()))
        _hear(heard, came)


def _restore(handlers: list[tuple[int, Any]]) -> None:
    """Restore all handlers, even if a signal is handled by a restored one meanwhile."""
    if handlers:
        (number, handler), *others = handlers
        try:
            _restore(others)
        finally:
            signal.signal(number, handler)


def _hear(handlers: dict[int, Any], came: list[tuple[int, FrameType | None]]) -> None:
    """Pass each signal to its handler, also if the handler of an earlier one raises."""
    if came:
        (number, frame), *others = came
        try:
            handlers[number](number, frame)
        finally:
            _hear(handlers, others)


def done_of(
    futures: Collection[Future[Any]], seconds: float | None = None, *, every: bool = False
) -> set[Future[Any]]:
    """Wait for one future, or for `every` future, and return those that are done.

    The wait ends after `seconds`, if they are given.
    """
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        left = TICK if end is None else min(TICK, max(0.0, end - time.monotonic()))
        with uninterrupted():
            done, others = wait(futures, left, ALL_COMPLETED if every else FIRST_COMPLETED)
        if not others or (done and not every) or (end is not None and time.monotonic() >= end):
            return done


@contextmanager
def born_deaf() -> Iterator[None]:
    """Block Ctrl-C in processes that start in the block, until they call `hears_again`.

    Otherwise Ctrl-C, which a terminal sends to all processes, would end them during their imports.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # If the tracker started in the block, it would unblock the signal.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
