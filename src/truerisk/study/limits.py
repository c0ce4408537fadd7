"""Run a batch of tasks in a worker, in a child process if time or memory is limited.

One child process runs many tasks, one after another. After a task that exceeded a limit, the next
task gets a new child. Worker and child communicate through pipes that only they write to. The
arrays that all tasks share are in a file that the child maps into memory.
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
from truerisk.engines.running.executors import limit_to_one_thread
from truerisk.engines.workers.crews import SharedCall
from truerisk.engines.workers.parcels import Payload, find_payload_path, open_payload
from truerisk.engines.workers.processes import end_with_parent
from truerisk.study.schema import TaskOutcome
from truerisk.study.tasks import (
    ReplicateBatch,
    SharedTaskInputs,
    TaskLimits,
    failed_outcome,
    run_task,
)

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
# A child process may take so many seconds to start and to import modules.
MAX_START_SECONDS = 120.0
LENGTH_BYTES = 8  # So many bytes encode the length of a reply.
CHILD_CODE = "from truerisk.study.limits import main; main()"
MEGABYTE = 2**20
GRACE_SECONDS = (
    30.0  # A child whose worker was killed ends itself so many seconds after its time limit.
)

_thread_state = threading.local()  # Each worker process or thread has one child process.


def run_batch(shared_work: SharedTaskInputs, batch: ReplicateBatch) -> list[TaskOutcome]:
    """Run all tasks of a batch with one thread, and return their outcomes in order."""
    for variable_name in THREAD_VARIABLES:  # These limit libraries that are loaded later.
        os.environ.setdefault(variable_name, "1")
    if shared_work.limits:
        return run_in_this_process_or_child(shared_work, batch)
    with limit_to_one_thread():
        return run_in_this_process_or_child(shared_work, batch)


def run_in_this_process_or_child(
    shared_work: SharedTaskInputs, batch: ReplicateBatch
) -> list[TaskOutcome]:
    """Run a batch without limiting threads: the caller or the child process limits them."""
    if shared_work.limits:
        if shared_work.limits.megabytes is not None and not sys.platform.startswith("linux"):
            raise Refusal(f"a limit on memory needs Linux: leave {mention('limit_megabytes')} out.")
        # A task that exceeds a limit ends its child process and fails. Other tasks are unaffected.
        return [
            _get_thread_child(shared_work).run(batch, replicate_number)
            for replicate_number in batch.replicate_numbers
        ]
    arrays = shared_work.read_only_arrays()
    return [
        run_task(shared_work.replicate_function, batch, replicate_number, arrays)
        for replicate_number in batch.replicate_numbers
    ]


def end_child() -> None:
    """End the child process that runs the limited tasks of this thread, if there is one."""
    child: _Child | None = getattr(_thread_state, "child", None)
    _thread_state.child = None
    if child is not None:
        child.close()


def _get_thread_child(shared_work: SharedTaskInputs) -> _Child:
    """Return this thread's child process; start one if it has ended or has other arrays."""
    child: _Child | None = getattr(_thread_state, "child", None)
    if child is None or child.ended or child.shared_work.identifier != shared_work.identifier:
        end_child()
        child = _thread_state.child = _Child(shared_work)
    return child


