"""`truerisk estimate`: the risk of one model on a table."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import click

from truerisk.cli.options import (
    checks_option,
    confidence_option,
    cv_option,
    json_option,
    n_jobs_option,
    pass_options_as_namespace,
    scoring_option,
)
from truerisk.cli.output import print_column_numbers, print_warnings_at_end, show, show_progress
from truerisk.cli.source import (
    Source,
    label_from_text,
    outcome_options,
    positive_option,
    read_source_and_print_notes,
    reading_options,
    source_options,
    time_and_block_options,
)
from truerisk.core.errors import Refusal
from truerisk.core.registry import check_present, suggestion_for


@click.command()
@source_options
@outcome_options
@time_and_block_options
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
@pass_options_as_namespace
def estimate(args: Any) -> None:
    """Estimate the risk of one model on FILE.

    \b
    truerisk estimate data.csv --target y --model knn --set n_neighbors=5 --cv loo
    """  # noqa: D301 - \b is for click
    source = read_source_and_print_notes(args)
    from truerisk.estimation.estimate import risk_curve

    pipeline, params, _ = make_model(args.model, args.settings, source)
    option_names = ("cv", "scoring")
    curve_arguments: dict[str, Any] = {name: getattr(args, name) for name in option_names}
    curve_arguments |= {"confidence_level": args.confidence, "random_state": args.seed}
    curve_arguments |= {"checks": args.checks}
    curve_arguments |= source.row_arguments
    curve_arguments |= {"positive": label_from_text(source, args.positive), "n_jobs": args.n_jobs}
    with print_warnings_at_end(findings=args.as_json), show_progress():
        curve = risk_curve(pipeline, params, source.X, source.y, **curve_arguments)
    result = curve[0] if curve.procedure is None else curve.procedure
    show(result.to_json() if args.as_json else _estimate_as_text(result))
    print_column_numbers(source.columns, result.findings)


def make_model(
    model_name: str, settings: tuple[str, ...], source: Source
) -> tuple[Any, dict[str, list[Any]] | None, dict[str, Any]]:
    """Return a learner's pipeline, its parameters set by --set (or None), and its default grid.

    Parameters may be named without the step: `max_depth` means `model__max_depth`.
    """
    check_present("truerisk.models.learners")
    from truerisk.estimation.outer_splits import max_n_parts
    from truerisk.models.learners import learner

    data_size: dict[str, Any] = {"n_rows": len(source.y), "n_classes": source.n_classes}
    data_size["parts"] = max_n_parts(source, [None])
    pipeline, grid = learner(model_name, source.task, **data_size, **source.column_layout)
    # A short name such as `max_depth` stands for the parameter with the fewest `__`.
    model_parameters = [name for name in pipeline.get_params() if name.startswith("model__")]
    names_deepest_first = sorted(model_parameters, key=lambda name: -name.count("__"))
    full_name_by_short_name = {
        name.rpartition("__")[2]: name for name in [*names_deepest_first, *grid]
    }
    params = {}
    for setting_text in settings:
        name, equals_sign, value_text = setting_text.partition("=")
        if not equals_sign:
            raise click.UsageError(f"--set {setting_text}: write NAME=VALUE, e.g. n_neighbors=5.")
        full_name = name if name in pipeline.get_params() else full_name_by_short_name.get(name)
        if full_name is None:
            raise click.UsageError(
                f"--set {setting_text}: {model_name} has no parameter "
                f"{name!r}{suggestion_for(name, full_name_by_short_name) or '.'} "
                f"It has: {', '.join(sorted(full_name_by_short_name))}."
            )
        if full_name in params:
            raise click.UsageError(f"--set {name} is given twice; a model has one setting.")
        params[full_name] = [_parse_value(value_text)]
    return pipeline, params or None, grid


def _parse_value(value_text: str) -> Any:
    """Convert the text of a parameter's value to a number, a boolean or None, or keep it as text.

    >>> _parse_value(".3"), _parse_value("1e-3"), _parse_value("auto")
    (0.3, 0.001, 'auto')
    """
    python_constants = {"True": True, "False": False, "None": None}
    if value_text in python_constants:
        return python_constants[value_text]
    # Numbers such as `.3` and `3.` are not valid in JSON.
    if re.fullmatch(r"[+-]?(\d+\.|\.\d+)(e[+-]?\d+)?", value_text):
        return float(value_text)
    try:
        return json.loads(value_text)
    except ValueError:
        return value_text


def _estimate_as_text(result: Any) -> str:
    from truerisk.results.counted_errors import zero_one_losses
    from truerisk.results.sentences import estimate_rows

    labelled_values = estimate_rows(result)
    with suppress(Refusal):  # Only independent errors are counted.
        losses = zero_one_losses(result)
        labelled_values.insert(1, ["errors", f"{losses.sum():.0f} of {len(losses)} tested rows"])
    label_width = max(len(name) for name, _ in labelled_values)
    return "\n".join(f"{name:<{label_width}}  {value}" for name, value in labelled_values)
