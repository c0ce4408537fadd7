"""Marks of rows: numbers by content, whatever the order of rows, columns and classes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.data.rows import column_arrays, column_names, mixed, n_rows

CELLS = 1 << 18  # largest number of cells in a block of columns
UNUSED = 19  # number of low bits of a double's 52 that are rounded away
# After one round, columns of truth values differ only by their sums; further rounds use their rows.
ROUNDS = 3


def row_marks(table: Any, codes: np.ndarray | None, numbers: np.ndarray | None) -> np.ndarray:
    """Return a number per row, computed from the table and its target (class codes or numbers).

    Equal rows with equal targets get the same number.
    """
    marks = np.zeros(n_rows(table), dtype=np.uint64)
    for _ in range(ROUNDS):
        mixture = mixed((_of_sparse if hasattr(table, "tocsr") else _of_columns)(table, marks))
        if codes is not None:
            mixture = mixture + mixed(summed_by(codes, mixture))[codes]
        if numbers is not None:
            mixture = mixture + _of_columns(numbers, mixture)
        marks = mixture
    return marks


def summed_by(member: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Return the sum of the marks of each member 0, 1, ..., whatever the order of the marks."""
    sums = np.zeros(int(member.max()) + 1, dtype=np.uint64)
    np.add.at(sums, member, marks)
    return sums


def _of_columns(table: Any, before: np.ndarray) -> np.ndarray:
    marks = np.zeros_like(before)
    for cells in _blocks(table):
        columns = mixed(cells + before[:, None]).sum(axis=0, dtype=np.uint64)
        marks += mixed(cells) @ (mixed(columns) | np.uint64(1))
    return marks


def _of_sparse(table: Any, before: np.ndarray) -> np.ndarray:
    """Compute the marks for a sparse table; zeros count nothing, whether stored or not."""
    matrix = table.tocoo(copy=True)
    matrix.sum_duplicates()
    rows, columns = (places[matrix.data != 0] for places in (matrix.row, matrix.col))
    cells = _bits(matrix.data[matrix.data != 0])
    sums, marks = np.zeros(matrix.shape[1], np.uint64), np.zeros_like(before)
    np.add.at(sums, columns, mixed(cells + before[rows]))
    np.add.at(marks, rows, mixed(cells) * (mixed(sums) | np.uint64(1))[columns])
    return marks


def _blocks(table: Any) -> Iterator[np.ndarray]:
    """Yield the cells as integers, some columns at a time."""
    if column_names(table) is not None:
        for column in column_arrays(table):
            yield _bits(column)[:, None]
        return
    array = np.asarray(table)
    array = array.reshape(len(array), -1)
    step = max(1, CELLS // max(len(array), 1))
    for start in range(0, array.shape[1], step):
        yield _bits(array[:, start : start + step])


def _bits(cells: np.ndarray) -> np.ndarray:
    """Return the bits of numbers as rounded doubles, or else a hash of the text of each cell."""
    if cells.dtype.kind in "biuf":
        numbers = cells.astype(np.float64, order="C")
        last, half = np.uint64(1 << UNUSED), np.uint64(1 << (UNUSED - 1))
        # Half of the last digit is added so that truncation rounds.
        rounded = ((numbers.view(np.uint64) + half) & ~(last - np.uint64(1))).view(np.float64)
        whole = (numbers == np.rint(numbers)) & (np.abs(numbers) < 2.0**53)
        marked: np.ndarray = np.where(whole, numbers, rounded) + 0.0  # -0.0 and 0.0 are equal
        return marked.view(np.uint64)
    bits: dict[str, int] = {}
    texts = [repr(cell) for cell in cells.ravel().tolist()]
    for text in texts:
        if text not in bits:
            bits[text] = int.from_bytes(
                hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            )
    return np.array([bits[text] for text in texts], dtype=np.uint64).reshape(cells.shape)
