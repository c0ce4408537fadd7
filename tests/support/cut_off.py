"""Runs that end in the middle: killed by the system, or interrupted by Ctrl-C."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 600  # seconds of a machine that has much to do


def n_results(path) -> int:
    """How many fits a store holds now; 0 where it is none yet."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT COUNT(*) FROM result").fetchone()[0]
    except sqlite3.Error:
        return 0


@contextmanager
def begun(*words: str, **options) -> Iterator[subprocess.Popen]:
    """Python with these words, ended with the block: a process that hangs fails, and is no wait."""
    with subprocess.Popen([sys.executable, *words], text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def nap_or_wait() -> None:
    """A fit of a run that is to be killed: slow, and without end once enough are stored.

    However long a busy machine keeps the test from looking, fits are left to be made.
    """
    time.sleep(float(os.environ.get("NAP", "0")))
    if "STORED" in os.environ:
        path, n = os.environ["STORED"].rsplit(":", 1)
        deadline = time.monotonic() + PATIENCE
        while n_results(path) >= int(n) and time.monotonic() < deadline:
            time.sleep(0.05)


def killed_at(n: int, script: str, path, executor, *, nap: float) -> int:
    """Kill the script, of which each fit takes a nap, when it has stored n fits; how many it has.

    It is given the path of its store, and the executor as Python writes it.
    """
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script, str(path), repr(executor)],
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NAP": str(nap), "STORED": f"{path}:{n}"},
    ) as process:
        deadline = time.monotonic() + PATIENCE
        while n_results(path) < n and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
    return n_results(path)


def interrupted_at(n: int):
    """A listener that says Ctrl-C when n fits are done."""

    def interrupt(progress) -> None:
        if progress.done >= n:
            raise KeyboardInterrupt

    return interrupt
