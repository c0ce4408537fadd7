"""Ctrl-C is heard: a shell that starts the tests in the background has them ignore it."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # inherited by every process they start
    signal.signal(signal.SIGINT, signal.default_int_handler)
