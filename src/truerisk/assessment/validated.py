"""The validation of the best learner of an assessment, from its answers to the same splits."""

from __future__ import annotations

from typing import Any

from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.errors import Refusal
from truerisk.core.progress import stage
from truerisk.data.data import Data
from truerisk.validation.honest import HonestRun
from truerisk.validation.validation import Validation, validation_of
from truerisk.validation.wishes import ValidationOptions


def planned_options(
    validate: Any, X: Any, data: Data, seed: int, positive: Any
) -> ValidationOptions | None:
    """Return what `validate=` asks for, checked before anything is fitted."""
    return ValidationOptions.planned(validate, X, data, seed, positive)


def validated(learner: TunedLearner, options: ValidationOptions) -> Validation | str:
    """Validate a learner by its answers, or say why there are none: no fit is lost for it."""
    risk = learner.risk
    if risk.value is None or learner.winners is None or learner.problem is None:
        return "a fit failed in an outer split, so some rows have no answer."
    if risk.answered is None:
        return f"'{risk.method}' keeps no answers about single rows."
    run = HonestRun(
        problem=learner.problem,
        risk=risk,
        answered=risk.answered,
        winners=learner.winners.candidate,
        best=learner.curve.best,
        pair_answers=learner.left_two_out,
    )
    rows = learner.out_of_fold
    try:
        with stage("validation"):
            run = run.with_richest() if rows is None else run.with_answers(rows.answers)
            return validation_of(run, options)
    except Refusal as refusal:
        return str(refusal)
