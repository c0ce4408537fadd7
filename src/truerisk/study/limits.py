"""Execution of a batch in a worker; with limits on time and memory in a child process.

One child serves many tasks. After a task that exceeded a limit, the next one gets a new child. The
two communicate through pipes that only they write to. The order and its arrays are in a file that
the child maps.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from truerisk.core.arguments import mention
from truerisk.core.errors import Refusal
from truerisk.engines.running.executors import one_thread
from truerisk.engines.workers.crews import Shared
from truerisk.engines.workers.parcels import Payload, opened, path_of
from truerisk.engines.workers.processes import end_with_parent
from truerisk.study.schema import Fate
from truerisk.study.tasks import Batch, Limits, Order, failed, run_task

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
STARTING = 120.0  # seconds that a child may take to start and import
SIZE = 8  # number of bytes that encode the length of a reply
CODE = "from truerisk.study.limits import main; main()"
MEGABYTE = 2**20
GRACE = 30.0  # Seconds after its limit at which a child whose worker was killed ends itself.

_own = threading.local()  # The child of this worker, or of this thread if workers are threads.


def run_batch(order: Order, batch: Batch) -> list[Fate]:
    """Run all tasks of a batch in a worker, and return their outcomes in order."""
    for name in THREADS:  # This limits libraries that a task loads first.
        os.environ.setdefault(name, "1")
    if order.limits:
        return run_here(order, batch)
    with one_thread():
        return run_here(order, batch)


def run_here(order: Order, batch: Batch) -> list[Fate]:
    """Run a batch where threads are already limited, or will be in another process."""
    if order.limits:
        if order.limits.megabytes is not None and not sys.platform.startswith("linux"):
            raise Refusal(f"a limit on memory needs Linux: leave {mention('limit_megabytes')} out.")
        # A task that exceeds a limit ends its child and has failed. The others are not affected.
        return [_child(order).run(batch, number) for number in batch.numbers]
    arrays = order.frozen()
    return [run_task(order.work, batch, number, arrays) for number in batch.numbers]


def end_child() -> None:
    """End the child of this thread, if it has one."""
    child: _Child | None = getattr(_own, "child", None)
    _own.child = None
    if child is not None:
        child.close()


def _child(order: Order) -> _Child:
    """Return the child that knows this order, or a new one if there is none or it has ended."""
    child: _Child | None = getattr(_own, "child", None)
    if child is None or child.ended or child.order.number != order.number:
        end_child()
        child = _own.child = _Child(order)
    return child


class _Child:
    """A process that runs one task at a time."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.ended = False
        (tasks, to), (came, answers) = os.pipe(), os.pipe()
        self._process = subprocess.Popen([sys.executable, "-c", CODE], stdin=tasks, stdout=answers)
        os.close(tasks)
        os.close(answers)
        self._tasks = Connection(to, readable=False)
        self._answers = Connection(came, writable=False)
        path = path_of(order)
        own = Payload(Shared(run_here, (order,))) if path is None else None
        try:
            self._send(sys.path, path if own is None else own.path)
            if self._receive(STARTING) is None:
                self.close()
                raise RuntimeError("the process for limited tasks ended as it started.")
        finally:
            if own is not None:
                own.remove()  # The child has mapped the file.

    def run(self, batch: Batch, number: int) -> Fate:
        """Run one task; a child that does not reply in time is ended."""
        started = time.perf_counter()
        seconds = self.order.limits.seconds
        self._send(batch, number)
        try:
            outcome = self._receive(seconds)
        except TimeoutError:
            self.ended = True
            spent = time.perf_counter() - started
            return failed(
                batch, number, spent, f"it took longer than its limit of {seconds:.15g} s."
            )
        if outcome is None:
            self.ended = True
            code = self._process.wait(STARTING)
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            spent = time.perf_counter() - started
            return failed(batch, number, spent, f"its process was ended {how}.")
        return outcome

    def _send(self, *parts: Any) -> None:
        with suppress(BrokenPipeError):  # The child has ended, which the missing reply will show.
            self._tasks.send(parts)

    def _receive(self, seconds: float | None) -> Any:
        """Return the reply, or None if the child has ended; raise TimeoutError after `seconds`."""
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            size = int.from_bytes(self._bytes(SIZE, deadline), "big")
            return pickle.loads(self._bytes(size, deadline))
        except EOFError:  # The child ended between two replies, or during one.
            return None

    def _bytes(self, n: int, deadline: float | None) -> bytes:
        """Return the next n bytes; each wait for some of them ends at the deadline."""
        read = bytearray()
        while len(read) < n:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._answers.poll(left):
                raise TimeoutError
            more = os.read(self._answers.fileno(), n - len(read))
            if not more:
                raise EOFError
            read += more
        return bytes(read)

    def __del__(self) -> None:
        self.close()  # The child ends with the thread that it served.

    def close(self) -> None:
        """End the child; repeated calls are allowed."""
        self._process.kill()
        self._process.wait()
        self._tasks.close()
        self._answers.close()


# ---------------------------------------------------------------- in the child


def main() -> None:
    """Take tasks from stdin until it is closed; what a task prints goes to stderr."""
    tasks, answers = Connection(os.dup(0), writable=False), os.dup(1)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The driver handles Ctrl-C.
    end_with_parent(os.getppid())
    with suppress(EOFError, BrokenPipeError):  # The parent has closed its ends of the pipes.
        sys.path[:], payload = tasks.recv()  # The order may need what the parent could import.
        (order,) = opened(payload).parts
        _send_back(answers, "ready")
        while True:
            batch, number = tasks.recv()
            with one_thread():
                _send_back(answers, _limited(order, batch, number))


def _send_back(answers: int, answer: Any) -> None:
    """Send the reply after its size, so that the parent can read it within its limit."""
    content = pickle.dumps(answer)
    left = len(content).to_bytes(SIZE, "big") + content
    while left:
        left = left[os.write(answers, left) :]


def _limited(order: Order, batch: Batch, number: int) -> Fate:
    limits: Limits = order.limits
    if limits.seconds is not None and hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, limits.seconds + GRACE)
    if limits.megabytes is None:
        return run_task(order.work, batch, number, order.frozen())
    with _address_space(int(limits.megabytes * MEGABYTE)):
        outcome = run_task(order.work, batch, number, order.frozen())
    if outcome.error is not None and "MemoryError" in outcome.error.splitlines()[-1]:
        sentence = f"it needed more than its limit of {limits.megabytes:.15g} MB."
        return failed(batch, number, outcome.seconds or 0.0, f"{outcome.error}\n{sentence}")
    return outcome


@contextmanager
def _address_space(more: int) -> Iterator[None]:
    """Limit the memory of this process to this many more bytes; requires Linux."""
    import resource

    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
