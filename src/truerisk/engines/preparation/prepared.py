"""What steps before a learner give: one block of doubles, or the learner's own business."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from truerisk.core.errors import is_failure
from truerisk.engines.preparation.magnitude import squares_fit

__all__ = [
    "OwnArithmetic",
    "as_doubles",
    "dense",
    "plain_array",
    "unless_it_fails",
]

T = TypeVar("T")


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
    """A step's output as one block of finite doubles, of a size that `fits`."""
    given = table.toarray() if hasattr(table, "toarray") else table
    array = np.ascontiguousarray(given, dtype=np.float64)
    if not array.size or not np.isfinite(array.sum()):
        raise OwnArithmetic("empty or not finite")
    if not fits(array):
        raise OwnArithmetic("too large or too small")
    return array
