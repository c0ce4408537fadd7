r"""Rows in order: what columns of X explain of it.

Rows that are sorted by a feature are independent given X. So the test of `order.py` is repeated on
the residuals of y. The columns that have an order themselves predict y from the rows nearest in
these columns but not in the table, and a moving average over 21 rows (fewer in small tables) is
subtracted. The residuals of independent rows, sorted by a feature on which y depends smoothly, have
a correlation of about 0 at lag one. Those of a random walk, of an autoregression and of visits of
one patient have a larger one. A column that only counts the rows explains nothing: future rows have
other numbers.
"""

from __future__ import annotations

import numpy as np

from truerisk.checks.agreement import Outcome, mean_ranks
from truerisk.checks.order import ERRORS

HALF_WINDOW = 10  # rows on each side of a moving average, fewer in tables below 200 rows
NEAREST = 8
REGULAR = 0.5  # share of equal steps: counts have them, sorted features do not
DISTINCT = 0.95
ROUNDING = 1e-3  # of a step: a counter may be scaled, and be kept in single precision


def is_counter(column: np.ndarray) -> bool:
    """Return True if a column only counts the rows: it is monotone with mostly equal steps."""
    steps = np.diff(column)
    steps = -steps if column[-1] < column[0] else steps
    if (steps < 0).any() or np.mean(steps > 0) < DISTINCT:
        return False
    usual = float(np.median(steps))
    return bool(np.mean(np.abs(steps - usual) <= ROUNDING * usual) >= REGULAR)


def columns_in_order(X: np.ndarray) -> np.ndarray:
    """Return the columns whose rank correlation at lag one is significant, counters left out."""
    kept = []
    for j in range(X.shape[1]):
        ranks = mean_ranks(X[:, j])
        ranks -= ranks.mean()
        size = float(ranks @ ranks)
        if size == 0 or is_counter(X[:, j]):
            continue
        if ranks[1:] @ ranks[:-1] > 3.0 / np.sqrt(len(X)) * size:
            kept.append(j)
    return np.array(kept, dtype=np.int64)


def order_given_columns(X: np.ndarray, outcome: Outcome) -> tuple[float, float]:
    r"""Return the correlation of the residuals of y at lag one, and its bound.

    The residual of row i is :math:`r_i = y_i - \frac1k \sum_{j \in N_i} y_j`, with the k rows
    :math:`N_i` nearest in X that are more than h rows away in the table, minus the moving average
    of these differences over w = 2 h + 1 rows. It moves the correlation of independent rows to
    :math:`-1/(w-1)`, which is added back.
    """
    n = len(X)
    h = min(HALF_WINDOW, n // 20 + 1)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = outcome.columns()
    Y = Y - Y.mean(axis=0)
    squares = (Z**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * Z @ Z.T
    place = np.arange(n)
    distances[np.abs(place[:, None] - place) <= h] = np.inf
    k = min(NEAREST, n // 4)
    nearest = np.argpartition(distances, k, axis=1)[:, :k]
    residual = _detrended(Y - Y[nearest].mean(axis=1), h)
    plain = _detrended(Y, h)
    if (plain**2).sum() < (residual**2).sum():
        residual = plain  # the columns explain nothing
    size = float((residual**2).sum())
    if size == 0:
        return 0.0, 1.0
    correlation = float((residual[1:] * residual[:-1]).sum()) / size
    covariance = residual.T @ residual / size
    bound = ERRORS * np.sqrt(float((covariance**2).sum()) / n)
    return correlation + 1 / (2 * h), bound


def _detrended(Y: np.ndarray, h: int) -> np.ndarray:
    """Subtract a moving average of 2 h + 1 rows, of fewer at the two ends."""
    n = len(Y)
    sums = np.concatenate([np.zeros((1, Y.shape[1])), np.cumsum(Y, axis=0)])
    first = np.maximum(np.arange(n) - h, 0)
    last = np.minimum(np.arange(n) + h + 1, n)
    smooth = (sums[last] - sums[first]) / (last - first)[:, None]
    return np.asarray(Y - smooth)
