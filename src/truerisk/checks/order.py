r"""Rows in order: outcomes of rows that follow each other agree more than those of random pairs.

The statistic is the mean agreement of y (see `agreement.py`) over the n - 1 pairs of consecutive
rows, a rank correlation at lag one. In a random order of the rows it is about normal with mean 0
and a known variance, and :math:`z > 3.3` has probability 1 in 2,000.

A table that is sorted by y, or that consists of two such tables (training rows and test rows, say),
is left alone. So is a table whose order a column explains, such as rows sorted by a feature: given
X such rows are independent. `order_given_columns.py` looks for such columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.checks.agreement import FEWEST_ROWS, Outcome

ERRORS = 3.3  # a random order goes beyond so many standard errors in 1 of 2,000 tables
LEAST = 0.1  # correlation at lag one
FEWEST_PAIRS = 5  # excess of agreeing pairs over chance, for rare classes
SORTED = 0.9  # share of steps in one direction from which numbers are sorted, in pieces or whole


@dataclass(frozen=True)
class Order:
    """Correlation of y at lag one, as it is and after what columns explain.

    Parameters
    ----------
    correlation : float
        Mean agreement of y over consecutive rows, 0 by chance.
    bound : float
        Correlation that a random order exceeds in 1 of 2,000 tables.
    residual : float or None
        Correlation of the residuals; None if no column has an order, so that none were computed.
    residual_bound : float
        The same bound for the residuals.
    """

    correlation: float
    bound: float
    residual: float | None = None
    residual_bound: float = 0.0

    @property
    def is_suspected(self) -> bool:
        """True if y itself has an order."""
        return self.correlation > max(self.bound, LEAST)

    @property
    def is_found(self) -> bool:
        """True if y has an order that no column explains."""
        if not self.is_suspected:
            return False
        return self.residual is None or self.residual > max(self.residual_bound, LEAST)


def order_of_outcomes(outcome: Outcome, groups: np.ndarray | None = None) -> Order | None:
    """Return the correlation of y at lag one, or None if the rows are few or sorted by y.

    With `groups` only consecutive rows of different groups are compared.
    """
    n = outcome.n_rows
    if n < FEWEST_ROWS or is_sorted(outcome):
        return None
    first = np.arange(n - 1)
    if groups is not None:
        first = first[groups[1:] != groups[:-1]]
        if len(first) < FEWEST_ROWS:
            return None
    correlation = float(outcome.agreement(first, first + 1).mean())
    if outcome.codes is not None:
        shares = np.bincount(outcome.codes) / n
        if correlation * (1 - (shares**2).sum()) * len(first) < FEWEST_PAIRS:
            return None
    return Order(correlation, float(ERRORS * np.sqrt(outcome.variance / len(first))))


def is_sorted(outcome: Outcome) -> bool:
    """Return True if the rows are sorted by y, as a whole or in parts.

    Classes are sorted in one part or two. Numbers that rise (or fall) in nine of ten steps are
    sorted, in however many parts.
    """
    if outcome.codes is not None:
        return _is_sorted_by_class(outcome.codes)
    assert outcome.ranks is not None
    for column in outcome.ranks.T:
        steps = np.diff(column)
        rising, falling = int((steps > 0).sum()), int((steps < 0).sum())
        if max(rising, falling) >= SORTED * (rising + falling):
            return True
    return False


def _is_sorted_by_class(codes: np.ndarray) -> bool:
    """Return True if the rows are one or two parts in which each class stands once, in one order.

    A class that only drifts from state to state also has few runs, but comes back in another order.
    """
    runs = codes[np.r_[True, codes[1:] != codes[:-1]]].tolist()
    first: dict[int, int] = {}
    for place, code in enumerate(runs):
        if code in first:
            break
        first[code] = place
    second = runs[len(first) :]
    places = [first[code] for code in second if code in first]
    return len(set(second)) == len(second) and places == sorted(places)
