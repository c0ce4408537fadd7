"""The measures of a validation: each a number of outcomes and what was said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from truerisk.core.statistics.delong import area
from truerisk.core.statistics.operating_points import Sweep
from truerisk.core.statistics.roc import PrecisionRecall
from truerisk.core.validation.calibration_curve import CalibrationFit
from truerisk.core.validation.outcomes import Outcomes
from truerisk.core.validation.recalibration import Recalibration

__all__ = ["MEASURES", "OF_EVENTS", "OF_NUMBERS", "OF_RANKS", "Measure", "numbers_of"]


@dataclass(frozen=True)
class Measure:
    """What a measure is called, which part of a validation it belongs to, and what it says."""

    title: str
    part: Literal["discrimination", "calibration"]
    about: str


MEASURES: Mapping[str, Measure] = {
    "auc": Measure("AUC", "discrimination", "share of (event, other) pairs in the right order"),
    "average-precision": Measure(
        "average precision", "discrimination", "area under precision against recall, as steps"
    ),
    "r2": Measure("R²", "discrimination", "Nagelkerke's, after recalibration"),
    "d": Measure("D", "discrimination", "discrimination index, (LR − 1)/n"),
    "intercept": Measure("intercept", "calibration", "of logit P(event) = a + b logit p; right: 0"),
    "slope": Measure("slope", "calibration", "b of the same; right: 1, below 1: too extreme"),
    "in-the-large": Measure(
        "in the large", "calibration", "a of logit P(event) = a + logit p; right: 0"
    ),
    "u": Measure("U", "calibration", "unreliability index, (LR of a = 0, b = 1 − 2)/n"),
    "q": Measure("Q", "calibration", "quality index, D − U"),
    "explained": Measure("R²", "calibration", "1 − Σ(y − f)²/Σ(y − ȳ)², f the answers"),
    "squared": Measure("squared error", "calibration", "mean of (y − f)²"),
    "brier": Measure("Brier", "calibration", "mean of (p − y)²"),
    "ici": Measure("ICI", "calibration", "mean |p − smoothed share of events|"),
    "e50": Measure("E50", "calibration", "median of the same"),
    "e90": Measure("E90", "calibration", "its 90 % quantile"),
    "emax": Measure("Emax", "calibration", "its largest value"),
}


OF_RANKS = ("auc", "average-precision")
_LINE, _CURVE = ("intercept", "slope", "in-the-large"), ("ici", "e50", "e90", "emax")
OF_EVENTS = (*OF_RANKS, "r2", "d", *_LINE, "u", "q", "brier", *_CURVE)
OF_NUMBERS = ("explained", "squared", *_LINE, *_CURVE)


def _of_ranks(outcomes: Outcomes) -> dict[str, float]:
    """AUC and average precision, of probabilities or of decision values."""
    if outcomes.of_one_class:
        return {}
    positive = outcomes.came == 1
    sweep = Sweep.of(outcomes.given, positive, outcomes.weights)
    return {
        "auc": area(outcomes.given, positive, outcomes.weights),
        "average-precision": PrecisionRecall.of(sweep, "").average_precision,
    }


def numbers_of(
    outcomes: Outcomes,
    words: Sequence[str],
    line: Recalibration | None,
    curve: CalibrationFit | None,
) -> dict[str, float]:
    """These measures; NaN where the line or the curve does not exist."""
    found = {} if "auc" not in words else _of_ranks(outcomes)
    errors = outcomes.mean((outcomes.given - outcomes.came) ** 2)
    found |= {"brier": errors, "squared": errors}
    if line is not None:
        found |= line.measures()
    if curve is not None:
        found |= curve.errors(outcomes)
    return {word: found.get(word, np.nan) for word in words}
