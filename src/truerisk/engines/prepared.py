"""What steps before a learner give: one block of doubles, or the learner's own business.

Beyond some sizes closed forms overflow where learners do not (`squares_fit`). A
sparse table is made dense for engines that go through it so; which arithmetic the learner itself
has for a sparse table is for the engine to know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np

from truerisk.core.errors import is_failure
from truerisk.core.identity import entry_of

MOST, LEAST = 1e60, 1e-60  # closed forms multiply sums of squares with each other: 1e240
MOST_CELLS = 2**25  # of a sparse table made dense: 256 MiB
FEW_CELLS = 2**20  # so few are made dense in no time, however empty the table is
PER_NUMBER = 100  # cells for one that is not 0: writing more zeros takes longer than fits without

T = TypeVar("T")


def squares_fit(table: Any) -> bool:
    """Whether no cell is so large, and no column so small, that products of squares are lost.

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
    if (np.abs(columns[0]) >= LEAST).all():  # as in most tables: one look at them as a whole
        return bool(columns.min() >= -MOST and columns.max() <= MOST)
    most = np.maximum(columns.max(axis=0), -columns.min(axis=0))
    return bool(((most <= MOST) & ((most >= LEAST) | (most == 0))).all())


def unless_it_fails(prepare: Callable[[], T]) -> T | None:
    """What code of others gave; None where it failed, or gave what the learner alone can judge.

    The learner's own fit then says what is wrong, in its words. Where scikit-learn itself is
    compared with a kernel, its failure means another release; the kernel's own is an error.
    """
    try:
        return prepare()
    except BaseException as error:
        if not is_failure(error):
            raise
        return None


class OwnArithmetic(Exception):
    """What a step gives out is computed with in another way, or refused, by the learner itself."""


def dense(table: Any) -> np.ndarray:
    """A step's output as one block of finite doubles, which the learner computes with as well."""
    return as_doubles(plain_array(table), squares_fit)


def plain_array(table: Any) -> np.ndarray:
    """A table as an array; a sparse one, or one in single precision, is the learner's business."""
    if hasattr(table, "toarray"):
        raise OwnArithmetic("sparse")
    array = np.asarray(table)
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        raise OwnArithmetic("in single precision")
    return array


def as_doubles(table: Any, fits: Callable[[np.ndarray], bool]) -> np.ndarray:
    """A step's output as one block of doubles of a size that `fits`, as no infinity or NaN does."""
    plain = table.toarray() if hasattr(table, "toarray") else table
    array = np.ascontiguousarray(plain, dtype=np.float64)
    if not array.size or not fits(array):
        raise OwnArithmetic("empty, not finite, too large or too small")
    return array


def is_bearable(table: Any) -> bool:
    """Whether a table is dense, or neither too large nor too empty to be made so."""
    if not hasattr(table, "toarray"):
        return True
    cells = int(np.prod(table.shape, dtype=np.float64))
    return cells <= MOST_CELLS and cells <= max(FEW_CELLS, PER_NUMBER * table.nnz)


def as_dense(table: Any) -> Any:
    """The table without gaps; one that is not bearable is the learner's business."""
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
    """Whether a step without a seed may turn out, once it is fitted, to have drawn nothing."""
    solver = getattr(step, "svd_solver", "auto")
    return entry_of(step, DRAWS) is not None and solver in UNDECIDED


def drew(steps: Iterable[Any], n_rows: int) -> bool:
    """Whether some fitted step that has no seed drew random numbers, fitted on so many rows."""
    return any(
        draws(step, n_rows)
        for step in steps
        if getattr(step, "random_state", 0) is None and (draws := entry_of(step, DRAWS)) is not None
    )


def fit_and_transform(step: Any, X: Any, y: np.ndarray | None) -> Any:
    """Fit a step and return the table that it gives, as a pipeline does it."""
    if hasattr(step, "fit_transform"):
        return step.fit_transform(X, y)
    return step.fit(X, y).transform(X)


class BegunSteps(Protocol):
    """Steps that are fitted, what they give, and what they make of the asked rows."""

    @property
    def fitted(self) -> list[Any]: ...

    @property
    def table(self) -> Any: ...

    def test_table(self, number: int, X: Any) -> Any: ...


Begin = Callable[[int, Any, np.ndarray], BegunSteps]
"""From the number of steps in closed form, the train set that they give, and its labels."""
