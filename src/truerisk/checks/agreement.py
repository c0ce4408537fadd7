r"""Agreement of outcomes between pairs of rows, and the test for an order of the rows.

Agreement is 0 on average for random pairs of rows, and 1 for equal outcomes.

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
BOUND_IN_STD_ERRORS = 3.3  # number of standard errors that 1 of 2,000 random row orders exceeds
LEAST_CORRELATION = 0.1  # smallest correlation at lag one that is reported
FEWEST_PAIRS = 5  # smallest number of agreeing pairs of rows beyond chance
# Numbers count as sorted if this share of the steps between rows has the same direction.
SORTED_SHARE = 0.9
HALF_WINDOW = 10  # rows on each side in the moving average, fewer in tables below 200 rows
N_NEAREST = 8  # number of nearest rows whose mean outcome predicts y
EQUAL_STEPS_SHARE = (
    0.5  # In a column that counts the rows, at least this share of the steps is equal.
)
RISING_STEPS_SHARE = 0.95  # smallest share of rising steps in a column that counts the rows
# Steps count as equal up to this share of a step, since a counter may be scaled and stored in
# single precision.
STEP_TOLERANCE = 1e-3


@frozen(eq=False)
class Outcome:
    """Outcomes y of the rows: class codes, or standardized ranks with one column per target."""

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
        r"""Variance of the agreement of a random pair of rows, for means over consecutive pairs.

        For classes it is :math:`(s_2 + s_2^2 - 2 s_3)/(1 - s_2)^2` with
        :math:`s_m = \sum_c p_c^m` (join counts); for one column of ranks it is 1.
        """
        if self.is_class:
            shares = np.bincount(self.values) / len(self.values)
            sum_of_squares, sum_of_cubes = (shares**2).sum(), (shares**3).sum()
            return float(
                (sum_of_squares + sum_of_squares**2 - 2 * sum_of_cubes) / (1 - sum_of_squares) ** 2
            )
        n_targets = self.values.shape[1]
        covariance = np.cov(self.values, rowvar=False).reshape(n_targets, n_targets) / n_targets
        return float((covariance**2).sum())

    def columns(self, most: int = 6) -> np.ndarray:
        """Return the ranks of y, or indicators of the largest classes, as columns of a matrix."""
        if not self.is_class:
            return self.values
        largest_classes = np.argsort(-np.bincount(self.values), kind="stable")[:most]
        return (self.values[:, None] == largest_classes).astype(np.float64)


def outcome_of(
    codes: np.ndarray | None, y: np.ndarray, rows: np.ndarray | slice = ALL_ROWS
) -> Outcome | None:
    """Return the outcomes of some rows, or None if they are constant or not numeric.

    Class outcomes are read from `codes`. If `codes` is None, numeric outcomes are read from `y`.
    """
    if codes is not None:
        # A class may have no row in the subset, so the codes are renumbered.
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
    """Replace each value by its rank in its column, standardized to mean 0 and variance 1."""
    ranks = np.empty_like(numbers, dtype=np.float64)
    for column in range(numbers.shape[1]):
        ranks[:, column] = mean_ranks(numbers[:, column])
    ranks -= ranks.mean(axis=0)
    spread = ranks.std(axis=0)
    return ranks / np.where(spread > 0, spread, 1)


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value; ties get their mean rank."""
    _, positions, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: np.ndarray = (np.cumsum(counts) - (counts - 1) / 2)[positions.ravel()]
    return ranks


# ---------------------------------------------------------------- rows in order


@frozen
class OrderOfRows:
    """Correlation of y at lag one, before and after subtracting what columns of X predict.

    Parameters
    ----------
    correlation : float
        Mean agreement of y over consecutive rows, 0 by chance.
    bound : float
        Correlation of y that a random order of the rows exceeds in 1 of 2,000 tables.
    residual : float or None
        Correlation of the residuals of y; None if no column of X has an order.
    residual_bound : float
        Correlation that residuals in random order exceed in 1 of 2,000 tables.
    """

    correlation: float
    bound: float
    residual: float | None = None
    residual_bound: float = 0.0

    @property
    def is_found(self) -> bool:
        """True if the order of y is not explained by columns of X."""
        return self.residual is None or self.residual > max(self.residual_bound, LEAST_CORRELATION)


def order_of_outcomes(outcome: Outcome, groups: np.ndarray | None = None) -> OrderOfRows | None:
    """Return the correlation of y at lag one if it is significant, otherwise None.

    The result is also None if there are few rows or if they are sorted by y. With `groups`, only
    consecutive rows of different groups are compared.
    """
    n = len(outcome.values)
    if n < FEWEST_ROWS or is_sorted(outcome):
        return None
    first_rows = np.arange(n - 1)
    if groups is not None:
        first_rows = first_rows[groups[1:] != groups[:-1]]
        if len(first_rows) < FEWEST_ROWS:
            return None
    correlation = float(outcome.agreement(first_rows, first_rows + 1).mean())
    if outcome.is_class:
        shares = np.bincount(outcome.values) / n
        if correlation * (1 - (shares**2).sum()) * len(first_rows) < FEWEST_PAIRS:
            return None
    bound = float(BOUND_IN_STD_ERRORS * np.sqrt(outcome.variance / len(first_rows)))
    return OrderOfRows(correlation, bound) if correlation > max(bound, LEAST_CORRELATION) else None


