"""Linear rules of fitted models: the coefficients and intercepts of some candidates' scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen


@frozen(eq=False)
class LinearRules:
    """Linear rules of some candidates in one fit.

    Two classes have one score, which is positive for the second class. More classes have one score
    per class, the largest of which wins, or, if `pairs` is true, one per pair of classes in the
    order of `itertools.combinations`, which is positive for the second class of the pair. A
    regression model has one score and no codes.

    Parameters
    ----------
    fit : int
        The number of the fit.
    candidates : array of int
        Row numbers in `Answers.values`.
    coefficients : array, shape (n_candidates, n_scores, n_features)
        The coefficients.
    intercepts : array, shape (n_candidates, n_scores)
        The intercepts.
    codes : tuple of int, default=(0, 1)
        The class codes of the scores, ascending.
    pairs : bool, default=False
        True if there is one score per pair of classes.
    rows : array, optional
        The training rows as the last step sees them, in the order of `Plan.train_rows`; None if
        they are those of the data.
    among : array of int, optional
        Columns outside of which all coefficients are 0.

    See Also
    --------
    truerisk.extend.Answers : Answers that may contain linear rules.

    Examples
    --------
    >>> rules = LinearRules(0, np.array([0]), np.array([[[1.0, 0.5]]]), np.array([[-2.5]]))
    >>> rules.between(0, 1)
    (array([[1. , 0.5]]), array([-2.5]))
    """

    fit: int
    candidates: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    codes: tuple[int, ...] = (0, 1)
    pairs: bool = False
    rows: Any = None
    among: np.ndarray | None = None

    @cached_property
    def used(self) -> np.ndarray:
        """The columns for which some rule has a coefficient other than 0."""
        if self.among is None:
            return np.flatnonzero(self.coefficients.any(axis=(0, 1)))
        return self.among[self.coefficients[:, :, self.among].any(axis=(0, 1))]

    def cut(self, columns: np.ndarray) -> LinearRules:
        """Return the same rules for rows that have only these columns.

        Parameters
        ----------
        columns : array of int
            The columns.

        Returns
        -------
        LinearRules
            The rules.
        """
        return replace(self, coefficients=self.coefficients[:, :, columns], rows=None, among=None)

    def between(self, first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts of the score that is positive for code `second`.

        Parameters
        ----------
        first : int
            A class code.
        second : int
            A larger class code.

        Returns
        -------
        coefficients : array, shape (n_candidates, n_features)
            The coefficients.
        intercepts : array, shape (n_candidates,)
            The intercepts.
        """
        places = self.codes.index(first), self.codes.index(second)
        if len(self.codes) == 2 or self.pairs:
            number = list(combinations(range(len(self.codes)), 2)).index(places)
            return self.coefficients[:, number], self.intercepts[:, number]
        k, m = places
        slopes = self.coefficients[:, m] - self.coefficients[:, k]
        return slopes, self.intercepts[:, m] - self.intercepts[:, k]

    def class_pairs(self) -> Iterator[tuple[int, int]]:
        """Return all pairs of class codes.

        Returns
        -------
        iterator of (int, int)
            The pairs.
        """
        return combinations(self.codes, 2)

    def shares_rows_with(self, other: LinearRules) -> bool:
        """Return True if both belong to one fit and have equal training rows and scores.

        Parameters
        ----------
        other : LinearRules
            The other rules.

        Returns
        -------
        bool
            True if both are comparable.
        """
        if (self.fit, self.codes, self.pairs) != (other.fit, other.codes, other.pairs):
            return False
        if self.coefficients.shape[1:] != other.coefficients.shape[1:]:
            return False
        return self.rows is other.rows or _equal(self.rows, other.rows)


def gathered(rules: Iterable[LinearRules]) -> tuple[LinearRules, ...]:
    """Join rules into as few blocks as possible, so that equal rows are stored once."""
    groups: list[list[LinearRules]] = []
    for rule in sorted(rules, key=lambda r: (r.fit, int(r.candidates[0]))):
        group = next((g for g in groups if g[0].shares_rows_with(rule)), None)
        if group is None:
            groups.append([rule])
        else:
            group.append(replace(rule, rows=group[0].rows))
    return tuple(group[0] if len(group) == 1 else _one_block(group) for group in groups)


def _one_block(group: list[LinearRules]) -> LinearRules:
    return replace(
        group[0],
        candidates=np.concatenate([r.candidates for r in group]),
        coefficients=np.concatenate([r.coefficients for r in group]),
        intercepts=np.concatenate([r.intercepts for r in group]),
        among=None,
    )


def _equal(first: Any, second: Any) -> bool:
    if first is None or second is None or type(first) is not type(second):
        return False
    if hasattr(first, "tocsr"):
        return first.shape == second.shape and not (first != second).nnz
    return bool(np.array_equal(first, second))
