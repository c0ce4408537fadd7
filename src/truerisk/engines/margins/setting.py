"""Which settings of scikit-learn's SVC the support vector engine serves."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

__all__ = ["svm_refusal", "uses_gamma"]

DEFAULT_TOLERANCE = 1e-3
HARDEST = 1e8  # a larger C leaves nothing of single precision


def svm_refusal(setting: dict[str, Any]) -> str | None:
    """Why one setting is not served, or None."""
    return _kernel_refusal(setting) or _solver_refusal(setting)


def _kernel_refusal(setting: dict[str, Any]) -> str | None:
    kernel = setting["kernel"]
    if kernel == "sigmoid":
        return "the sigmoid kernel has several minima, and the solver's way decides among them."
    if kernel not in ("linear", "rbf", "poly", "precomputed"):
        return f"kernel={kernel!r} is not linear, rbf, poly or precomputed."
    if not uses_gamma(kernel):
        return None
    gamma = setting["gamma"]
    if gamma not in ("scale", "auto") and not _positive(gamma):
        return f"gamma={gamma!r} is neither a positive number nor 'scale' or 'auto'."
    if kernel == "poly":
        degree, coef0 = setting["degree"], setting["coef0"]
        if not (_number(degree) and degree >= 1 and degree == int(degree)):
            return f"degree={degree!r} is no whole number above 0."
        if not (_number(coef0) and coef0 >= 0):
            return f"coef0={coef0!r} may make the polynomial kernel indefinite."
    return None


def _solver_refusal(setting: dict[str, Any]) -> str | None:
    if not _positive(setting["C"]) or setting["C"] > HARDEST:
        return f"C={setting['C']!r} is no positive number up to {HARDEST:g}."
    if setting["probability"] not in (False, "deprecated"):
        return "probability=True cross-validates inside with random folds."
    if setting["max_iter"] != -1:
        return f"max_iter={setting['max_iter']!r} may stop the solver before the minimum."
    tol = setting["tol"]
    if not _positive(tol) or tol > DEFAULT_TOLERANCE:
        return f"tol={tol!r} stops the solver before scikit-learn's default does."
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