def is_sorted(outcome: Outcome) -> bool:
    """Return True if the rows are sorted by y, in the whole table or in each of a few parts.

    Classes are sorted in one part or in two parts; in each part every class has one run, and both
    parts have the same order of classes. A class that drifts from state to state also has few runs,
    but its states recur in another order. Numbers are sorted if nine of ten steps have the same
    direction, in any number of parts.
    """
    if not outcome.is_class:
        for column in outcome.values.T:
            steps = np.diff(column)
            rising, falling = int((steps > 0).sum()), int((steps < 0).sum())
            if max(rising, falling) >= SORTED_SHARE * (rising + falling):
                return True
        return False
    codes = outcome.values
    runs = codes[np.r_[True, codes[1:] != codes[:-1]]].tolist()
    first_run: dict[int, int] = {}
    for run_number, code in enumerate(runs):
        if code in first_run:
            break
        first_run[code] = run_number
    second_part = runs[len(first_run) :]
    if len(set(second_part)) < len(second_part):
        return False
    first_runs = [first_run[code] for code in second_part if code in first_run]
    return first_runs == sorted(first_runs)


def is_counter(column: np.ndarray) -> bool:
    """Return True if a column only counts the rows: monotone values with mostly equal steps."""
    steps = np.diff(column)
    steps = -steps if column[-1] < column[0] else steps
    if (steps < 0).any() or np.mean(steps > 0) < RISING_STEPS_SHARE:
        return False
    median_step = float(np.median(steps))
    return bool(
        np.mean(np.abs(steps - median_step) <= STEP_TOLERANCE * median_step) >= EQUAL_STEPS_SHARE
    )


def columns_in_order(X: np.ndarray) -> np.ndarray:
    """Return the columns with a significant rank correlation at lag one, except row counters."""
    ordered_columns = []
    for j in range(X.shape[1]):
        ranks = mean_ranks(X[:, j])
        ranks -= ranks.mean()
        variance = float(ranks @ ranks)
        if variance == 0 or is_counter(X[:, j]):
            continue
        if ranks[1:] @ ranks[:-1] > 3.0 / np.sqrt(len(X)) * variance:
            ordered_columns.append(j)
    return np.array(ordered_columns, dtype=np.int64)


def order_given_columns(X: np.ndarray, outcome: Outcome) -> tuple[float, float]:
    r"""Return the correlation at lag one of the residuals of y given X, and its bound.

    The residual of row i is :math:`r_i = y_i - \frac1k \sum_{j \in N_i} y_j`, with the k rows
    :math:`N_i` nearest in X that are more than h rows away in the table, minus the moving average
    of these differences over w = 2 h + 1 rows. Subtracting the moving average shifts the
    correlation of independent rows to :math:`-1/(w-1)`, so :math:`1/(w-1)` is added.
    """
    n = len(X)
    half_window = min(HALF_WINDOW, n // 20 + 1)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    columns = outcome.columns()
    columns = columns - columns.mean(axis=0)
    squares = (Z**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * Z @ Z.T
    positions = np.arange(n)
    distances[np.abs(positions[:, None] - positions) <= half_window] = np.inf
    k = min(N_NEAREST, n // 4)
    nearest = np.argpartition(distances, k, axis=1)[:, :k]
    residuals = _detrend(columns - columns[nearest].mean(axis=1), half_window)
    detrended = _detrend(columns, half_window)
    if (detrended**2).sum() < (residuals**2).sum():
        # The columns predict nothing, so y minus its moving average is used instead.
        residuals = detrended
    total_square = float((residuals**2).sum())
    if total_square == 0:
        return 0.0, 1.0
    correlation = float((residuals[1:] * residuals[:-1]).sum()) / total_square
    covariance = residuals.T @ residuals / total_square
    bound = BOUND_IN_STD_ERRORS * np.sqrt(float((covariance**2).sum()) / n)
    return correlation + 1 / (2 * half_window), bound


def _detrend(columns: np.ndarray, half_window: int) -> np.ndarray:
    """Subtract a moving average over 2 h + 1 rows; it has fewer rows at both ends of the table."""
    n = len(columns)
    sums = np.concatenate([np.zeros((1, columns.shape[1])), np.cumsum(columns, axis=0)])
    window_start = np.maximum(np.arange(n) - half_window, 0)
    window_end = np.minimum(np.arange(n) + half_window + 1, n)
    moving_average = (sums[window_end] - sums[window_start]) / (window_end - window_start)[:, None]
    return np.asarray(columns - moving_average)
