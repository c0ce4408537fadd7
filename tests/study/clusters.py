"""A Dask scheduler and its workers as real processes on loopback, to be killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CONFIG = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",  # one death is enough to be told
    "DASK_DISTRIBUTED__WORKER__DAEMON": "True",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONPATH": str(ROOT),
}
START = 120.0  # seconds of a machine that has much to do


class Cluster:
    """`with Cluster(workers=2) as cluster:`; all of its processes end with the block."""

    def __init__(self, workers: int = 1, *, nanny: bool = False) -> None:
        self.port = free_port()
        self.address = f"dask://127.0.0.1:{self.port}"
        self.nanny = nanny
        self.scheduler = _process(
            "distributed.cli.dask_scheduler",
            ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"],
        )
        self.workers = [self.add_worker() for _ in range(workers)]

    def add_worker(self) -> subprocess.Popen:
        """One more worker of one thread."""
        where = f"tcp://127.0.0.1:{self.port}"
        options = [
            "--nthreads",
            "1",
            "--no-dashboard",
            "--memory-limit",
            "0",
            "--host",
            "127.0.0.1",
        ]
        options += ["--nanny" if self.nanny else "--no-nanny", "--local-directory", "/dev/shm"]
        return _process("distributed.cli.dask_worker", [where, *options])

    def wait(self, n_workers: int) -> None:
        """Until so many workers have come."""
        from distributed import Client

        with Client(f"tcp://127.0.0.1:{self.port}", timeout=START, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=START)

    def __enter__(self) -> Cluster:
        try:
            self.wait(len(self.workers))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for process in [*self.workers, self.scheduler]:
            if self.nanny:
                process.terminate()  # a nanny takes its worker along
        deadline = time.monotonic() + 5
        for process in [*self.workers, self.scheduler]:
            if self.nanny:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.1, deadline - time.monotonic()))
            process.kill()
            process.wait()


def free_port() -> int:
    """A port that no one listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _process(module: str, options: Sequence[str]) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", module, *options],
        env={**os.environ, **CONFIG},
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
