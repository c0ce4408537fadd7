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

MIN_DISTINCT_VALUES = 5  # minimum number of distinct values in a column whose name suggests groups
# Other columns need more distinct values, because small scales and short lists are features.
MIN_DISTINCT_NUMBERS, MIN_DISTINCT_TEXTS = 12, 15
# largest mean number of rows per value, for numbers and for text
MAX_ROWS_PER_NUMBER, MAX_ROWS_PER_LABEL = 50, 20
# largest mean number of rows per value, for columns whose name suggests groups
MAX_ROWS_PER_NAMED_VALUE = 100
LEAST_Z = 4.5  # smallest z statistic that counts as significant
# At least this share of the rows must have a value with an excess of agreement: rows with that
# value agree in y more than rows with neighbouring values. If y depends on a feature in a step,
# only the rows near the step have such an excess.
MIN_SHARE_WITH_EXCESS = 0.35
MIN_COUNTED_EXCESS = 0.1  # A value counts for this share if its excess of agreement is larger.
MAX_AGREEMENT_RATIO = (
    0.5  # Neighbouring values agree in y by at most this share of the agreement within a value.
)
# smallest agreement of y within a value, and its smallest excess over neighbouring values
LEAST_AGREEMENT = 0.2
# Text needs a larger excess of agreement, since its values have no neighbours to compare with.
MIN_TEXT_EXCESS = 0.4
MANY_VALUES = 20  # Text with at least this many values may have a smaller excess of agreement.
# smallest excess of agreement for text with many values that each occur in few rows
MIN_FINE_TEXT_EXCESS = 0.2
FEW_ROWS = 12  # Values occur in few rows if the mean number of rows per value is at most this.
LARGEST_RELATIVE_SIZE = (
    5.0  # A value is unusually frequent if its number of rows exceeds this multiple of the median.
)


@frozen
class GroupAgreement:
    """Agreement in y of rows with the same value in a column, and with neighbouring values."""

    n_values: int
    mean_rows_per_value: float
    agreement_inside: float
    agreement_outside: float
    excess_in_std_errors: float
    share_with_excess: float
    has_order: bool

    @property
    def is_found(self) -> bool:
        """True if the column behaves like a group number.

        Outcomes y then agree far more between rows with the same value than with different values.
        """
        excess = self.agreement_inside - self.agreement_outside
        if self.excess_in_std_errors <= LEAST_Z or self.share_with_excess < MIN_SHARE_WITH_EXCESS:
            return False
        min_values = MIN_DISTINCT_NUMBERS if self.has_order else MIN_DISTINCT_TEXTS
        max_rows_per_value = MAX_ROWS_PER_NUMBER if self.has_order else MAX_ROWS_PER_LABEL
        if self.n_values < min_values or self.mean_rows_per_value > max_rows_per_value:
            return False
        if self.has_order:
            return (
                min(excess, self.agreement_inside) > LEAST_AGREEMENT
                and self.agreement_outside < MAX_AGREEMENT_RATIO * self.agreement_inside
            )
        has_many_small_values = (
            self.n_values >= MANY_VALUES and self.mean_rows_per_value <= FEW_ROWS
        )
        return excess > (MIN_FINE_TEXT_EXCESS if has_many_small_values else MIN_TEXT_EXCESS)


