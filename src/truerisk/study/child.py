"""The process in which limited tasks run; see limits.py."""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from truerisk.study.sharing import received
from truerisk.study.states import Fate
from truerisk.study.tasks import Batch, Limits, Order, failed, one_thread, run_task

__all__ = ["main"]

MEGABYTE = 2**20
GRACE = 30.0  # a child whose worker was killed ends itself so long after its limit


def main() -> None:
    """Take tasks from stdin until it is closed; what a task prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver
    tasks = sys.stdin.buffer
    first = _frame(tasks)
    if first is None:
        return
    path, content = pickle.loads(first)
    sys.path[:] = path  # what the parent could import, the order may need
    order, arrays = pickle.loads(content)
    found = received(arrays)
    _answer(answers, b"ready")
    while (frame := _frame(tasks)) is not None:
        batch, number = pickle.loads(frame)
        with one_thread():
            _answer(answers, pickle.dumps(_limited(order, batch, number, found)))


def _limited(order: Order, batch: Batch, number: int, arrays: Sequence[np.ndarray]) -> Fate:
    limits: Limits = order.limits
    if limits.seconds is not None and hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, limits.seconds + GRACE)
    if limits.megabytes is None:
        return run_task(order.work, batch, number, arrays)
    with _address_space(int(limits.megabytes * MEGABYTE)):
        fate = run_task(order.work, batch, number, arrays)
    if fate.error is not None and "MemoryError" in fate.error.splitlines()[-1]:
        sentence = f"it needed more than its limit of {limits.megabytes:g} MB."
        return failed(batch, number, fate.seconds or 0.0, f"{fate.error}\n{sentence}")
    return fate


@contextmanager
def _address_space(more: int) -> Iterator[None]:
    """At most so many bytes more than this process has now; Linux, as `limits.py` makes sure."""
    import resource

    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _frame(stream: IO[bytes]) -> bytes | None:
    head = stream.read(8)
    return stream.read(struct.unpack("<q", head)[0]) if len(head) == 8 else None


def _answer(stream: IO[bytes], frame: bytes) -> None:
    stream.write(struct.pack("<q", len(frame)) + frame)
    stream.flush()
