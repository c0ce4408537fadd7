"""Rows of any table a user may hold: arrays, sparse matrices, pandas, polars, pyarrow, lists."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from truerisk.core.errors import BadData
from truerisk.core.table.checksums import RowSums, row_sums, summed

__all__ = [
    "RowSums",
    "column_arrays",
    "column_names",
    "digest",
    "n_columns",
    "n_rows",
    "row_keys",
    "sums_of",
    "take_columns",
    "take_rows",
]


def _is_frame(table: Any) -> bool:
    return hasattr(table, "columns") and not isinstance(table, np.ndarray)


def _is_sparse(table: Any) -> bool:
    return hasattr(table, "tocsr")


def n_rows(table: Any) -> int:
    """How many rows; anything without a length is refused."""
    shape = getattr(table, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    try:
        return len(table)
    except Exception:  # noqa: BLE001  their code
        raise BadData(
            f"X is a {type(table).__name__}, which has no rows; give an array, a frame or a list."
        ) from None


def n_columns(table: Any) -> int | None:
    """How many columns, None where the table has no such number."""
    shape = getattr(table, "shape", None)
    return int(shape[1]) if isinstance(shape, tuple) and len(shape) == 2 else None


def column_names(table: Any) -> list[str] | None:
    """Names of a frame's columns, None where the table has none."""
    if not _is_frame(table):
        return None
    names = getattr(table, "column_names", None)  # pyarrow
    return [str(name) for name in (names if names is not None else table.columns)]


def take_rows(table: Any, rows: np.ndarray) -> Any:
    """The given rows, in the given order, in the table's own type."""
    if isinstance(table, np.ndarray):
        return table[rows]
    if _is_sparse(table):
        return table.tocsr()[rows]
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    if hasattr(table, "take") and hasattr(table, "column_names"):
        return table.take(rows)
    if _is_frame(table) or hasattr(table, "__array_namespace__"):
        return table[rows]
    if hasattr(table, "shape"):  # a Series of polars, a memoryview, a tensor
        return np.asarray(table)[rows]
    return [table[i] for i in rows]


def copied(value: Any) -> Any:
    """A copy where a model could write into the value; what has no `copy` cannot be written to.

    An array keeps its order of memory, which decides the last bits of sums.
    """
    if isinstance(value, np.ndarray):
        return value.copy("K")
    return value.copy() if hasattr(value, "copy") else value


def take_columns(table: Any, columns: np.ndarray) -> Any:
    """The given columns of an array, a sparse matrix or a frame, in the given order."""
    if hasattr(table, "iloc"):
        return table.iloc[:, columns]
    return table.tocsc()[:, columns].tocsr() if _is_sparse(table) else table[:, columns]


def column_arrays(table: Any) -> list[np.ndarray]:
    """The columns of a frame, each as an array."""
    names = column_names(table) or []
    if hasattr(table, "iloc"):  # by position: pandas allows equal names
        return [np.asarray(table.iloc[:, j]) for j in range(len(names))]
    return [np.asarray(table[name]) for name in names]


def _arrays(table: Any) -> list[np.ndarray]:
    """The table's content as arrays that together say everything about it."""
    if _is_sparse(table):
        matrix = table.tocsr()
        return [matrix.data, matrix.indices, matrix.indptr]
    if _is_frame(table):
        return column_arrays(table)
    return [np.asarray(table)]


def _update(digest_: Any, array: np.ndarray) -> None:
    digest_.update(f"{array.dtype.str}{array.shape}".encode())
    if array.dtype.hasobject:
        digest_.update("\x1f".join(map(repr, array.ravel().tolist())).encode())
    else:
        digest_.update(np.ascontiguousarray(array).data.cast("B") if array.size else b"")


def sums_of(table: Any) -> RowSums | None:
    """A checksum of every row where the table has one (`checksums.summed`)."""
    return summed(table) if isinstance(table, np.ndarray) else None


def digest(*tables: Any, sums: RowSums | None = None) -> str:
    """SHA-256 of the content, 16 hexadecimal digits; None counts as absent.

    With `sums` (`sums_of` the first table) these are hashed in its place, which is quicker.
    """
    total = hashlib.sha256()
    for j, table in enumerate(tables):
        total.update(b"|")
        if table is None:
            continue
        if j == 0 and sums is not None:
            total.update(f"{table.dtype.str}{table.shape}".encode())
            total.update(sums.sums.data.cast("B"))
            continue
        for name in column_names(table) or ():
            total.update(name.encode("utf-8", "surrogatepass"))
        for array in _arrays(table):
            _update(total, array.view("i8") if array.dtype.kind in "mM" else array)
    return total.hexdigest()[:16]


def row_keys(table: Any, sums: RowSums | None = None) -> np.ndarray | None:
    """One integer per row, equal exactly for rows of equal content; None where undefined.

    Where `sums` (`sums_of` the table) tell all rows apart, the rows are not looked at.
    """
    if sums is not None and _all_differ(sums.sums):
        return np.arange(len(sums.sums))
    if _is_sparse(table):
        return _keys(_sparse_rows(table))
    if _is_frame(table):
        columns = column_arrays(table)
        if not columns:
            return None
        coded = [_codes(column) for column in columns]
        return _keys(np.column_stack(coded))
    array = np.asarray(table)
    array = array[:, None] if array.ndim == 1 else array  # one text per row
    if array.ndim != 2 or array.shape[1] == 0:
        return None
    if array.dtype.hasobject or array.dtype.kind in "US":
        return _keys(np.column_stack([_codes(array[:, j]) for j in range(array.shape[1])]))
    return _keys(array)


def _codes(column: np.ndarray) -> np.ndarray:
    if column.dtype.hasobject:
        seen: dict[str, int] = {}
        return np.array([seen.setdefault(repr(cell), len(seen)) for cell in column.tolist()])
    return np.unique(column, return_inverse=True)[1].ravel()


def _keys(array: np.ndarray) -> np.ndarray:
    sums = row_sums(array)
    if sums is not None and _all_differ(sums):
        return np.arange(len(array))
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "f":
        array = array + 0.0  # -0.0 and 0.0 are one value
    rows = array.view(np.dtype((np.void, array.dtype.itemsize * array.shape[1]))).ravel()
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(row.tobytes(), len(seen)) for row in rows], dtype=np.int64)


def _all_differ(sums: np.ndarray) -> bool:
    """Whether checksums tell all rows apart; where they do not, rows may differ nevertheless."""
    in_order = np.sort(sums)
    return not (in_order[1:] == in_order[:-1]).any()


def _sparse_rows(table: Any) -> np.ndarray:
    matrix = table.tocsr().copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    seen: dict[bytes, int] = {}
    keys = []
    for i in range(matrix.shape[0]):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        content = matrix.indices[part].tobytes() + b"|" + matrix.data[part].tobytes()
        keys.append(seen.setdefault(content, len(seen)))
    return np.array(keys, dtype=np.int64)[:, None]
