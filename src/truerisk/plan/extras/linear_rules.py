"""Coefficients and intercepts of the scores of linear models, for some candidates of a fit."""

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
    """Linear scores of some candidates' models in one fit, as coefficients and intercepts.

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
        """Columns of X for which at least one model has a coefficient other than 0."""
        if self.among is None:
            return np.flatnonzero(self.coefficients.any(axis=(0, 1)))
        return self.among[self.coefficients[:, :, self.among].any(axis=(0, 1))]

    def cut(self, columns: np.ndarray) -> LinearRules:
        """Return the linear rules restricted to the given columns of X.

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
        """Return the coefficients and intercepts of the score that compares two classes.

        The score is positive for the class `second`.

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
        code_positions = self.codes.index(first), self.codes.index(second)
        if len(self.codes) == 2 or self.pairs:
            score_number = list(combinations(range(len(self.codes)), 2)).index(code_positions)
            return self.coefficients[:, score_number], self.intercepts[:, score_number]
        first_position, second_position = code_positions
        slopes = self.coefficients[:, second_position] - self.coefficients[:, first_position]
        return slopes, self.intercepts[:, second_position] - self.intercepts[:, first_position]

    def class_pairs(self) -> Iterator[tuple[int, int]]:
        """Return all pairs of class codes, in the order of the scores.

        Returns
        -------
        iterator of (int, int)
            The pairs.
        """
        return combinations(self.codes, 2)

    def shares_rows_with(self, other: LinearRules) -> bool:
        """Return True if two linear rules belong to one fit, with equal training rows and scores.

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
        return self.rows is other.rows or _are_equal_tables(self.rows, other.rows)


def merge_linear_rules(rules: Iterable[LinearRules]) -> tuple[LinearRules, ...]:
    """Join linear rules with equal training rows, so that these rows are stored only once."""
    groups: list[list[LinearRules]] = []
    for rule in sorted(
        rules, key=lambda linear_rules: (linear_rules.fit, int(linear_rules.candidates[0]))
    ):
        group = next(
            (one_group for one_group in groups if one_group[0].shares_rows_with(rule)), None
        )
        if group is None:
            groups.append([rule])
        else:
            group.append(replace(rule, rows=group[0].rows))
    return tuple(group[0] if len(group) == 1 else _join_rules(group) for group in groups)


def _join_rules(group: list[LinearRules]) -> LinearRules:
    return replace(
        group[0],
        candidates=np.concatenate([linear_rules.candidates for linear_rules in group]),
        coefficients=np.concatenate([linear_rules.coefficients for linear_rules in group]),
        intercepts=np.concatenate([linear_rules.intercepts for linear_rules in group]),
        among=None,
    )


def _are_equal_tables(first_table: Any, second_table: Any) -> bool:
    if first_table is None or second_table is None or type(first_table) is not type(second_table):
        return False
    if hasattr(first_table, "tocsr"):
        return first_table.shape == second_table.shape and not (first_table != second_table).nnz
    return bool(np.array_equal(first_table, second_table))
