"""Where the fits of a command run: the options, and what they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["executor_of", "worker_options"]

Command = TypeVar("Command", bound=Callable[..., Any])


def worker_options(command: Command) -> Command:
    """`--jobs` and `--executor`, of which one may be given."""
    for option in (
        click.option(
            "--executor",
            metavar="WHERE",
            help="A number of worker processes, or dask://host:port, for scikit-learn's fits; fast "
            "engines answer in this process.",
        ),
        click.option("--jobs", type=click.IntRange(1), help="Worker processes.  [default: none]"),
    ):
        command = option(command)
    return command


def executor_of(jobs: int | None, executor: str | None) -> Any:
    """What is given to the api; a number of `--executor` is one of `--jobs`."""
    if executor is None:
        return jobs
    if jobs is not None:
        raise click.UsageError("--executor stands instead of --jobs: give one of them.")
    return int(executor) if executor.isdecimal() else executor
