"""Confidence interval for mean losses if losses at nearby places are correlated."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.overrides import override
from truerisk.intervals.calibrated import SINGLE_DRAW_VARIANCE_FACTOR
from truerisk.intervals.form import (
    MUELLER_WATSON_REFERENCE,
    NO_SPREAD,
    NO_UPPER_LIMIT_NOTE,
    OF_A_MEAN,
    IntervalForm,
    Needs,
    RowEvidence,
    Sureness,
    is_zero_error,
)
from truerisk.results.interval import Basis

MIN_PLACES = 20
MIN_BLOCKS = 6
SPREAD_GROUPS_NOTE = (
    "rows of one group lie at several places: how such rows depend on each other does not show in "
    "where they lie, so no standard error is justified."
)
INDEPENDENT_BLOCKS_NOTE = (
    "the interval treats the blocks of block= as independent, as labels do not say which are "
    "neighbours. Where neighbouring blocks are alike it is too short: give coordinates."
)


class Spatial(IntervalForm[RowEvidence]):
    r"""Interval for spatial data, from a few weighted sums of the losses over the region.

    For coordinates, :math:`se^2 = n/q \sum_j (\sum_i v_{ji} φ_i)^2` with :math:`φ_i = w_i (ℓ_i -
    value)`. The q weights :math:`v_j` are those in which values of exponential correlation vary
    most (`intervals/components.py`). The factor of se is chosen so that the interval covers for a
    Gaussian process with a mean correlation of up to .15 (Müller and Watson, 2022). For labels,
    :math:`se^2 = 1.8 · m/(m−1) \sum_b (\sum_{i∈b} φ_i)^2` over m blocks, which must be independent,
    and t has m − 1 degrees of freedom; 1.8 accounts for folds that share training rows, as in
    `beta-cv`. Losses with a bound are transformed to the logit scale, other losses that are never
    negative to the scale of :math:`1/\sqrt{ℓ}`. The interval is for the mean risk over random
    fields like this one, observed at places like these.
    """

    name: ClassVar[str] = "spatial"
    needs: ClassVar[Needs] = {
        Basis.INFLUENCES: OF_A_MEAN[Basis.ROW_LOSSES],
        Basis.MEAN: OF_A_MEAN[Basis.MEAN],
        Basis.PLACES: f"give coordinates, or the labels of blocks, by {mention('block')}",
    }
    reference: ClassVar[str] = MUELLER_WATSON_REFERENCE
    caution: ClassVar[str] = (
        "stand a mean correlation of .15 between the losses of two places, which was calibrated by "
        "simulated fields (documentation of truerisk)"
    )

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        value = float(evidence.values[c])
        row_contributions = evidence.weights * (evidence.losses[c] - value)
        error_function = (
            self._error_over_blocks if evidence.data.places is None else self._error_over_places
        )
        error_and_factor = error_function(evidence, row_contributions)
        if isinstance(error_and_factor, str):
            return None, None, (error_and_factor,)
        error, factor = error_and_factor
        if is_zero_error(error, value):
            return None, None, (NO_SPREAD,)
        interval = evidence.skewed(value, factor * error, self.name)
        if interval is None:
            return None, None, (NO_UPPER_LIMIT_NOTE,)
        return error, interval, (INDEPENDENT_BLOCKS_NOTE,) if evidence.data.places is None else ()

    def _error_over_places(
        self, evidence: RowEvidence, row_contributions: np.ndarray
    ) -> tuple[float, float] | str:
        """Return the standard error computed from places and its critical value, or a reason.

        The reason, a sentence, says why there is no standard error.
        """
        components = evidence.components
        n_places = 0 if components is None else len(components.weight_vectors)
        if components is None or n_places < MIN_PLACES:
            return (
                f"{n_places} places are too few to estimate how losses are correlated in space: an "
                f"interval needs {MIN_PLACES}."
            )
        if _has_spread_group(evidence):
            return SPREAD_GROUPS_NOTE
        return components.std_error(row_contributions), components.critical_value

    def _error_over_blocks(
        self, evidence: RowEvidence, row_contributions: np.ndarray
    ) -> tuple[float, float] | str:
        """Return the standard error computed from blocks and its t quantile, or a reason.

        The reason, a sentence, says why there is no standard error.
        """
        from scipy.special import stdtrit

        assert evidence.groups is not None
        block_sums = np.bincount(
            np.unique(evidence.groups, return_inverse=True)[1].ravel(), row_contributions
        )
        n_blocks = len(block_sums)
        if n_blocks < MIN_BLOCKS:
            return (
                f"{n_blocks} blocks are too few for an interval of their mean: "
                f"it needs {MIN_BLOCKS}."
            )
        error = float(
            np.sqrt(SINGLE_DRAW_VARIANCE_FACTOR * n_blocks / (n_blocks - 1) * (block_sums**2).sum())
        )
        return error, float(stdtrit(n_blocks - 1, (1 + evidence.terms.confidence_level) / 2))


def _has_spread_group(evidence: RowEvidence) -> bool:
    """Return True if a group has rows at more than one place."""
    groups, coordinates = evidence.data.groups, evidence.data.places
    if groups is None or coordinates is None:
        return False
    group_numbers = np.unique(groups[evidence.rows], return_inverse=True)[1].ravel()
    groups_and_places = np.column_stack([group_numbers, coordinates[evidence.rows]])
    return len(np.unique(groups_and_places, axis=0)) > len(np.unique(group_numbers))
