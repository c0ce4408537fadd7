"""A Beta interval of cross-validation: fewer effective rows than there are."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.interval import Interval
from truerisk.core.losses import Loss
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms.form import NO_SPREAD, Evidence, IntervalForm, Sureness
from truerisk.methods.interval_forms.inflation import enlarged

__all__ = ["BetaCV"]


class BetaCV(IntervalForm):
    r"""Quantiles of Beta(n_e m + ½, n_e (1 − m) + ½), for losses between 0 and a known bound.

    m is the value as a share of the bound, n_e = m (1 − m)/V the size of a binomial sample with
    V = c times the variance of a mean of independent rows (or groups), c as `inflation.py` says:
    1.8 for one drawing of the folds, 1 to 2 for several. For zero-one loss and one drawing n_e is
    (n − 1)/1.8. Where no row, or every row, is wrong, the rows (or groups) are counted:
    n_e = n/1.8. The standard error beside it is the usual one, of independent rows.
    """

    word: ClassVar[str] = "beta-cv"
    needs_instability: ClassVar[bool] = True

    def check(self, data: Data, loss: Loss) -> None:
        super().check(data, loss)
        if loss.lower is None or loss.upper is None:
            raise Refusal(
                f"interval 'beta-cv' is for losses with a largest value, and '{loss.word}' has "
                "none: use interval='log-cv'."
            )

    def of(self, evidence: Evidence) -> Sureness:
        loss, level = evidence.loss, evidence.terms.confidence_level
        assert loss.lower is not None and loss.upper is not None
        from scipy.special import betaincinv

        spread = enlarged(evidence, self)
        span = loss.upper - loss.lower
        share = float(np.clip((evidence.value - loss.lower) / span, 0, 1))
        alike = spread.plain == 0
        if spread.units < 1 or (alike and 0 < share < 1):
            return None, None, (NO_SPREAD,)
        size = spread.units if alike else share * (1 - share) * span**2 / spread.variance
        tails = np.array([1 - level, 1 + level]) / 2
        ends = betaincinv(size * share + 0.5, size * (1 - share) + 0.5, tails)
        low, high = loss.lower + span * ends
        name = self.word if evidence.groups is None else f"{self.word}-grouped"
        interval = Interval(float(low), float(high), name, level)
        return (
            (None, interval, (NO_SPREAD,)) if alike else (spread.std_error, interval, spread.notes)
        )
