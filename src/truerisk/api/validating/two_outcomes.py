"""Discrimination, calibration and net benefit of a model of two outcomes, and what numbers have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.api.assessing.out_of_fold import OVERLAP, without_interval
from truerisk.api.validating.calibration_part import calibration_of
from truerisk.api.validating.honest import HonestRun
from truerisk.api.validating.rating import Rating
from truerisk.api.validating.resampled import Resampled
from truerisk.api.validating.wishes import Wishes
from truerisk.core.statistics.roc import RocCurve
from truerisk.core.validation.discrimination import Discrimination
from truerisk.core.validation.held_out import HeldOut
from truerisk.core.validation.measured import Measured
from truerisk.core.validation.net_benefit import NetBenefit
from truerisk.run.event import Event

__all__ = ["Found", "rated_parts"]

NO_PROBABILITIES = (
    "{} gives no probabilities: put sklearn.calibration.CalibratedClassifierCV around it, or take "
    "a learner with predict_proba."
)
OF_NUMBERS = "it is of an event, and y holds numbers: their R² stands with the calibration."
RATED = ("discrimination", "calibration", "net_benefit")


@dataclass(frozen=True)
class Found:
    """The parts by name, why others are missing, and notes.

    `own` is what the model of all rows says of them, `samples` what those of bootstrap samples say.
    `run` knows the answers that were asked for again.
    """

    run: HonestRun
    parts: Mapping[str, Any]
    missing: Mapping[str, str]
    notes: tuple[str, ...] = ()
    own: np.ndarray | None = None
    samples: Resampled | None = None


def rated_parts(run: HonestRun, held: HeldOut, wishes: Wishes, event: Event | None) -> Found:
    """Discrimination, calibration and net benefit of an event, or why there are none."""
    why = _why_not(run, held, event)
    if why is not None:
        return Found(run, {}, dict.fromkeys(RATED, why))
    rating = Rating(run, held, wishes, event)
    measures = rating.measured()
    parts: dict[str, Any] = {}
    missing: dict[str, str] = {}
    if event is not None:
        parts["discrimination"] = _discrimination(rating, measures, event)
    else:
        missing = {"discrimination": OF_NUMBERS, "net_benefit": OF_NUMBERS}
    if rating.ranks_only:
        why = NO_PROBABILITIES.format(run.problem.family.name)
        missing = {"calibration": why, "net_benefit": why}
    else:
        parts["calibration"] = calibration_of(rating, measures)
        parts |= {} if event is None else {"net_benefit": _benefit(rating, event)}
    return Found(rating.run, parts, missing, tuple(rating.notes), rating.own, rating.samples)


def _why_not(run: HonestRun, held: HeldOut, event: Event | None) -> str | None:
    """Why these parts do not exist, or None."""
    data = run.problem.data
    if data.task == "regression":
        if held.answers.ndim == 1:
            return None
        return f"it is of one target, and y has {held.answers.shape[1]}: validate one at a time."
    if event is None:
        return (
            f"it is defined for two outcomes, and y has {data.n_classes} classes: name the one "
            f"that is the event, such as positive={data.label(1)!r}; the others are the rest."
        )
    if run.problem.richest is None:
        return "the model gives neither probabilities nor decision values."
    return None


def _discrimination(
    rating: Rating, measures: Mapping[str, Measured], event: Event
) -> Discrimination:
    held, roc = rating.held, None
    if not rating.honest.of_one_class:
        given = held.answers if held.answers.ndim == 1 else held.answers[:, 1]
        roc = without_interval(
            RocCurve.of(
                held.truth == 1,
                given,
                weights=held.weights,
                groups=held.rows if held.groups is None else held.groups,
                rows=held.rows,
                method="held-out answers",
            ),
            pooled=rating.ranks_only,
        )
    return Discrimination(event.label, rating.of_part(measures, "discrimination"), roc)


def _benefit(rating: Rating, event: Event) -> NetBenefit:
    profile, optimism = rating.profile, rating.optimism
    corrected = profile.net_benefit(optimism.corrected)
    return NetBenefit.of(
        rating.honest,
        rating.wishes.thresholds,
        event=event.label,
        apparent=profile.net_benefit(optimism.apparent),
        corrected=corrected if np.isfinite(corrected).all() else None,
        confidence_level=rating.level,
        sure=rating.sure,
        notes=(OVERLAP,),
    )
