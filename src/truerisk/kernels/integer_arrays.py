"""Validate integer arrays before they are passed to compiled functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def to_integer_array(values: ArrayLike, name: str, *, n_dimensions: int) -> NDArray[Any]:
    """Return values as an array; raise ValueError unless it holds integers in `n_dimensions`."""
    array = np.asarray(values)
    if array.ndim != n_dimensions:
        raise ValueError(f"{name} must have {n_dimensions} dimension(s), got shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, got {array.dtype}")
    return array


def check_bounds(array: NDArray[Any], name: str, low: int, high: int, high_meaning: str) -> None:
    """Raise ValueError that names the first value outside low .. high, if there is any."""
    if array.size == 0 or (array.min() >= low and array.max() <= high):
        return
    first_index = tuple(int(i) for i in np.argwhere((array < low) | (array > high))[0])
    raise ValueError(
        f"{name}{list(first_index)} is {array[first_index]}: it must lie in {low} .. {high} "
        f"({high_meaning})"
    )