class _Child:
    """A child process that runs one task at a time, within limits of time and memory."""

    def __init__(self, shared_work: SharedTaskInputs) -> None:
        self.shared_work = shared_work
        self.ended = False
        (task_reader, task_writer), (reply_reader, reply_writer) = os.pipe(), os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", CHILD_CODE], stdin=task_reader, stdout=reply_writer
        )
        os.close(task_reader)
        os.close(reply_writer)
        self._tasks = Connection(task_writer, readable=False)
        self._answers = Connection(reply_reader, writable=False)
        payload_path = find_payload_path(shared_work)
        own_payload = (
            Payload(SharedCall(run_in_this_process_or_child, (shared_work,)))
            if payload_path is None
            else None
        )
        try:
            self._send(sys.path, payload_path if own_payload is None else own_payload.path)
            if self._receive(MAX_START_SECONDS) is None:
                self.close()
                raise RuntimeError("the process for limited tasks ended as it started.")
        finally:
            if own_payload is not None:
                own_payload.remove()  # The child has mapped the file, which can be deleted.

    def run(self, batch: ReplicateBatch, replicate_number: int) -> TaskOutcome:
        """Run one task in the child process and return its outcome, a failure after the limit."""
        start_time = time.perf_counter()
        seconds = self.shared_work.limits.seconds
        self._send(batch, replicate_number)
        try:
            outcome = self._receive(seconds)
        except TimeoutError:
            self.ended = True
            elapsed_seconds = time.perf_counter() - start_time
            return failed_outcome(
                batch,
                replicate_number,
                elapsed_seconds,
                f"it took longer than its limit of {seconds:.15g} s.",
            )
        if outcome is None:
            self.ended = True
            exit_code = self._process.wait(MAX_START_SECONDS)
            end_description = (
                f"by signal {-exit_code}" if exit_code < 0 else f"with exit code {exit_code}"
            )
            elapsed_seconds = time.perf_counter() - start_time
            return failed_outcome(
                batch,
                replicate_number,
                elapsed_seconds,
                f"its process was ended {end_description}.",
            )
        return outcome

    def _send(self, *message_parts: Any) -> None:
        with suppress(BrokenPipeError):  # If the child has ended, its reply will be missing.
            self._tasks.send(message_parts)

    def _receive(self, seconds: float | None) -> Any:
        """Return the child's reply, or None if it has ended; raise TimeoutError after `seconds`."""
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            n_reply_bytes = int.from_bytes(self._read_bytes(LENGTH_BYTES, deadline), "big")
            return pickle.loads(self._read_bytes(n_reply_bytes, deadline))
        except EOFError:  # The child ended before it had sent a complete reply.
            return None

    def _read_bytes(self, n_bytes: int, deadline: float | None) -> bytes:
        """Return the next `n_bytes` bytes of the child; raise TimeoutError at the deadline."""
        received_bytes = bytearray()
        while len(received_bytes) < n_bytes:
            seconds_left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not self._answers.poll(seconds_left):
                raise TimeoutError
            chunk = os.read(self._answers.fileno(), n_bytes - len(received_bytes))
            if not chunk:
                raise EOFError
            received_bytes += chunk
        return bytes(received_bytes)

    def __del__(self) -> None:
        self.close()  # The child must not outlive its thread.

    def close(self) -> None:
        """End the child process and close its pipes; repeated calls are allowed."""
        self._process.kill()
        self._process.wait()
        self._tasks.close()
        self._answers.close()


# ---------------------------------------------------------------- in the child process


def main() -> None:
    """Run tasks read from stdin until it is closed, in the child process.

    Replies go to the original stdout. Output that a task prints goes to stderr.
    """
    task_pipe, reply_descriptor = Connection(os.dup(0), writable=False), os.dup(1)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The main process handles Ctrl-C.
    end_with_parent(os.getppid())
    with suppress(EOFError, BrokenPipeError):  # These errors mean that the parent has ended.
        sys.path[:], payload = task_pipe.recv()  # Tasks may import modules that the parent finds.
        (shared_work,) = open_payload(payload).shared_arguments
        _send_reply(reply_descriptor, "ready")
        while True:
            batch, replicate_number = task_pipe.recv()
            with limit_to_one_thread():
                _send_reply(
                    reply_descriptor, _run_within_limits(shared_work, batch, replicate_number)
                )


def _send_reply(descriptor: int, reply: Any) -> None:
    """Send the length of a reply and then the reply, which the parent reads with a deadline."""
    reply_bytes = pickle.dumps(reply)
    remaining_bytes = len(reply_bytes).to_bytes(LENGTH_BYTES, "big") + reply_bytes
    while remaining_bytes:
        remaining_bytes = remaining_bytes[os.write(descriptor, remaining_bytes) :]


def _run_within_limits(
    shared_work: SharedTaskInputs, batch: ReplicateBatch, replicate_number: int
) -> TaskOutcome:
    limits: TaskLimits = shared_work.limits
    if limits.seconds is not None and hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, limits.seconds + GRACE_SECONDS)
    if limits.megabytes is None:
        return run_task(
            shared_work.replicate_function, batch, replicate_number, shared_work.read_only_arrays()
        )
    with _limit_memory(int(limits.megabytes * MEGABYTE)):
        outcome = run_task(
            shared_work.replicate_function, batch, replicate_number, shared_work.read_only_arrays()
        )
    if outcome.error is not None and "MemoryError" in outcome.error.splitlines()[-1]:
        limit_message = f"it needed more than its limit of {limits.megabytes:.15g} MB."
        return failed_outcome(
            batch, replicate_number, outcome.seconds or 0.0, f"{outcome.error}\n{limit_message}"
        )
    return outcome


@contextmanager
def _limit_memory(n_extra_bytes: int) -> Iterator[None]:
    """Limit this process to `n_extra_bytes` more memory than it uses now; requires Linux."""
    import resource

    n_used_pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    old_limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(
        resource.RLIMIT_AS, (n_used_pages * resource.getpagesize() + n_extra_bytes, old_limits[1])
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, old_limits)
