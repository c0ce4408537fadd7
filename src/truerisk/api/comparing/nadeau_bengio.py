"""The corrected resampled t test of Nadeau and Bengio (2003)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from truerisk.api.comparing.contract import PairedTest, Tolerance
from truerisk.api.comparing.pairing import Basis, Pairs
from truerisk.core.comparison import Comparison

__all__ = ["NO_SPREAD", "Correlated", "NadeauBengio"]

NO_SPREAD = "every split has the same difference: their spread is 0 and says nothing of the error."


@dataclass(frozen=True)
class Correlated:
    r"""Mean of J split differences, and its error where training sets overlap.

    se² = s² (1/J + n_test/n_train): ρ = n_test/(n_train + n_test) is taken for the correlation of
    two splits' differences, and ρ/(1 − ρ) = n_test/n_train. `error` is None without any spread.
    """

    mean: float
    error: float | None
    j: int
    ratio: float

    @classmethod
    def of(cls, pairs: Pairs) -> Correlated:
        splits, ratio = pairs.of_splits()
        mean, j = float(splits.mean()), len(splits)
        error = float(splits.std(ddof=1) * np.sqrt(1 / j + ratio))
        return cls(mean, error if error > 1e-12 * pairs.scale else None, j, ratio)

    @property
    def assumed(self) -> str:
        rho = self.ratio / (1 + self.ratio)
        return (
            f"differences of {self.j} splits are normal and correlate by "
            f"ρ = n_test/(n_train + n_test) = {rho:.3g}, since training sets overlap"
        )


class NadeauBengio(PairedTest):
    r"""t = mean d / √(s² (1/J + n_test/n_train)) with J − 1 degrees of freedom.

    Derived for random splits of equal sizes; used for K folds and their repetitions with their mean
    sizes.
    """

    word = "nadeau-bengio"
    works_on: ClassVar[Basis] = "splits"

    def of(self, pairs: Pairs, asked: Tolerance) -> Comparison:
        found = Correlated.of(pairs)
        told = Comparison(self.word, found.mean, found.j, pairs.loss, assumed=(found.assumed,))
        if found.error is None:
            return told.noting(NO_SPREAD)
        told = told.by_t(found.error, found.j - 1, asked, "corrected-t")
        return replace(told, rope=None, better=None, equivalent=None, worse=None)
