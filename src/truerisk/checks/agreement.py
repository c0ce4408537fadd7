r"""Agreement of outcomes between pairs of rows, and the test for an order of the rows.

The scale of the agreement goes from 0 (chance) to 1 (equal).

Rows are in order if the outcomes of consecutive rows agree more than those of random pairs.

The statistic is the mean agreement of y over the n - 1 pairs of consecutive
rows, a rank correlation at lag one. In a random order of the rows it is about normal with mean 0
and a known variance, and :math:`z > 3.3` has probability 1 in 2,000.

A table that is sorted by y, or that consists of two such tables (for instance training rows and
test rows), gives no finding. Nor does a table whose order is explained by a column, such as rows
sorted by a feature, because given X such rows are independent. In this case the test is repeated on
the residuals of y. The columns that have an order themselves predict y from the rows that are
nearest in these columns but not in the table, and a moving average over 21 rows (fewer in small
tables) is subtracted. The residuals of independent rows, sorted by a feature on which y depends
smoothly, have a correlation of about 0 at lag one. The residuals of a random walk, of an
autoregression and of visits of one patient have a larger correlation. A column that only counts the
rows explains nothing, because future rows have other numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.frozen import frozen

FEWEST_ROWS = 30
ALL_ROWS = slice(None)
ERRORS = 3.3  # number of standard errors that 1 of 2,000 random orders exceeds
LEAST = 0.1  # smallest correlation at lag one that counts
FEWEST_PAIRS = 5  # smallest excess of agreeing pairs over chance, for rare classes
# Numbers are sorted, as a whole or in pieces, if this share of steps has one direction.
SORTED = 0.9
HALF_WINDOW = 10  # rows on each side in the moving average, fewer in tables below 200 rows
NEAREST = 8
REGULAR = 0.5  # A counter has at least this share of equal steps; sorted features have fewer.
DISTINCT = 0.95
# tolerance as a share of a step, because a counter may be scaled and stored in single precision
ROUNDING = 1e-3


@frozen(eq=False)
class Outcome:
    """Outcomes of the rows: class codes, or standardized ranks with one column per target."""

    values: np.ndarray
    is_class: bool

    def take(self, rows: Any) -> Outcome:
        """Return the outcomes of some rows, with ranks computed again."""
        if self.is_class:
            return Outcome(self.values[rows], is_class=True)
        return Outcome(_standardized_ranks(self.values[rows]), is_class=False)

    def agreement(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        r"""Return the agreement of the outcomes of rows i with those of rows j.

        .. math:: a_{ij} = 1 - \frac{[y_i \neq y_j]}{1 - \sum_c p_c^2}
           \quad\text{or}\quad a_{ij} = 1 - \tfrac12 (r_i - r_j)^2

        with class shares :math:`p_c` and ranks r of mean 0 and variance 1 (averaged over targets).
        Independent rows have expectation 0, equal outcomes have 1. For classes the mean over pairs
        is Cohen's kappa, for numbers it is a rank correlation in von Neumann's form.
        """
        if self.is_class:
            shares = np.bincount(self.values) / len(self.values)
            return 1 - (self.values[i] != self.values[j]) / (1 - (shares**2).sum())
        distance: np.ndarray = ((self.values[i] - self.values[j]) ** 2).mean(axis=-1)
        return 1 - distance / 2

    @property
    def variance(self) -> float:
        r"""Variance of the agreement of one random pair, for means over consecutive pairs.

        For classes it is :math:`(s_2 + s_2^2 - 2 s_3)/(1 - s_2)^2` with
        :math:`s_m = \sum_c p_c^m` (join counts); for one column of ranks it is 1.
        """
        if self.is_class:
            shares = np.bincount(self.values) / len(self.values)
            second, third = (shares**2).sum(), (shares**3).sum()
            return float((second + second**2 - 2 * third) / (1 - second) ** 2)
        q = self.values.shape[1]
        covariance = np.cov(self.values, rowvar=False).reshape(q, q) / q
        return float((covariance**2).sum())

    def columns(self, most: int = 6) -> np.ndarray:
        """Return ranks, or indicators of the largest classes, as columns."""
        if not self.is_class:
            return self.values
        largest = np.argsort(-np.bincount(self.values), kind="stable")[:most]
        return (self.values[:, None] == largest).astype(np.float64)


def outcome_of(
    codes: np.ndarray | None, y: np.ndarray, rows: np.ndarray | slice = ALL_ROWS
) -> Outcome | None:
    """Return the outcomes of some rows, or None if they do not vary or are no numbers.

    Classes have `codes`, numbers are read from `y`.
    """
    if codes is not None:
        # A class may have no row in the subset.
        codes = np.unique(codes[rows], return_inverse=True)[1].ravel()
        return Outcome(codes, is_class=True) if codes.any() else None
    try:
        numbers = np.asarray(y[rows], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    numbers = numbers.reshape(len(numbers), -1)[:, :10]
    if not numbers.size or not np.isfinite(numbers).all():
        return None
    numbers = numbers[:, numbers.min(axis=0) < numbers.max(axis=0)]
    return Outcome(_standardized_ranks(numbers), is_class=False) if numbers.shape[1] else None


def _standardized_ranks(numbers: np.ndarray) -> np.ndarray:
    """Return the mean rank of each value by column, standardized to mean 0 and variance 1."""
    ranks = np.empty_like(numbers, dtype=np.float64)
    for column in range(numbers.shape[1]):
        ranks[:, column] = mean_ranks(numbers[:, column])
    ranks -= ranks.mean(axis=0)
    spread = ranks.std(axis=0)
    return ranks / np.where(spread > 0, spread, 1)


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value; ties get their mean rank."""
    _, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: np.ndarray = (np.cumsum(counts) - (counts - 1) / 2)[position.ravel()]
    return ranks


