"""How much a row's loss depends on where the folds were drawn: how unstable a learner is."""

from __future__ import annotations

import numpy as np

__all__ = ["instability"]


def instability(
    losses: np.ndarray, means: np.ndarray, shares: np.ndarray, row_of: np.ndarray
) -> np.ndarray:
    """For each candidate the share of the variance of a loss that is variance within a row.

    `losses` are those of all tests, `(n_candidates, n_tests)`, `row_of` the place of their row
    among the columns of `means`, whose weights `shares` add to 1. Every row is tested equally
    often, at least twice. A learner that says the same of a row whatever the folds has 0; one
    whose errors move from row to row with every drawing has 1. One minus it is the intraclass
    correlation.

    >>> twice = np.array([0, 1, 2, 3, 0, 1, 2, 3])  # two errors in each of two repetitions
    >>> still = np.array([[1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0, 1, 1.0]])
    >>> means = (still[:, :4] + still[:, 4:]) / 2
    >>> instability(still, means, np.full(4, 0.25), twice).tolist()
    [0.0, 1.0]
    """
    n = means.shape[1]
    times, told = losses.shape[1] // n, np.count_nonzero(shares)
    within = np.empty(len(losses))
    for c, (line, of_rows) in enumerate(zip(losses, means, strict=True)):
        squares = np.bincount(row_of, (line - of_rows[row_of]) ** 2, n)
        within[c] = squares @ shares / (times - 1)
    centred = means - (means @ shares)[:, None]
    between = centred**2 @ shares * told / max(1, told - 1)  # within/times too much
    whole = between + within * (1 - 1 / times)
    found = np.zeros(len(losses))
    np.divide(within, whole, out=found, where=whole > 0)
    return np.clip(found, 0.0, 1.0, out=found)
