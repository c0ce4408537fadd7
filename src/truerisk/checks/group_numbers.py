r"""Columns that look like the number of a group of rows.

Rows with the same value of such a column agree in y far more than rows with neighbouring values. A
feature, such as an age, has about the same y at neighbouring values, so it does not look like a
group number, however well it predicts. Let row i have the value v, let :math:`a_i` be the mean
agreement of its y with the other rows with v, and :math:`b_i` that with the rows with the next
smaller and the next larger value. For text, whose values have no order, :math:`b_i = 0`, which is
chance. The statistic is

.. math:: z = \bar{δ} / \mathrm{se}(\bar{δ}), \qquad δ_v = \text{mean of } a_i - b_i \text{ over } v

with the standard error that it has if y is independent of the column; z is then about normal. A
feature on which y depends in a step has an excess only at the step, so at least a third of the rows
must have values with an excess.
"""

from __future__ import annotations

import numpy as np

from truerisk.checks.agreement import Outcome
from truerisk.core.frozen import frozen

FEWEST_VALUES = 5  # fewest distinct values of a column whose name suggests groups
# Other columns need more distinct values, because small scales and short lists are features.
FEWEST_NUMBERS, FEWEST_WORDS = 12, 15
# largest mean number of rows per value, for numbers and for text
MOST_ROWS_OF_NUMBER, MOST_ROWS_OF_LABEL = 50, 20
# largest mean number of rows per value, for columns whose name suggests groups
MOST_ROWS_OF_NAMED = 100
LEAST_Z = 4.5  # smallest z statistic that counts as significant
# At least this share of the rows must have values in which the agreement of y is in excess.
# If y depends on a feature in a step, only the rows near the step have such an excess.
LEAST_WITH_EXCESS = 0.35
CLEAR_OF_CHANCE = 0.1  # Values with a larger excess of agreement are counted.
LARGEST_RATIO = (
    0.5  # Neighbouring values agree in y by at most this share of the agreement within a value.
)
# smallest agreement of y within a value, and its smallest excess over neighbouring values
LEAST_AGREEMENT = 0.2
# Text needs a larger excess of agreement, since its values have no neighbours to compare with.
LEAST_OF_TEXT = 0.4
MANY_VALUES = 20  # Text with at least this many values may have a smaller excess.
LEAST_OF_FINE_TEXT = 0.2  # smallest excess for text with many values, each in few rows
FEW_ROWS = 12  # largest mean number of rows per value that counts as few
LARGEST_RELATIVE_SIZE = (
    5.0  # A value is unusual if it has more rows than this multiple of the median.
)


@frozen
class GroupNumber:
    """Agreement of y within each value of a column, and between neighbouring values."""

    n_values: int
    mean_rows: float
    inside: float
    outside: float
    errors: float
    share_with_excess: float
    has_order: bool

    @property
    def is_found(self) -> bool:
        """True if y agrees within values far more than between values, as in a group number."""
        excess = self.inside - self.outside
        if self.errors <= LEAST_Z or self.share_with_excess < LEAST_WITH_EXCESS:
            return False
        fewest = FEWEST_NUMBERS if self.has_order else FEWEST_WORDS
        largest = MOST_ROWS_OF_NUMBER if self.has_order else MOST_ROWS_OF_LABEL
        if self.n_values < fewest or self.mean_rows > largest:
            return False
        if self.has_order:
            return (
                min(excess, self.inside) > LEAST_AGREEMENT
                and self.outside < LARGEST_RATIO * self.inside
            )
        is_fine = self.n_values >= MANY_VALUES and self.mean_rows <= FEW_ROWS
        return excess > (LEAST_OF_FINE_TEXT if is_fine else LEAST_OF_TEXT)


