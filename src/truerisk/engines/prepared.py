"""Check the tables that preprocessing steps pass to the learner, and convert them to float64.

Beyond some sizes of numbers closed forms overflow where the learners themselves do not
(`squares_fit`). A sparse table is made dense for engines that work on dense tables. Each engine has
to know how its learner computes with a sparse table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np

from truerisk.core.errors import is_failure
from truerisk.core.identity import entry_of

MOST, LEAST = 1e60, 1e-60  # closed forms multiply sums of squares with each other: 1e240
MOST_CELLS = 2**25  # the largest sparse table that is made dense: 256 MiB
FEW_CELLS = 2**20  # tables up to this size are made dense at once, however many zeros they hold
# cells per nonzero number; in emptier tables writing the zeros takes longer than the fits save
PER_NUMBER = 100

T = TypeVar("T")


def squares_fit(table: Any) -> bool:
    """Return True if products of squares neither overflow nor underflow in any column.

    >>> squares_fit(np.array([[1.0, 1e-30], [0.0, 1e30]]))
    True
    >>> squares_fit(np.array([[1.0, 1e-150], [2.0, 0.0]])), squares_fit(np.array([1e150]))
    (False, False)
    """
    if hasattr(table, "tocsr"):
        return bool((np.abs(table.data) <= MOST).all())
    columns = np.asarray(table).reshape(len(table), -1)
    if not columns.size:
        return True
    # Most tables pass this check of the whole table at once.
    if (np.abs(columns[0]) >= LEAST).all():
        return bool(columns.min() >= -MOST and columns.max() <= MOST)
    most = np.maximum(columns.max(axis=0), -columns.min(axis=0))
    return bool(((most <= MOST) & ((most >= LEAST) | (most == 0))).all())


def unless_it_fails(prepare: Callable[[], T]) -> T | None:
    """Return the result of third-party code, or None if it failed or the learner must judge.

    The learner is then fitted itself, and its own error message says what is wrong. Where
    scikit-learn's own functions are compared with a kernel, their failure means a different release
    of scikit-learn; a failure of the kernel itself is an error.
    """
    try:
        return prepare()
    except BaseException as error:
        if not is_failure(error):
            raise
        return None


class OwnArithmetic(Exception):
    """Raised if the learner computes in another way with a step's output, or refuses it."""


def dense(table: Any) -> np.ndarray:
    """Return a step's output as finite float64, in which the learner computes as well."""
    return as_doubles(plain_array(table), squares_fit)


def plain_array(table: Any) -> np.ndarray:
    """Return the table as an array; raise OwnArithmetic if it is sparse or in single precision."""
    if hasattr(table, "toarray"):
        raise OwnArithmetic("sparse")
    array = np.asarray(table)
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        raise OwnArithmetic("in single precision")
    return array


def as_doubles(table: Any, fits: Callable[[np.ndarray], bool]) -> np.ndarray:
    """Return a step's output as float64; raise OwnArithmetic unless it is finite and `fits`."""
    plain = table.toarray() if hasattr(table, "toarray") else table
    array = np.ascontiguousarray(plain, dtype=np.float64)
    if not array.size or not fits(array):
        raise OwnArithmetic("empty, not finite, too large or too small")
    return array


def is_bearable(table: Any) -> bool:
    """Return True if the table is dense, or is neither too large nor too empty to convert."""
    if not hasattr(table, "toarray"):
        return True
    cells = int(np.prod(table.shape, dtype=np.float64))
    return cells <= MOST_CELLS and cells <= max(FEW_CELLS, PER_NUMBER * table.nnz)


def as_dense(table: Any) -> Any:
    """Return the table as a dense array; raise OwnArithmetic if it is too large or too empty."""
    if not is_bearable(table):
        raise OwnArithmetic("sparse, and too large or too empty")
    return table.toarray() if hasattr(table, "toarray") else table


EXACT = ("full", "covariance_eigh")
UNDECIDED = ("auto", *EXACT)


def _quantiles(step: Any, n_rows: int) -> bool:
    return step.subsample is not None and n_rows > step.subsample


def _bins(step: Any, n_rows: int) -> bool:
    return step.strategy == "kmeans" or _quantiles(step, n_rows)


DRAWS: Mapping[str, Callable[[Any, int], bool]] = {
    "sklearn.decomposition:PCA": lambda step, n_rows: (
        getattr(step, "_fit_svd_solver", None) not in EXACT
    ),
    "sklearn.preprocessing:QuantileTransformer": _quantiles,
    "sklearn.preprocessing:KBinsDiscretizer": _bins,
}


def may_not_draw(step: Any) -> bool:
    """Return True if a step without a seed may, once it is fitted, have drawn nothing."""
    solver = getattr(step, "svd_solver", "auto")
    return entry_of(step, DRAWS) is not None and solver in UNDECIDED


def drew(steps: Iterable[Any], n_rows: int) -> bool:
    """Return True if a step without a seed drew random numbers when fitted on `n_rows` rows."""
    return any(
        draws(step, n_rows)
        for step in steps
        if getattr(step, "random_state", 0) is None and (draws := entry_of(step, DRAWS)) is not None
    )


def fit_and_transform(step: Any, X: Any, y: np.ndarray | None) -> Any:
    """Fit a step and return its transformed table, as a pipeline does."""
    if hasattr(step, "fit_transform"):
        return step.fit_transform(X, y)
    return step.fit(X, y).transform(X)


class BegunSteps(Protocol):
    """Fitted steps, the training table that they return, and the transformation of test rows."""

    @property
    def fitted(self) -> list[Any]:
        """Return the fitted steps."""

    @property
    def table(self) -> Any:
        """Return the transformed training table."""

    def test_table(self, number: int, X: Any) -> Any:
        """Transform test rows X of the fit with this number."""


Begin = Callable[[int, Any, np.ndarray], BegunSteps]
"""Function of the number of steps in closed form, the training table they return, and its labels.
"""
