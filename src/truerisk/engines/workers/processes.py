"""Pools of our own worker processes, which the next run reuses and which end with their parent.

Ctrl-C during the work of a library that holds locks is handled after the library has released them.
Python may raise KeyboardInterrupt between any two of its steps, for example when a pool has
acquired a lock and not yet noted it, or has created a thread and not yet started it. Such a pool
would wait for itself forever when the program ends.
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
from truerisk.engines.workers.crews import SharedCall, WorkerPool
from truerisk.engines.workers.parcels import Payload, remove_payload_files, run_payload

# An idle worker ends after this number of seconds. If work arrives just then, the pool breaks.
IDLE_SECONDS = 120
# Number of seconds between two checks that the parent process is alive.
SECONDS_BETWEEN_CHECKS = 0.5


class ProcessPool(WorkerPool):
    """Pool of worker processes, which read shared data from a memory-mapped file.

    A broken pool is replaced by a new one.
    """

    def __init__(self, n_workers: int) -> None:
        self.workers = n_workers
        self._pool: Any = None
        self._payload: Payload | None = None

    @override
    def send_shared_call(self, shared: SharedCall) -> None:
        self._payload = Payload(shared)

    @override
    def submit(self, batch: Any) -> Future[Any]:
        assert self._payload is not None
        with delay_signals():
            if self._pool is None:
                self._pool = get_reusable_pool(self.workers)
            # Ctrl-C is blocked only after loky has started its own helper processes.
            # The start of these helper processes would unblock Ctrl-C.
            with block_ctrl_c():
                future: Future[Any] = self._pool.submit(run_payload, self._payload.path, batch)
            return future

    def replace(self) -> bool:
        """Drop the broken pool, so that the next batch starts a new one."""
        self._pool = None
        return True

    @override
    def terminate(self) -> None:
        with delay_signals():
            if self._pool is not None:
                self._pool.shutdown(kill_workers=True)

    @override
    def close(self) -> None:
        if self._payload is not None:
            self._payload.remove()


def get_reusable_pool(n_workers: int) -> Any:
    """Return the process pool that all runs with this number of workers share.

    A broken pool is replaced by a new one.
    """
    from loky import cpu_count, get_reusable_executor

    return get_reusable_executor(
        max_workers=n_workers,
        initializer=_initialize_worker,
        initargs=(os.getpid(),),
        timeout=IDLE_SECONDS,
        env=_thread_variables(cpu_count() // n_workers),
    )


def _thread_variables(max_threads: int) -> dict[str, str]:
    """Return environment variables that limit each worker to `max_threads` threads.

    Settings of the user have priority. Waiting threads sleep, because spinning on cores that others
    use costs a hundredfold. Sleeping and waking makes LightGBM, whose loops are short, take twice
    the time of one thread per worker.
    """
    default_values = {"OMP_WAIT_POLICY": "PASSIVE", "OMP_THREAD_LIMIT": str(max(max_threads, 1))}
    return {name: os.environ.get(name, value) for name, value in default_values.items()}


def _initialize_worker(parent_pid: int) -> None:
    """Make this worker process ignore Ctrl-C, which its parent handles, and end with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    end_with_parent(parent_pid)


def end_with_parent(parent_pid: int) -> None:
    """Start a thread that ends this process as soon as its parent has ended.

    A parent that was killed cannot notify its workers.
    """
    Thread(target=_end_after_parent, args=(parent_pid,), daemon=True).start()


def _end_after_parent(parent_pid: int) -> None:
    _wait_for_parent_end(parent_pid)
    remove_payload_files()
    # SIGKILL is used because the grandparent may have chosen to ignore SIGTERM.
    # The result of the batch is no longer needed.
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def _wait_for_parent_end(parent_pid: int) -> None:
    """Wait until the parent process has ended.

    Linux reports the end of a process at once; on other systems the parent is checked repeatedly.
    Linux could also signal the end of a parent (PR_SET_PDEATHSIG), but of the thread that started
    the worker, which a user may end before the process.
    """
    if sys.platform == "linux":
        # Old kernels lack pidfd_open, and the process may have no file descriptor left.
        with suppress(OSError):
            process_descriptor = os.pidfd_open(parent_pid)
            try:
                if os.getppid() == parent_pid:
                    parent_poll = select.poll()
                    parent_poll.register(process_descriptor, select.POLLIN)
                    parent_poll.poll()
            finally:
                os.close(process_descriptor)
    while os.getppid() == parent_pid:
        time.sleep(SECONDS_BETWEEN_CHECKS)


DELAYED_SIGNALS = (signal.SIGINT, signal.SIGTERM)
MAX_SIGNAL_DELAY = 0.1  # Longest delay in seconds before Ctrl-C is handled.


@contextmanager
def delay_signals() -> Iterator[None]:
    """Delay the handling of signals such as Ctrl-C to the end of the `with` block."""
    delayed_signals: list[tuple[int, FrameType | None]] = []

    def delay_signal(received_signal: int, frame: FrameType | None) -> None:
        delayed_signals.append((received_signal, frame))

    previous_handlers: dict[int, Any] = {}
    try:
        # Only the main thread needs other handlers, because signals interrupt no other thread.
        if threading.current_thread() is threading.main_thread():
            for signal_number in DELAYED_SIGNALS:
                if callable(handler := signal.getsignal(signal_number)):
                    previous_handlers[signal_number] = handler
                    signal.signal(signal_number, delay_signal)
        yield
    finally:
        _restore_handlers(list(previous_handlers.items()))
        _handle_delayed_signals(previous_handlers, delayed_signals)


def _restore_handlers(handlers: list[tuple[int, Any]]) -> None:
    """Restore all signal handlers, even if a restored handler raises meanwhile."""
    if handlers:
        (signal_number, handler), *other_handlers = handlers
        try:
            _restore_handlers(other_handlers)
        finally:
            signal.signal(signal_number, handler)


def _handle_delayed_signals(
    handlers: dict[int, Any], delayed_signals: list[tuple[int, FrameType | None]]
) -> None:
    """Pass each delayed signal to its handler, even if the handler of an earlier signal raises."""
    if delayed_signals:
        (signal_number, frame), *later_signals = delayed_signals
        try:
            handlers[signal_number](signal_number, frame)
        finally:
            _handle_delayed_signals(handlers, later_signals)


def wait_for_futures(
    futures: Collection[Future[Any]], seconds: float | None = None, *, waits_for_all: bool = False
) -> set[Future[Any]]:
    """Wait for one future, or for all if `waits_for_all`, and return the futures that are done.

    The wait ends after `seconds`, if they are given.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        timeout = (
            MAX_SIGNAL_DELAY
            if deadline is None
            else min(MAX_SIGNAL_DELAY, max(0.0, deadline - time.monotonic()))
        )
        with delay_signals():
            done_futures, pending_futures = wait(
                futures, timeout, ALL_COMPLETED if waits_for_all else FIRST_COMPLETED
            )
        if (
            not pending_futures
            or (done_futures and not waits_for_all)
            or (deadline is not None and time.monotonic() >= deadline)
        ):
            return done_futures


@contextmanager
def block_ctrl_c() -> Iterator[None]:
    """Block Ctrl-C in processes started in the `with` block, until they unblock it themselves.

    Otherwise Ctrl-C, which a terminal sends to all processes, would end them during their imports.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows cannot block signals.
        yield
        return
    # Python's resource tracker unblocks Ctrl-C when it starts, so it has to run before.
    resource_tracker.ensure_running()
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)
