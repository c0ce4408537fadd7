"""A Beta interval with the spread that nested cross-validation finds."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.interval import Interval
from truerisk.core.losses import Loss
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms.form import (
    NO_SPREAD,
    Evidence,
    IntervalForm,
    Sureness,
    is_none,
)
from truerisk.methods.interval_forms.ncv import PAIRS

__all__ = ["NestedBeta"]


class NestedBeta(IntervalForm):
    r"""Quantiles of Beta(n_e m + ½, n_e (1 − m) + ½), for losses between 0 and a known bound.

    m is the value as a share of the bound and n_e = p (1 − p)/se² the size of a binomial sample as
    uncertain as nested cross-validation says, p the mean of its losses: for zero-one loss
    n/inflation². Where all losses are equal n_e is the number of rows. Unlike the normal interval
    it is never cut, is skew near the edges, and exists for no errors at all.
    """

    word: ClassVar[str] = "beta-ncv"

    def check(self, data: Data, loss: Loss) -> None:
        super().check(data, loss)
        if loss.lower is None or loss.upper is None:
            raise Refusal(
                f"interval 'beta-ncv' is for losses with a largest value, and '{loss.word}' has "
                "none: use interval='ncv'."
            )

    def of(self, evidence: Evidence) -> Sureness:
        pairs, loss = evidence.pairs, evidence.loss
        if pairs is None:
            raise self.lacks(*PAIRS)
        assert loss.lower is not None and loss.upper is not None
        from scipy.special import betaincinv

        span = loss.upper - loss.lower
        share = float(np.clip((evidence.value - loss.lower) / span, 0, 1))
        none = is_none(pairs.std_error, evidence.value)
        size = float(pairs.n)
        if not none:
            mean = (pairs.mean - loss.lower) / span
            size = mean * (1 - mean) * (span / pairs.std_error) ** 2
        level = evidence.terms.confidence_level
        tails = np.array([1 - level, 1 + level]) / 2
        ends = betaincinv(size * share + 0.5, size * (1 - share) + 0.5, tails)
        low, high = loss.lower + span * ends
        name = self.word if evidence.groups is None else f"{self.word}-grouped"
        interval = Interval(float(low), float(high), name, level)
        return (None, interval, (NO_SPREAD,)) if none else (pairs.std_error, interval, ())
