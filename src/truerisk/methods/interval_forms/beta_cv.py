"""A Beta interval of cross-validation: fewer effective rows than there are."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.interval import Basis
from truerisk.methods.interval_forms.evidence import RowEvidence
from truerisk.methods.interval_forms.form import NO_SPREAD, IntervalForm, Needs, Sureness
from truerisk.methods.interval_forms.inflation import BENGIO, CALIBRATED, OF_FOLDS, enlarged

__all__ = ["BetaCV"]


class BetaCV(IntervalForm[RowEvidence]):
    r"""Quantiles of Beta(n_e m + ½, n_e (1 − m) + ½), for losses between 0 and a known bound.

    m is the value as a share of the bound, n_e = m (1 − m)/V the size of a binomial sample with
    V = c times the variance of a mean of independent rows (or groups), c as `inflation.py` says:
    1.8 for one drawing of the folds, 1 to 2.5 where fits without a further fold were made, 1 to 2
    for several drawings. For zero-one loss and one drawing n_e is (n − 1)/1.8. Where no row, or
    every row, is wrong, the rows (or groups) are counted: n_e = n/1.8. The standard error beside it
    is the usual one, of independent rows.
    """

    word: ClassVar[str] = "beta-cv"
    needs: ClassVar[Needs] = {**OF_FOLDS, Basis.UPPER_BOUND: "use interval='log-cv'"}
    reference: ClassVar[str] = BENGIO
    caution: ClassVar[str] = CALIBRATED

    def of(self, evidence: RowEvidence, c: int) -> Sureness:
        spread, value = enlarged(evidence, c), float(evidence.values[c])
        low, span = evidence.bounds
        share = float(np.clip((value - low) / span, 0, 1))
        alike = spread.plain == 0
        if spread.units < 1 or (alike and 0 < share < 1):
            return None, None, (NO_SPREAD,)
        name = evidence.named(self.word)
        if alike:
            return None, evidence.beta(value, spread.units, name), (NO_SPREAD,)
        size = share * (1 - share) * span**2 / spread.variance
        return spread.std_error, evidence.beta(value, size, name), spread.notes
