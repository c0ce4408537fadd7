"""Implementation of `truerisk assess`: compare tuned learners on a file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

import click

from truerisk.assessment.assess import Interrupted
from truerisk.assessment.assess import assess as assess_learners
from truerisk.assessment.assessment import Assessment
from truerisk.assessment.families import families_from_names
from truerisk.assessment.forecast import MANY_FITS, forecast, planned_fits
from truerisk.assessment.schedule import method_name_by_size
from truerisk.cli.gate import (
    add_scores_with_bound,
    bounds_as_options,
    judge_bounds,
    refuse_invalid_bounds,
)
from truerisk.cli.options import format_command_line, parse_splits
from truerisk.cli.output import (
    print_column_numbers,
    print_stderr,
    print_warnings_at_end,
    show,
    show_progress,
    split_at_commas,
    write_page,
)
from truerisk.cli.reviews import VALIDATION_OPTIONS, validation_arguments
from truerisk.cli.signals import interruption_exit_code, interruption_message
from truerisk.cli.source import Source, label_from_text, read_source_and_print_notes
from truerisk.core.formats import format_seconds
from truerisk.core.tables import text_table
from truerisk.data.data import Data
from truerisk.estimation.outer_splits import max_n_parts
from truerisk.estimation.problem import EstimationProblem, problem_from_data
from truerisk.methods.words import DEFAULT_FOLDS, name_default_method

PlanArguments = tuple[list[Any] | None, str | None, str | list[str] | None]
"""Values of --cv, --outer and --learning-curve: the methods that choose hyperparameter settings,
the method that tests the choice, and the learners whose learning curve is measured."""

FEWEST_ROWS = 5  # Five folds, the default, need at least five rows.
OPTIONS_WITHOUT_EFFECT_ON_NUMBERS = (
    "report",
    "figures",
    "as_json",
    "n_jobs",
    "store",
    "mixed_versions",
)
"""Options of `truerisk assess` that do not affect any number in the result."""


def run(args: Any) -> int:
    """Assess the learners that the options request, print the result and return the exit code."""
    method_names = split_at_commas("--cv", args.cv, "method", "10-fold")
    splitting_methods: list[Any] | None = method_names and [
        parse_splits(method_name) for method_name in method_names
    ]
    if args.mixed_versions and args.store is None:
        raise click.UsageError("--mixed-versions needs --store.")
    given_review_options = [name for name in VALIDATION_OPTIONS if getattr(args, name) is not None]
    # Options of a validation have an effect only with --validate.
    if given_review_options and not args.validate:
        raise click.UsageError(f"--{given_review_options[0]} needs --validate.")
    source = read_source_and_print_notes(args)
    assess_arguments: dict[str, Any] = {"rule": args.rule, **source.row_arguments}
    assess_arguments |= {"confidence_level": args.confidence, "random_state": args.seed}
    assess_arguments |= {
        "scoring": add_scores_with_bound(args.scoring, args.min_score, source.task)
    }
    assess_arguments |= {"positive": label_from_text(source, args.positive), "n_jobs": args.n_jobs}
    learner_families = _make_learner_families(
        source, args.models, (*(splitting_methods or (None,)), args.outer)
    )
    learning_curves: str | list[str] | None = args.learning_curve
    if learning_curves not in (None, "cheap", "all"):
        learning_curves = split_at_commas(
            "--learning-curve", args.learning_curve, "learner", "knn,lda"
        )
    validation_options = validation_arguments(source, args) if args.validate else None
    _report_default_plan(source, splitting_methods, args.outer)
    plan_arguments, requested_bounds = (
        (splitting_methods, args.outer, learning_curves),
        (args.fail_above, args.min_score),
    )
    has_plan_options = any(argument is not None for argument in plan_arguments)
    needs_problems = (
        has_plan_options or args.dry_run or args.fail_above is not None or args.min_score
    )
    problem_by_learner = (
        _make_problems(source, learner_families, assess_arguments) if needs_problems else {}
    )
    for first_problem in [*problem_by_learner.values()][:1]:
        refuse_invalid_bounds(
            *requested_bounds, {loss.name: loss.scale for loss in first_problem.losses}
        )
    if args.dry_run:
        for output_path in (args.report, args.figures):
            if output_path is not None:
                print_stderr(f"note: a dry run writes nothing to {output_path}")
        if args.store is not None:
            print_stderr(f"note: a dry run does not look into {args.store}")
        if args.fail_above is not None or args.min_score:
            print_stderr(f"note: a dry run judges no bound: {bounds_as_options(*requested_bounds)}")
        return _print_forecast(problem_by_learner, plan_arguments, as_json=args.as_json)
    if has_plan_options:
        _report_cost(source, problem_by_learner, plan_arguments)
    assess_arguments |= {
        "cv": splitting_methods,
        "outer": args.outer,
        "learning_curve": learning_curves,
    }
    assess_arguments |= {"store": args.store, "mixed_versions": args.mixed_versions}
    assess_arguments |= {"checks": args.checks}
    result, exit_code = _assess_and_print(
        source, learner_families, assess_arguments | {"validate": validation_options}, args
    )
    return exit_code or judge_bounds(result, *requested_bounds)


def _default_method(source: Source) -> str:
    """Return the name of the default resampling method for these data."""
    return name_default_method(source, method_name_by_size(len(source.y)))


def _report_default_plan(
    source: Source, splitting_methods: list[Any] | None, outer_method: str | None
) -> None:
    """Print a note if the default resampling method is not five folds, but cheaper or temporal."""
    default_method, n_rows = _default_method(source), len(source.y)
    if splitting_methods is None and default_method != DEFAULT_FOLDS:
        # With K folds, pairs of folds test the choice of a setting, so --outer has no default.
        has_default_outer = outer_method is None and not default_method.endswith("-fold")
        options_phrase = "--cv and --outer are" if has_default_outer else "--cv is"
        print_stderr(f"note: {n_rows:,} rows: {options_phrase} {default_method}")


def _report_cost(
    source: Source, problem_by_learner: dict[str, EstimationProblem], plan_arguments: PlanArguments
) -> None:
    """Print the number of planned fits if it is large, and the number that the default needs."""
    n_fits, n_curve_fits = planned_fits(problem_by_learner, *plan_arguments)
    if n_curve_fits:
        note_start = (
            f"note: {n_fits + n_curve_fits:,} fits are planned, {n_curve_fits:,} of them for "
            "learning "
        )
        print_stderr(f"{note_start}curves. --dry-run estimates the seconds.")
    if n_curve_fits or n_fits <= MANY_FITS:
        return
    default_plan_text, n_rows = "", len(source.y)
    if n_rows >= FEWEST_ROWS:
        n_default_fits, _ = planned_fits(problem_by_learner, None, None)
        default_plan_text = f"; {_default_method(source)}, the usual way, needs {n_default_fits:,}"
    print_stderr(
        f"note: {n_fits:,} fits are planned{default_plan_text}. --dry-run estimates the seconds."
    )


def _make_problems(
    source: Source, learner_families: dict[str, Any], assess_arguments: dict[str, Any]
) -> dict[str, EstimationProblem]:

    problem_options = {
        name: value for name, value in assess_arguments.items() if name not in source.row_arguments
    }
    with print_warnings_at_end():
        data = Data.check(source.X, source.y, task=source.task, **source.row_arguments)
        return {
            name: problem_from_data(data, learner_family, **problem_options)
            for name, learner_family in learner_families.items()
        }


def _make_learner_families(
    source: Source, models_text: str | None, splitting_methods: Iterable[Any]
) -> dict[str, Any]:

    return families_from_names(
        split_at_commas("--models", models_text, "learner", "knn,tree"),
        source.task,
        n_classes=source.n_classes,
        n_rows=len(source.y),
        parts=max_n_parts(source, splitting_methods),
        columns=source.column_layout,
    )


def _assess_and_print(
    source: Source, learner_families: dict[str, Any], assess_arguments: dict[str, Any], args: Any
) -> tuple[Assessment | None, int]:
    """Assess the learners, print the result, and return it with the exit code.

    The result is None if the run was interrupted before any learner was assessed.
    """
    exit_code, store_path = 0, args.store
    try:
        with print_warnings_at_end(findings=args.as_json), show_progress():
            result = assess_learners(learner_families, source.X, source.y, **assess_arguments)
    except Interrupted as interruption:
        if store_path is not None:
            resume_hint = f"the fits are kept in {store_path}: run the same command to continue."
            print_stderr(f"{interruption_message()}; {resume_hint}")
        if interruption.partial is None:
            if store_path is None:
                raise
            return None, interruption_exit_code()
        result, exit_code = interruption.partial, interruption_exit_code()
        missing_learners = ", ".join(interruption.missing)
        print_stderr(
            f"{interruption_message()}: {missing_learners} not assessed; what was done follows."
        )
    if result.kept is not None:
        print_stderr(
            f"note: {store_path}: {result.kept.reused:,} fits found, {result.kept.added:,} added"
        )
    command = format_command_line(click.get_current_context(), OPTIONS_WITHOUT_EFFECT_ON_NUMBERS)
    result = replace(result, source=source.name, command=command, column_names=source.columns)
    if result.validation is not None:
        result = replace(result, validation=result.validation.with_names(source.columns))
    # Writing the HTML page makes further fits, which may raise warnings.
    with print_warnings_at_end():
        show(result.to_json() if args.as_json else str(result))
        write_page(result, args.report, args.figures)
    print_column_numbers(source.columns, result.findings)
    return result, exit_code


def _print_forecast(
    problem_by_learner: dict[str, EstimationProblem],
    plan_arguments: PlanArguments,
    *,
    as_json: bool,
) -> int:

    with print_warnings_at_end():
        forecasts = forecast(problem_by_learner, *plan_arguments)
    total_fits, total_seconds = (
        sum(learner_forecast.fits for learner_forecast in forecasts),
        sum(learner_forecast.seconds for learner_forecast in forecasts),
    )
    if as_json:
        forecast_document = {
            "schema": "truerisk.forecast/2",
            "fits": total_fits,
            "seconds": total_seconds,
            "learners": [asdict(learner_forecast) for learner_forecast in forecasts],
        }
        show(json.dumps(forecast_document))
        return 0
    table_rows = [
        [
            learner_forecast.learner,
            str(learner_forecast.settings),
            str(learner_forecast.fits),
            format_seconds(learner_forecast.seconds),
        ]
        for learner_forecast in forecasts
    ]
    table_rows.append(["all", "", str(total_fits), format_seconds(total_seconds)])
    show(text_table(["learner", "settings", "fits", "about"], table_rows))
    return 0
