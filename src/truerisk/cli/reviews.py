"""What `validate` and `assess --validate` are asked alike: event, subgroups, bootstrap samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from truerisk.cli.source import Source, label_written
from truerisk.core.errors import BadData

__all__ = ["REVIEWED", "review_options", "reviewed"]

REVIEWED = ("positive", "subgroups", "replicates", "clip")


def review_options(replicates: int | None) -> Callable[[Any], Any]:
    """The options, with so many bootstrap samples where none are asked for."""
    usual = 0 if replicates is None else replicates
    options = (
        click.option(
            "--positive",
            metavar="LABEL",
            help="The class that is the event.  [default: the second of two]",
        ),
        click.option("--subgroups", metavar="COLS", help="Columns whose levels are told apart."),
        click.option(
            "--replicates",
            type=click.IntRange(0),
            default=replicates,
            help=f"Bootstrap samples in which all is done anew; 0 for none.  [default: {usual}]",
        ),
        click.option("--clip", type=float, metavar="P", help="Probabilities no nearer to 0 and 1."),
    )

    def with_options(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return with_options


def reviewed(
    source: Source,
    positive: str | None,
    subgroups: str | None,
    replicates: int | None,
    clip: float | None,
) -> dict[str, Any]:
    """The words of `validate` that stand for these options."""
    return {
        "positive": label_written(source, positive),
        "subgroups": None if subgroups is None else _columns(source, subgroups),
        "replicates": replicates or 0,
        "clip": clip,
    }


def _columns(source: Source, asked: str) -> dict[str, Any]:
    """The named columns of a file, which the model sees, too."""
    from truerisk.core.present import clean

    if not source.columns:
        raise click.UsageError("--subgroups names columns of a FILE: a --dataset has none.")
    found = {}
    for name in (part.strip() for part in asked.split(",")):
        if name not in source.columns:
            raise BadData(
                f"--subgroups: the file has no column {clean(name, 40)!r}; it has "
                f"{clean(', '.join(source.columns), 160)}."
            )
        found[name] = source.column(name)
    return found
