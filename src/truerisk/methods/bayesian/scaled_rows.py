"""Training rows in the units of linear rules: by class, and standardised if requested."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from truerisk.core.arguments import as_array
from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.plan.answers import Answers
from truerisk.plan.extras.linear_rules import LinearRules


@frozen(eq=False)
class ScaledRows:
    """Standardised rows z = (x − centre)/scale.

    They are never computed; rules are rescaled instead.

    β'_j = β_j scale_j and β0' = β0 + βᵀcentre give the same scores. A column without spread has
    scale 0 and drops out of every rule, because it acts as part of the intercept.
    """

    X: Any
    codes: np.ndarray
    centre: np.ndarray
    scale: np.ndarray

    @classmethod
    def from_array(cls, X: Any, codes: np.ndarray, *, standardize: bool) -> ScaledRows:
        """Build the rows from X, which is an array, a frame of numbers or a sparse matrix."""
        try:
            table = X.tocsr() if hasattr(X, "tocsr") else as_array(X, np.float64)
        except ValueError as error:
            raise BadData(f"X holds what is no number ({error}): encode it before.") from None
        if table.ndim != 2:
            raise BadData(f"X has shape {table.shape}: give rows and columns.")
        p = table.shape[1]
        if not standardize:
            return cls(table, np.asarray(codes), np.zeros(p), np.ones(p))
        centre, scatter = _moments(table)
        return cls(table, np.asarray(codes), centre, np.sqrt(scatter / table.shape[0]))

    def rows_of(self, code: int) -> Any:
        """Return the rows of a class."""
        return self._by_class[code]

    def size(self, code: int) -> int:
        """Return the number of rows of a class."""
        return int(self._by_class[code].shape[0])

    def scores(self, slopes: np.ndarray, intercepts: np.ndarray, code: int) -> np.ndarray:
        """Return scores `(rule, row)` of a class, for slopes and intercepts in the units of X."""
        rows = self.rows_of(code)
        used = (slopes != 0).any(axis=0)
        # Along an L1 path most columns have coefficient 0 in all rules.
        if 2 * used.sum() < len(used):
            rows, slopes = rows[:, np.flatnonzero(used)], slopes[:, used]
        scores = np.asarray(rows @ slopes.T).T
        scores += intercepts[:, None]
        return scores

    def intercepts(self, slopes: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
        """Convert the intercepts of the rules for X to those of the rules for z."""
        return np.asarray(intercepts + slopes @ self.centre)

    def slopes(self, slopes: np.ndarray) -> np.ndarray:
        """Convert the slopes of the rules for X to those of the rules for z."""
        return np.asarray(slopes * self.scale)

    def traces(self, selected: np.ndarray, code: int) -> np.ndarray:
        """Return the scatter of a class in units of z, over the columns that each rule selects."""
        return np.asarray(selected @ self._scatters[code])

    @cached_property
    def _by_class(self) -> dict[int, Any]:
        present = np.flatnonzero(np.bincount(self.codes)).tolist()
        return {code: self.X[np.flatnonzero(self.codes == code)] for code in present}

    @cached_property
    def _scatters(self) -> dict[int, np.ndarray]:
        inverse = np.divide(1, self.scale**2, out=np.zeros_like(self.scale), where=self.scale > 0)
        return {
            code: np.asarray(_moments(rows)[1] * inverse) for code, rows in self._by_class.items()
        }


def scaled_rows(
    answers: Answers,
    rules: LinearRules,
    data: Data,
    name: str,
    *,
    standardize: bool,
    columns: np.ndarray | None = None,
) -> ScaledRows:
    """Return the training rows of a plan's only fit for these rules, with some or all columns."""
    plan = answers.plan
    rows, counts = plan.train_rows(rules.fit)
    whole = len(rows) == data.n_rows
    if counts is not None:
        raise Refusal(
            f"'{name}' takes rows as independent, and a bootstrap sample holds copies: "
            "use outer splits without copies, such as '10-fold'."
        )
    X = rules.rows
    if X is None:
        X = data.X if whole else data.rows(rows)
    try:
        table = X.tocsr() if hasattr(X, "tocsr") else as_array(X, np.float64)
    except ValueError as error:
        raise BadData(f"'{name}' needs rows of numbers: {error}.") from error
    if table.shape[1] != rules.coefficients.shape[2]:
        raise BadData(
            f"'{name}': the rule has {rules.coefficients.shape[2]} coefficients and the rows have "
            f"{table.shape[1]} columns; name the steps before the model in a Pipeline."
        )
    table = table if columns is None else table[:, columns]
    return ScaledRows.from_array(table, data.codes_of(rows), standardize=standardize)


def _moments(table: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return each column's mean, and the sum of squares about it (0 for a constant column)."""
    n = table.shape[0]
    if hasattr(table, "tocsc"):
        return _sparse_moments(table.tocsc(), n)
    centre = table.mean(axis=0)
    gaps = table - centre
    scatter = np.einsum("ij,ij->j", gaps, gaps)
    # Such a small scatter may be the rounding error of the mean.
    flat = np.flatnonzero(scatter <= 1e-20 * n * centre**2)
    if len(flat):
        scatter[flat[(table[:, flat] == table[:1, flat]).all(axis=0)]] = 0.0
    return centre, scatter


def _sparse_moments(table: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    column = np.repeat(np.arange(table.shape[1]), np.diff(table.indptr))
    p = table.shape[1]
    centre = np.bincount(column, table.data, p) / n
    held = np.bincount(column, minlength=p)
    scatter = np.bincount(column, (table.data - centre[column]) ** 2, p)
    return centre, scatter + (n - held) * centre**2
