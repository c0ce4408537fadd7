"""What needs a fresh process: commands, which modules they import, and peak memory.

`python -m benchmarks.processes module:function argument ...` is the other end of `peak_memory`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from benchmarks.contest import Side

__all__ = ["CommandFailed", "Peak", "imported", "peak_memory", "python", "script", "side"]


class CommandFailed(RuntimeError):
    """A command of a row ended with an error."""


@dataclass(frozen=True)
class Peak:
    """What the work returned, and how much memory it held at most beyond what was there before."""

    value: float
    megabytes: float


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def script(name: str) -> str:
    """The console script of that name, next to this Python."""
    path = Path(sys.executable).with_name(name)
    if not path.exists():
        raise CommandFailed(f"there is no command '{name}' next to {Path(sys.executable).name}.")
    return str(path)


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """The finished command; one that fails is an error with its last words."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        last = said[-1] if said else "it said nothing"
        shown = " ".join([Path(command[0]).name, *command[1:]])
        raise CommandFailed(f"'{shown}' ended with code {done.returncode}: {last}")
    return done


def side(command: list[str]) -> Side:
    """The command as a side of a contest."""

    def whole_process() -> None:
        run(command)

    return whole_process


def imported(arguments: list[str]) -> set[str]:
    """Names of all modules that `python *arguments` imports."""
    log = run(python("-X", "importtime", *arguments)).stderr.splitlines()
    return {line.rpartition("|")[2].strip() for line in log if line.startswith("import time:")}


def peak_memory(where: str, *arguments: object) -> Peak:
    """Peak memory of `function(*arguments)()`, `where` being `module:function`.

    The function prepares (imports, data) and returns the work; only the work is traced.
    """
    answer = run(python("-m", "benchmarks.processes", where, json.dumps(arguments))).stdout
    return Peak(**json.loads(answer))


def _traced(where: str, arguments: list[object]) -> Peak:
    module, _, function = where.partition(":")
    work: Side = getattr(import_module(module), function)(*arguments)
    tracemalloc.start()
    value = float(work())
    _, peak = tracemalloc.get_traced_memory()
    return Peak(value, peak / 1e6)


if __name__ == "__main__":
    print(json.dumps(vars(_traced(sys.argv[1], json.loads(sys.argv[2])))))
