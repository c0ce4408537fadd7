"""What several commands are asked: where fits run, where stores lie, where a page is written."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from truerisk.core.arguments import store_of
from truerisk.core.errors import BadArgument, NotWritten
from truerisk.core.writing import place_of

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


store_path = click.Path(dir_okay=False, path_type=Path)


def in_a_folder(ctx: click.Context, option: click.Parameter, store: Path | None) -> Path | None:
    """Refuse a folder that is not there, for which the lock would be blamed."""
    if store is not None and not store_of(store, "--store").absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder '{store.parent}'.")
    return store


@contextmanager
def terminated() -> Iterator[None]:
    """A batch system says SIGTERM before it kills: as good as Ctrl-C."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def check_writable(path: str) -> None:
    """Refuse a place for a page before hours are spent on what stands on it."""
    try:
        place_of(path)
    except (BadArgument, NotWritten) as error:
        raise click.UsageError(f"--report: {error}") from error


def typed(context: click.Context, leave_out: tuple[str, ...]) -> str:
    """The command as it was typed, without options that only say where results go.

    Files stand by their names alone: a page is passed on, and folders are nobody's business.
    """
    words = ["truerisk", str(context.info_name)]
    for param in context.command.params:
        name = str(param.name)
        value = context.params.get(name)
        if context.get_parameter_source(name) is ParameterSource.DEFAULT or name in leave_out:
            continue
        if value is not None:
            words += _words(param, value)
    return shlex.join(words)


def _words(param: click.Parameter, value: Any) -> list[str]:
    if isinstance(param, click.Argument):
        return [PurePath(value).name]
    return [param.opts[0]] if value is True else [param.opts[0], str(value)]
