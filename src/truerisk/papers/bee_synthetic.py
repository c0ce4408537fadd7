"""Synthetic data in the manner of 002's Tables 2 and 3, and the true error of a linear rule.

The document does not publish its generator: two normal classes with a common covariance that is not
diagonal, 14 features that tell them apart, a Bayes error of .023 = Φ(−2). Here: seven pairs of
features, the first of each with a difference of means, correlated .6 with the second, which has
none; then independent noise. The difference makes the distance of the classes 4.
"""

from __future__ import annotations

import numpy as np

from truerisk.core.linear_rules import LinearRules
from truerisk.datasets.sparse_gaussian import CORRELATION, GAP, PAIRS

__all__ = ["BAYES", "draw", "errors_of", "true_errors"]

BAYES = 0.023


def draw(rng: np.random.Generator, n_rows: int, n_noise: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Half of the rows of each class, 14 features and `n_noise` that tell nothing."""
    y = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, 2 * PAIRS + n_noise))
    second = X[:, 1 : 2 * PAIRS : 2]
    first = X[:, 0 : 2 * PAIRS : 2]
    second[:] = CORRELATION * first + np.sqrt(1 - CORRELATION**2) * second
    first += np.where(y == 1, GAP / 2, -GAP / 2)[:, None]
    return X, y


def true_errors(slopes: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
    """The error of rules `(rule, feature)` that say class 1 where the score is positive."""
    from scipy.special import ndtr

    first, second = slopes[:, 0 : 2 * PAIRS : 2], slopes[:, 1 : 2 * PAIRS : 2]
    spread = np.sqrt((slopes**2).sum(axis=1) + 2 * CORRELATION * (first * second).sum(axis=1))
    shift = GAP / 2 * first.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_0, of_1 = ndtr((intercepts - shift) / spread), ndtr(-(intercepts + shift) / spread)
    return np.where(spread > 0, (of_0 + of_1) / 2, 0.5)


def errors_of(rules: LinearRules) -> np.ndarray:
    """The true error of every rule between the two classes."""
    return true_errors(rules.coefficients[:, 0], rules.intercepts[:, 0])
