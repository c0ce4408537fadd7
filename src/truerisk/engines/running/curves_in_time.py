"""Curves of survival that a fitted model tells, as chances of the event in intervals of time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from truerisk.core.arguments import real_array
from truerisk.core.errors import Refusal
from truerisk.core.family import CURVES, Family
from truerisk.core.identity import PIPELINE, is_a

SLACK = 1e-9  # of sums of rounded steps


def chances_of_intervals(model: Any, X: Any, horizons: np.ndarray) -> np.ndarray:
    """The chance of the event in each interval between horizons, the latest interval first.

    Past the times that a model knows, its curve is taken to go on as it ends.

    A pipeline may not hand on the question: then its learner is asked as the pipeline asks it.
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
    told = real_array(chances)
    outside = told[(told < -SLACK) | (told > 1 + SLACK)]
    if len(outside):
        raise ValueError(f"a curve of survival gave {outside[0]:.4g}, and chances lie in [0, 1]")
    edges = np.column_stack([np.ones(len(told)), told, np.zeros(len(told))])
    return -np.diff(edges)[:, ::-1]
