"""Checksums of rows, at the speed of memory: they tell rows apart and make fingerprints quick.

A cell's bits b become b ⊕ (b >> 32), so that whole numbers, whose low bits are all 0, differ in
their low bits too; a row is the sum of its cells times odd factors, modulo 2⁶⁴. Rows that differ
by accident share a sum once in more than 2⁵⁰; someone who wants two that do can make them.

A compiled pass takes the sums; without the compiled module NumPy takes the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from truerisk.core.registry import Line

__all__ = ["RowSums", "mixed", "row_sums", "summed"]

BYTES = 1 << 18  # of rows at a time: they stay in the second cache

COMPILED = Line("truerisk.kernels.row_sums:row_sums", "the same sums, and quicker")


@dataclass(frozen=True, eq=False)
class RowSums:
    """One number per row, and whether all cells were seen to be finite (False: not, or unknown)."""

    sums: np.ndarray
    finite: bool


def row_sums(array: np.ndarray) -> np.ndarray | None:
    """One number per row of a table of 8-byte numbers, None for other arrays; −0.0 is 0.0."""
    found = summed(array)
    return None if found is None else found.sums


def summed(array: np.ndarray) -> RowSums | None:
    """The sums of a table of 8-byte numbers, None for other arrays."""
    if array.ndim != 2 or not array.size or array.dtype.kind not in "fiu":
        return None
    if array.dtype.itemsize != 8 or not array.dtype.isnative:
        return None
    factors = _factors(array.shape[1])
    found = COMPILED.load()(array, factors)
    return _by_numpy(array, factors) if found is None else RowSums(*found)


@lru_cache(maxsize=4)
def _factors(n_columns: int) -> np.ndarray:
    """An odd number for every column, so that a product with it loses no bit."""
    factors = mixed(np.arange(n_columns)) | np.uint64(1)
    factors.flags.writeable = False  # the cache hands the same array to everyone
    return factors


def _by_numpy(array: np.ndarray, factors: np.ndarray) -> RowSums:
    """A block of rows after the other."""
    n, p = array.shape
    sums = np.empty(n, dtype=np.uint64)
    step = max(1, BYTES // (8 * p))
    cells, folded = np.empty((step, p), array.dtype), np.empty((step, p), np.uint64)
    zero = array.dtype.type(0)
    for start in range(0, n, step):
        part = array[start : start + step]
        m = len(part)
        bits = np.add(part, zero, out=cells[:m]).view(np.uint64)
        np.right_shift(bits, np.uint64(32), out=folded[:m])
        np.bitwise_xor(folded[:m], bits, out=folded[:m])
        np.matmul(folded[:m], factors, out=sums[start : start + m])
    return RowSums(sums, finite=False)


def mixed(x: np.ndarray) -> np.ndarray:
    """splitmix64: neighbouring numbers become unrelated ones."""
    x = (x.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
