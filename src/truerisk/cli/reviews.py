"""Common options of `validate` and `assess --validate`: event, subgroups, bootstrap samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from truerisk.cli.options import with_options
from truerisk.cli.source import Source, label_written
from truerisk.core.errors import BadData

REVIEWED = ("subgroups", "replicates", "clip", "horizon")
"""Options that only a validation uses."""


def review_options(replicates: int | None) -> Callable[[Any], Any]:
    """Return the options, with this default number of bootstrap samples."""
    usual = 0 if replicates is None else replicates
    return with_options(
        click.option(
            "--positive",
            metavar="LABEL",
            help="The class that is the event; precision, recall and F1 are also of it.  "
            "[default: the second of two]",
        ),
        click.option("--subgroups", metavar="COLS", help="Columns whose levels are the subgroups."),
        click.option(
            "--replicates",
            type=click.IntRange(0),
            default=replicates,
            help=f"Bootstrap samples that repeat the whole fit; 0 for none.  [default: {usual}]",
        ),
        click.option(
            "--clip",
            type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
            metavar="P",
            help="Keep probabilities within P and 1 − P.",
        ),
        click.option(
            "--horizon",
            type=float,
            metavar="TIME",
            help="Of an outcome in time: the event is that it came by then.",
        ),
    )


def reviewed(source: Source, requested: Any) -> dict[str, Any]:
    """Return the arguments of `validate` for the options of a command."""
    return {
        "positive": label_written(source, requested.positive),
        "subgroups": None if requested.subgroups is None else _columns(source, requested.subgroups),
        "replicates": requested.replicates or 0,
        "clip": requested.clip,
        "horizon": requested.horizon,
    }


def _columns(source: Source, requested: str) -> dict[str, Any]:
    """Return the named columns of a file, including features and the groups."""
    if not source.columns:
        raise click.UsageError("--subgroups names columns of a FILE: a --dataset has none.")
    found = {}
    for name in (part.strip() for part in requested.split(",")):
        if source.named.get(name) == "--groups":
            found[name] = source.groups
        elif name in source.columns:
            found[name] = source.column(name)
        else:
            raise BadData(_no_subgroups(source, name))
    return found


def _no_subgroups(source: Source, name: str) -> str:
    """Return why a column has no subgroups: it is left out, used by an option, or missing."""
    from truerisk.core.formats import clean

    column = f"column {clean(name, 40)!r}"
    if name in source.left_out:
        return (
            f"--subgroups: {column} {source.left_out[name]} and is left out: it has no subgroups."
        )
    if name in source.named:
        return (
            f"--subgroups: {column} is that of {source.named[name]}; name a feature, or --groups."
        )
    known = clean(", ".join(source.columns), 160)
    return f"--subgroups: the file has no {column}; it has {known}."
