"""Ctrl-C is heard, and what was collected is no garbage."""

from __future__ import annotations

import gc
import signal

# A shell that starts the tests in the background has them, and every process they start, ignore it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Ten thousand tests and their modules stay to the end: no collection looks at them again."""
    gc.collect()
    gc.freeze()