def measure_agreement(
    value_codes: np.ndarray, outcome: Outcome, *, has_order: bool
) -> GroupAgreement | None:
    """Compare the agreement of y within the values of a column and between neighbouring values.

    Parameters
    ----------
    value_codes : ndarray of shape (n,)
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
    value_counts = np.bincount(value_codes)
    is_usual_size = value_counts <= max(
        LARGEST_RELATIVE_SIZE * np.median(value_counts[value_counts > 0]), 4
    )
    if value_counts[~is_usual_size].sum() > 0.2 * len(value_codes):
        return None
    n_values = len(value_counts)
    sums_of_y, sums_of_squares = _sums_by_value(value_codes, outcome, n_values)
    # Sums over all pairs of rows follow from class counts, or from sums of ranks and their squares.
    within_sums = _agreement_sums_within(sums_of_y, sums_of_squares, value_counts, outcome)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside_agreement = within_sums / (value_counts * (value_counts - 1.0))
        between_sums = _agreement_sums_between(sums_of_y, sums_of_squares, value_counts, outcome)
        agreement_with_next = between_sums / (value_counts[1:] * value_counts[:-1])
    outside_agreement = np.zeros(n_values)
    if has_order:
        agreement_with_smaller, agreement_with_larger = (
            np.r_[np.nan, agreement_with_next],
            np.r_[agreement_with_next, np.nan],
        )
        outside_agreement = np.nanmean([agreement_with_smaller, agreement_with_larger], axis=0)
    is_compared_value = is_usual_size & (value_counts > 1)
    if is_compared_value.sum() < MIN_DISTINCT_VALUES or value_counts[
        is_compared_value
    ].sum() < 0.3 * len(value_codes):
        return None
    row_shares = value_counts[is_compared_value] / value_counts[is_compared_value].sum()
    excess_by_value = (inside_agreement - outside_agreement)[is_compared_value]
    mean_excess = float(row_shares @ excess_by_value)
    std_error = float(
        np.sqrt(
            (
                row_shares**2
                * _excess_variance_by_chance(value_counts[is_compared_value], outcome, has_order)
            ).sum()
        )
    )
    return GroupAgreement(
        n_values=n_values,
        mean_rows_per_value=float(len(value_codes) / n_values),
        agreement_inside=float(row_shares @ inside_agreement[is_compared_value]),
        agreement_outside=float(row_shares @ outside_agreement[is_compared_value]),
        excess_in_std_errors=mean_excess / max(std_error, 1e-12),
        share_with_excess=float(row_shares[excess_by_value > MIN_COUNTED_EXCESS].sum()),
        has_order=has_order,
    )


def _sums_by_value(
    value_codes: np.ndarray, outcome: Outcome, n_values: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each value, the sums of the columns of y and the sums of their squares."""
    if outcome.is_categorical:
        n_classes = int(outcome.values.max()) + 1
        class_counts = np.bincount(
            value_codes * n_classes + outcome.values, minlength=n_values * n_classes
        )
        counts_by_value = class_counts.reshape(n_values, n_classes).astype(np.float64)
        return counts_by_value, counts_by_value
    target_columns = outcome.values.T
    sums_by_value = np.stack(
        [np.bincount(value_codes, column, n_values) for column in target_columns], axis=1
    )
    square_sums_by_value = np.stack(
        [np.bincount(value_codes, column**2, n_values) for column in target_columns], axis=1
    )
    return sums_by_value, square_sums_by_value


def _chance_of_agreement(outcome: Outcome) -> float:
    return float(((np.bincount(outcome.values) / len(outcome.values)) ** 2).sum())


def _agreement_sums_within(
    sums_of_y: np.ndarray, sums_of_squares: np.ndarray, value_counts: np.ndarray, outcome: Outcome
) -> np.ndarray:
    """Return, for each value, the summed agreement of all ordered pairs of its rows."""
    n_pairs = value_counts * (value_counts - 1.0)
    if outcome.is_categorical:
        n_equal_pairs = (sums_of_y * (sums_of_y - 1)).sum(axis=1)
        return n_pairs - (n_pairs - n_equal_pairs) / (1 - _chance_of_agreement(outcome))
    summed_distances = (2 * value_counts[:, None] * sums_of_squares - 2 * sums_of_y**2).mean(axis=1)
    return n_pairs - summed_distances / 2


def _agreement_sums_between(
    sums_of_y: np.ndarray, sums_of_squares: np.ndarray, value_counts: np.ndarray, outcome: Outcome
) -> np.ndarray:
    """Return, for each value and the next, the summed agreement over all pairs of their rows."""
    n_pairs = (value_counts[1:] * value_counts[:-1]).astype(np.float64)
    if outcome.is_categorical:
        n_equal_pairs = (sums_of_y[1:] * sums_of_y[:-1]).sum(axis=1)
        return n_pairs - (n_pairs - n_equal_pairs) / (1 - _chance_of_agreement(outcome))
    next_sizes, value_sizes = value_counts[1:, None], value_counts[:-1, None]
    products_of_sums = sums_of_y[1:] * sums_of_y[:-1]
    summed_distances = (
        value_sizes * sums_of_squares[1:] + next_sizes * sums_of_squares[:-1] - 2 * products_of_sums
    ).mean(axis=1)
    return n_pairs - summed_distances / 2


def _excess_variance_by_chance(
    value_counts: np.ndarray, outcome: Outcome, has_order: bool
) -> np.ndarray:
    """Return the variance of the excess of agreement if y does not depend on the column."""
    pair_variance = outcome.variance
    within_variance = 2 * pair_variance / (value_counts * (value_counts - 1.0))
    return within_variance + (pair_variance / value_counts**2 if has_order else 0.0)
