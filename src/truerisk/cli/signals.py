"""SIGTERM, which batch systems and `timeout` send: heard like Ctrl-C, with an exit code of its own.

Imported before anything else of the command line, so it imports nothing heavy.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED, TERMINATED = 130, 143

_came: list[int] = []  # signals of termination that this command has received


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM inside the block, unless the signal is ignored."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    _came.clear()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(number: int, _frame: object) -> None:
    _came.append(number)
    raise KeyboardInterrupt


def interrupted_code() -> int:
    """Return the exit code of an interruption: 143 after SIGTERM, else 130."""
    return TERMINATED if _came else INTERRUPTED


def interruption_message() -> str:
    """Return the word that says how the command was interrupted."""
    return "terminated (SIGTERM)" if _came else "interrupted"
