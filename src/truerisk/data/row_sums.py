"""Checksums of the rows of a table of 8-byte numbers, in one pass at the speed of memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.kernels import available, native


def row_sums(array: np.ndarray, factors: np.ndarray) -> tuple[np.ndarray, bool] | None:
    """The checksum of every row (`core.checksums`), and whether all cells are finite.

    None where the compiled module is missing or cannot read the array where it lies: the same sums
    are then taken by NumPy.

    >>> row_sums(np.array([[1, 2], [3, 4]]), np.array([1, 10], dtype=np.uint64))
    (array([21, 43], dtype=uint64), True)
    """
    if array.ndim != 2 or array.dtype.itemsize != 8 or array.dtype.kind not in "fiu":
        raise ValueError(f"a table of 8-byte numbers is summed, not {array.dtype} {array.shape}")
    if factors.shape != array.shape[1:] or factors.dtype != np.uint64:
        raise ValueError(f"one factor per column is needed, not {factors.dtype} {factors.shape}")
    if not available() or not array.flags.aligned or array.strides[0] % 8 or array.strides[1] % 8:
        return None
    sums = np.empty(len(array), dtype=np.uint64)
    bits: Any = array.view(np.uint64)
    finite = native().row_sums(bits, array.dtype.kind == "f", np.ascontiguousarray(factors), sums)
    return sums, bool(finite)
