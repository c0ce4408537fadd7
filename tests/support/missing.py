"""Clean processes in which a module of truerisk is missing, as if its file had been deleted."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from traceback import format_exc
from typing import Any

SECONDS = 300  # after which a process that hangs is ended
HIDDEN = """
import sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        hidden = any(name == one or name.startswith(one + ".") for one in {modules!r})
        return None if hidden else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Hiding, sys.meta_path)
"""

# Scikit-learn takes a second to import: one process does it, and the others are forks of it.
CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(["sklearn.ensemble", "sklearn.model_selection", "sklearn.pipeline"])


def in_clean_processes(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, seconds: float = SECONDS
) -> Iterator[tuple[Any, str | None]]:
    """Call the function in a process for each task, as many at once as there are processors.

    Yield what it returned, and what went wrong or None.
    """
    begun: deque[tuple[ForkServerProcess, Connection]] = deque()
    waiting = deque(tasks)
    try:
        while begun or waiting:
            while waiting and len(begun) < (os.cpu_count() or 1):
                source, sink = CONTEXT.Pipe(duplex=False)
                process = CONTEXT.Process(target=_send, args=(sink, function, waiting.popleft()))
                process.start()
                sink.close()
                begun.append((process, source))
            process, source = begun[0]
            try:
                told = source.recv() if source.poll(seconds) else (None, "no end in time")
            except EOFError:
                process.join(seconds)
                told = None, f"the process ended without a word, with code {process.exitcode}"
            yield told
            begun.popleft()
            process.kill()
            process.join()
    finally:
        for process, _ in begun:
            process.kill()


def _send(sink: Connection, function: Callable[..., Any], task: tuple[Any, ...]) -> None:
    try:
        assert not any(name.split(".")[0] == "truerisk" for name in sys.modules)
        told = function(*task), None
    except BaseException:  # noqa: BLE001
        told = None, format_exc()
    sink.send(told)


def _printed(code: str) -> list[str]:
    with redirect_stdout(StringIO()) as out:
        exec(code, {"__name__": "__main__"})
    return out.getvalue().splitlines()


def output_without(*modules: str, code: str) -> list[str]:
    """Return the lines that Python code prints in a process without these modules."""
    quiet = "import warnings\nwarnings.simplefilter('ignore')\n"
    task = quiet + HIDDEN.format(modules=modules) + code
    ((lines, fault),) = in_clean_processes(_printed, [(task,)])
    assert fault is None, fault
    return lines
