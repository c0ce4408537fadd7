"""The normal interval of a mean of losses."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.methods.interval_forms.form import (
    NO_SPREAD,
    Evidence,
    IntervalForm,
    Sureness,
    clipped,
    is_none,
)

__all__ = ["Wald", "variance_of_mean"]


def variance_of_mean(
    losses: np.ndarray, weights: np.ndarray, value: float, groups: np.ndarray | None
) -> tuple[float, int]:
    """m/(m−1) Σ_g (Σ_{i∈g} w_i (ℓ_i − value))² over the m groups or rows with a weight, and m."""
    residuals: np.ndarray = weights * (losses - value)
    if groups is not None:
        member = np.unique(groups, return_inverse=True)[1].ravel()
        residuals, weights = np.bincount(member, residuals), np.bincount(member, weights)
    m = int(np.count_nonzero(weights))
    return (m / (m - 1) * float((residuals**2).sum()) if m > 1 else 0.0), m


class Wald(IntervalForm):
    r"""Normal interval from the losses of rows that were each tested once.

    se² = m/(m−1) · Σ_g (Σ_{i∈g} w_i (ℓ_i − value))² with Σ w = 1, over the m groups, or over the m
    rows where there are none. Bayle et al. (2020) show it to be valid for cross-validation of
    stable learners; it ignores that folds share training rows.
    """

    word: ClassVar[str] = "wald"

    def of(self, evidence: Evidence) -> Sureness:
        if evidence.repeatedly or evidence.losses is None or evidence.weights is None:
            raise self.lacks(
                "rows that are tested once", "use interval='corrected-t', or one repetition"
            )
        from scipy.special import ndtri

        value, groups = evidence.value, evidence.groups
        variance, m = variance_of_mean(evidence.losses, evidence.weights, value, groups)
        if m < 2:
            return None, None, ("one tested row has no spread: there is no standard error.",)
        error = variance**0.5
        if is_none(error, value):
            return None, None, (NO_SPREAD,)
        name = "wald" if groups is None else "wald-grouped"
        half = float(ndtri((1 + evidence.setting.confidence_level) / 2)) * error
        return error, clipped(value, half, name, evidence), ()
