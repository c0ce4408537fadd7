"""`truerisk plan`: how many rows to train on and to test, and how tuning and testing share them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import click

from truerisk.cli.options import (
    combine_options,
    confidence_option,
    json_option,
    n_jobs_option,
    pass_options_as_namespace,
)
from truerisk.cli.output import print_stderr, print_warnings_at_end, show, show_progress
from truerisk.cli.source import (
    Source,
    make_search,
    outcome_options,
    read_source,
    reading_options,
    source_arguments,
    source_options,
)
from truerisk.core.errors import BadData
from truerisk.core.registry import check_present

FEWEST_ROWS = 10  # Each of the five default folds has at least two rows.

ExpectedError = tuple[int | None, float]


def _read_errors(
    ctx: click.Context, option: click.Parameter, error_texts: tuple[str, ...]
) -> list[ExpectedError]:
    """Parse values of --error such as `.15`, or `120:.15` for the error with 120 training rows."""
    expected_errors: list[ExpectedError] = []
    for error_text in error_texts:
        n_rows, colon, error = error_text.rpartition(":")
        try:
            expected_errors.append(((int(n_rows) if colon else None), float(error)))
        except ValueError:
            raise click.BadParameter(
                f"{error_text!r} is neither an error (.15) nor rows and their error (120:.15)."
            ) from None
    return expected_errors


@click.command()
@source_options
@outcome_options
@click.option(
    "--error",
    "errors",
    callback=_read_errors,
    multiple=True,
    metavar="[ROWS:]ERROR",
    help="The expected error; with ROWS, after training on so many. Repeat for a learning curve.",
)
@click.option(
    "--model", metavar="WORD", help="Measure the learning curve of this learner, tuned, on FILE."
)
@click.option("--width", type=float, help="Width of the interval that is wanted.")
@click.option("--rows", type=int, metavar="N", help="Rows that tuning and testing share.")
@confidence_option("--level")
@click.option(
    "--assurance",
    type=float,
    default=0.9,
    show_default=True,
    help="Probability with which the interval shall be no wider.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@json_option
@n_jobs_option
@reading_options
@pass_options_as_namespace
def plan(args: Any) -> int:
    """Plan a test: how many rows for an interval of a width, how tuning and testing share N rows.

    \b
    truerisk plan --error .15 --width .05
    truerisk plan --error 30:.25 --error 60:.21 --error 150:.19 --rows 180
    truerisk plan pilot.csv --target y --model knn --rows 400
    """  # noqa: D301 - \b is for click
    check_present("truerisk.planning.plan_sample")
    from truerisk.planning.plan_sample import plan_sample

    has_pilot = args.model is not None or any(
        value is not None for value in source_arguments(args).values()
    )
    if has_pilot and args.errors:
        raise click.UsageError("--error and FILE both give the error to expect: leave one out.")
    if not has_pilot and not args.errors:
        raise click.UsageError("Missing option '--error', or FILE with --target and --model.")
    if not has_pilot and args.width is None and args.rows is None:
        raise click.UsageError("say what to plan: --width, --rows, or both.")
    plan_options = {"width": args.width, "n": args.rows, "assurance": args.assurance}
    plan_options["confidence_level"] = args.confidence
    if not has_pilot:
        sample_plan = plan_sample(_error_or_learning_curve(args.errors), **plan_options)
        show(sample_plan.to_json() if args.as_json else str(sample_plan))
        return 0
    source, is_test_planned = (
        read_source(**source_arguments(args)),
        args.width is not None or args.rows is not None,
    )
    if is_test_planned and source.task != "classification":
        raise BadData(
            "--width and --rows plan a test of the share of errors, and the target has no classes: "
            "leave them out to see the learning curve alone."
        )
    learning_curve = _measure_curve(source, args.n_jobs, args)
    plan_document, plan_texts = {"curve": learning_curve.to_dict()}, [str(learning_curve)]
    if is_test_planned:
        sample_plan = plan_sample(learning_curve, **plan_options)
        plan_document, plan_texts = (
            {**plan_document, **sample_plan.to_dict()},
            [*plan_texts, str(sample_plan)],
        )
    show(json.dumps(plan_document, allow_nan=False) if args.as_json else "\n\n".join(plan_texts))
    return 0


def _error_or_learning_curve(expected_errors: list[ExpectedError]) -> Any:
    """Return the single expected error, or a mapping from training set sizes to errors."""
    training_set_sizes = [n_training_rows for n_training_rows, _ in expected_errors]
    if len(expected_errors) > 1 and None in training_set_sizes:
        raise click.UsageError("several --error are a learning curve: write each as ROWS:ERROR.")
    if len(set(training_set_sizes)) < len(training_set_sizes):
        raise click.UsageError("two --error are of the same number of training rows.")
    error_by_size = {
        n_training_rows: error
        for n_training_rows, error in expected_errors
        if n_training_rows is not None
    }
    return error_by_size or expected_errors[0][1]


def _measure_curve(source: Source, n_jobs: Any, args: Any) -> Any:
    """Measure the learning curve of a learner; its grid suits the curve's smallest training set."""
    if args.model is None:
        raise click.UsageError("--model is missing: the learning curve of which learner?")
    for source_note in source.notes:
        print_stderr(f"note: {source_note}")
    check_present("truerisk.diagnostics.learning_curve")
    from truerisk.diagnostics.learner_by_size import MAX_SIZE_RATIO
    from truerisk.diagnostics.learning_curve import learning_curve

    n_rows = len(source.y)
    search = make_search(
        args.model,
        source,
        n_rows=max(FEWEST_ROWS, n_rows // (2 * MAX_SIZE_RATIO)),
        confidence_level=args.confidence,
        n_jobs=n_jobs,
        random_state=args.seed,
    )
    with print_warnings_at_end(), show_progress():
        return learning_curve(search, source.X, source.y, groups=source.groups)


def _numeric_options(help_by_option: Mapping[str, str]) -> Callable[[Any], Any]:
    """Return a decorator that adds numeric options to a command, given their help texts."""
    return combine_options(
        *(
            click.option(f"--{name.replace('_', '-')}", type=float, help=help_text)
            for name, help_text in help_by_option.items()
        )
    )


def _print_plan(
    plan_function: Callable[..., Any], confidence: float, as_json: bool, plan_options: Any
) -> int:
    given_options = {name: value for name, value in plan_options.items() if value is not None}
    sample_size_plan = plan_function(confidence_level=confidence, **given_options)
    show(sample_size_plan.to_json() if as_json else str(sample_size_plan))
    return 0


@click.command()
@click.option(
    "--outcome",
    type=click.Choice(["binary", "continuous", "time-to-event"]),
    default="binary",
    show_default=True,
)
@click.option(
    "--parameters",
    type=int,
    required=True,
    help="Number of parameters of all candidate predictors.",
)
@_numeric_options(
    {
        "r2": "The R² to expect: of Cox and Snell, or the share of the variance.",
        "nagelkerke": "In place of --r2: the R² of Nagelkerke.",
        "auc": "In place of --r2: the AUC to expect.",
        "prevalence": "The share of people with the event.",
        "rate": "Events per person and unit of time.",
        "horizon": "The time up to which risks are predicted.",
        "follow_up": "How long people are followed on average.",
        "mean": "The mean of an outcome that is a number.",
        "sd": "The standard deviation of an outcome that is a number.",
        "shrinkage": "The smallest shrinkage factor of the effects to accept.  [default: 0.9]",
        "optimism": "The largest overestimation of R² to accept.  [default: 0.05]",
        "margin": "The largest half-width of the interval of the overall risk.  [default: 0.05]",
        "ratio": "The largest factor between mean or residual SD and their limits.  [default: 1.1]",
    }
)
@confidence_option()
@json_option
def development(confidence: float, as_json: bool, **options: Any) -> int:
    """Plan how many rows it takes to develop a prediction model (Riley et al.).

    \b
    truerisk plan development --parameters 24 --prevalence .174 --r2 .288
    truerisk plan development --outcome continuous --parameters 25 --r2 .2 --mean 1.9 --sd .6
    """  # noqa: D301 - \b is for click
    check_present("truerisk.planning.plan_model")
    from truerisk.planning.plan_model import plan_development

    return _print_plan(plan_development, confidence, as_json, options)


@click.command()
@click.option(
    "--outcome",
    type=click.Choice(["binary", "continuous", "time-to-event"]),
    default="binary",
    show_default=True,
)
@click.option(
    "--linear-predictor",
    type=(float, float),
    metavar="MEAN SD",
    help="Mean and SD of the log odds that the model predicts, if they are about normal.",
)
@_numeric_options(
    {
        "prevalence": "The share of people with the event.",
        "auc": "The AUC to expect.",
        "r2": "The R² to expect of an outcome that is a number.",
        "sd": "The standard deviation of an outcome that is a number.",
        "threshold": "Plan also for the net benefit at this probability.",
        "sensitivity": "The sensitivity to expect at the threshold.",
        "specificity": "The specificity to expect at the threshold.",
        "oe_width": "Width of the interval of observed over expected events.  [default: 0.2]",
        "slope_width": "Width of the interval of the slope.  [default: 0.2]",
        "auc_width": "Width of the interval of the AUC.  [default: 0.1]",
        "benefit_width": "Width of the interval of the standardised net benefit.  [default: 0.2]",
        "r2_width": "Width of the interval of R².  [default: 0.1]",
        "mean_width": "Width of the interval of the mean error, in the unit of the outcome.",
        "ratio": "The largest factor between the residual SD and its limits.  [default: 1.1]",
        "rate": "For a time to an event: events per person and unit of time.",
        "horizon": "The time by which the model predicts the risk of the event.",
        "follow_up": "How long people are followed on average.",
        "concordance": "The Harrell's C to expect.",
        "concordance_width": "Width of the interval of Harrell's C.  [default: 0.1]",
    }
)
@confidence_option()
@json_option
def validation(confidence: float, as_json: bool, **options: Any) -> int:
    """Plan how many rows it takes to validate a prediction model in other people (Riley et al.).

    \b
    truerisk plan validation --prevalence .1 --auc .75
    truerisk plan validation --prevalence .1 --auc .75 --threshold .1
    truerisk plan validation --outcome continuous --r2 .5 --sd 20 --mean-width 10
    """  # noqa: D301 - \b is for click
    check_present("truerisk.planning.plan_validation")
    from truerisk.planning.plan_validation import plan_validation

    return _print_plan(plan_validation, confidence, as_json, options)
