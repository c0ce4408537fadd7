"""`truerisk estimate`: the risk of one model on a table."""

from __future__ import annotations

import json
import re
from typing import Any

import click

from truerisk.cli.options import (
    checks_option,
    confidence_option,
    cv_option,
    gathered,
    json_option,
    n_jobs_option,
    scoring_option,
)
from truerisk.cli.output import say_columns, show, shown_progress, worded_warnings
from truerisk.cli.source import (
    Source,
    label_written,
    order_options,
    outcome_options,
    positive_option,
    reading_options,
    source_of,
    source_options,
)
from truerisk.core.registry import check_present, closest


@click.command()
@source_options
@outcome_options
@order_options
@click.option("--model", required=True, metavar="WORD", help="knn, lda, logistic, tree, …")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the model."
)
@cv_option
@scoring_option
@positive_option
@confidence_option()
@checks_option
@json_option
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@n_jobs_option
@reading_options
@gathered
def estimate(requested: Any) -> None:
    """Estimate the risk of one model on FILE.

    \b
    truerisk estimate data.csv --target y --model knn --set n_neighbors=5 --cv loo
    """  # noqa: D301 - \b is for click
    source = source_of(requested)
    from truerisk.estimation.estimate import risk_curve

    pipeline, params, _ = read_model(requested.model, requested.settings, source)
    names = ("cv", "scoring")
    options: dict[str, Any] = {name: getattr(requested, name) for name in names}
    options |= {"confidence_level": requested.confidence, "random_state": requested.seed}
    options |= {"checks": requested.checks}
    options |= source.of_rows
    options |= {"positive": label_written(source, requested.positive), "n_jobs": requested.n_jobs}
    with worded_warnings(findings=requested.as_json), shown_progress():
        curve = risk_curve(pipeline, params, source.X, source.y, **options)
    found = curve[0] if curve.procedure is None else curve.procedure
    show(found.to_json() if requested.as_json else _described(found))
    say_columns(source.columns, found.findings)


def read_model(
    label: str, settings: tuple[str, ...], source: Source
) -> tuple[Any, dict[str, list[Any]] | None, dict[str, Any]]:
    """Return the learner of a name with its setting and grid.

    Short names refer to its last step.
    """
    check_present("truerisk.models.learners")
    from truerisk.estimation.outer_splits import n_parts
    from truerisk.models.learners import learner

    size: dict[str, Any] = {"n_rows": len(source.y), "n_classes": source.n_classes}
    size["parts"] = n_parts(source, [None])
    pipeline, grid = learner(label, source.task, **size, **source.layout)
    # `max_depth` stands for `model__max_depth`. If two names end alike, the outer one is meant.
    inside = [name for name in pipeline.get_params() if name.startswith("model__")]
    deepest_first = sorted(inside, key=lambda name: -name.count("__"))
    names = {name.rpartition("__")[2]: name for name in [*deepest_first, *grid]}
    params = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise click.UsageError(f"--set {setting}: write NAME=VALUE, e.g. n_neighbors=5.")
        full = name if name in pipeline.get_params() else names.get(name)
        if full is None:
            raise click.UsageError(
                f"--set {setting}: {label} has no parameter {name!r}{closest(name, names) or '.'} "
                f"It has: {', '.join(sorted(names))}."
            )
        if full in params:
            raise click.UsageError(f"--set {name} is given twice; a model has one setting.")
        params[full] = [_value(value)]
    return pipeline, params or None, grid


def _value(text: str) -> Any:
    """Return a number, true, false or null as JSON writes them; anything else as text.

    >>> _value(".3"), _value("1e-3"), _value("auto")
    (0.3, 0.001, 'auto')
    """
    words = {"True": True, "False": False, "None": None}
    if text in words:
        return words[text]
    # This is a number, although not in JSON.
    if re.fullmatch(r"[+-]?(\d+\.|\.\d+)(e[+-]?\d+)?", text):
        return float(text)
    try:
        return json.loads(text)
    except ValueError:
        return text


def _described(found: Any) -> str:
    from truerisk.results.sentences import estimate_rows

    rows = estimate_rows(found)
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)
