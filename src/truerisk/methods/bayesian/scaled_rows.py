"""Training rows of linear rules, by class, and standardised if requested."""

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
    """Standardised rows z = (x − centre)/scale, represented by the original rows.

    Rules are rescaled instead of the rows. The standardised rows are never computed: β'_j = β_j
    scale_j and β0' = β0 + βᵀcentre give the same scores. A constant column has scale 0 and drops
    out of every rule, because it acts as part of the intercept.
    """

    X: Any
    class_codes: np.ndarray
    centre: np.ndarray
    scale: np.ndarray

    @classmethod
    def from_array(cls, X: Any, codes: np.ndarray, *, standardize: bool) -> ScaledRows:
        """Build the rows from an array, a data frame of numbers or a sparse matrix X."""
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

    def class_rows(self, class_code: int) -> Any:
        """Return the rows of X that belong to the class with this code."""
        return self._rows_by_class[class_code]

    def class_size(self, class_code: int) -> int:
        """Return the number of rows of the class with this code."""
        return int(self._rows_by_class[class_code].shape[0])

    def scores(self, slopes: np.ndarray, intercepts: np.ndarray, class_code: int) -> np.ndarray:
        """Return each rule's scores of the rows of a class, as an array (rule, row).

        The slopes and intercepts are in the units of X.
        """
        rows = self.class_rows(class_code)
        is_used = (slopes != 0).any(axis=0)
        # Along an L1 path most columns have coefficient 0 in all rules, and can be left out.
        if 2 * is_used.sum() < len(is_used):
            rows, slopes = rows[:, np.flatnonzero(is_used)], slopes[:, is_used]
        scores = np.asarray(rows @ slopes.T).T
        scores += intercepts[:, None]
        return scores

    def intercepts(self, slopes: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
        """Convert the intercepts of rules for X to intercepts for the standardised rows z."""
        return np.asarray(intercepts + slopes @ self.centre)

    def slopes(self, slopes: np.ndarray) -> np.ndarray:
        """Convert the slopes of rules for X to slopes for the standardised rows z."""
        return np.asarray(slopes * self.scale)

    def traces(self, is_selected: np.ndarray, class_code: int) -> np.ndarray:
        """Return the sum of squared deviations of z in a class, over the columns of each rule."""
        return np.asarray(is_selected @ self._scatters_by_class[class_code])

    @cached_property
    def _rows_by_class(self) -> dict[int, Any]:
        present_codes = np.flatnonzero(np.bincount(self.class_codes)).tolist()
        return {
            class_code: self.X[np.flatnonzero(self.class_codes == class_code)]
            for class_code in present_codes
        }

    @cached_property
    def _scatters_by_class(self) -> dict[int, np.ndarray]:
        inverse_variances = np.divide(
            1, self.scale**2, out=np.zeros_like(self.scale), where=self.scale > 0
        )
        return {
            class_code: np.asarray(_moments(rows)[1] * inverse_variances)
            for class_code, rows in self._rows_by_class.items()
        }


def scaled_rows(
    predictions: Answers,
    rules: LinearRules,
    data: Data,
    method_name: str,
    *,
    standardize: bool,
    columns: np.ndarray | None = None,
) -> ScaledRows:
    """Return the rows on which these rules were fitted, restricted to `columns` if given.

    Raise Refusal or BadData if the rows contain copies, are not numbers or do not match the rules.
    """
    plan = predictions.plan
    rows, row_counts = plan.train_rows(rules.fit)
    has_all_rows = len(rows) == data.n_rows
    if row_counts is not None:
        raise Refusal(
            f"'{method_name}' takes rows as independent, and a bootstrap sample holds copies: "
            "use outer splits without copies, such as '10-fold'."
        )
    X = rules.rows
    if X is None:
        X = data.X if has_all_rows else data.rows(rows)
    try:
        table = X.tocsr() if hasattr(X, "tocsr") else as_array(X, np.float64)
    except ValueError as error:
        raise BadData(f"'{method_name}' needs rows of numbers: {error}.") from error
    if table.shape[1] != rules.coefficients.shape[2]:
        raise BadData(
            f"'{method_name}': the rule has {rules.coefficients.shape[2]} coefficients and the "
            f"rows have {table.shape[1]} columns; name the steps before the model in a Pipeline."
        )
    table = table if columns is None else table[:, columns]
    return ScaledRows.from_array(table, data.codes_of(rows), standardize=standardize)


def _moments(table: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return each column's mean and its sum of squared deviations (0 for a constant column)."""
    n = table.shape[0]
    if hasattr(table, "tocsc"):
        return _sparse_mean_and_scatter(table.tocsc(), n)
    centre = table.mean(axis=0)
    deviations = table - centre
    scatter = np.einsum("ij,ij->j", deviations, deviations)
    # A sum of squares this small may be the rounding error of the mean of a constant column.
    near_constant_columns = np.flatnonzero(scatter <= 1e-20 * n * centre**2)
    if len(near_constant_columns):
        scatter[
            near_constant_columns[
                (table[:, near_constant_columns] == table[:1, near_constant_columns]).all(axis=0)
            ]
        ] = 0.0
    return centre, scatter


def _sparse_mean_and_scatter(table: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    column_of_value = np.repeat(np.arange(table.shape[1]), np.diff(table.indptr))
    p = table.shape[1]
    centre = np.bincount(column_of_value, table.data, p) / n
    n_stored = np.bincount(column_of_value, minlength=p)
    scatter = np.bincount(column_of_value, (table.data - centre[column_of_value]) ** 2, p)
    return centre, scatter + (n - n_stored) * centre**2
