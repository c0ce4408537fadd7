"""A Beta interval with the spread that nested cross-validation finds."""

from __future__ import annotations

from typing import ClassVar

from truerisk.core.interval import Basis
from truerisk.methods.interval_forms.evidence import PairEvidence
from truerisk.methods.interval_forms.form import NO_SPREAD, IntervalForm, Needs, Sureness, is_none
from truerisk.methods.interval_forms.ncv import BATES, OF_PAIRS

__all__ = ["NestedBeta"]


class NestedBeta(IntervalForm[PairEvidence]):
    r"""Quantiles of Beta(n_e m + ½, n_e (1 − m) + ½), for losses between 0 and a known bound.

    m is the value as a share of the bound and n_e = p (1 − p)/se² the size of a binomial sample as
    uncertain as nested cross-validation says, p the mean of its losses: for zero-one loss
    n/inflation². Where all losses are equal n_e is the number of rows. Unlike the normal interval
    it is never cut, is skew near the edges, and exists for no errors at all.
    """

    word: ClassVar[str] = "beta-ncv"
    needs: ClassVar[Needs] = {**OF_PAIRS, Basis.UPPER_BOUND: "use interval='ncv'"}
    reference: ClassVar[str] = BATES

    def of(self, evidence: PairEvidence, c: int) -> Sureness:
        pairs, value = evidence.pairs[c], float(evidence.values[c])
        name = evidence.named(self.word)
        if is_none(pairs.std_error, value):
            return None, evidence.beta(value, float(pairs.n), name), (NO_SPREAD,)
        low, span = evidence.bounds
        mean = (pairs.mean - low) / span
        size = mean * (1 - mean) * (span / pairs.std_error) ** 2
        return pairs.std_error, evidence.beta(value, size, name), ()
