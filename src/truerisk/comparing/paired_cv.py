"""Rows paired in cross-validation: the rule of the calibrated intervals, for a difference."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from truerisk.comparing.paired_tests import PairedTest, Tolerance
from truerisk.comparing.pairing import Basis, Pairs
from truerisk.core.comparison import Comparison
from truerisk.core.evaluation import Influences
from truerisk.methods.interval_forms.calibrated import ONCE, Law
from truerisk.methods.interval_forms.evidence import variances_of_means
from truerisk.methods.interval_forms.instability import instability_of_pairs

DIFFERENCES = Law(3.0 * sqrt(2), 2.0)  # u of the differences, by models without a further fold
LEAST = 1.6  # the factor of differences that do not move
TINY = 1e-12
ALIKE = (
    "no row tells the two apart: every row has the same loss under both, or the same effect on "
    "both scores. Without a spread there is no interval and no p-value."
)


@dataclass(frozen=True)
class Spread:
    """How a difference of two cross-validated values varies: what its interval is made of.

    `plain` is the variance of a mean of as many independent rows, or groups, as there are `units`,
    `unseen` what one more row each way that tells the two apart would add to it; `instability` is u
    of the differences, None where no fits without a further fold show it.
    """

    plain: float
    unseen: float
    units: int
    k: float
    instability: float | None

    @classmethod
    def of(cls, a: Influences, b: Influences, mean: float) -> Spread:
        differences, values = (a.losses - b.losses)[None], np.array([mean])
        plain, units = variances_of_means(differences, a.weights, values, a.groups)
        u = None
        if a.shaken is not None and b.shaken is not None:
            shaken = a.shaken.minus(b.shaken)
            u = instability_of_pairs(shaken, differences - mean, a.weights, a.rows, a.groups)
        unseen = 2 * max(a.one_row, b.one_row) ** 2
        return cls(float(plain[0]), unseen, units, a.k, None if u is None else float(u[0]))

    @property
    def factor(self) -> float:
        """By how much cross-validation varies more than independent rows."""
        if self.instability is None:
            return ONCE
        return DIFFERENCES.factor(self.instability, self.k, LEAST)

    @property
    def error(self) -> float:
        """The standard error of the difference."""
        return sqrt(self.factor * (self.plain + self.unseen))

    @property
    def df(self) -> float:
        """Degrees of freedom: rows, or groups, count for fewer by the factor."""
        return self.units / self.factor - 1


class PairedCV(PairedTest):
    r"""D ± t √(c (V + 2h²)), with the influences of the two values differenced row by row.

    φᵢ = wᵢ (dᵢ − D), dᵢ the difference of the losses of row i (of a score that rates whole test
    sets: of the value plus the row's influence), V = m/(m − 1) Σ φ² over m rows, or groups, whose
    rows are added up first. Models that lack a further fold show how much the *differences* move:
    u = W/(Σ φ² + W), as for risks (`interval_forms/calibrated.py`), and c = 1.6 + 3u √(K/5), at
    most 2; c = 1.8 where no such models were fitted. Where answers are labels, h is what another
    answer to one row does to the value: one more row each way that tells the two apart, as Bonett
    and Price (2012) add to paired proportions. t has m/c − 1 degrees of freedom. The posterior is
    this t about D.

    With c = 1 two learners differ too often, also where both are stable (Bayle, Janson and Mackey,
    2025, arXiv 2508.04409).
    """

    word = "paired-cv"
    works_on: ClassVar[Basis] = "influences"

    def of(self, pairs: Pairs, tolerance: Tolerance) -> Comparison:
        a, b = pairs.of_influences()
        mean = pairs.values[0] - pairs.values[1]
        spread = Spread.of(a, b, mean)
        result = Comparison(
            test=self.word,
            difference=mean,
            n_pairs=spread.units,
            loss=pairs.loss,
            details=_details(spread),
            assumed=(_assumed(spread, "rows" if a.groups is None else "groups"),),
        )
        if spread.error <= TINY * pairs.scale or spread.df <= 0:
            return result.noting(ALIKE)
        name = self.word if a.groups is None else f"{self.word}-grouped"
        return result.by_t(spread.error, spread.df, tolerance, name)


def _details(spread: Spread) -> dict[str, float]:
    details = {} if spread.instability is None else {"instability": spread.instability}
    return {**details, "factor": spread.factor, "error of independent rows": sqrt(spread.plain)}


def _assumed(spread: Spread, units: str) -> str:
    what = f"the difference varies {spread.factor:.2g} times as much as one of independent {units}"
    if spread.instability is None:
        return f"{what}, the factor where no models without a further fold were fitted (calibrated)"
    return f"{what}, since differences have an instability of {spread.instability:.2g} (calibrated)"
