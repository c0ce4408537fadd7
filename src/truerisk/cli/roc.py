"""`truerisk roc`: the ROC curve of a column of scores, and what a threshold does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import confidence_option, json_option
from truerisk.cli.output import say, show
from truerisk.cli.source import Source, label_written, read_source, reading_options, source_options
from truerisk.core.errors import BadData

if TYPE_CHECKING:
    from truerisk.core.statistics.operating_points import OperatingPoint
    from truerisk.core.statistics.roc import RocCurve


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
def roc(
    columns: tuple[str, ...],
    positive: str | None,
    thresholds: tuple[float, ...],
    cost: tuple[float, float] | None,
    prevalence: float | None,
    confidence: float,
    as_json: bool,
    sensitivity: float | None,
    specificity: float | None,
    precision: float | None,
    **where: Any,
) -> int:
    """Say how well a column of FILE ranks the classes of another, and what thresholds do.

    \b
    truerisk roc patients.csv --target relapse --score marker
    truerisk roc patients.csv --target relapse --score marker --cost 1 5
    """  # noqa: D301 - \b is for click
    if len(columns) > 2:
        raise click.UsageError("two --score are compared at most.")
    if prevalence is not None and cost is None:
        raise click.UsageError("--prevalence needs --cost FP FN.")
    if where["target_type"] == "regression":
        raise click.UsageError("--target-type regression: a ROC curve tells classes apart.")
    demanded = dict(zip(RATES, (sensitivity, specificity, precision), strict=True))
    source = _read(columns, where)
    for note in source.notes:
        if note.startswith("target"):  # the others are of features, and nothing is fitted here
            say(f"note: {note}")
    curves = [_curve(source, column, positive, confidence) for column in columns]
    points = [_points(curve, thresholds, cost, prevalence, demanded) for curve in curves]
    show(
        _json(curves, points, confidence) if as_json else _text(columns, curves, points, confidence)
    )
    return 0


def _read(columns: tuple[str, ...], where: dict[str, Any]) -> Source:
    """The file, which may have no column that varies: then no score ranks a row."""
    from truerisk.datasets.table import NoFeatures

    try:
        return read_source(**where)
    except NoFeatures as error:
        for column in columns:
            if column in error.left_out:
                raise BadData(_idle(column, error.left_out)) from None
        raise


def _idle(column: str, left_out: Mapping[str, str]) -> str:
    return f"--score {column} {left_out[column]}: it ranks no row before another."


def _curve(source: Source, column: str, positive: str | None, level: float) -> RocCurve:
    from truerisk.core.statistics.roc import RocCurve

    if column in source.left_out:
        raise BadData(_idle(column, source.left_out))
    if column not in source.columns:
        known = ", ".join(source.columns)
        raise BadData(f"--score {column} is no column beside the target; there are {known}.")
    place = source.columns.index(column)
    if place not in source.layout["numeric"]:
        raise BadData(f"--score {column} is a column of text: scores are numbers.")
    options = {"confidence_level": level, "groups": source.groups, "method": column}
    return RocCurve.of(
        source.y, source.X[:, place], positive=label_written(source, positive), **options
    )


def _points(
    curve: RocCurve,
    thresholds: tuple[float, ...],
    cost: tuple[float, float] | None,
    prevalence: float | None,
    demanded: dict[str, float | None],
) -> list[OperatingPoint]:
    found = [curve.at(threshold) for threshold in thresholds]
    if cost is not None:
        found.append(curve.at_cost(*cost, prevalence=prevalence))
    return [*found, *(curve.at_rate(**{n: r}) for n, r in demanded.items() if r is not None)]


def _text(
    columns: tuple[str, ...],
    curves: list[RocCurve],
    points: list[list[OperatingPoint]],
    level: float,
) -> str:
    first = curves[0]
    lines = [f"positive: {first.positive}"]
    lines += [str(curve) for curve in curves]
    for column, told in zip(columns, points, strict=True):
        whose = f"{column}: " if len(columns) == 2 else ""
        lines += [f"{whose}{point}" for point in told]
    if len(curves) == 2:
        lines.append(f"{columns[0]} − {columns[1]}: {first.minus(curves[1], level)}")
    lines += [f"note: {note}" for curve in curves for note in curve.notes]
    return "\n".join(lines)


def _json(curves: list[RocCurve], points: list[list[OperatingPoint]], level: float) -> str:
    from truerisk.core.present import plain

    content = curves[0].to_dict()
    content["points"] = [point.to_dict() for point in points[0]]
    if len(curves) == 2:
        others = [point.to_dict() for point in points[1]]
        content["other"] = {**curves[1].to_dict(), "points": others}
        content["difference"] = plain(curves[0].minus(curves[1], level))
    return json.dumps(content, allow_nan=False)
