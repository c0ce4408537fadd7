"""`truerisk validate`: what a reviewer of a model asks, on a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from warnings import catch_warnings

import click
from click.core import ParameterSource

from truerisk.cli.estimate import read_model
from truerisk.cli.gate import gate_options, judged, refuse_bounds, with_bounded
from truerisk.cli.options import (
    confidence_option,
    cv_option,
    gathered,
    json_option,
    n_jobs_option,
    page_options,
    scoring_option,
    typed,
)
from truerisk.cli.output import say, show, shown_progress, worded_warnings, write_page
from truerisk.cli.reviews import review_options, reviewed
from truerisk.cli.source import (
    Source,
    label_written,
    order_options,
    outcome_options,
    read_source,
    reading_options,
    source_options,
    words_of,
)
from truerisk.core.errors import BadData

WHERE_AND_HOW = ("report", "figures", "checklist", "as_json", "n_jobs")
"""Options that no number depends on."""


@click.command()
@source_options
@outcome_options
@order_options
@click.option("--model", default="logistic", show_default=True, metavar="WORD", help="A learner.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the model, which is then not tuned.",
)
@click.option(
    "--predictions",
    metavar="COL",
    help="Instead of a model: the column of what a finished one said, probabilities of the event "
    "or numbers; nothing is fitted.",
)
@cv_option
@scoring_option
@review_options(replicates=50)
@gate_options
@confidence_option()
@page_options
@click.option(
    "--checklist", metavar="PATH", type=click.Path(), help="Write it: .docx, .xlsx or .csv."
)
@json_option
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@n_jobs_option
@reading_options
@gathered
def validate(asked: Any) -> int:
    """Validate a tuned learner on FILE: discrimination, calibration, net benefit.

    \b
    truerisk validate data.csv --target y --report validation.html
    truerisk validate --dataset breast-cancer --model forest --clip .001 --replicates 50
    truerisk validate others.csv --target y --predictions p
    """  # noqa: D301 - \b is for click
    if asked.checklist is not None:
        from truerisk.validation.checklists.checklist_file import table_place

        table_place(asked.checklist)
    source = read_source(**words_of(asked))
    from truerisk.readers.cells import quoted

    about = "target ", f"column {quoted(asked.predictions)} "
    for note in source.notes:
        if asked.predictions is None or note.startswith(about):
            say(f"note: {note}")
    from truerisk.core.family import Family
    from truerisk.losses.survival_losses import BrierAt
    from truerisk.results.interval import Scale
    from truerisk.search.search import HonestSearchCV
    from truerisk.validation.validate import run_to_validate
    from truerisk.validation.validate import validate as validated
    from truerisk.validation.validation import SCORES

    ranked = {"r2"} if source.task == "regression" else dict(SCORES.values()).keys()
    X, scales = source.X, {"risk": Scale()}
    finished: dict[str, Any] = {}
    if asked.predictions is not None:
        _refuse_fits(click.get_current_context())
        search, X = _as_given(source, asked.predictions, asked.positive)
        finished = {"prefit": True, "confidence_level": asked.confidence}
        asked.replicates = None
    else:
        pipeline, params, grid = read_model(asked.model, asked.settings, source)
        terms = {"confidence_level": asked.confidence, "random_state": asked.seed}
        words = {"cv": asked.cv, "n_jobs": asked.n_jobs, **terms}
        bounded = [name for name in asked.min_score if name not in ranked]
        bounded = bounded if source.task == "survival" else []  # which has scores of its own
        scoring: Any = asked.scoring
        if scoring is None and source.task == "survival" and asked.horizon is not None:
            scoring = BrierAt(asked.horizon)
        elif scoring is None and source.task == "classification":
            made = Family.of(pipeline, params or grid or None).make(0)
            scoring = "log" if hasattr(made, "predict_proba") else None
        scoring = with_bounded(scoring, bounded, source.task)
        search = HonestSearchCV(pipeline, params or grid or None, scoring=scoring, **words)
        if asked.scoring is not None or bounded:
            rows = {"groups": None, **source.of_rows, "params": {}, "seed": asked.seed}
            with catch_warnings(action="ignore"):  # those of the validation are the same
                problem = run_to_validate(search, X, source.y, **rows).problem
            rated = [loss.rated(problem.data) for loss in problem.losses]
            if any(code is not None for code in rated):  # of the event, as all of the page is
                search.positive = label_written(source, asked.positive)
            scales = {each.word: each.scale for each in problem.losses}
    measured = scales | {name: Scale(most) for name, most in SCORES.values() if name in ranked}
    refuse_bounds(asked.fail_above, asked.min_score, measured)
    with worded_warnings(), shown_progress():
        found = validated(
            search,
            X,
            source.y,
            **finished,
            **source.of_rows,
            random_state=asked.seed,
            **reviewed(source, asked),
        ).with_names(source.columns if asked.predictions is None else (asked.predictions,))
    command = typed(click.get_current_context(), WHERE_AND_HOW)
    found = replace(found, command=command)
    if asked.checklist is not None and found.checklist is not None:
        found.checklist.save(asked.checklist)
        say(f"wrote {asked.checklist}")
    show(found.to_json() if asked.as_json else str(found))
    write_page(found, asked.report, asked.figures)
    return judged(found, asked.fail_above, asked.min_score)


OF_FITS = ("model", "settings", "cv", "scoring", "replicates")


def _refuse_fits(context: click.Context) -> None:
    """Refuse options that say how models are fitted and tuned."""
    for option in context.command.params:
        name = str(option.name)
        is_typed = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if name in OF_FITS and is_typed:
            raise click.UsageError(
                f"{option.opts[0]} is not for --predictions, where nothing is fitted: leave it out."
            )


def _as_given(source: Source, column: str, positive: str | None) -> tuple[Any, Any]:
    """A finished model that says what stands in a column, and that column."""
    import numpy as np

    if not source.columns:
        raise click.UsageError("--predictions names a column of a FILE: a --dataset has none.")
    from truerisk.core.present import clean
    from truerisk.validation.updating import UpdatedNumbers, UpdatedProbabilities

    named, of_two = f"--predictions {clean(column, 40)}", source.task == "classification"
    numbers = [n for n, words in zip(source.columns, source.levels, strict=True) if not words]
    if column not in numbers:
        known = clean(", ".join(numbers), 160)
        raise BadData(f"{named} is no column of numbers: the file has {known}.")
    said = source.X[:, [source.columns.index(column)]].astype(np.float64)
    low, high = (0.0, 1.0) if of_two else (-np.inf, np.inf)
    wrong = np.flatnonzero(~(np.isfinite(said) & (said >= low) & (said <= high)))
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
        return UpdatedNumbers().fit(said, source.y), said
    if source.n_classes != 2:
        raise BadData(f"{named} is of one of two classes, and the target has {source.n_classes}.")
    event = label_written(source, positive)
    if event is not None and event == np.unique(source.y)[0]:
        said = 1 - said  # the model speaks of the second class
    return UpdatedProbabilities().fit(said, source.y), said
