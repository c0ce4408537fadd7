"""Validate the best learner of an assessment from its predictions on the same splits."""

from __future__ import annotations

from typing import Any

from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.errors import Refusal
from truerisk.core.progress import stage
from truerisk.data.data import Data
from truerisk.validation.honest import HonestRun
from truerisk.validation.validation import Validation, compute_validation
from truerisk.validation.wishes import ValidationOptions


def planned_options(
    validate: Any, X: Any, data: Data, seed: int, positive: Any
) -> ValidationOptions | None:
    """Return the options that `validate=` requests, checked before anything is fitted."""
    return ValidationOptions.from_validate_argument(validate, X, data, seed, positive)


def validate_learner(
    learner: TunedLearner, validation_options: ValidationOptions
) -> Validation | str:
    """Validate a learner from its predictions, or return why that is impossible."""
    risk = learner.risk
    if risk.value is None or learner.winners is None or learner.problem is None:
        return "a fit failed in an outer split, so some rows have no answer."
    if risk.answered is None:
        return f"'{risk.method}' keeps no answers about single rows."
    honest_run = HonestRun(
        problem=learner.problem,
        risk=risk,
        answered_rows=risk.answered,
        winners=learner.winners.candidate,
        best_candidate=learner.curve.best,
        pair_predictions=learner.left_two_out,
    )
    held_out_predictions = learner.out_of_fold
    try:
        with stage("validation"):
            honest_run = (
                honest_run.add_richest_predictions()
                if held_out_predictions is None
                else honest_run.add_predictions(held_out_predictions.answers)
            )
            return compute_validation(honest_run, validation_options)
    except Refusal as refusal:
        return str(refusal)
