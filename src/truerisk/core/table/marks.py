"""Marks of rows: a number by the content of a row, wherever it stands and whatever it is called.

What is drawn at random for rows in the order of their marks is drawn for the same rows however rows
or columns are ordered and classes are named, and does not hang on anything that was computed.

The mark of row i is the sum over columns j of h(x_ij) times an odd factor, modulo 2⁶⁴. The factor
says what stands in the column, and not where the column stands: it is made from the sum over rows
of h(x_ij + mark of row i), with the marks of the round before. Numbers in y are columns, too; a
class is known by the marks of its rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.core.table.checksums import mixed
from truerisk.core.table.rows import column_arrays, column_names, n_rows

__all__ = ["row_marks", "summed_by"]

CELLS = 1 << 18  # of a block of columns
ROUNDS = 3  # columns of truth values are told apart by the rows that they hold for


def row_marks(table: Any, codes: np.ndarray | None, numbers: np.ndarray | None) -> np.ndarray:
    """A number per row of a table and its target: codes of classes, or numbers.

    Equal rows with equal targets share theirs.
    """
    marks = np.zeros(n_rows(table), dtype=np.uint64)
    for _ in range(ROUNDS):
        found = mixed((_of_sparse if hasattr(table, "tocsr") else _of_columns)(table, marks))
        if codes is not None:
            found = found + mixed(summed_by(codes, found))[codes]
        if numbers is not None:
            found = found + _of_columns(numbers, found)
        marks = found
    return marks


def summed_by(member: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """The sum of the marks of each member 0, 1, ..., in whichever order they come."""
    sums = np.zeros(int(member.max()) + 1, dtype=np.uint64)
    np.add.at(sums, member, marks)
    return sums


def _of_columns(table: Any, before: np.ndarray) -> np.ndarray:
    marks = np.zeros_like(before)
    for cells in _blocks(table):
        columns = mixed(cells + before[:, None]).sum(axis=0, dtype=np.uint64)
        marks += mixed(cells) @ _factors(columns)
    return marks


def _of_sparse(table: Any, before: np.ndarray) -> np.ndarray:
    """Zeros count nothing, stored or not."""
    matrix = table.tocoo(copy=True)
    matrix.sum_duplicates()
    rows, columns = (places[matrix.data != 0] for places in (matrix.row, matrix.col))
    cells = _bits(matrix.data[matrix.data != 0])
    sums, marks = np.zeros(matrix.shape[1], np.uint64), np.zeros_like(before)
    np.add.at(sums, columns, mixed(cells + before[rows]))
    np.add.at(marks, rows, mixed(cells) * _factors(sums)[columns])
    return marks


def _factors(sums: np.ndarray) -> np.ndarray:
    return mixed(sums) | np.uint64(1)


def _blocks(table: Any) -> Iterator[np.ndarray]:
    """The cells as whole numbers, some columns at a time."""
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
    """The bits of a number as a double; of anything else a hash of its text."""
    if cells.dtype.kind in "biuf":
        numbers: np.ndarray = cells.astype(np.float64, order="C") + 0.0  # -0.0 and 0.0 are one
        return numbers.view(np.uint64)
    known: dict[str, int] = {}
    said = [repr(cell) for cell in cells.ravel().tolist()]
    for text in said:
        if text not in known:
            known[text] = int.from_bytes(
                hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            )
    return np.array([known[text] for text in said], dtype=np.uint64).reshape(cells.shape)
