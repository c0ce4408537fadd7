"""Functions for the rows of any table: arrays, sparse matrices, frames and lists.

Frames of pandas, polars and pyarrow are supported.

This module also computes checksums of rows, at the speed of memory. They distinguish rows and make
fingerprints quick.

The bits b of a cell become b ⊕ (b >> 32), so that integers stored as doubles, whose low bits are
all 0, differ in their low bits too. The checksum of a row is the sum of its cells times odd
factors, modulo 2⁶⁴. Rows that differ by accident have the same checksum with probability below
2⁻⁵⁰; somebody who wants two such rows can construct them.

The compiled module computes the sums; without it, NumPy computes the same sums.

The module `row_marks.py` computes marks of rows: a number by the content of a row, whatever the
position of the row and the names of columns and classes.

If rows are put in the order of their marks before random numbers are drawn for them, the same rows
get the same numbers, however rows and columns are ordered and classes are named, and no result of a
computation has an influence.

The mark of row i is the sum over columns j of h(x_ij) times an odd factor, modulo 2⁶⁴. The factor
depends on the content of the column, and not on its position: it is made from the sum over rows of
h(x_ij + mark of row i), with the marks of the previous round. Numbers in y are treated as columns,
too; a class is identified by the marks of its rows.

Numbers that are not integers are first rounded to 33 binary digits (ten decimal ones), because
other processors compute drawn or scaled numbers with different last bits, and marks of all bits
would then put the same rows in another order. A number within its last bits of the midpoint between
two rounded ones can still be rounded differently; this affects one number in a million.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.errors import BadData
from truerisk.core.frozen import frozen
from truerisk.core.registry import suggestion_for
from truerisk.kernels import is_available, native_module


def n_rows(table: Any) -> int:
    """Return the number of rows of a table; raise BadData for anything without a length."""
    shape = getattr(table, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    try:
        return len(table)
    except Exception:  # noqa: BLE001  third-party code
        raise BadData(
            f"X is a {type(table).__name__}, which has no rows; give an array, a frame or a list."
        ) from None


def n_columns(table: Any) -> int | None:
    """Return the number of columns, or None if the table is not two-dimensional."""
    shape = getattr(table, "shape", None)
    return int(shape[1]) if isinstance(shape, tuple) and len(shape) == 2 else None


def column_names(table: Any) -> list[str] | None:
    """Return the names of a frame's columns, or None for a table without column names."""
    if not hasattr(table, "columns") or isinstance(table, np.ndarray):
        return None
    # Tables of pyarrow keep the names in `column_names`.
    names = getattr(table, "column_names", None)
    return [str(name) for name in (names if names is not None else table.columns)]


# This is the largest number of coordinates that the place of a row may have.
MAX_COORDINATES = 3


@frozen(eq=False)
class TableView:
    """X with its number of rows and its column names, so that columns can be looked up by name."""

    X: Any
    n_rows: int

    @cached_property
    def names(self) -> list[str] | None:
        """Column names of X, or None if it has none."""
        return column_names(self.X)

    def column(self, name: str, argument: str) -> Any:
        """Return the column with this name; `argument` gave the name, and errors mention it."""
        if self.names is None:
            raise BadData(
                f"{mention(argument, name)} names a column, and X is no frame: give the values "
                "themselves."
            )
        if name not in self.names:
            suggestion = suggestion_for(name, self.names) or "."
            raise BadData(f"{mention(argument, name)}: X has no such column{suggestion}")
        if (n_columns_of_name := self.names.count(name)) > 1:
            raise BadData(
                f"{mention(argument, name)}: X has {n_columns_of_name} columns of this name."
            )
        return self.X.iloc[:, self.names.index(name)] if hasattr(self.X, "iloc") else self.X[name]

    def are_column_names(self, texts: Sequence[Any]) -> bool:
        """Return True if the texts name columns of X, False if they are one label for each row.

        They are column names if X has all of them, or if they are too few to be one label per row.
        """
        if not texts or not self.names or not all(isinstance(text, str) for text in texts):
            return False
        are_too_few_for_labels = len(texts) != self.n_rows and len(texts) <= MAX_COORDINATES
        return are_too_few_for_labels or set(texts) <= set(self.names)


def take_rows(table: Any, rows: np.ndarray) -> Any:
    """Return the given rows of a table in the given order, in the table's own type."""
    if isinstance(table, np.ndarray):
        return table[rows]
    if hasattr(table, "tocsr"):
        return table.tocsr()[rows]
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    if hasattr(table, "take") and hasattr(table, "column_names"):
        return table.take(rows)
    if hasattr(table, "columns") or hasattr(table, "__array_namespace__"):
        return table[rows]
    # The table may be a polars Series, a memoryview or a tensor.
    if hasattr(table, "shape"):
        return np.asarray(table)[rows]
    return [table[i] for i in rows]


