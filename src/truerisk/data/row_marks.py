"""Hashes of rows by content, which do not depend on the order of rows, columns and classes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.data.rows import column_arrays, column_names, n_rows, splitmix64

# This is the largest number of cells that are hashed at a time.
MAX_BLOCK_CELLS = 1 << 18
# Number of low bits that are rounded away, out of the 52 fraction bits of a double.
N_ROUNDED_BITS = 19
# After the first round of hashing, the hash of a boolean column depends on its sum alone.
# Further rounds also use the rows that hold its ones.
N_ROUNDS = 3


def hash_rows(
    table: Any, codes: np.ndarray | None, numeric_target: np.ndarray | None
) -> np.ndarray:
    """Return a hash per row, computed from the table and its target (class codes or numbers).

    Equal rows with equal targets get the same hash.
    """
    row_hashes = np.zeros(n_rows(table), dtype=np.uint64)
    for _ in range(N_ROUNDS):
        hashes = splitmix64(
            (_hashes_of_sparse_rows if hasattr(table, "tocsr") else _hashes_of_columns)(
                table, row_hashes
            )
        )
        if codes is not None:
            hashes = hashes + splitmix64(sum_hashes_by_class(codes, hashes))[codes]
        if numeric_target is not None:
            hashes = hashes + _hashes_of_columns(numeric_target, hashes)
        row_hashes = hashes
    return row_hashes


def sum_hashes_by_class(class_codes: np.ndarray, row_hashes: np.ndarray) -> np.ndarray:
    """Return the sum of the row hashes of each class 0, 1, ..., whatever the order of the rows."""
    sums = np.zeros(int(class_codes.max()) + 1, dtype=np.uint64)
    np.add.at(sums, class_codes, row_hashes)
    return sums


def _hashes_of_columns(table: Any, previous_hashes: np.ndarray) -> np.ndarray:
    row_hashes = np.zeros_like(previous_hashes)
    for cells in _iterate_cell_bits(table):
        column_hashes = splitmix64(cells + previous_hashes[:, None]).sum(axis=0, dtype=np.uint64)
        row_hashes += splitmix64(cells) @ (splitmix64(column_hashes) | np.uint64(1))
    return row_hashes


def _hashes_of_sparse_rows(table: Any, previous_hashes: np.ndarray) -> np.ndarray:
    """Compute a hash of each row of a sparse table, to which stored zeros contribute nothing."""
    matrix = table.tocoo(copy=True)
    matrix.sum_duplicates()
    rows, columns = (indices[matrix.data != 0] for indices in (matrix.row, matrix.col))
    cells = _cell_bits(matrix.data[matrix.data != 0])
    sums, row_hashes = np.zeros(matrix.shape[1], np.uint64), np.zeros_like(previous_hashes)
    np.add.at(sums, columns, splitmix64(cells + previous_hashes[rows]))
    np.add.at(row_hashes, rows, splitmix64(cells) * (splitmix64(sums) | np.uint64(1))[columns])
    return row_hashes


def _iterate_cell_bits(table: Any) -> Iterator[np.ndarray]:
    """Yield blocks of columns with the cells as integers."""
    if column_names(table) is not None:
        for column in column_arrays(table):
            yield _cell_bits(column)[:, None]
        return
    array = np.asarray(table)
    array = array.reshape(len(array), -1)
    n_block_columns = max(1, MAX_BLOCK_CELLS // max(len(array), 1))
    for first_column in range(0, array.shape[1], n_block_columns):
        yield _cell_bits(array[:, first_column : first_column + n_block_columns])


def _cell_bits(cells: np.ndarray) -> np.ndarray:
    """Convert cells to integers: numbers to the bits of rounded doubles, other cells to hashes."""
    if cells.dtype.kind in "biuf":
        doubles = cells.astype(np.float64, order="C")
        last_kept_bit, half_bit = (
            np.uint64(1 << N_ROUNDED_BITS),
            np.uint64(1 << (N_ROUNDED_BITS - 1)),
        )
        # Half a unit of the last kept digit is added, so that cutting off the low bits rounds.
        rounded_doubles = (
            (doubles.view(np.uint64) + half_bit) & ~(last_kept_bit - np.uint64(1))
        ).view(np.float64)
        is_integer = (doubles == np.rint(doubles)) & (np.abs(doubles) < 2.0**53)
        # Adding 0.0 turns -0.0 into 0.0, because both are equal.
        normalized_doubles: np.ndarray = np.where(is_integer, doubles, rounded_doubles) + 0.0
        return normalized_doubles.view(np.uint64)
    bits_by_text: dict[str, int] = {}
    texts = [repr(cell) for cell in cells.ravel().tolist()]
    for text in texts:
        if text not in bits_by_text:
            bits_by_text[text] = int.from_bytes(
                hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            )
    return np.array([bits_by_text[text] for text in texts], dtype=np.uint64).reshape(cells.shape)
