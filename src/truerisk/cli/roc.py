"""`truerisk roc`: the ROC curve of a column of scores, and what a threshold does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import confidence_option, gathered, json_option
from truerisk.cli.output import say, show
from truerisk.cli.source import (
    Source,
    label_written,
    read_source,
    reading_options,
    source_options,
    words_of,
)
from truerisk.core.errors import BadData
from truerisk.core.registry import check_present

if TYPE_CHECKING:
    from truerisk.results.operating_points import OperatingPoint
    from truerisk.results.roc import RocCurve


RATES = ("sensitivity", "specificity", "precision")


@click.command()
@source_options
@click.option(
    "--score",
    "columns",
    metavar="COL",
    multiple=True,
    required=True,
    help="The column of scores; a second one is compared with it.",
)
@click.option("--positive", metavar="LABEL", help="The class that high scores stand for.")
@click.option(
    "--threshold",
    "thresholds",
    type=float,
    metavar="T",
    multiple=True,
    help="Call rows with a score of at least T positive; may be given several times.",
)
@click.option("--cost", type=(float, float), metavar="FP FN", help="Costs of the two errors.")
@click.option("--prevalence", type=float, help="With --cost: the share of positives in use.")
@click.option("--sensitivity", type=float, help="Demand it.")
@click.option("--specificity", type=float, help="Demand it.")
@click.option("--precision", type=float, help="Demand it.")
@confidence_option("--level")
@json_option
@reading_options
@gathered
def roc(requested: Any) -> int:
    """Say how well a column of FILE ranks the classes of another, and what thresholds do.

    \b
    truerisk roc patients.csv --target relapse --score marker
    truerisk roc patients.csv --target relapse --score marker --cost 1 5
    """  # noqa: D301 - \b is for click
    if len(requested.columns) > 2:
        raise click.UsageError("two --score are compared at most.")
    if requested.prevalence is not None and requested.cost is None:
        raise click.UsageError("--prevalence needs --cost FP FN.")
    if requested.target_type == "regression":
        raise click.UsageError("--target-type regression: a ROC curve tells classes apart.")
    source = _read(requested)
    for note in source.notes:
        # The other notes are about features, and nothing is fitted here.
        if note.startswith("target"):
            say(f"note: {note}")
    curves = [_curve(source, column, requested) for column in requested.columns]
    points = [_points(curve, requested) for curve in curves]
    show((_json if requested.as_json else _text)(curves, points, requested))
    return 0


def _read(requested: Any) -> Source:
    """Return the file, which may have no column that varies: then no score ranks rows."""
    check_present("truerisk.readers.table")
    from truerisk.readers.table import NoFeatures

    try:
        return read_source(**words_of(requested))
    except NoFeatures as error:
        for column in requested.columns:
            if column in error.left_out:
                raise BadData(_idle(column, error.left_out)) from None
        raise


def _idle(column: str, left_out: Mapping[str, str]) -> str:
    return f"--score {column} {left_out[column]}: it ranks no row before another."


def _curve(source: Source, column: str, requested: Any) -> RocCurve:
    check_present("truerisk.results.roc")
    from truerisk.results.roc import RocCurve

    if column in source.left_out:
        raise BadData(_idle(column, source.left_out))
    if column not in source.columns:
        known = ", ".join(source.columns)
        raise BadData(f"--score {column} is no column beside the target; there are {known}.")
    place = source.columns.index(column)
    if place not in source.layout["numeric"]:
        raise BadData(f"--score {column} is a column of text: scores are numbers.")
    options = {"confidence_level": requested.confidence, "groups": source.groups, "method": column}
    positive = label_written(source, requested.positive)
    return RocCurve.from_scores(source.y, source.X[:, place], positive=positive, **options)


def _points(curve: RocCurve, requested: Any) -> list[OperatingPoint]:
    found = [curve.at(threshold) for threshold in requested.thresholds]
    if requested.cost is not None:
        found.append(curve.at_cost(*requested.cost, prevalence=requested.prevalence))
    demanded = {name: rate for name in RATES if (rate := getattr(requested, name)) is not None}
    return [*found, *(curve.at_rate(**{name: rate}) for name, rate in demanded.items())]


def _text(curves: list[RocCurve], points: list[list[OperatingPoint]], requested: Any) -> str:
    first, columns = curves[0], requested.columns
    lines = [f"positive: {first.positive}"]
    lines += [str(curve) for curve in curves]
    for column, points_of_column in zip(columns, points, strict=True):
        whose = f"{column}: " if len(columns) == 2 else ""
        lines += [f"{whose}{point}" for point in points_of_column]
    if len(curves) == 2:
        lines.append(f"{columns[0]} − {columns[1]}: {first.minus(curves[1], requested.confidence)}")
    lines += [f"note: {note}" for curve in curves for note in curve.notes]
    return "\n".join(lines)


def _json(curves: list[RocCurve], points: list[list[OperatingPoint]], requested: Any) -> str:
    from truerisk.core.plain_values import plain

    content = curves[0].to_dict()
    content["points"] = [point.to_dict() for point in points[0]]
    if len(curves) == 2:
        others = [point.to_dict() for point in points[1]]
        content["other"] = {**curves[1].to_dict(), "points": others}
        content["difference"] = plain(curves[0].minus(curves[1], requested.confidence))
    return json.dumps(content, allow_nan=False)
