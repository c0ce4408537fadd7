"""Checks and conversion of the tables that preprocessing steps pass to the learner.

Beyond some sizes of numbers closed forms overflow where the learners themselves do not
(`has_safe_squares`). A sparse table is made dense for engines that work on dense tables. Each
engine has to know how its learner computes with a sparse table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np

from truerisk.core.errors import is_failure
from truerisk.core.identity import find_class_entry

# Absolute values must lie in this range: products of two sums of squares then stay near 1e±240.
LARGEST_SAFE_NUMBER, SMALLEST_SAFE_NUMBER = 1e60, 1e-60
# Sparse tables with more cells than this are not made dense, which would take over 256 MiB.
MAX_DENSE_CELLS = 2**25
# Sparse tables with up to this number of cells are made dense, however many zeros they hold.
MAX_CELLS_ALWAYS_DENSE = 2**20
# Larger sparse tables are made dense if they have at most this many cells per nonzero cell.
# In emptier tables writing the zeros takes longer than the fits save.
MAX_CELLS_PER_NONZERO = 100

T = TypeVar("T")


def has_safe_squares(table: Any) -> bool:
    """Return True if squares of the numbers and products of squares neither overflow nor vanish."""
    if hasattr(table, "tocsr"):
        return bool((np.abs(table.data) <= LARGEST_SAFE_NUMBER).all())
    columns = np.asarray(table).reshape(len(table), -1)
    if not columns.size:
        return True
    # Most tables pass this check of the whole table, which avoids the check of each column.
    if (np.abs(columns[0]) >= SMALLEST_SAFE_NUMBER).all():
        return bool(columns.min() >= -LARGEST_SAFE_NUMBER and columns.max() <= LARGEST_SAFE_NUMBER)
    largest_values = np.maximum(columns.max(axis=0), -columns.min(axis=0))
    return bool(
        (
            (largest_values <= LARGEST_SAFE_NUMBER)
            & ((largest_values >= SMALLEST_SAFE_NUMBER) | (largest_values == 0))
        ).all()
    )


def call_or_none(function: Callable[[], T]) -> T | None:
    """Return the result of third-party code, or None if that code raises an exception.

    The learner is then fitted itself, and its own error message says what is wrong. Where
    scikit-learn's own functions are compared with compiled code, their failure means a different
    release of scikit-learn; a failure of the compiled code itself is an error.
    """
    try:
        return function()
    except BaseException as error:
        if not is_failure(error):
            raise
        return None


class LearnerFitNeeded(Exception):
    """Signal that the learner itself must be fitted, because it treats a table differently.

    The learner computes differently with the output of a step, or refuses it.
    """


def to_dense_float64(table: Any) -> np.ndarray:
    """Return the output of a step as a finite float64 array, or raise LearnerFitNeeded.

    The learner computes in float64 too.
    """
    return as_doubles(plain_array(table), has_safe_squares)


def plain_array(table: Any) -> np.ndarray:
    """Return the table as an array, or raise LearnerFitNeeded if it is sparse or float32."""
    if hasattr(table, "toarray"):
        raise LearnerFitNeeded("sparse")
    array = np.asarray(table)
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        raise LearnerFitNeeded("in single precision")
    return array


def as_doubles(table: Any, is_acceptable: Callable[[np.ndarray], bool]) -> np.ndarray:
    """Return a table as a float64 array, or raise LearnerFitNeeded if it is not acceptable.

    An empty array is not acceptable, nor one for which `is_acceptable` returns False.
    """
    dense_table = table.toarray() if hasattr(table, "toarray") else table
    array = np.ascontiguousarray(dense_table, dtype=np.float64)
    if not array.size or not is_acceptable(array):
        raise LearnerFitNeeded("empty, not finite, too large or too small")
    return array


def can_be_dense(table: Any) -> bool:
    """Return True unless the table is sparse and too large, or too empty, to be made dense."""
    if not hasattr(table, "toarray"):
        return True
    n_cells = int(np.prod(table.shape, dtype=np.float64))
    return n_cells <= MAX_DENSE_CELLS and n_cells <= max(
        MAX_CELLS_ALWAYS_DENSE, MAX_CELLS_PER_NONZERO * table.nnz
    )


def as_dense(table: Any) -> Any:
    """Return a dense array, or raise LearnerFitNeeded if the table is too large or too empty."""
    if not can_be_dense(table):
        raise LearnerFitNeeded("sparse, and too large or too empty")
    return table.toarray() if hasattr(table, "toarray") else table


EXACT_SOLVERS = ("full", "covariance_eigh")
POSSIBLY_EXACT_SOLVERS = ("auto", *EXACT_SOLVERS)


def _quantiles_are_random(step: Any, n_rows: int) -> bool:
    return step.subsample is not None and n_rows > step.subsample


def _bins_are_random(step: Any, n_rows: int) -> bool:
    return step.strategy == "kmeans" or _quantiles_are_random(step, n_rows)


RANDOM_STEPS: Mapping[str, Callable[[Any, int], bool]] = {
    "sklearn.decomposition:PCA": lambda step, n_rows: (
        getattr(step, "_fit_svd_solver", None) not in EXACT_SOLVERS
    ),
    "sklearn.preprocessing:QuantileTransformer": _quantiles_are_random,
    "sklearn.preprocessing:KBinsDiscretizer": _bins_are_random,
}


def may_be_nonrandom(step: Any) -> bool:
    """Return True if an unseeded step, once fitted, may turn out not to have drawn numbers."""
    solver = getattr(step, "svd_solver", "auto")
    return find_class_entry(step, RANDOM_STEPS) is not None and solver in POSSIBLY_EXACT_SOLVERS


def has_drawn_numbers(steps: Iterable[Any], n_rows: int) -> bool:
    """Return True if a fitted step without a seed has drawn random numbers.

    `n_rows` is the number of rows on which the steps were fitted.
    """
    return any(
        draws_numbers(step, n_rows)
        for step in steps
        if getattr(step, "random_state", 0) is None
        and (draws_numbers := find_class_entry(step, RANDOM_STEPS)) is not None
    )


def fit_and_transform(step: Any, X: Any, y: np.ndarray | None) -> Any:
    """Fit a step and return its transformed table, as a pipeline does."""
    if hasattr(step, "fit_transform"):
        return step.fit_transform(X, y)
    return step.fit(X, y).transform(X)


class FittedTransformers(Protocol):
    """Fitted preprocessing steps, with their training table and the transformation of test rows."""

    @property
    def transformers(self) -> list[Any]:
        """Return the fitted steps."""

    @property
    def train_table(self) -> Any:
        """Return the transformed training table."""

    def transform_test_set(self, number: int, X: Any) -> Any:
        """Transform X, the rows of the test set with this number."""


StepFitter = Callable[[int, Any, np.ndarray], FittedTransformers]
"""Function of the number of steps in closed form, the training table they return, and its labels.
"""