def group_number(codes: np.ndarray, outcome: Outcome, *, has_order: bool) -> GroupNumber | None:
    """Compare the agreement of y within the values of a column and between neighbouring values.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Position of each value among the sorted values.
    outcome : Outcome
        Outcomes of the rows.
    has_order : bool
        True for numbers, whose neighbouring values are compared; False for text.

    Returns
    -------
    GroupNumber or None
        None if fewer than five values repeat, or if most rows share a few of them.
    """
    sizes = np.bincount(codes)
    is_usual_size = sizes <= max(LARGEST_RELATIVE_SIZE * np.median(sizes[sizes > 0]), 4)
    if sizes[~is_usual_size].sum() > 0.2 * len(codes):
        return None
    n_values = len(sizes)
    totals, squares = _totals(codes, outcome, n_values)
    # Sums over all pairs of rows follow from class counts, or from sums of ranks and their squares.
    within_sums = _pairs_within(totals, squares, sizes, outcome)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside_agreement = within_sums / (sizes * (sizes - 1.0))
        between_sums = _pairs_between(totals, squares, sizes, outcome)
        agreement_with_next = between_sums / (sizes[1:] * sizes[:-1])
    outside_agreement = np.zeros(n_values)
    if has_order:
        with_smaller, with_larger = (
            np.r_[np.nan, agreement_with_next],
            np.r_[agreement_with_next, np.nan],
        )
        outside_agreement = np.nanmean([with_smaller, with_larger], axis=0)
    is_counted = is_usual_size & (sizes > 1)
    if is_counted.sum() < FEWEST_VALUES or sizes[is_counted].sum() < 0.3 * len(codes):
        return None
    weights = sizes[is_counted] / sizes[is_counted].sum()
    excess = (inside_agreement - outside_agreement)[is_counted]
    mean_excess = float(weights @ excess)
    std_error = float(
        np.sqrt((weights**2 * _variance_by_chance(sizes[is_counted], outcome, has_order)).sum())
    )
    return GroupNumber(
        n_values=n_values,
        mean_rows=float(len(codes) / n_values),
        inside=float(weights @ inside_agreement[is_counted]),
        outside=float(weights @ outside_agreement[is_counted]),
        errors=mean_excess / max(std_error, 1e-12),
        share_with_excess=float(weights[excess > CLEAR_OF_CHANCE].sum()),
        has_order=has_order,
    )


def _totals(codes: np.ndarray, outcome: Outcome, n_values: int) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each value, the sums of the columns of y and the sums of their squares."""
    if outcome.is_class:
        n_classes = int(outcome.values.max()) + 1
        table = np.bincount(codes * n_classes + outcome.values, minlength=n_values * n_classes)
        counts = table.reshape(n_values, n_classes).astype(np.float64)
        return counts, counts
    columns = outcome.values.T
    sums = np.stack([np.bincount(codes, column, n_values) for column in columns], axis=1)
    squares = np.stack([np.bincount(codes, column**2, n_values) for column in columns], axis=1)
    return sums, squares


def _chance_of_agreement(outcome: Outcome) -> float:
    return float(((np.bincount(outcome.values) / len(outcome.values)) ** 2).sum())


def _pairs_within(
    totals: np.ndarray, squares: np.ndarray, sizes: np.ndarray, outcome: Outcome
) -> np.ndarray:
    """Return, for each value, the summed agreement of all ordered pairs of its rows."""
    n_pairs = sizes * (sizes - 1.0)
    if outcome.is_class:
        equal_pairs = (totals * (totals - 1)).sum(axis=1)
        return n_pairs - (n_pairs - equal_pairs) / (1 - _chance_of_agreement(outcome))
    distances = (2 * sizes[:, None] * squares - 2 * totals**2).mean(axis=1)
    return n_pairs - distances / 2


def _pairs_between(
    totals: np.ndarray, squares: np.ndarray, sizes: np.ndarray, outcome: Outcome
) -> np.ndarray:
    """Return, for each value and the next, the summed agreement over all pairs of their rows."""
    n_pairs = (sizes[1:] * sizes[:-1]).astype(np.float64)
    if outcome.is_class:
        equal_pairs = (totals[1:] * totals[:-1]).sum(axis=1)
        return n_pairs - (n_pairs - equal_pairs) / (1 - _chance_of_agreement(outcome))
    next_sizes, value_sizes = sizes[1:, None], sizes[:-1, None]
    products = totals[1:] * totals[:-1]
    distances = (value_sizes * squares[1:] + next_sizes * squares[:-1] - 2 * products).mean(axis=1)
    return n_pairs - distances / 2


def _variance_by_chance(sizes: np.ndarray, outcome: Outcome, has_order: bool) -> np.ndarray:
    """Return the variance of the excess of agreement if y does not depend on the column."""
    variance = outcome.variance
    within_variance = 2 * variance / (sizes * (sizes - 1.0))
    return within_variance + (variance / sizes**2 if has_order else 0.0)
