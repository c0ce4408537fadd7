"""Convert the survival curves of a fitted model to event probabilities per time interval."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from truerisk.core.arguments import real_array
from truerisk.core.errors import Refusal
from truerisk.core.family import CURVES, Family
from truerisk.core.identity import PIPELINE, is_a

SLACK = 1e-9  # tolerance for sums of rounded steps


def chances_of_intervals(model: Any, X: Any, horizons: np.ndarray) -> np.ndarray:
    """Return the probability of the event in each interval between horizons, the latest first.

    Outside the times that a model covers, its curve is continued as a constant.

    A pipeline may not offer the curves of its learner; then its learner is asked about the rows as
    the pipeline transforms them.
    """
    if not hasattr(model, CURVES) and is_a(model, PIPELINE):
        model, X = model[-1], model[:-1].transform(X)
    if not hasattr(model, CURVES):
        raise Refusal(
            f"{Family(model).name} tells no curves of survival, which losses at a time need: use "
            "one with predict_survival_function, or 'concordance'."
        )
    chances = []
    for curve in getattr(model, CURVES)(X):
        if not callable(curve):
            raise ValueError(
                f"{CURVES} gave a {type(curve).__name__} for a row: it gives a function of time"
            )
        first, last = getattr(curve, "domain", (-math.inf, math.inf))
        chances.append(curve(np.clip(horizons, first, math.inf if last is None else last)))
    chances_of_event = real_array(chances)
    outside = chances_of_event[(chances_of_event < -SLACK) | (chances_of_event > 1 + SLACK)]
    if len(outside):
        raise ValueError(f"a curve of survival gave {outside[0]:.4g}, and chances lie in [0, 1]")
    edges = np.column_stack(
        [np.ones(len(chances_of_event)), chances_of_event, np.zeros(len(chances_of_event))]
    )
    return -np.diff(edges)[:, ::-1]
