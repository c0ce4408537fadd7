"""Options of several commands: workers, stores, and the page."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from functools import wraps
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from truerisk.cli.output import listed
from truerisk.core.arguments import store_of
from truerisk.core.errors import BadArgument, NotWritten
from truerisk.results.writing import place_of

Command = TypeVar("Command", bound=Callable[..., Any])
Code = TypeVar("Code", int, None)


def gathered(command: Callable[[Any], Code]) -> Callable[..., Code]:
    """Pass all options of a command as one value, by their names."""

    @wraps(command)
    def handed(**options: Any) -> Code:
        return command(SimpleNamespace(**options))

    return handed


def _workers(ctx: click.Context, option: click.Parameter, where: str | None) -> int | str | None:
    """Read a number of workers (-1 means one per core), or the address of a cluster."""
    if where is None or "://" in where:
        return where
    if where == "-1":
        return os.cpu_count() or 1
    if where.isdecimal() and int(where) > 0:
        return int(where)
    raise click.BadParameter(
        "give a number of worker processes, -1 for one per core, or dask://host:port."
    )


def with_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Combine several options in one decorator, in the order of the command's help."""

    def added(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return added


results_size_option = click.option(
    "--max-bytes",
    type=click.IntRange(1),
    help="Read results of so many bytes at most.  [default: 64 MiB]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
n_jobs_option = click.option(
    "--n-jobs",
    "--jobs",
    "n_jobs",
    metavar="WHERE",
    callback=_workers,
    help="Worker processes for scikit-learn's fits, -1 for one per core, or dask://host:port; fast "
    "engines answer in this process.  [default: none]",
)


def one_of(option: str, value: Any, other: str, other_value: Any) -> None:
    """Raise if two options with the same meaning are given."""
    if value is not None and other_value is not None:
        raise click.UsageError(f"{other} stands instead of {option}: give one of them.")


def splits_name(name: str) -> int | str:
    """Read the word of one `--cv`: a number of unshuffled folds, or a method."""
    return int(name) if name.isdecimal() else name


def read_splits(ctx: click.Context, option: click.Parameter, name: str | None) -> int | str | None:
    """Read `--cv` or `--outer` if it is given."""
    return None if name is None else splits_name(name)


cv_option = click.option(
    "--cv",
    metavar="WORD",
    callback=read_splits,
    help="A word of `truerisk methods`, or K unshuffled folds, as in scikit-learn.  "
    "[default: 5-fold; forward-5 in time, blocks-5 in space]",
)


def read_scoring(
    ctx: click.Context, option: click.Parameter, words: str | None
) -> str | list[str] | None:
    """Read `--scoring`: one word, or several with commas."""
    each = listed("--scoring", words, "score", "roc_auc,f1")
    if each is None or len(each) == 1:
        return each and each[0]
    if len(set(each)) < len(each):
        twice = next(name for name in each if each.count(name) > 1)
        raise click.UsageError(f"--scoring names {twice} twice: name each once.")
    return each


scoring_option = click.option(
    "--scoring",
    metavar="SCORE",
    callback=read_scoring,
    help="As in scikit-learn (accuracy, roc_auc, f1, r2, ...), or zero-one, log, brier, auc, "
    "squared, absolute. With commas the first one chooses, and further ones are told.",
)


def confidence_option(*aliases: str) -> Callable[[Command], Command]:
    """Return `--confidence`, for all intervals of a command."""
    return click.option(
        "--confidence",
        *aliases,
        "confidence",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        metavar="LEVEL",
        help="Of the intervals.",
    )


checks_option = click.option(
    "--no-checks",
    "checks",
    is_flag=True,
    default=True,
    flag_value=False,
    help="Do not look through the rows for copies, an order, group numbers and few events.",
)


store_path = click.Path(dir_okay=False, path_type=Path)


def in_a_folder(ctx: click.Context, option: click.Parameter, store: Path | None) -> Path | None:
    """Raise if the folder does not exist; otherwise the lock would be blamed."""
    if store is not None and not store_of(store, "--store").absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder '{store.parent}'.")
    return store


def _place(ctx: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Raise for an invalid path of a page before its content is computed for hours."""
    try:
        if path is not None:
            place_of(path)
    except (BadArgument, NotWritten) as error:
        raise click.UsageError(f"--report: {error}") from error
    return path


def _folder(ctx: click.Context, option: click.Parameter, folder: Path | None) -> Path | None:
    """Raise for an invalid folder, which is created if it does not exist."""
    if folder is not None:
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        if not there.is_dir() or not os.access(there, os.W_OK):
            raise click.UsageError(f"--figures: {folder} cannot be made: name another folder.")
    return folder


figures_option = click.option(
    "--figures",
    metavar="DIR",
    type=click.Path(path_type=Path),
    callback=_folder,
    help="Write its figures into this folder: SVG, PNG (300 dpi), PDF.",
)
page_options = with_options(
    click.option("--report", metavar="PATH", callback=_place, help="Write the HTML page."),
    figures_option,
)


def typed(context: click.Context, leave_out: tuple[str, ...]) -> str:
    """Return the command as it was typed, without options that only say where results go.

    Files are shown without their folders, since a page is shared and folders are private.
    """
    words = ["truerisk", str(context.info_name)]
    for param in context.command.params:
        name = str(param.name)
        value = context.params.get(name)
        if context.get_parameter_source(name) is ParameterSource.DEFAULT or name in leave_out:
            continue
        given = tuple(value.items()) if isinstance(value, dict) else value
        for each in given if isinstance(given, tuple) else [given]:
            words += [] if each is None else _words(param, each)
    return shlex.join(words)


def _words(param: click.Parameter, value: Any) -> list[str]:
    if isinstance(param, click.Argument):
        return [PurePath(value).name]
    # Two values are a name and its bound.
    text = f"{value[0]}={value[1]}" if isinstance(value, tuple) else str(value)
    return [param.opts[0]] if value is True else [param.opts[0], text]
