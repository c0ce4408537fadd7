"""The votes of the k nearest neighbours for every k at once."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.kernels import native

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray


LARGEST = np.iinfo(np.int32).max


def votes_for_every_k(
    neighbours: ArrayLike, codes: ArrayLike, ks: Iterable[int], n_classes: int
) -> NDArray[np.int32]:
    r"""The class with most votes among the k nearest rows, for every k of a list.

    .. math:: \hat y_k(x) = \min \arg\max_c \#\{ j \le k : y_{(j)}(x) = c \}

    Votes weigh the same; a tie goes to the lowest code, as in scikit-learn's
    ``KNeighborsClassifier``. One pass over the sorted list answers all k: O(max k) per query.

    Parameters
    ----------
    neighbours : array of int, shape (n_queries, n_neighbours)
        Row numbers of each query's neighbours, the nearest first. int32 is taken without a copy.
    codes : array of int, shape (n_rows,)
        The class of each row, in ``0 .. n_classes - 1``.
    ks : iterable of int
        The numbers of neighbours, each in ``1 .. n_neighbours``, in any order.
    n_classes : int
        The number of classes.

    Returns
    -------
    array of int32, shape (n_ks, n_queries)
        The predicted codes, one row per k in the order given.

    Raises
    ------
    ValueError
        When a shape, a type or a bound is wrong.
    Refusal
        When the compiled module is missing.

    Examples
    --------
    >>> votes_for_every_k([[0, 1, 2]], codes=[1, 0, 0], ks=[1, 2, 3], n_classes=2)
    array([[1],
           [0],
           [0]], dtype=int32)
    """
    classes = index(n_classes)
    if not 1 <= classes <= LARGEST:
        raise ValueError(f"n_classes must lie in 1 .. {LARGEST}, got {classes}")
    rows = integers(neighbours, "neighbours", n_dimensions=2)
    labels = integers(codes, "codes", n_dimensions=1)
    settings = integers(list(ks), "ks", n_dimensions=1)
    if settings.size == 0:
        raise ValueError("ks is empty: give at least one number of neighbours")
    if labels.size > LARGEST:
        raise ValueError(f"codes has {labels.size} rows, the kernel counts to {LARGEST}")
    check_bounds(settings, "ks", 1, rows.shape[1], "the number of neighbours listed")
    check_bounds(labels, "codes", 0, classes - 1, "n_classes - 1")
    check_bounds(rows, "neighbours", 0, labels.size - 1, "the last row of codes")

    predicted = np.empty((settings.size, rows.shape[0]), dtype=np.int32)
    native().votes_for_every_k(
        contiguous(rows), contiguous(labels), contiguous(settings), classes, predicted
    )
    return predicted


def integers(values: ArrayLike, name: str, *, n_dimensions: int) -> NDArray[Any]:
    """The values as an integer array of the given dimension."""
    array = np.asarray(values)
    if array.ndim != n_dimensions:
        raise ValueError(f"{name} must have {n_dimensions} dimension(s), got shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, got {array.dtype}")
    return array


def check_bounds(array: NDArray[Any], name: str, low: int, high: int, high_is: str) -> None:
    """Every value lies in low .. high; the first that does not is named."""
    if array.size == 0 or (array.min() >= low and array.max() <= high):
        return
    where = tuple(int(i) for i in np.argwhere((array < low) | (array > high))[0])
    raise ValueError(
        f"{name}{list(where)} is {array[where]}: it must lie in {low} .. {high} ({high_is})"
    )


def contiguous(array: NDArray[Any]) -> NDArray[np.int32]:
    """The array as the kernel reads it; the same object when it already is."""
    return np.ascontiguousarray(array, dtype=np.int32)
