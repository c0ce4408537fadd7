"""How a number of held-out rows varies with the rows that tune, fit and test: folds left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["FoldJackknife"]


@dataclass(frozen=True, eq=False)
class FoldJackknife:
    r"""Numbers θ of all K folds, and θ₋ⱼ: the same without fold j, neither in training nor in test.

    Pairs of folds have their models: row i without fold j is answered by the model that lacks both
    its own fold and j. The delete-a-fold jackknife (Quenouille, 1956; Shao and Tu, 1995) has

    .. math:: V = \frac{K-1}{K} \sum_j (\theta_{-j} - \bar\theta_-)^2 .

    `carried` is θ plus θ − θ̄₋: the models of the folds lack a fold that the model of all rows has,
    and what one fold more took away is added once.

    >>> found = FoldJackknife.of(np.array([1.0]), [np.array([v]) for v in (0.8, 1.0, 0.9)])
    >>> found.carried.round(3).tolist(), found.variance.round(4).tolist()
    ([1.1], [0.0133])
    """

    values: np.ndarray
    carried: np.ndarray
    variance: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, without: Sequence[np.ndarray]) -> FoldJackknife:
        """NaN where a number does not exist without one of the folds."""
        left = np.array(without)
        mean = left.mean(axis=0)
        spread = (len(left) - 1) / len(left) * ((left - mean) ** 2).sum(axis=0)
        return cls(values, 2 * values - mean, spread)
