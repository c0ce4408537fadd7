"""The correlated Bayesian t test with a region of practical equivalence."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from truerisk.api.comparing.contract import PairedTest, Tolerance
from truerisk.api.comparing.nadeau_bengio import NO_SPREAD, Correlated
from truerisk.api.comparing.pairing import Basis, Pairs
from truerisk.core.comparison import Comparison

__all__ = ["CorrelatedBayes"]


class CorrelatedBayes(PairedTest):
    r"""Posterior of the mean difference: Student t, J − 1 degrees of freedom, the corrected error.

    Corani and Benavoli (2015); Benavoli, Corani, Demšar and Zaffalon (2017). With a flat prior on
    the mean and 1/σ on the spread it is centred at the mean difference with the scale of Nadeau and
    Bengio. `better` is P(a − b < −rope), `worse` P(a − b > rope).
    """

    word = "bayes"
    works_on: ClassVar[Basis] = "splits"

    def of(self, pairs: Pairs, asked: Tolerance) -> Comparison:
        found, rope = Correlated.of(pairs), asked.rope
        region = f"risks within {rope:g} (in units of the loss) are practically the same"
        assumed = (found.assumed, "flat prior of the mean difference", region)
        told = Comparison(self.word, found.mean, found.j, pairs.loss, rope=rope, assumed=assumed)
        if found.error is None:
            return told.noting(NO_SPREAD)
        told = told.by_t(found.error, found.j - 1, asked, "posterior")
        return replace(told, statistic=None, p_value=None)
