"""Which settings of LogisticRegression the path engine serves."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

USUAL, USUAL_STEPS = 1e-4, 100
PENALTIES = {"l1": 1.0, "l2": 0.0}


def regression_refusal(setting: Mapping[str, Any], minimiser: bool) -> str | None:
    """Why a setting of LogisticRegression is not served.

    With `minimiser` the minimum of its objective is wanted, wherever the solver would stop; else
    the very place where L-BFGS-B stops, with scikit-learn's defaults but for C, `tol`, `max_iter`.
    """
    cost: Any = setting["C"]
    number = isinstance(cost, int | float | np.number) and not isinstance(cost, bool)
    if not number or not 0 < cost < np.inf:
        return f"C={cost!r} is no finite penalty."
    return _minimum_refusal(setting) if minimiser else _steps_refusal(setting)


def _minimum_refusal(setting: Mapping[str, Any]) -> str | None:
    """Why the minimum of another objective is asked for, or none at all."""
    solver = setting["solver"]
    if solver == "liblinear":
        return "solver='liblinear' penalises the intercept, another objective."
    if l1_ratio_of(setting) is None:
        return f"penalty={setting.get('penalty')!r} is none that it knows."
    if l1_ratio_of(setting) != 0 and solver != "saga":
        return f"solver='{solver}' has no L1 penalty."
    if solver not in ("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga"):
        return f"solver={solver!r} is none that it knows."
    plain = {"fit_intercept": True, "dual": False, "warm_start": False, "class_weight": None}
    for name, value in plain.items():
        if setting[name] is not value:
            return f"{name}={setting[name]!r} is not served."
    if setting.get("multi_class", "auto") not in ("auto", "deprecated"):
        return f"multi_class={setting['multi_class']!r} is not served."
    tol, steps = setting["tol"], setting["max_iter"]
    if not 0 < tol <= USUAL:
        return f"tol={tol!r} does not ask for the minimum: set tol to {USUAL:g} or less."
    if not steps >= USUAL_STEPS:
        return f"max_iter={steps!r} stops the solver short of the minimum."
    return None


def _steps_refusal(setting: Mapping[str, Any]) -> str | None:
    """Why the learner's fit does not go through the steps that are followed."""
    for name, value in _defaults().items():
        if setting[name] is not value and setting[name] != value:
            return (
                f"{name}={setting[name]!r}: it follows the solver lbfgs at scikit-learn's defaults "
                "(but for C, tol and max_iter). For the minimum of the objective instead ask by "
                "engine=tr.engines.LogisticPaths(minimiser=True)."
            )
    tol, steps = setting["tol"], setting["max_iter"]
    if (
        isinstance(tol, bool)
        or not isinstance(tol, int | float | np.number)
        or not 0 < tol < np.inf
    ):
        return f"tol={tol!r} is no bound of a gradient."
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        return f"max_iter={steps!r} is no number of steps."
    return None


@cache
def _defaults() -> dict[str, Any]:
    """What all other parameters are unless they are set; `random_state` is not used by lbfgs."""
    from sklearn.linear_model import LogisticRegression

    free = {"C", "tol", "max_iter", "random_state"}
    params = LogisticRegression().get_params()
    return {name: value for name, value in params.items() if name not in free}


def l1_ratio_of(setting: Mapping[str, Any]) -> float | None:
    """The share of the L1 penalty that a LogisticRegression means; None where it has no penalty.

    Up to scikit-learn 1.7 the penalty has a name; from 1.8 on `l1_ratio` alone says it.
    """
    penalty, given = setting.get("penalty", "deprecated"), setting["l1_ratio"]
    if isinstance(penalty, str) and penalty in PENALTIES:
        return PENALTIES[penalty]
    if penalty not in ("deprecated", "elasticnet"):
        return None
    ratio = 0.0 if given is None and penalty == "deprecated" else given
    if isinstance(ratio, bool) or not isinstance(ratio, int | float | np.number):
        return None
    return float(ratio) if 0 <= ratio <= 1 else None
