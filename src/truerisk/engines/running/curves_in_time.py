"""Convert the survival curves of a fitted model to event probabilities per time interval."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from truerisk.core.arguments import real_array
from truerisk.core.errors import Refusal
from truerisk.core.family import SURVIVAL_METHOD, Family
from truerisk.core.identity import PIPELINE, is_a

PROBABILITY_TOLERANCE = 1e-9  # Rounding may move a survival probability this far outside [0, 1].


def event_probabilities_by_interval(model: Any, X: Any, horizons: np.ndarray) -> np.ndarray:
    """Return the probability that a row's event falls into each interval between horizons.

    The latest interval comes first. Outside the times that a model covers, its survival
    curve is continued as a constant.

    A pipeline may not offer the survival curves of its learner. Then the rows are transformed by
    the pipeline's steps, and the learner predicts the curves.
    """
    if not hasattr(model, SURVIVAL_METHOD) and is_a(model, PIPELINE):
        model, X = model[-1], model[:-1].transform(X)
    if not hasattr(model, SURVIVAL_METHOD):
        raise Refusal(
            f"{Family(model).name} tells no curves of survival, which losses at a time need: use "
            "one with predict_survival_function, or 'concordance'."
        )
    survival_rows = []
    for curve in getattr(model, SURVIVAL_METHOD)(X):
        if not callable(curve):
            raise ValueError(
                f"{SURVIVAL_METHOD} gave a {type(curve).__name__} for a row: it gives a function "
                "of time"
            )
        first_time, last_time = getattr(curve, "domain", (-math.inf, math.inf))
        survival_rows.append(
            curve(np.clip(horizons, first_time, math.inf if last_time is None else last_time))
        )
    survival_probabilities = real_array(survival_rows)
    invalid_probabilities = survival_probabilities[
        (survival_probabilities < -PROBABILITY_TOLERANCE)
        | (survival_probabilities > 1 + PROBABILITY_TOLERANCE)
    ]
    if len(invalid_probabilities):
        raise ValueError(
            f"a curve of survival gave {invalid_probabilities[0]:.4g}, and chances lie in [0, 1]"
        )
    padded_survival = np.column_stack(
        [
            np.ones(len(survival_probabilities)),
            survival_probabilities,
            np.zeros(len(survival_probabilities)),
        ]
    )
    return -np.diff(padded_survival)[:, ::-1]
