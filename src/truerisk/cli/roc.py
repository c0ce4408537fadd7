"""`truerisk roc`: the ROC curve of a column of scores, and the error rates at thresholds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import (
    confidence_option,
    figures_option,
    json_option,
    pass_options_as_namespace,
)
from truerisk.cli.output import print_stderr, show, write_figures
from truerisk.cli.source import (
    Source,
    label_from_text,
    read_source,
    reading_options,
    source_arguments,
    source_options,
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
    help="A column of scores; give the option again to compare columns in pairs.",
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
@click.option("--sensitivity", type=float, help="Find the threshold that reaches it.")
@click.option("--specificity", type=float, help="Find the threshold that reaches it.")
@click.option("--precision", type=float, help="Find the threshold that reaches it.")
@confidence_option("--level")
@figures_option
@json_option
@reading_options
@pass_options_as_namespace
def roc(args: Any) -> int:
    """Say how well a column of FILE ranks the classes of another, and what thresholds do.

    \b
    truerisk roc patients.csv --target relapse --score marker
    truerisk roc patients.csv --target relapse --score marker --cost 1 5
    truerisk roc patients.csv --target relapse --score marker --score age --figures folder
    """  # noqa: D301 - \b is for click
    if len(set(args.columns)) < len(args.columns):
        raise click.UsageError("--score names a column twice; name each column once.")
    if args.prevalence is not None and args.cost is None:
        raise click.UsageError("--prevalence needs --cost FP FN.")
    if args.target_type == "regression":
        raise click.UsageError("--target-type regression: a ROC curve tells classes apart.")
    source = _read_file(args)
    for source_note in source.notes:
        # Notes about features are omitted, because no model is fitted.
        if source_note.startswith("target"):
            print_stderr(f"note: {source_note}")
    curves = [_make_roc_curve(source, column, args) for column in args.columns]
    operating_points = [_find_operating_points(curve, args) for curve in curves]
    show((_roc_as_json if args.as_json else _roc_as_text)(curves, operating_points, args))
    if args.figures is not None:
        check_present("truerisk.report")
        from truerisk.report.rates import draw_roc_curves
        from truerisk.results.door import load_from_package

        figure = draw_roc_curves(dict(zip(args.columns, curves, strict=True)))
        write_figures(partial(load_from_package("figure-files"), [figure]), args.figures)
    return 0


def _read_file(args: Any) -> Source:
    """Read the FILE of the command; if no column varies, raise an error about the scores."""
    check_present("truerisk.readers.table")
    from truerisk.readers.table import NoFeatures

    try:
        return read_source(**source_arguments(args))
    except NoFeatures as error:
        for column in args.columns:
            if column in error.exclusion_reasons:
                raise BadData(_useless_score_message(column, error.exclusion_reasons)) from None
        raise


def _useless_score_message(column: str, reason_by_column: Mapping[str, str]) -> str:
    return f"--score {column} {reason_by_column[column]}: it ranks no row before another."


def _make_roc_curve(source: Source, column: str, args: Any) -> RocCurve:
    check_present("truerisk.results.roc")
    from truerisk.results.roc import RocCurve

    if column in source.exclusion_reasons:
        raise BadData(_useless_score_message(column, source.exclusion_reasons))
    if column not in source.columns:
        known_columns = ", ".join(source.columns)
        raise BadData(
            f"--score {column} is no column beside the target; there are {known_columns}."
        )
    column_index = source.columns.index(column)
    if column_index not in source.column_layout["numeric"]:
        raise BadData(f"--score {column} is a column of text: scores are numbers.")
    curve_options = {"confidence_level": args.confidence, "groups": source.groups, "method": column}
    positive = label_from_text(source, args.positive)
    return RocCurve.from_scores(
        source.y, source.X[:, column_index], positive=positive, **curve_options
    )


def _find_operating_points(curve: RocCurve, args: Any) -> list[OperatingPoint]:
    operating_points = [curve.at(threshold) for threshold in args.thresholds]
    if args.cost is not None:
        operating_points.append(curve.at_cost(*args.cost, prevalence=args.prevalence))
    demanded_rates = {name: rate for name in RATES if (rate := getattr(args, name)) is not None}
    return [
        *operating_points,
        *(curve.at_rate(**{name: rate}) for name, rate in demanded_rates.items()),
    ]


def _roc_as_text(
    curves: list[RocCurve], operating_points: list[list[OperatingPoint]], args: Any
) -> str:
    first_curve, score_columns = curves[0], args.columns
    text_lines = [f"positive: {first_curve.positive}"]
    text_lines += [str(curve) for curve in curves]
    for column, points_of_curve in zip(score_columns, operating_points, strict=True):
        column_prefix = f"{column}: " if len(score_columns) > 1 else ""
        text_lines += [f"{column_prefix}{point}" for point in points_of_curve]
    named_curves = zip(score_columns, curves, strict=True)
    text_lines += [
        f"{name} − {other_name}: {curve.minus(other_curve, args.confidence)}"
        for (name, curve), (other_name, other_curve) in combinations(named_curves, 2)
    ]
    text_lines += [f"note: {curve_note}" for curve in curves for curve_note in curve.notes]
    return "\n".join(text_lines)


def _roc_as_json(
    curves: list[RocCurve], operating_points: list[list[OperatingPoint]], args: Any
) -> str:
    from truerisk.core.plain_values import to_json_value

    roc_document = curves[0].to_dict()
    roc_document["points"] = [point.to_dict() for point in operating_points[0]]
    if len(curves) > 1:
        roc_document["others"] = [
            {**curve.to_dict(), "points": [point.to_dict() for point in points]}
            for curve, points in list(zip(curves, operating_points, strict=True))[1:]
        ]
        roc_document["differences"] = [
            to_json_value(curve.minus(other_curve, args.confidence))
            for curve, other_curve in combinations(curves, 2)
        ]
        # Files of earlier versions have these two keys for two scores.
        roc_document["other"] = roc_document["others"][0]
        roc_document["difference"] = roc_document["differences"][0]
    return json.dumps(roc_document, allow_nan=False)
