"""Options that `validate` and `assess --validate` share: event, subgroups, bootstrap samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from truerisk.cli.options import combine_options
from truerisk.cli.source import Source, label_from_text
from truerisk.core.errors import BadData

VALIDATION_OPTIONS = ("subgroups", "replicates", "clip", "horizon")
"""Options that `assess` accepts only together with --validate."""


def add_validation_options(replicates: int | None) -> Callable[[Any], Any]:
    """Return a decorator that adds a validation's options; `replicates` is a default value."""
    default_replicates = 0 if replicates is None else replicates
    return combine_options(
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
            help="Bootstrap samples that repeat the whole fit; 0 for none.  [default: "
            f"{default_replicates}]",
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


def validation_arguments(source: Source, args: Any) -> dict[str, Any]:
    """Convert the options of a command to arguments of the function `validate`."""
    return {
        "positive": label_from_text(source, args.positive),
        "subgroups": None
        if args.subgroups is None
        else _read_subgroup_columns(source, args.subgroups),
        "replicates": args.replicates or 0,
        "clip": args.clip,
        "horizon": args.horizon,
    }


def _read_subgroup_columns(source: Source, column_names: str) -> dict[str, Any]:
    """Return the columns that --subgroups names: features of the file, or its --groups column."""
    if not source.columns:
        raise click.UsageError("--subgroups names columns of a FILE: a --dataset has none.")
    subgroup_columns = {}
    for name in (text.strip() for text in column_names.split(",")):
        if source.option_by_column.get(name) == "--groups":
            subgroup_columns[name] = source.groups
        elif name in source.columns:
            subgroup_columns[name] = source.column(name)
        else:
            raise BadData(_explain_missing_subgroups(source, name))
    return subgroup_columns


def _explain_missing_subgroups(source: Source, name: str) -> str:
    """Return why a column cannot define subgroups: it is left out, not a feature, or missing."""
    from truerisk.core.formats import escape_and_truncate

    quoted_column = f"column {escape_and_truncate(name, 40)!r}"
    if name in source.exclusion_reasons:
        return (
            f"--subgroups: {quoted_column} {source.exclusion_reasons[name]} and is left out: it "
            "has no "
            "subgroups."
        )
    if name in source.option_by_column:
        return (
            f"--subgroups: {quoted_column} is that of {source.option_by_column[name]}; name a "
            "feature, or --groups."
        )
    known_columns = escape_and_truncate(", ".join(source.columns), 160)
    return f"--subgroups: the file has no {quoted_column}; it has {known_columns}."
