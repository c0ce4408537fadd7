"""The body of `truerisk assess`: compare tuned learners on a file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

import click

from truerisk.assessment.assess import Interrupted
from truerisk.assessment.assess import assess as assess_learners
from truerisk.assessment.assessment import Assessment
from truerisk.assessment.families import named_families
from truerisk.assessment.forecast import MANY, forecast, planned_fits
from truerisk.assessment.schedule import method_name_by_size
from truerisk.cli.gate import judged, named_bounds, refuse_bounds, with_bounded
from truerisk.cli.options import splits_name, typed
from truerisk.cli.output import (
    listed,
    say,
    say_columns,
    show,
    shown_progress,
    worded_warnings,
    write_page,
)
from truerisk.cli.reviews import REVIEWED, reviewed
from truerisk.cli.signals import interrupted_code, interruption_message
from truerisk.cli.source import Source, label_written, source_of
from truerisk.core.formats import seconds
from truerisk.core.tables import text_table
from truerisk.data.data import Data
from truerisk.estimation.outer_splits import n_parts
from truerisk.estimation.problem import Problem, problem_on
from truerisk.methods.words import USUAL_FOLDS, default_name

Planned = tuple[list[Any] | None, str | None, str | list[str] | None]
"""Methods that choose settings, the one that tests, and learners with a learning curve."""

FEWEST_ROWS = 5  # minimum number of rows for the usual five folds
WHERE_AND_HOW = ("report", "figures", "as_json", "n_jobs", "store", "mixed_versions")
"""Options that do not affect any number."""


def run(requested: Any) -> int:
    """Print the assessment that `truerisk assess` requests, and return the exit code."""
    words = listed("--cv", requested.cv, "method", "10-fold")
    methods: list[Any] | None = words and [splits_name(label) for label in words]
    if requested.mixed_versions and requested.store is None:
        raise click.UsageError("--mixed-versions needs --store.")
    review = [name for name in REVIEWED if getattr(requested, name) is not None]
    if review and not requested.validate:  # These options are only for a validation.
        raise click.UsageError(f"--{review[0]} needs --validate.")
    source = source_of(requested)
    options: dict[str, Any] = {"rule": requested.rule, **source.of_rows}
    options |= {"confidence_level": requested.confidence, "random_state": requested.seed}
    options |= {"scoring": with_bounded(requested.scoring, requested.min_score, source.task)}
    options |= {"positive": label_written(source, requested.positive), "n_jobs": requested.n_jobs}
    families = _families(source, requested.models, (*(methods or (None,)), requested.outer))
    curves: str | list[str] | None = requested.learning_curve
    if curves not in (None, "cheap", "all"):
        curves = listed("--learning-curve", requested.learning_curve, "learner", "knn,lda")
    validation = reviewed(source, requested) if requested.validate else None
    _say_plan(source, methods, requested.outer)
    plan, bounds = (methods, requested.outer, curves), (requested.fail_above, requested.min_score)
    planned = any(part is not None for part in plan)
    needed = planned or requested.dry_run or requested.fail_above is not None or requested.min_score
    problems = _problems(source, families, options) if needed else {}
    for problem in [*problems.values()][:1]:
        refuse_bounds(*bounds, {each.name: each.scale for each in problem.losses})
    if requested.dry_run:
        for place in (requested.report, requested.figures):
            if place is not None:
                say(f"note: a dry run writes nothing to {place}")
        if requested.store is not None:
            say(f"note: a dry run does not look into {requested.store}")
        if requested.fail_above is not None or requested.min_score:
            say(f"note: a dry run judges no bound: {named_bounds(*bounds)}")
        return _dry_run(problems, plan, as_json=requested.as_json)
    if planned:
        _say_cost(source, problems, plan)
    options |= {"cv": methods, "outer": requested.outer, "learning_curve": curves}
    options |= {"store": requested.store, "mixed_versions": requested.mixed_versions}
    options |= {"checks": requested.checks}
    result, code = _run(source, families, options | {"validate": validation}, requested)
    return code or judged(result, *bounds)


def _usual(source: Source) -> str:
    """Return the default method for the data."""
    return default_name(source, method_name_by_size(len(source.y)))


def _say_plan(source: Source, methods: list[Any] | None, outer: str | None) -> None:
    """Report if the default is not five folds, but a cheaper plan or one by time."""
    usual, n_rows = _usual(source), len(source.y)
    if methods is None and usual != USUAL_FOLDS:
        both = outer is None and not usual.endswith("-fold")  # Folds are tested by their pairs.
        options = "--cv and --outer are" if both else "--cv is"
        say(f"note: {n_rows:,} rows: {options} {usual}")


def _say_cost(source: Source, problems: dict[str, Problem], plan: Planned) -> None:
    """Report before very many fits are made, with the number that the usual methods need."""
    fits, of_curves = planned_fits(problems, *plan)
    if of_curves:
        text = f"note: {fits + of_curves:,} fits are planned, {of_curves:,} of them for learning "
        say(f"{text}curves. --dry-run estimates the seconds.")
    if of_curves or fits <= MANY:
        return
    usual, n_rows = "", len(source.y)
    if n_rows >= FEWEST_ROWS:
        fewer, _ = planned_fits(problems, None, None)
        usual = f"; {_usual(source)}, the usual way, needs {fewer:,}"
    say(f"note: {fits:,} fits are planned{usual}. --dry-run estimates the seconds.")


def _problems(
    source: Source, families: dict[str, Any], options: dict[str, Any]
) -> dict[str, Problem]:

    terms = {name: value for name, value in options.items() if name not in source.of_rows}
    with worded_warnings():
        data = Data.check(source.X, source.y, task=source.task, **source.of_rows)
        return {name: problem_on(data, family, **terms) for name, family in families.items()}


def _families(source: Source, models: str | None, tested_by: Iterable[Any]) -> dict[str, Any]:

    return named_families(
        listed("--models", models, "learner", "knn,tree"),
        source.task,
        n_classes=source.n_classes,
        n_rows=len(source.y),
        parts=n_parts(source, tested_by),
        columns=source.layout,
    )


def _run(
    source: Source, families: dict[str, Any], options: dict[str, Any], requested: Any
) -> tuple[Assessment | None, int]:
    """Return the assessment (None if no learner was assessed) and the exit code."""
    code, store = 0, requested.store
    try:
        with worded_warnings(findings=requested.as_json), shown_progress():
            result = assess_learners(families, source.X, source.y, **options)
    except Interrupted as stopped:
        if store is not None:
            hint = f"the fits are kept in {store}: run the same command to continue."
            say(f"{interruption_message()}; {hint}")
        if stopped.partial is None:
            if store is None:
                raise
            return None, interrupted_code()
        result, code = stopped.partial, interrupted_code()
        missing = ", ".join(stopped.missing)
        say(f"{interruption_message()}: {missing} not assessed; what was done follows.")
    if result.kept is not None:
        say(f"note: {store}: {result.kept.reused:,} fits found, {result.kept.added:,} added")
    command = typed(click.get_current_context(), WHERE_AND_HOW)
    result = replace(result, source=source.name, command=command, column_names=source.columns)
    if result.validation is not None:
        result = replace(result, validation=result.validation.with_names(source.columns))
    with worded_warnings():  # The page needs some more fits, which may warn.
        show(result.to_json() if requested.as_json else str(result))
        write_page(result, requested.report, requested.figures)
    say_columns(source.columns, result.findings)
    return result, code


def _dry_run(problems: dict[str, Problem], plan: Planned, *, as_json: bool) -> int:

    with worded_warnings():
        expected = forecast(problems, *plan)
    fits, time = sum(f.fits for f in expected), sum(f.seconds for f in expected)
    if as_json:
        content = {
            "schema": "truerisk.forecast/2",
            "fits": fits,
            "seconds": time,
            "learners": [asdict(f) for f in expected],
        }
        show(json.dumps(content))
        return 0
    rows = [[f.learner, str(f.settings), str(f.fits), seconds(f.seconds)] for f in expected]
    rows.append(["all", "", str(fits), seconds(time)])
    show(text_table(["learner", "settings", "fits", "about"], rows))
    return 0
