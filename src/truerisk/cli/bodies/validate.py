"""The body of `truerisk validate`: validate a tuned learner, or predictions, on a file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from warnings import catch_warnings

import click
import numpy as np
from click.core import ParameterSource

from truerisk.cli.estimate import read_model
from truerisk.cli.gate import judged, refuse_bounds, with_bounded
from truerisk.cli.options import typed
from truerisk.cli.output import say, show, shown_progress, worded_warnings, write_page
from truerisk.cli.reviews import reviewed
from truerisk.cli.source import Source, label_written, read_source, words_of
from truerisk.core.errors import BadData
from truerisk.core.family import Family
from truerisk.core.formats import clean
from truerisk.core.registry import check_present
from truerisk.readers.cells import quoted
from truerisk.results.interval import Scale
from truerisk.search.search import HonestSearchCV
from truerisk.validation.updating import UpdatedNumbers, UpdatedProbabilities
from truerisk.validation.validate import problem_to_validate
from truerisk.validation.validate import validate as validated
from truerisk.validation.validation import SCORES

WHERE_AND_HOW = ("report", "figures", "checklist", "as_json", "n_jobs")
"""Options that do not affect any number."""


def run(requested: Any) -> int:
    """Print the validation that `truerisk validate` requests, and return the exit code."""
    if requested.checklist is not None:
        check_present("truerisk.validation.checklists.checklist_file")
        from truerisk.validation.checklists.checklist_file import table_place

        table_place(requested.checklist)
    source = read_source(**words_of(requested))

    about = "target ", f"column {quoted(requested.predictions)} "
    for note in source.notes:
        if requested.predictions is None or note.startswith(about):
            say(f"note: {note}")

    ranked = {"r2"} if source.task == "regression" else dict(SCORES.values()).keys()
    X, scales = source.X, {"risk": Scale()}
    finished: dict[str, Any] = {}
    if requested.predictions is not None:
        _refuse_fits(click.get_current_context())
        search, X = _as_given(source, requested.predictions, requested.positive)
        finished = {"prefit": True, "confidence_level": requested.confidence}
        requested.replicates = None
    else:
        pipeline, params, grid = read_model(requested.model, requested.settings, source)
        terms = {"confidence_level": requested.confidence, "random_state": requested.seed}
        words = {"cv": requested.cv, "n_jobs": requested.n_jobs, **terms}
        bounded = [name for name in requested.min_score if name not in ranked]
        # Survival tasks have their own scores.
        bounded = bounded if source.task == "survival" else []
        scoring: Any = requested.scoring
        if scoring is None and source.task == "survival" and requested.horizon is not None:
            check_present("truerisk.losses.survival_losses")
            from truerisk.losses.survival_losses import BrierAt

            scoring = BrierAt(requested.horizon)
        elif scoring is None and source.task == "classification":
            made = Family.from_grid(pipeline, params or grid or None).make(0)
            scoring = "log" if hasattr(made, "predict_proba") else None
        scoring = with_bounded(scoring, bounded, source.task)
        search = HonestSearchCV(pipeline, params or grid or None, scoring=scoring, **words)
        if requested.scoring is not None or bounded:
            rows = {"groups": None, **source.of_rows, "params": {}, "seed": requested.seed}
            with catch_warnings(action="ignore"):  # `validate` warns again below.
                problem = problem_to_validate(search, X, source.y, **rows)
            rated = [loss.rated(problem.data) for loss in problem.losses]
            # The score is about the event, like everything on the page.
            if any(code is not None for code in rated):
                search.positive = label_written(source, requested.positive)
            scales = {each.name: each.scale for each in problem.losses}
    measured = scales | {name: Scale(most) for name, most in SCORES.values() if name in ranked}
    refuse_bounds(requested.fail_above, requested.min_score, measured)
    with worded_warnings(), shown_progress():
        found = validated(
            search,
            X,
            source.y,
            **finished,
            **source.of_rows,
            random_state=requested.seed,
            **reviewed(source, requested),
        ).with_names(source.columns if requested.predictions is None else (requested.predictions,))
    command = typed(click.get_current_context(), WHERE_AND_HOW)
    found = replace(found, command=command)
    if requested.checklist is not None and found.checklist is not None:
        found.checklist.save(requested.checklist)
        say(f"wrote {requested.checklist}")
    show(found.to_json() if requested.as_json else str(found))
    write_page(found, requested.report, requested.figures)
    return judged(found, requested.fail_above, requested.min_score)


OF_FITS = ("model", "settings", "cv", "scoring", "replicates")


def _refuse_fits(context: click.Context) -> None:
    """Raise for options that say how models are fitted and tuned."""
    for option in context.command.params:
        name = str(option.name)
        is_typed = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if name in OF_FITS and is_typed:
            raise click.UsageError(
                f"{option.opts[0]} is not for --predictions, where nothing is fitted: leave it out."
            )


def _as_given(source: Source, column: str, positive: str | None) -> tuple[Any, Any]:
    """Return a finished model that predicts the values in a column, and that column."""
    if not source.columns:
        raise click.UsageError("--predictions names a column of a FILE: a --dataset has none.")

    named, of_two = f"--predictions {clean(column, 40)}", source.task == "classification"
    numbers = [n for n, words in zip(source.columns, source.levels, strict=True) if not words]
    if column not in numbers:
        known = clean(", ".join(numbers), 160)
        raise BadData(f"{named} is no column of numbers: the file has {known}.")
    predictions = source.X[:, [source.columns.index(column)]].astype(np.float64)
    low, high = (0.0, 1.0) if of_two else (-np.inf, np.inf)
    wrong = np.flatnonzero(
        ~(np.isfinite(predictions) & (predictions >= low) & (predictions <= high))
    )
    if len(wrong):
        what = "probabilities" if of_two else "numbers"
        raise BadData(
            f"{named}: {len(wrong)} cells are no {what}, the first in row {wrong[0] + 1}. Give one "
            "for every row."
        )
    if source.task == "survival":
        raise click.UsageError(
            "--predictions are of classes or numbers: leave --event and --time-to-event out, or "
            "name a --model."
        )
    if not of_two:
        return UpdatedNumbers().fit(predictions, source.y), predictions
    if source.n_classes != 2:
        raise BadData(f"{named} is of one of two classes, and the target has {source.n_classes}.")
    event = label_written(source, positive)
    if event is not None and event == np.unique(source.y)[0]:
        predictions = 1 - predictions  # The model predicts the second class.
    return UpdatedProbabilities().fit(predictions, source.y), predictions
