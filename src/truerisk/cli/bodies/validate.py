"""Implementation of `truerisk validate`: validate a tuned learner, or predictions, on a file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from warnings import catch_warnings

import click
from click.core import ParameterSource

from truerisk.cli.estimate import make_model
from truerisk.cli.gate import add_scores_with_bound, judge_bounds, refuse_invalid_bounds
from truerisk.cli.options import format_command_line
from truerisk.cli.output import print_stderr, print_warnings_at_end, show, show_progress, write_page
from truerisk.cli.reviews import validation_arguments
from truerisk.cli.source import Source, label_from_text, read_source, source_arguments
from truerisk.core.errors import BadData
from truerisk.core.family import Family
from truerisk.core.formats import escape_and_truncate
from truerisk.core.registry import check_present
from truerisk.readers.cells import quote
from truerisk.results.interval import Scale
from truerisk.search.search import HonestSearchCV
from truerisk.validation.given_predictions import make_finished_model
from truerisk.validation.validate import make_prefit_problem, make_validation_problem
from truerisk.validation.validate import validate as validated
from truerisk.validation.validation import SCORE_BY_MEASURE

OPTIONS_WITHOUT_EFFECT = ("report", "figures", "checklist", "as_json", "n_jobs")
"""Options of `truerisk validate` that do not affect any number in the result."""


def run(args: Any) -> int:
    """Validate the model that the options name, print the result and return the exit code."""
    if args.checklist is not None:
        check_present("truerisk.validation.checklists.checklist_file")
        from truerisk.validation.checklists.checklist_file import check_checklist_path

        check_checklist_path(args.checklist)
    source = read_source(**source_arguments(args))

    relevant_note_starts = "target ", f"column {quote(args.predictions)} "
    for source_note in source.notes:
        if args.predictions is None or source_note.startswith(relevant_note_starts):
            print_stderr(f"note: {source_note}")

    score_names = {"r2"} if source.task == "regression" else dict(SCORE_BY_MEASURE.values()).keys()
    X, scale_by_loss = source.X, {}
    prefit_options: dict[str, Any] = {}
    scoring: Any = args.scoring
    scores_with_bound = [name for name in args.min_score if name not in score_names]
    # Only survival tasks add the scores with a bound to the requested scoring.
    scores_with_bound = scores_with_bound if source.task == "survival" else []
    if args.predictions is not None:
        _refuse_fit_options(click.get_current_context())
        search, X = _model_from_predictions(source, args.predictions, args.positive, args.horizon)
        _note_unused_columns(source, args)
        scoring = add_scores_with_bound(scoring, scores_with_bound, source.task)
        prefit_options = {
            "prefit": True,
            "confidence_level": args.confidence,
            "scoring": scoring,
        }
        args.replicates = None
        with catch_warnings(action="ignore"):  # `validate` repeats these warnings later.
            prefit_problem = make_prefit_problem(
                search, X, source.y, None, {}, args.seed, scoring=scoring
            )
        scale_by_loss = {loss.name: loss.scale for loss in prefit_problem.losses}
    else:
        pipeline, fixed_params, tuning_grid = make_model(args.model, args.settings, source)
        common_options = {"confidence_level": args.confidence, "random_state": args.seed}
        search_options = {"cv": args.cv, "n_jobs": args.n_jobs, **common_options}
        if scoring is None and source.task == "survival" and args.horizon is not None:
            check_present("truerisk.losses.survival_losses")
            from truerisk.losses.survival_losses import BrierAt

            scoring = BrierAt(args.horizon)
        elif scoring is None and source.task == "classification":
            estimator = Family.from_grid(pipeline, fixed_params or tuning_grid or None).make(0)
            scoring = "log" if hasattr(estimator, "predict_proba") else None
        scoring = add_scores_with_bound(scoring, scores_with_bound, source.task)
        search = HonestSearchCV(
            pipeline, fixed_params or tuning_grid or None, scoring=scoring, **search_options
        )
        if args.scoring is None and not scores_with_bound:
            scale_by_loss = {getattr(scoring, "name", scoring) or "risk": Scale()}
        else:
            row_arguments = {
                "groups": None,
                **source.row_arguments,
                "params": {},
                "seed": args.seed,
            }
            with catch_warnings(action="ignore"):  # `validate` repeats these warnings later.
                validation_problem = make_validation_problem(search, X, source.y, **row_arguments)
            loss_class_codes = [
                loss.rated(validation_problem.data) for loss in validation_problem.losses
            ]
            # A score of one class refers to the class of the event, as do all numbers on the page.
            if any(class_code is not None for class_code in loss_class_codes):
                search.positive = label_from_text(source, args.positive)
            scale_by_loss = {
                each_loss.name: each_loss.scale for each_loss in validation_problem.losses
            }
    scale_by_score = scale_by_loss | {
        name: Scale(best_value)
        for name, best_value in SCORE_BY_MEASURE.values()
        if name in score_names
    }
    remedy = " Scores that --scoring names are measured, too."
    refuse_invalid_bounds(args.fail_above, args.min_score, scale_by_score, remedy)
    with print_warnings_at_end(), show_progress():
        validation = validated(
            search,
            X,
            source.y,
            **prefit_options,
            **source.row_arguments,
            random_state=args.seed,
            **validation_arguments(source, args),
        ).with_names(source.columns if args.predictions is None else (args.predictions,))
    command = format_command_line(click.get_current_context(), OPTIONS_WITHOUT_EFFECT)
    validation = replace(validation, command=command)
    if args.checklist is not None and validation.checklist is not None:
        validation.checklist.save(args.checklist)
        print_stderr(f"wrote {args.checklist}")
    show(validation.to_json() if args.as_json else str(validation))
    write_page(validation, args.report, args.figures)
    return judge_bounds(validation, args.fail_above, args.min_score)


FIT_OPTIONS = ("model", "settings", "cv", "replicates")


def _refuse_fit_options(context: click.Context) -> None:
    """Raise if the user typed an option for fitting or tuning, as --predictions needs no fit."""
    for option in context.command.params:
        name = str(option.name)
        is_typed = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if name in FIT_OPTIONS and is_typed:
            raise click.UsageError(
                f"{option.opts[0]} is not for --predictions, where nothing is fitted: leave it out."
            )


def _note_unused_columns(source: Source, args: Any) -> None:
    """Name the columns beside the predictions that no option names; they may hold groups."""
    subgroups = [name.strip() for name in (args.subgroups or "").split(",")]
    used = {args.predictions, *source.option_by_column, *subgroups}
    unused = [quote(name) for name in source.columns if name not in used]
    if unused:
        listed = ", ".join(unused[:5]) + (f" and {len(unused) - 5} more" if unused[5:] else "")
        print_stderr(
            f"note: not used: {listed}; --groups COL if rows with one value of a column belong "
            "together, such as the patients of a hospital, --subgroups COL to show them apart"
        )


def _model_from_predictions(
    source: Source, prediction_column: str, positive_text: str | None, horizon: float | None
) -> tuple[Any, Any]:
    """Return a finished model whose predictions are the values of a column, and its features.

    The column holds probabilities for a classification, risks or linear predictors for a survival
    outcome, and numbers otherwise.
    """
    if not source.columns:
        raise click.UsageError("--predictions names a column of a FILE: a --dataset has none.")

    option_text = f"--predictions {escape_and_truncate(prediction_column, 40)}"
    numeric_columns = [
        name for name, levels in zip(source.columns, source.levels, strict=True) if not levels
    ]
    if prediction_column not in numeric_columns:
        known_columns = escape_and_truncate(", ".join(numeric_columns), 160)
        raise BadData(f"{option_text} is no column of numbers: the file has {known_columns}.")
    if source.n_classes > 2:
        raise BadData(
            f"{option_text} is of one of two classes, and the target has {source.n_classes}: "
            "tr.validate_predictions takes a column for each class."
        )
    return make_finished_model(
        source.y,
        source.X[:, source.columns.index(prediction_column)],
        task=source.task,
        positive=label_from_text(source, positive_text),
        horizon=horizon,
        label=option_text,
        first_row=1,
    )
