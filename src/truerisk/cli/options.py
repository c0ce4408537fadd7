"""Options that several commands share, such as workers, stores, scoring and the HTML page."""

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

from truerisk.cli.output import split_at_commas
from truerisk.core.arguments import to_store_path
from truerisk.core.errors import BadArgument, NotWritten
from truerisk.results.writing import writable_path

Command = TypeVar("Command", bound=Callable[..., Any])
ExitCode = TypeVar("ExitCode", int, None)


def pass_options_as_namespace(command: Callable[[Any], ExitCode]) -> Callable[..., ExitCode]:
    """Decorate a command so that it receives all options as attributes of one namespace."""

    @wraps(command)
    def command_with_namespace(**options: Any) -> ExitCode:
        return command(SimpleNamespace(**options))

    return command_with_namespace


def _read_workers(
    ctx: click.Context, option: click.Parameter, workers: str | None
) -> int | str | None:
    """Return the number of worker processes (-1 means one per core), or a cluster's address."""
    if workers is None or "://" in workers:
        return workers
    if workers == "-1":
        return os.cpu_count() or 1
    if workers.isdecimal() and int(workers) > 0:
        return int(workers)
    raise click.BadParameter(
        "give a number of worker processes, -1 for one per core, or dask://host:port."
    )


def combine_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Combine several click options in one decorator; the help shows them in this order."""

    def decorator(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorator


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
    callback=_read_workers,
    help="Worker processes for scikit-learn's fits, -1 for one per core, or dask://host:port; fast "
    "engines answer in this process.  [default: none]",
)


def refuse_both_options(
    option: str, option_value: Any, other_option: str, other_option_value: Any
) -> None:
    """Raise if the user gave both of two options that exclude each other."""
    if option_value is not None and other_option_value is not None:
        raise click.UsageError(f"{other_option} stands instead of {option}: give one of them.")


def parse_splits(splits_text: str) -> int | str:
    """Return the value of `--cv` as a number of unshuffled folds, or as the name of a method."""
    return int(splits_text) if splits_text.isdecimal() else splits_text


def read_splits(
    ctx: click.Context, option: click.Parameter, splits_text: str | None
) -> int | str | None:
    """Return the number of folds or the method that `--cv` or `--outer` names, or None."""
    return None if splits_text is None else parse_splits(splits_text)


cv_option = click.option(
    "--cv",
    metavar="WORD",
    callback=read_splits,
    help="A word of `truerisk methods`, or K unshuffled folds, as in scikit-learn.  "
    "[default: 5-fold; forward-5 in time, blocks-5 in space]",
)


def read_scoring(
    ctx: click.Context, option: click.Parameter, scoring_text: str | None
) -> str | list[str] | None:
    """Return the score that `--scoring` names, or a list if it names several with commas."""
    score_names = split_at_commas("--scoring", scoring_text, "score", "roc_auc,f1")
    if score_names is None or len(score_names) == 1:
        return score_names and score_names[0]
    if len(set(score_names)) < len(score_names):
        repeated_score = next(
            score_name for score_name in score_names if score_names.count(score_name) > 1
        )
        raise click.UsageError(f"--scoring names {repeated_score} twice: name each once.")
    return score_names


scoring_option = click.option(
    "--scoring",
    metavar="SCORE",
    callback=read_scoring,
    help="As in scikit-learn (accuracy, roc_auc, f1, r2, ...), or zero-one, log, brier, auc, "
    "squared, absolute. With commas the first one chooses, and further ones are told.",
)


def confidence_option(*aliases: str) -> Callable[[Command], Command]:
    """Return the option `--confidence`, the level of all confidence intervals of a command."""
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


store_path_type = click.Path(dir_okay=False, path_type=Path)


def check_store_folder(
    ctx: click.Context, option: click.Parameter, store: Path | None
) -> Path | None:
    """Return the path of the store, or raise if its folder does not exist.

    Without this check the error message would be about the lock file of the store.
    """
    if store is not None and not to_store_path(store, "--store").absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder '{store.parent}'.")
    return store


def _check_page_path(ctx: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Return the path of the HTML page; raise before long computations if it is invalid."""
    try:
        if path is not None:
            writable_path(path)
    except (BadArgument, NotWritten) as error:
        raise click.UsageError(f"--report: {error}") from error
    return path


def _check_figures_folder(
    ctx: click.Context, option: click.Parameter, folder: Path | None
) -> Path | None:
    """Return the folder for figures, or raise if it can neither be created nor written to."""
    if folder is not None:
        nearest_existing_path = next(
            parent for parent in (folder, *folder.absolute().parents) if parent.exists()
        )
        if not nearest_existing_path.is_dir() or not os.access(nearest_existing_path, os.W_OK):
            raise click.UsageError(f"--figures: {folder} cannot be made: name another folder.")
    return folder


figures_option = click.option(
    "--figures",
    metavar="DIR",
    type=click.Path(path_type=Path),
    callback=_check_figures_folder,
    help="Write its figures into this folder: SVG, PNG (300 dpi), PDF.",
)
page_options = combine_options(
    click.option(
        "--report", metavar="PATH", callback=_check_page_path, help="Write the HTML page."
    ),
    figures_option,
)


def format_command_line(context: click.Context, omitted_options: tuple[str, ...]) -> str:
    """Return the command line that the user typed, without the options named in `omitted_options`.

    Files are shown without their folders, since a page is shared and folders are private.
    """
    command_words = ["truerisk", str(context.info_name)]
    for param in context.command.params:
        name = str(param.name)
        value = context.params.get(name)
        if context.get_parameter_source(name) is ParameterSource.DEFAULT or name in omitted_options:
            continue
        option_values = tuple(value.items()) if isinstance(value, dict) else value
        for single_value in option_values if isinstance(option_values, tuple) else [option_values]:
            command_words += [] if single_value is None else _option_as_words(param, single_value)
    return shlex.join(command_words)


def _option_as_words(param: click.Parameter, value: Any) -> list[str]:
    if isinstance(param, click.Argument):
        name = PurePath(value).name
        return [f"./{name}" if name.startswith("-") else name]
    # A pair of values is the name of a score and its bound, typed as NAME=NUMBER.
    value_text = f"{value[0]}={value[1]}" if isinstance(value, tuple) else str(value)
    # The value of a flag such as --no-checks is False.
    return [param.opts[0]] if isinstance(value, bool) else [param.opts[0], value_text]
