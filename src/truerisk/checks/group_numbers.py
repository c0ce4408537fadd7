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

FEWEST_VALUES = 5  # fewest values of a column with a name like that of a group number
# fewest values of other columns; small scales and short lists are features
FEWEST_NUMBERS, FEWEST_WORDS = 12, 15
MOST_ROWS_OF_NUMBER, MOST_ROWS_OF_LABEL = 50, 20  # mean size of a group
MOST_ROWS_OF_NAMED = 100
ERRORS = 4.5
# share of rows in values with an excess; with a step in y few rows have one
LEAST_WITH_EXCESS = 0.35
CLEAR_OF_CHANCE = 0.1
RATIO = 0.5  # Agreement with neighbouring values is at most this share of agreement within a value.
# smallest agreement within a value, and smallest excess over agreement with neighbouring values
LEAST = 0.2
# smallest excess of agreement over chance for text, which has no other evidence
LEAST_OF_TEXT = 0.4
MANY_VALUES = 20
LEAST_OF_FINE_TEXT = 0.2  # the same for text with many values that each have few rows
FEW_ROWS = 12
LARGEST = 5.0  # largest size of a group, in units of the median size, that counts as ordinary


@frozen
class GroupNumber:
    """Agreement of y within the values of a column, and between neighbouring values."""

    n_values: int
    size: float
    inside: float
    outside: float
    errors: float
    often: float
    has_order: bool

    @property
    def is_found(self) -> bool:
        """True if agreement within a value is far beyond the agreement with other values."""
        excess = self.inside - self.outside
        if self.errors <= ERRORS or self.often < LEAST_WITH_EXCESS:
            return False
        fewest = FEWEST_NUMBERS if self.has_order else FEWEST_WORDS
        largest = MOST_ROWS_OF_NUMBER if self.has_order else MOST_ROWS_OF_LABEL
        if self.n_values < fewest or self.size > largest:
            return False
        if self.has_order:
            return min(excess, self.inside) > LEAST and self.outside < RATIO * self.inside
        is_fine = self.n_values >= MANY_VALUES and self.size <= FEW_ROWS
        return excess > (LEAST_OF_FINE_TEXT if is_fine else LEAST_OF_TEXT)


def group_number(codes: np.ndarray, outcome: Outcome, *, has_order: bool) -> GroupNumber | None:
    """Compare the agreement of y within the values of a column with that between neighbours.

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
    usual = sizes <= max(LARGEST * np.median(sizes[sizes > 0]), 4)
    if sizes[~usual].sum() > 0.2 * len(codes):
        return None
    n_values = len(sizes)
    totals, squares = _totals(codes, outcome, n_values)
    # Sums of agreement over pairs follow from sums of indicators, or of ranks and their squares.
    within = _pairs_within(totals, squares, sizes, outcome)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = within / (sizes * (sizes - 1.0))
        between = _pairs_between(totals, squares, sizes, outcome)
        next_one = between / (sizes[1:] * sizes[:-1])
    outside = np.zeros(n_values)
    if has_order:
        left, right = np.r_[np.nan, next_one], np.r_[next_one, np.nan]
        outside = np.nanmean([left, right], axis=0)
    counted = usual & (sizes > 1)
    if counted.sum() < FEWEST_VALUES or sizes[counted].sum() < 0.3 * len(codes):
        return None
    weights = sizes[counted] / sizes[counted].sum()
    excess = (inside - outside)[counted]
    mean = float(weights @ excess)
    chance = float(np.sqrt((weights**2 * _chance(sizes[counted], outcome, has_order)).sum()))
    return GroupNumber(
        n_values=n_values,
        size=float(len(codes) / n_values),
        inside=float(weights @ inside[counted]),
        outside=float(weights @ outside[counted]),
        errors=mean / max(chance, 1e-12),
        often=float(weights[excess > CLEAR_OF_CHANCE].sum()),
        has_order=has_order,
    )


def _totals(codes: np.ndarray, outcome: Outcome, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of the columns of y for each value, and the sums of their squares."""
    if outcome.is_class:
        classes = int(outcome.values.max()) + 1
        table = np.bincount(codes * classes + outcome.values, minlength=n * classes)
        counts = table.reshape(n, classes).astype(np.float64)
        return counts, counts
    columns = outcome.values.T
    sums = np.stack([np.bincount(codes, column, n) for column in columns], axis=1)
    squares = np.stack([np.bincount(codes, column**2, n) for column in columns], axis=1)
    return sums, squares


def _chance_of_agreement(outcome: Outcome) -> float:
    return float(((np.bincount(outcome.values) / len(outcome.values)) ** 2).sum())


def _pairs_within(
    totals: np.ndarray, squares: np.ndarray, sizes: np.ndarray, outcome: Outcome
) -> np.ndarray:
    """Return the sum of the agreement over all ordered pairs of rows with the same value."""
    pairs = sizes * (sizes - 1.0)
    if outcome.is_class:
        equal = (totals * (totals - 1)).sum(axis=1)
        return pairs - (pairs - equal) / (1 - _chance_of_agreement(outcome))
    distances = (2 * sizes[:, None] * squares - 2 * totals**2).mean(axis=1)
    return pairs - distances / 2


def _pairs_between(
    totals: np.ndarray, squares: np.ndarray, sizes: np.ndarray, outcome: Outcome
) -> np.ndarray:
    """Return the sum of the agreement over the pairs of rows with a value and the next one."""
    pairs = (sizes[1:] * sizes[:-1]).astype(np.float64)
    if outcome.is_class:
        equal = (totals[1:] * totals[:-1]).sum(axis=1)
        return pairs - (pairs - equal) / (1 - _chance_of_agreement(outcome))
    m, k = sizes[1:, None], sizes[:-1, None]
    products = totals[1:] * totals[:-1]
    distances = (k * squares[1:] + m * squares[:-1] - 2 * products).mean(axis=1)
    return pairs - distances / 2


def _chance(sizes: np.ndarray, outcome: Outcome, has_order: bool) -> np.ndarray:
    """Return the variance of the excess in values of these sizes if y is independent of them."""
    variance = outcome.variance
    within = 2 * variance / (sizes * (sizes - 1.0))
    return within + (variance / sizes**2 if has_order else 0.0)
