"""Which settings of scikit-learn's SVC the support vector engine serves."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["svm_refusal", "uses_gamma"]


def svm_refusal(setting: dict[str, Any]) -> str | None:
    """Why one setting is not served, or None."""
    return _kernel_refusal(setting) or _solver_refusal(setting)


def _kernel_refusal(setting: dict[str, Any]) -> str | None:
    kernel = setting["kernel"]
    if not isinstance(kernel, str) or kernel not in ("linear", "rbf", "poly", "precomputed"):
        return f"kernel={kernel!r} is not linear, rbf, poly or precomputed."
    if not uses_gamma(kernel):
        return None
    gamma = setting["gamma"]
    if gamma not in ("scale", "auto") and not _positive(gamma):
        return f"gamma={gamma!r} is neither a positive number nor 'scale' or 'auto'."
    if kernel == "poly":
        degree, coef0 = setting["degree"], setting["coef0"]
        if isinstance(degree, bool) or not isinstance(degree, Integral) or degree < 1:
            return f"degree={degree!r} is no whole number above 0."
        if not _number(coef0):
            return f"coef0={coef0!r} is no number."
    return None


def _solver_refusal(setting: dict[str, Any]) -> str | None:
    if not _positive(setting["C"]):
        return f"C={setting['C']!r} is no positive number."
    if setting["probability"] not in (False, "deprecated"):
        return "probability=True cross-validates inside with random folds."
    if setting["max_iter"] != -1:
        return f"max_iter={setting['max_iter']!r} may stop the solver at any step."
    if not _positive(setting["tol"]):
        return f"tol={setting['tol']!r} is no positive number."
    if not isinstance(setting["shrinking"], bool | np.bool_):
        return f"shrinking={setting['shrinking']!r} is neither True nor False."
    if setting["break_ties"]:
        return "break_ties=True settles ties of votes by sums of decision values."
    return None


def uses_gamma(kernel: str) -> bool:
    """Whether the kernel has a width, which 'scale' takes from the training rows."""
    return kernel not in ("linear", "precomputed")


def _number(value: Any) -> bool:
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and math.isfinite(value)


def _positive(value: Any) -> bool:
    return _number(value) and value > 0