# ---------------------------------------------------------------- rows in order


@frozen
class Order:
    """Correlation of y at lag one, before and after subtracting what columns explain.

    Parameters
    ----------
    correlation : float
        Mean agreement of y over consecutive rows, 0 by chance.
    bound : float
        Correlation that a random order exceeds in 1 of 2,000 tables.
    residual : float or None
        Correlation of the residuals; None if no column has an order and none were computed.
    residual_bound : float
        The same bound for the residuals.
    """

    correlation: float
    bound: float
    residual: float | None = None
    residual_bound: float = 0.0

    @property
    def is_found(self) -> bool:
        """True if no column explains the order of y."""
        return self.residual is None or self.residual > max(self.residual_bound, LEAST)


def order_of_outcomes(outcome: Outcome, groups: np.ndarray | None = None) -> Order | None:
    """Return the correlation of y at lag one if it is beyond chance, otherwise None.

    The result is also None if there are few rows or if they are sorted by y. With `groups` only
    consecutive rows of different groups are compared.
    """
    n = len(outcome.values)
    if n < FEWEST_ROWS or is_sorted(outcome):
        return None
    first = np.arange(n - 1)
    if groups is not None:
        first = first[groups[1:] != groups[:-1]]
        if len(first) < FEWEST_ROWS:
            return None
    correlation = float(outcome.agreement(first, first + 1).mean())
    if outcome.is_class:
        shares = np.bincount(outcome.values) / n
        if correlation * (1 - (shares**2).sum()) * len(first) < FEWEST_PAIRS:
            return None
    bound = float(ERRORS * np.sqrt(outcome.variance / len(first)))
    return Order(correlation, bound) if correlation > max(bound, LEAST) else None


def is_sorted(outcome: Outcome) -> bool:
    """Return True if the rows are sorted by y, as a whole or in parts.

    Classes are sorted in one part or in two parts; in each part every class has one run, and both
    parts have the same order of classes. A class that drifts from state to state also has few runs,
    but its states recur in another order. Numbers are sorted if nine of ten steps have the same
    direction, in any number of parts.
    """
    if not outcome.is_class:
        for column in outcome.values.T:
            steps = np.diff(column)
            rising, falling = int((steps > 0).sum()), int((steps < 0).sum())
            if max(rising, falling) >= SORTED * (rising + falling):
                return True
        return False
    codes = outcome.values
    runs = codes[np.r_[True, codes[1:] != codes[:-1]]].tolist()
    first: dict[int, int] = {}
    for place, code in enumerate(runs):
        if code in first:
            break
        first[code] = place
    second = runs[len(first) :]
    if len(set(second)) < len(second):
        return False
    places = [first[code] for code in second if code in first]
    return places == sorted(places)


def is_counter(column: np.ndarray) -> bool:
    """Return True if a column only counts the rows: it is monotone with mostly equal steps."""
    steps = np.diff(column)
    steps = -steps if column[-1] < column[0] else steps
    if (steps < 0).any() or np.mean(steps > 0) < DISTINCT:
        return False
    usual = float(np.median(steps))
    return bool(np.mean(np.abs(steps - usual) <= ROUNDING * usual) >= REGULAR)


def columns_in_order(X: np.ndarray) -> np.ndarray:
    """Return the columns whose rank correlation at lag one is significant, except counters."""
    retained = []
    for j in range(X.shape[1]):
        ranks = mean_ranks(X[:, j])
        ranks -= ranks.mean()
        size = float(ranks @ ranks)
        if size == 0 or is_counter(X[:, j]):
            continue
        if ranks[1:] @ ranks[:-1] > 3.0 / np.sqrt(len(X)) * size:
            retained.append(j)
    return np.array(retained, dtype=np.int64)


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
        residual = plain  # The columns explain nothing, so y without its moving average is used.
    size = float((residual**2).sum())
    if size == 0:
        return 0.0, 1.0
    correlation = float((residual[1:] * residual[:-1]).sum()) / size
    covariance = residual.T @ residual / size
    bound = ERRORS * np.sqrt(float((covariance**2).sum()) / n)
    return correlation + 1 / (2 * h), bound


def _detrended(Y: np.ndarray, h: int) -> np.ndarray:
    """Subtract a moving average over 2 h + 1 rows, or fewer at the two ends."""
    n = len(Y)
    sums = np.concatenate([np.zeros((1, Y.shape[1])), np.cumsum(Y, axis=0)])
    first = np.maximum(np.arange(n) - h, 0)
    last = np.minimum(np.arange(n) + h + 1, n)
    smooth = (sums[last] - sums[first]) / (last - first)[:, None]
    return np.asarray(Y - smooth)
