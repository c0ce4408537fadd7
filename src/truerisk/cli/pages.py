"""Where a page is written, and the command line that it repeats."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from truerisk.core.errors import TrueRiskError

__all__ = ["check_writable", "typed", "write_page"]


def check_writable(path: str) -> None:
    """Refuse a place for a page before hours are spent on what stands on it."""
    place = Path(path)
    if place.is_dir():
        raise click.UsageError(f"--report {path} is a folder; name a file, such as report.html.")
    if not place.absolute().parent.is_dir():
        raise click.UsageError(f"--report {path}: there is no folder '{place.parent}'.")


def write_page(page: str, path: str) -> None:
    """Write a page, or say in a sentence why that fails."""
    try:
        Path(path).write_text(page, encoding="utf-8")
    except OSError as error:
        raise TrueRiskError(f"{path} cannot be written: {error.strerror}.") from error


def typed(context: click.Context, leave_out: tuple[str, ...]) -> str:
    """The command as it was typed, without options that only say where results go."""
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
        return [str(value)]
    return [param.opts[0]] if value is True else [param.opts[0], str(value)]
