"""Where a page is written, and the command line that it repeats."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import Any

import click
from click.core import ParameterSource

from truerisk.core.errors import BadArgument, NotWritten
from truerisk.core.writing import place_of

__all__ = ["check_writable", "typed"]


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
