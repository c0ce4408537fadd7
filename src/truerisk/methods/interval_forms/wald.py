"""The normal interval of a mean of losses."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.methods.interval_forms.form import (
    NO_SPREAD,
    Evidence,
    IntervalForm,
    Sureness,
    clipped,
    is_none,
)

__all__ = ["Wald", "variance_of_mean"]


AT_ONCE = 1 << 15  # cells: they stay in a cache


def variance_of_mean(
    losses: np.ndarray, weights: np.ndarray, value: float, groups: np.ndarray | None
) -> tuple[float, int]:
    """m/(m−1) Σ_g (Σ_{i∈g} w_i (ℓ_i − value))² over the m groups or rows with a weight, and m."""
    variances, m = _variances(losses[None], weights, np.array([value]), groups)
    return float(variances[0]), m


def _variances(
    losses: np.ndarray, weights: np.ndarray, values: np.ndarray, groups: np.ndarray | None
) -> tuple[np.ndarray, int]:
    """The variance of each mean, a line of losses each, and the m of them all."""
    member = None if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    sizes = weights if member is None else np.bincount(member, weights)
    m = int(np.count_nonzero(sizes))
    variances = np.zeros(len(losses))
    step = max(1, AT_ONCE // max(1, len(weights)))
    for start in range(0, len(losses) if m > 1 else 0, step):
        part = slice(start, start + step)
        residuals = losses[part] - values[part, None]
        residuals *= weights
        if member is not None:
            residuals = np.array([np.bincount(member, line) for line in residuals])
        variances[part] = m / (m - 1) * np.square(residuals, out=residuals).sum(axis=1)
    return variances, m


class Wald(IntervalForm):
    r"""Normal interval from the losses of rows that were each tested once.

    se² = m/(m−1) · Σ_g (Σ_{i∈g} w_i (ℓ_i − value))² with Σ w = 1, over the m groups, or over the m
    rows where there are none. Bayle et al. (2020) show it to be valid for cross-validation of
    stable learners; it ignores that folds share training rows.
    """

    word: ClassVar[str] = "wald"

    def of(self, evidence: Evidence) -> Sureness:
        if evidence.losses is None:
            raise self._lacks_rows()
        alone = replace(evidence, all_losses=evidence.losses[None])
        return self.of_each(alone, np.zeros(1, np.intp), np.array([evidence.value]), None, None)[0]

    def of_each(
        self,
        common: Evidence,
        candidates: np.ndarray,
        values: np.ndarray,
        by_split: np.ndarray | None,
        best: int | None,
    ) -> list[Sureness]:
        if common.repeatedly or common.all_losses is None or common.weights is None:
            raise self._lacks_rows()
        from scipy.special import ndtri

        losses, values = common.all_losses, values[candidates]
        losses = losses if len(losses) == len(candidates) else losses[candidates]
        variances, m = _variances(losses, common.weights, values, common.groups)
        if m < 2:
            note = "one tested row has no spread: there is no standard error."
            return [(None, None, (note,))] * len(values)
        far = float(ndtri((1 + common.terms.confidence_level) / 2))
        name = "wald" if common.groups is None else "wald-grouped"
        found: list[Sureness] = []
        for value, variance in zip(values.tolist(), variances.tolist(), strict=True):
            error = variance**0.5
            if is_none(error, value):
                found.append((None, None, (NO_SPREAD,)))
            else:
                found.append((error, clipped(value, far * error, name, common), ()))
        return found

    def _lacks_rows(self) -> Refusal:
        return self.lacks(
            "rows that are tested once", "use interval='corrected-t', or one repetition"
        )