def copy_if_mutable(value: Any) -> Any:
    """Return a copy of a value that a model could write into.

    A value without a `copy` method is taken for immutable and returned itself. The copy of an array
    has the same memory layout, because the layout decides the last bits of sums.
    """
    if isinstance(value, np.ndarray):
        return value.copy("K")
    return value.copy() if hasattr(value, "copy") else value


def take_columns(table: Any, columns: np.ndarray) -> Any:
    """Return the given columns of an array, a sparse matrix or a frame, in the given order."""
    if hasattr(table, "iloc"):
        return table.iloc[:, columns]
    return table.tocsc()[:, columns].tocsr() if hasattr(table, "tocsr") else table[:, columns]


def column_arrays(table: Any) -> list[np.ndarray]:
    """Return the columns of a frame, each as an array."""
    names = column_names(table) or []
    # pandas allows equal column names, so columns are taken by position.
    if hasattr(table, "iloc"):
        return [np.asarray(table.iloc[:, j]) for j in range(len(names))]
    return [np.asarray(table[name]) for name in names]


def column_at(table: Any, column_position: int) -> Any:
    """Return the column at this position; a column of a frame keeps the type of its library."""
    # pandas allows equal column names, so the column is taken by position.
    if hasattr(table, "iloc"):
        return table.iloc[:, column_position]
    if hasattr(table, "tocsc"):
        return table.tocsc()[:, [column_position]].toarray()[:, 0]
    if not hasattr(table, "columns"):
        return np.asarray(table)[:, column_position]
    # Tables of pyarrow keep the names in `column_names`.
    names = getattr(table, "column_names", None)
    return table[(table.columns if names is None else names)[column_position]]


def is_missing(cell: Any) -> bool:
    """Return True if a cell is None, NaN, or a missing value of pandas."""
    if cell is None or (isinstance(cell, float) and cell != cell):
        return True
    pandas = sys.modules.get("pandas")
    return pandas is not None and (cell is pandas.NA or cell is pandas.NaT)


def missing_cells_mask(X: Any) -> np.ndarray | None:
    """Return a boolean mask of the missing cells of X, or None if X is no table of cells."""
    if column_names(X) is not None:
        columns = [np.asarray(column).tolist() for column in column_arrays(X)]
        return np.array([[is_missing(cell) for cell in column] for column in columns]).T
    if hasattr(X, "tocsr") or getattr(X, "ndim", 0) != 2:
        return None
    cells = np.asarray(X)
    if cells.dtype.kind == "f":
        return np.isnan(cells)
    if cells.dtype.kind != "O":
        return np.zeros(cells.shape, dtype=bool)
    return np.array([[is_missing(cell) for cell in row] for row in cells.tolist()])


def digest(*tables: Any, sums: RowChecksums | None = None) -> str:
    """Return the SHA-256 checksum of the tables' content, shortened to 16 hexadecimal digits.

    A table that is None contributes nothing but its position.

    If the row sums of the first table are given (`sums_of`), they are hashed instead of the table,
    which is quicker.
    """
    checksum = hashlib.sha256()
    for j, table in enumerate(tables):
        checksum.update(b"|")
        if table is None:
            continue
        if j == 0 and sums is not None:
            checksum.update(f"{table.dtype.str}{table.shape}".encode())
            checksum.update(sums.sums.data.cast("B"))
            continue
        names = column_names(table)
        for name in names or ():
            checksum.update(name.encode("utf-8", "surrogatepass"))
        if hasattr(table, "tocsr"):
            matrix = table.tocsr()
            arrays = [matrix.data, matrix.indices, matrix.indptr]
        else:
            arrays = [np.asarray(table)] if names is None else column_arrays(table)
        for array in arrays:
            cells = array.view("i8") if array.dtype.kind in "mM" else array
            checksum.update(f"{cells.dtype.str}{cells.shape}".encode())
            if cells.dtype.hasobject:
                checksum.update("\x1f".join(map(repr, cells.ravel().tolist())).encode())
            elif cells.size:
                checksum.update(np.ascontiguousarray(cells).data.cast("B"))
    return checksum.hexdigest()[:16]


def row_keys(table: Any, sums: RowChecksums | None = None) -> np.ndarray | None:
    """Return one integer for each row; two of these are equal exactly if the rows are equal.

    The result is None if all rows differ, or if equality is undefined. If `sums` (`sums_of` the
    table) show that all rows differ, the rows themselves are not compared.
    """
    if sums is not None and len(np.unique(sums.sums)) == len(sums.sums):
        return None
    if hasattr(table, "tocsr"):
        return _keys_of_numeric_rows(_keys_of_sparse_rows(table))
    if column_names(table) is not None:
        columns = column_arrays(table)
        if not columns:
            return None
        column_codes = [codes_of_cells(column) for column in columns]
        return _keys_of_numeric_rows(np.column_stack(column_codes))
    array = np.asarray(table)
    # In a one-dimensional array, each entry is the text of one row.
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] == 0:
        return None
    if array.dtype.hasobject or array.dtype.kind in "US":
        return _keys_of_numeric_rows(
            np.column_stack([codes_of_cells(array[:, j]) for j in range(array.shape[1])])
        )
    return _keys_of_numeric_rows(array)


