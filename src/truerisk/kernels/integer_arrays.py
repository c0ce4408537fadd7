"""Checks of integer arrays that the callers of compiled loops share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def integers(values: ArrayLike, name: str, *, n_dimensions: int) -> NDArray[Any]:
    """Return the values as an integer array; raise ValueError for another type or dimension."""
    array = np.asarray(values)
    if array.ndim != n_dimensions:
        raise ValueError(f"{name} must have {n_dimensions} dimension(s), got shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, got {array.dtype}")
    return array


def check_bounds(array: NDArray[Any], name: str, low: int, high: int, high_is: str) -> None:
    """Raise ValueError unless every value lies in low .. high; name the first that does not."""
    if array.size == 0 or (array.min() >= low and array.max() <= high):
        return
    where = tuple(int(i) for i in np.argwhere((array < low) | (array > high))[0])
    raise ValueError(
        f"{name}{list(where)} is {array[where]}: it must lie in {low} .. {high} ({high_is})"
    )
