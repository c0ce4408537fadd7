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

MIN_CHECKED_ROWS = 30
ALL_ROWS = slice(None)
CRITICAL_Z = 3.3  # Only one in 2,000 random orders of the rows has a larger z statistic.
LEAST_CORRELATION = 0.1  # smallest correlation of y between consecutive rows that is reported
MIN_EXCESS_PAIRS = (
    5  # An order is reported if at least this many pairs of rows agree beyond chance.
)
# Numbers count as sorted if this share of the steps between rows has the same direction.
MIN_SORTED_STEP_SHARE = 0.9
# number of rows on each side of a moving average; it is smaller in tables with fewer than 200 rows
HALF_WINDOW = 10
N_NEAREST = 8  # y of a row is predicted by the mean outcome of this many nearest rows.
EQUAL_STEPS_SHARE = (
    0.5  # In a column that counts the rows, at least this share of the steps is equal.
)
RISING_STEPS_SHARE = 0.95  # smallest share of rising steps in a column that counts the rows
# Steps that differ by at most this share of a step count as equal, because a counter may be scaled
# and stored in single precision.
STEP_TOLERANCE = 1e-3


@frozen(eq=False)
class Outcome:
    """Outcomes y of the rows, in a form from which their agreement can be computed.

    They are class codes, or standardized ranks with one column per target.
    """

    values: np.ndarray
    is_categorical: bool

    def take(self, rows: Any) -> Outcome:
        """Return the outcomes of a subset of the rows.

        Ranks are computed anew within the subset.
        """
        if self.is_categorical:
            return Outcome(self.values[rows], is_categorical=True)
        return Outcome(_standardized_ranks(self.values[rows]), is_categorical=False)

    def agreement(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        r"""Return the agreement of the outcomes of rows i with those of rows j.

        .. math:: a_{ij} = 1 - \frac{[y_i \neq y_j]}{1 - \sum_c p_c^2}
           \quad\text{or}\quad a_{ij} = 1 - \tfrac12 (r_i - r_j)^2

        with class shares :math:`p_c` and ranks r of mean 0 and variance 1 (averaged over targets).
        Independent rows have expectation 0, equal outcomes have 1. For classes the mean over pairs
        is Cohen's kappa, for numbers it is a rank correlation in von Neumann's form.
        """
        if self.is_categorical:
            class_shares = np.bincount(self.values) / len(self.values)
            return 1 - (self.values[i] != self.values[j]) / (1 - (class_shares**2).sum())
        squared_distance: np.ndarray = ((self.values[i] - self.values[j]) ** 2).mean(axis=-1)
        return 1 - squared_distance / 2

    @property
    def variance(self) -> float:
        r"""Variance of the agreement in y between the two rows of a random pair.

        It is also used for pairs of consecutive rows.

        For classes it is :math:`(s_2 + s_2^2 - 2 s_3)/(1 - s_2)^2` with
        :math:`s_m = \sum_c p_c^m` (join counts); for one column of ranks it is 1.
        """
        if self.is_categorical:
            class_shares = np.bincount(self.values) / len(self.values)
            sum_of_squares, sum_of_cubes = (class_shares**2).sum(), (class_shares**3).sum()
            return float(
                (sum_of_squares + sum_of_squares**2 - 2 * sum_of_cubes) / (1 - sum_of_squares) ** 2
            )
        n_targets = self.values.shape[1]
        covariance = np.cov(self.values, rowvar=False).reshape(n_targets, n_targets) / n_targets
        return float((covariance**2).sum())

    def columns(self, max_columns: int = 6) -> np.ndarray:
        """Return the ranks of y, or indicators of the largest classes, as columns of a matrix."""
        if not self.is_categorical:
            return self.values
        largest_classes = np.argsort(-np.bincount(self.values), kind="stable")[:max_columns]
        return (self.values[:, None] == largest_classes).astype(np.float64)


def make_outcome(
    class_codes: np.ndarray | None, y: np.ndarray, rows: np.ndarray | slice = ALL_ROWS
) -> Outcome | None:
    """Return the outcomes y of some rows, or None if y is constant there or not numeric.

    Class outcomes are read from `class_codes`. If `class_codes` is None, numeric outcomes are read
    from `y`.
    """
    if class_codes is not None:
        # A class may have no row in the subset, so the codes are renumbered.
        class_codes = np.unique(class_codes[rows], return_inverse=True)[1].ravel()
        return Outcome(class_codes, is_categorical=True) if class_codes.any() else None
    try:
        targets = np.asarray(y[rows], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    targets = targets.reshape(len(targets), -1)[:, :10]
    if not targets.size or not np.isfinite(targets).all():
        return None
    targets = targets[:, targets.min(axis=0) < targets.max(axis=0)]
    return Outcome(_standardized_ranks(targets), is_categorical=False) if targets.shape[1] else None


def _standardized_ranks(columns: np.ndarray) -> np.ndarray:
    """Replace each value by its rank in its column, standardized to mean 0 and variance 1."""
    ranks = np.empty_like(columns, dtype=np.float64)
    for column in range(columns.shape[1]):
        ranks[:, column] = mean_ranks(columns[:, column])
    ranks -= ranks.mean(axis=0)
    std_of_ranks = ranks.std(axis=0)
    return ranks / np.where(std_of_ranks > 0, std_of_ranks, 1)


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value; ties get their mean rank."""
    _, value_codes, tie_counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: np.ndarray = (np.cumsum(tie_counts) - (tie_counts - 1) / 2)[value_codes.ravel()]
    return ranks


# ---------------------------------------------------------------- rows in order


@frozen
class LagOneCorrelation:
    """Correlation of y between consecutive rows (lag one).

    It is computed before and after subtracting from y what columns of X predict.

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
    critical_value: float
    residual_correlation: float | None = None
    residual_critical_value: float = 0.0

    @property
    def is_found(self) -> bool:
        """True if the order of y is not explained by columns of X."""
        return self.residual_correlation is None or self.residual_correlation > max(
            self.residual_critical_value, LEAST_CORRELATION
        )


def lag_one_correlation(
    outcome: Outcome, groups: np.ndarray | None = None
) -> LagOneCorrelation | None:
    """Return the correlation of y at lag one if it is significant, otherwise None.

    The result is also None if there are few rows or if they are sorted by y. With `groups`, only
    consecutive rows of different groups are compared.
    """
    n_rows = len(outcome.values)
    if n_rows < MIN_CHECKED_ROWS or is_sorted(outcome):
        return None
    pair_starts = np.arange(n_rows - 1)
    if groups is not None:
        pair_starts = pair_starts[groups[1:] != groups[:-1]]
        if len(pair_starts) < MIN_CHECKED_ROWS:
            return None
    correlation = float(outcome.agreement(pair_starts, pair_starts + 1).mean())
    if outcome.is_categorical:
        class_shares = np.bincount(outcome.values) / n_rows
        if correlation * (1 - (class_shares**2).sum()) * len(pair_starts) < MIN_EXCESS_PAIRS:
            return None
    critical_correlation = float(CRITICAL_Z * np.sqrt(outcome.variance / len(pair_starts)))
    return (
        LagOneCorrelation(correlation, critical_correlation)
        if correlation > max(critical_correlation, LEAST_CORRELATION)
        else None
    )


def is_sorted(outcome: Outcome) -> bool:
    """Return True if the rows are sorted by y, in the whole table or in each of a few parts.

    Classes are sorted in one part or in two parts; in each part every class has one run, and both
    parts have the same order of classes. A class that drifts from state to state also has few runs,
    but its states recur in another order. Numbers are sorted if nine of ten steps have the same
    direction, in any number of parts.
    """
    if not outcome.is_categorical:
        for target_ranks in outcome.values.T:
            rank_steps = np.diff(target_ranks)
            n_rising, n_falling = int((rank_steps > 0).sum()), int((rank_steps < 0).sum())
            if max(n_rising, n_falling) >= MIN_SORTED_STEP_SHARE * (n_rising + n_falling):
                return True
        return False
    class_codes = outcome.values
    run_classes = class_codes[np.r_[True, class_codes[1:] != class_codes[:-1]]].tolist()
    first_run_of_class: dict[int, int] = {}
    for run_number, class_code in enumerate(run_classes):
        if class_code in first_run_of_class:
            break
        first_run_of_class[class_code] = run_number
    later_runs = run_classes[len(first_run_of_class) :]
    if len(set(later_runs)) < len(later_runs):
        return False
    earlier_run_numbers = [
        first_run_of_class[class_code]
        for class_code in later_runs
        if class_code in first_run_of_class
    ]
    return earlier_run_numbers == sorted(earlier_run_numbers)


def is_row_counter(column: np.ndarray) -> bool:
    """Return True if a column only counts the rows: monotone values with mostly equal steps."""
    row_steps = np.diff(column)
    row_steps = -row_steps if column[-1] < column[0] else row_steps
    if (row_steps < 0).any() or np.mean(row_steps > 0) < RISING_STEPS_SHARE:
        return False
    median_step = float(np.median(row_steps))
    return bool(
        np.mean(np.abs(row_steps - median_step) <= STEP_TOLERANCE * median_step)
        >= EQUAL_STEPS_SHARE
    )


def find_ordered_columns(X: np.ndarray) -> np.ndarray:
    """Return the columns with a significant rank correlation at lag one, except row counters."""
    ordered_columns = []
    for j in range(X.shape[1]):
        ranks = mean_ranks(X[:, j])
        ranks -= ranks.mean()
        sum_of_squares = float(ranks @ ranks)
        if sum_of_squares == 0 or is_row_counter(X[:, j]):
            continue
        if ranks[1:] @ ranks[:-1] > 3.0 / np.sqrt(len(X)) * sum_of_squares:
            ordered_columns.append(j)
    return np.array(ordered_columns, dtype=np.int64)


def correlation_given_columns(X: np.ndarray, outcome: Outcome) -> tuple[float, float]:
    r"""Return the lag-one correlation of the residuals of y given X, and its critical value.

    The residual of row i is :math:`r_i = y_i - \frac1k \sum_{j \in N_i} y_j`, with the k rows
    :math:`N_i` nearest in X that are more than h rows away in the table, minus the moving average
    of these differences over w = 2 h + 1 rows. Subtracting the moving average shifts the
    correlation of independent rows to :math:`-1/(w-1)`, so :math:`1/(w-1)` is added.
    """
    n_rows = len(X)
    half_window = min(HALF_WINDOW, n_rows // 20 + 1)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    outcome_columns = outcome.columns()
    outcome_columns = outcome_columns - outcome_columns.mean(axis=0)
    squared_norms = (Z**2).sum(axis=1)
    squared_distances = squared_norms[:, None] + squared_norms - 2 * Z @ Z.T
    row_numbers = np.arange(n_rows)
    squared_distances[np.abs(row_numbers[:, None] - row_numbers) <= half_window] = np.inf
    n_neighbours = min(N_NEAREST, n_rows // 4)
    nearest_rows = np.argpartition(squared_distances, n_neighbours, axis=1)[:, :n_neighbours]
    residuals = _detrend(outcome_columns - outcome_columns[nearest_rows].mean(axis=1), half_window)
    detrended_outcomes = _detrend(outcome_columns, half_window)
    if (detrended_outcomes**2).sum() < (residuals**2).sum():
        # The columns of X predict nothing, so y minus its moving average replaces the residuals.
        residuals = detrended_outcomes
    sum_of_squares = float((residuals**2).sum())
    if sum_of_squares == 0:
        return 0.0, 1.0
    correlation = float((residuals[1:] * residuals[:-1]).sum()) / sum_of_squares
    covariance = residuals.T @ residuals / sum_of_squares
    critical_correlation = CRITICAL_Z * np.sqrt(float((covariance**2).sum()) / n_rows)
    return correlation + 1 / (2 * half_window), critical_correlation


def _detrend(columns: np.ndarray, half_window: int) -> np.ndarray:
    """Subtract each column's moving average over `2 * half_window + 1` rows, fewer at the ends."""
    n_rows = len(columns)
    cumulative_sums = np.concatenate([np.zeros((1, columns.shape[1])), np.cumsum(columns, axis=0)])
    window_start = np.maximum(np.arange(n_rows) - half_window, 0)
    window_end = np.minimum(np.arange(n_rows) + half_window + 1, n_rows)
    moving_average = (cumulative_sums[window_end] - cumulative_sums[window_start]) / (
        window_end - window_start
    )[:, None]
    return np.asarray(columns - moving_average)
