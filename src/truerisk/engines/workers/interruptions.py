"""Ctrl-C amid the work of a library that holds locks: heard when it has let go of them.

Python raises KeyboardInterrupt between any two of its steps: also where a pool has taken a lock and
has not yet noted it, or has made a thread and not yet begun it. Such a pool waits for itself when
the program ends, without end.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import Any

__all__ = ["born_deaf", "done_of", "hears_again", "uninterrupted"]

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


def hears_again() -> None:
    """In a process that has said what Ctrl-C is to do."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