def codes_of_cells(column: np.ndarray) -> np.ndarray:
    """Return an integer code for each cell of a column; equal cells get the same code."""
    if column.dtype.hasobject:
        code_of_text: dict[str, int] = {}
        return np.array(
            [code_of_text.setdefault(repr(cell), len(code_of_text)) for cell in column.tolist()]
        )
    return np.unique(column, return_inverse=True)[1].ravel()


def _keys_of_numeric_rows(array: np.ndarray) -> np.ndarray | None:
    """Return one integer for each row of a numeric array, with equal integers for equal rows.

    The result is None if all rows differ.
    """
    row_checksums = sums_of(array)
    if row_checksums is not None and len(np.unique(row_checksums.sums)) == len(row_checksums.sums):
        return None
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "f":
        # Adding 0.0 turns -0.0 into 0.0, because both are equal.
        array = array + 0.0
    rows = array.view(np.dtype((np.void, array.dtype.itemsize * array.shape[1]))).ravel()
    key_of_row: dict[bytes, int] = {}
    keys = np.array(
        [key_of_row.setdefault(row.tobytes(), len(key_of_row)) for row in rows], dtype=np.int64
    )
    return None if len(key_of_row) == len(keys) else keys


def _keys_of_sparse_rows(table: Any) -> np.ndarray:
    matrix = table.tocsr().copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    key_of_row: dict[bytes, int] = {}
    keys = []
    for i in range(matrix.shape[0]):
        row_entries = slice(matrix.indptr[i], matrix.indptr[i + 1])
        row_content = (
            matrix.indices[row_entries].tobytes() + b"|" + matrix.data[row_entries].tobytes()
        )
        keys.append(key_of_row.setdefault(row_content, len(key_of_row)))
    return np.array(keys, dtype=np.int64)[:, None]


# A block of rows of this size (in bytes) fits in the second-level cache.
BLOCK_BYTES = 1 << 18


@frozen(eq=False)
class RowChecksums:
    """Checksum of each row of a table, and a flag that tells if all cells are finite.

    The flag is True if all cells are finite, and False if some are not or if it is unknown.
    """

    sums: np.ndarray
    is_finite: bool


def sums_of(table: Any) -> RowChecksums | None:
    """Return a checksum of each row of a numeric array with 8-byte cells; None for other tables.

    −0.0 counts as 0.0. The compiled code relies on the shapes and types that are checked here.
    NumPy computes the same sums if the compiled module is missing or cannot read the array in its
    memory layout.
    """
    if not isinstance(table, np.ndarray) or table.ndim != 2 or not table.size:
        return None
    dtype = table.dtype
    if dtype.kind not in "fiu" or dtype.itemsize != 8 or not dtype.isnative:
        return None
    column_factors, (row_stride, column_stride) = _column_factors(table.shape[1]), table.strides
    if not is_available() or not table.flags.aligned or row_stride % 8 or column_stride % 8:
        return _row_checksums_by_numpy(table, column_factors)
    sums = np.empty(len(table), dtype=np.uint64)
    are_finite = native_module().row_sums(
        table.view(np.uint64), dtype.kind == "f", column_factors, sums
    )
    return RowChecksums(sums, bool(are_finite))


@lru_cache(maxsize=4)
def _column_factors(n_columns: int) -> np.ndarray:
    """Return one odd factor for each column, since multiplying by odd numbers loses no bit."""
    factors = splitmix64(np.arange(n_columns)) | np.uint64(1)
    factors.flags.writeable = False  # The cache returns the same array to every caller.
    return factors


def _row_checksums_by_numpy(array: np.ndarray, factors: np.ndarray) -> RowChecksums:
    """Compute the checksums of rows with NumPy, one block of rows at a time."""
    n, p = array.shape
    sums = np.empty(n, dtype=np.uint64)
    n_rows_at_once = max(1, BLOCK_BYTES // (8 * p))
    cells, mixed_bits = (
        np.empty((n_rows_at_once, p), array.dtype),
        np.empty((n_rows_at_once, p), np.uint64),
    )
    zero = array.dtype.type(0)
    for first_row in range(0, n, n_rows_at_once):
        block = array[first_row : first_row + n_rows_at_once]
        n_block_rows = len(block)
        bits = np.add(block, zero, out=cells[:n_block_rows]).view(np.uint64)
        np.right_shift(bits, np.uint64(32), out=mixed_bits[:n_block_rows])
        np.bitwise_xor(mixed_bits[:n_block_rows], bits, out=mixed_bits[:n_block_rows])
        np.matmul(
            mixed_bits[:n_block_rows], factors, out=sums[first_row : first_row + n_block_rows]
        )
    return RowChecksums(sums, is_finite=False)


def splitmix64(x: np.ndarray) -> np.ndarray:
    """Apply the hash function splitmix64, which maps neighbouring numbers to unrelated ones."""
    x = (x.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
