"""Limits on time and memory: tasks run in a child process of the worker, which can be ended.

One child serves many tasks; after one that broke a limit the next gets a new child. The two speak
through pipes, in frames of pickle that only they write.
"""

from __future__ import annotations

import hashlib
import pickle
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, Any

from truerisk.core.errors import Refusal
from truerisk.study.states import Fate
from truerisk.study.tasks import Batch, Order, failed

__all__ = ["end_child", "run_limited"]

STARTING = 120.0  # seconds that a child may take to start and to import
CODE = "from truerisk.study.child import main; main()"

_own = threading.local()  # the child of this worker (of this thread, where workers are threads)


def run_limited(order: Order, batch: Batch, arrays: Sequence[Any]) -> list[Fate]:
    """Each task within the limits; a task that broke one failed, and says so."""
    if order.limits.megabytes is not None and not sys.platform.startswith("linux"):
        raise Refusal("a limit on memory needs Linux: leave --limit-memory out.")
    return [_child(order, arrays).run(order, batch, number) for number in batch.numbers]


def end_child() -> None:
    """End the child of this thread, if it has one."""
    child: _Child | None = getattr(_own, "child", None)
    _own.child = None
    if child is not None:
        child.close()


def _child(order: Order, arrays: Sequence[Any]) -> _Child:
    """The child that knows this order; a new one where there is none, or it has ended."""
    import cloudpickle

    content = cloudpickle.dumps((order, list(arrays)))
    told = hashlib.blake2b(content, digest_size=16).digest()
    child: _Child | None = getattr(_own, "child", None)
    if child is None or child.ended or child.told != told:
        end_child()
        child = _own.child = _Child(content, told)
    return child


class _Child:
    """A process that runs one task at a time."""

    def __init__(self, content: bytes, told: bytes) -> None:
        self.told = told
        self.ended = False
        self._process = subprocess.Popen(
            [sys.executable, "-c", CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        _send(self._in, pickle.dumps((sys.path, content)))
        if _receive(self._out, STARTING) is None:
            self.close()
            raise RuntimeError("the process for limited tasks ended as it started.")

    @property
    def _in(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _out(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def run(self, order: Order, batch: Batch, number: int) -> Fate:
        """One task; a child that does not answer in time is ended."""
        started = time.perf_counter()
        seconds = order.limits.seconds
        _send(self._in, pickle.dumps((batch, number)))
        try:
            answer = _receive(self._out, seconds)
        except TimeoutError:
            self.ended = True
            spent = time.perf_counter() - started
            return failed(batch, number, spent, f"it took longer than its limit of {seconds:g} s.")
        if answer is None:
            self.ended = True
            code = self._process.wait(STARTING)
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            spent = time.perf_counter() - started
            return failed(batch, number, spent, f"its process was ended {how}.")
        return pickle.loads(answer)

    def __del__(self) -> None:
        self.close()  # with the thread that it served

    def close(self) -> None:
        """End it; again is no error."""
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()  # type: ignore[union-attr]  # both are pipes
        try:
            self._process.stdin.close()  # type: ignore[union-attr]
        except BrokenPipeError:
            return  # what it was not told any more


def _send(stream: IO[bytes], frame: bytes) -> None:
    try:
        stream.write(struct.pack("<q", len(frame)) + frame)
        stream.flush()
    except BrokenPipeError:
        return  # the child has ended: the answer that does not come says so


def _receive(stream: IO[bytes], seconds: float | None) -> bytes | None:
    """The next frame, or None where the other side has ended; TimeoutError after `seconds`."""
    deadline = None if seconds is None else time.monotonic() + seconds
    head = _exactly(stream, 8, deadline)
    return None if head is None else _exactly(stream, struct.unpack("<q", head)[0], deadline)


def _exactly(stream: IO[bytes], size: int, deadline: float | None) -> bytes | None:
    parts: list[bytes] = []
    missing = size
    while missing:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        if not select.select([stream], [], [], left)[0]:
            raise TimeoutError
        part = stream.raw.read(missing)  # type: ignore[attr-defined]  # a BufferedReader
        if not part:
            return None
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
