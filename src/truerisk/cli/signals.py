"""Handling of SIGTERM, which batch systems and `timeout` send, like Ctrl-C.

SIGTERM has an exit code of its own. This module is imported before anything else of the command
line, so it imports only light modules.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143

_received_signals: list[int] = []  # These SIGTERM signals have arrived so far.


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM inside the `with` block, if SIGTERM has no handler yet."""
    is_main_thread = threading.current_thread() is threading.main_thread()
    if not is_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    _received_signals.clear()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(signal_number: int, _frame: object) -> None:
    _received_signals.append(signal_number)
    raise KeyboardInterrupt


def interruption_exit_code() -> int:
    """Return the exit code of an interruption: 143 after SIGTERM, else 130."""
    return EXIT_TERMINATED if _received_signals else EXIT_INTERRUPTED


def interruption_message() -> str:
    """Return "terminated (SIGTERM)" after that signal, else "interrupted", for messages."""
    return "terminated (SIGTERM)" if _received_signals else "interrupted"
