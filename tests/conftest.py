"""Ctrl-C is heard, what was collected is no garbage, and no check fails for a busy machine."""

from __future__ import annotations

import contextlib
import gc
import signal

from tests.support.signatures import remember_signatures

with contextlib.suppress(ImportError):  # the tests of partners go without it
    from hypothesis import HealthCheck, settings

    # How long drawing takes says nothing of the facts; each test sets the number of its examples.
    settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("suite")

remember_signatures()

# A shell that starts the tests in the background has them, and every process they start, ignore it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Ten thousand tests and their modules stay to the end: no collection looks at them again."""
    gc.collect()
    gc.freeze()
