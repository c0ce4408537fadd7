"""The cells of X, coded once over all rows; the training sets of all plans share the codes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.core.overrides import override
from truerisk.data.rows import column_names
from truerisk.engines.preparation.closed.step_tables import CodedTable, Levels, NoClosedForm, Table

MAX_EXACT_INTEGER = 2**53  # Double precision represents integers up to this size exactly.
FRAME_CLASSES = ("pandas:DataFrame", "polars:DataFrame")
# Letters for arrays of text: "t" for Python objects and "U" for NumPy's own strings.
# Some steps do not accept NumPy's own strings.
TEXT_KINDS = "tU"


class SourceTable:
    """Frame or array X, with a cache of the coded and numeric columns that steps have requested."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.is_array = type(X) is np.ndarray
        self.frame = next(
            (class_path for class_path in FRAME_CLASSES if is_exactly(X, class_path)), None
        )
        if not self.is_array and self.frame is None:
            raise NoClosedForm("a table of another kind")
        if len(np.shape(X)) != 2 or not np.shape(X)[1]:
            raise NoClosedForm("no table")
        self.names = None if self.is_array else _text_column_names(X)
        self.width = int(np.shape(X)[1])
        self.is_pandas = hasattr(X, "iloc")
        self._kinds: dict[int, str] = {}
        self._codes_by_column: dict[int, tuple[np.ndarray, Levels]] = {}
        self._doubles_by_columns: dict[tuple[int, ...], np.ndarray] = {}
        self._codes_by_columns: dict[tuple[int, ...], CodedTable] = {}
        self._stored_by_rows: dict[tuple[int, ...], bool] = {}

    def is_stored_by_rows(self, columns: tuple[int, ...]) -> bool:
        """Return True if selecting these columns of a frame yields an array stored row by row.

        This depends on how the frame was made. scikit-learn computes sums in this memory order.
        """
        if not self.is_pandas:
            return False
        if columns not in self._stored_by_rows:
            few_rows = self.X.iloc[[0, 1, 3]] if len(self.X) > 3 else self.X
            memory_flags = np.asarray(few_rows.iloc[:, list(columns)]).flags
            self._stored_by_rows[columns] = (
                memory_flags.c_contiguous and not memory_flags.f_contiguous
            )
        return self._stored_by_rows[columns]

    def kind(self, columns: Sequence[int]) -> str:
        """Return a letter for the type of the array that NumPy makes of these columns.

        The letters are b (boolean), i (integer), f (float), and t or U (text).
        """
        column_kinds = {self._column_kind(j) for j in columns}
        if column_kinds <= {"i", "f"}:
            return "f" if "f" in column_kinds else "i"
        if len(column_kinds) > 1:
            raise NoClosedForm("columns of several kinds in one array")
        return column_kinds.pop()

    @cached_property
    def array(self) -> np.ndarray:
        """All columns of a numeric array X as doubles, in the memory order of X."""
        if _array_kind(self.X) in TEXT_KINDS:
            raise NoClosedForm("text is no number")
        return _as_finite_doubles(self.X)

    def numbers(self, columns: tuple[int, ...]) -> np.ndarray:
        """Return these columns of X as doubles, one row of the result per column of X."""
        if columns not in self._doubles_by_columns:
            if self.kind(columns) in TEXT_KINDS:
                raise NoClosedForm("text is no number")
            self._doubles_by_columns[columns] = np.stack(
                [_as_finite_doubles(self._column(j)) for j in columns]
            )
        return self._doubles_by_columns[columns]

    def coded_table(self, columns: tuple[int, ...]) -> CodedTable:
        """Return these columns with each entry replaced by the code of its category.

        The codes are stored row by row.
        """
        if columns not in self._codes_by_columns:
            # scikit-learn converts a polars frame to one array, so its columns must be of one type.
            if not self.is_pandas:
                self.kind(columns)
            coded_columns = [self._coded_column(j) for j in columns]
            codes = np.ascontiguousarray(np.column_stack([codes for codes, _ in coded_columns]))
            levels = tuple(levels for _, levels in coded_columns)
            array_kind = "t" if any(column_levels.is_text for column_levels in levels) else "f"
            self._codes_by_columns[columns] = CodedTable(codes, levels, array_kind)
        return self._codes_by_columns[columns]

    def _coded_column(self, j: int) -> tuple[np.ndarray, Levels]:
        if j not in self._codes_by_column:
            column = self._column(j)
            is_text = self._column_kind(j) in TEXT_KINDS
            self._codes_by_column[j] = (
                _code_texts(column) if is_text else _code_numbers(_as_finite_doubles(column))
            )
        return self._codes_by_column[j]

    def _column_kind(self, j: int) -> str:
        if j not in self._kinds:
            self._kinds[j] = _array_kind(self._column(j))
        return self._kinds[j]

    def _column(self, j: int) -> np.ndarray:
        if self.is_array:
            column = self.X[:, j]
        elif self.is_pandas:
            column = self.X.iloc[:, j]
            if not _is_plain(column.dtype):
                raise NoClosedForm("a column of another kind")
            column = np.asarray(column)
        else:
            if self.X.dtypes[j].is_integer() and self.X[:, j].null_count():
                raise NoClosedForm("whole numbers of which some are missing")
            column = np.asarray(self.X[:, j])
        return column


@frozen(eq=False)
class SourceCells(Table):
    """Table of some rows and columns of X, which no step has transformed yet.

    `is_stored_by_rows` is True if scikit-learn would store the cells row by row, and sum them in
    this order.
    """

    source: SourceTable
    rows: np.ndarray
    column_numbers: tuple[int, ...]
    is_stored_by_rows: bool
    fresh: bool = True

    @classmethod
    def from_source(cls, source: SourceTable, rows: np.ndarray) -> SourceCells:
        """Return a table of the rows of X with these row numbers, with all columns."""
        return cls(source, rows, tuple(range(source.width)), source.is_array)

    @property
    @override
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.column_numbers)

    @property
    @override
    def kind(self) -> str:  # type: ignore[override]
        return self.source.kind(self.column_numbers)

    @property
    @override
    def names(self) -> list[str] | None:  # type: ignore[override]
        names = self.source.names
        return None if names is None else [names[j] for j in self.column_numbers]

    @override
    def numbers(self) -> np.ndarray:
        if self.is_stored_by_rows and len(self.column_numbers) == self.source.width:
            return self.source.array[self.rows]
        all_rows = self.source.numbers(self.column_numbers)
        if self.is_stored_by_rows or self.source.is_stored_by_rows(self.column_numbers):
            return np.ascontiguousarray(all_rows.T[self.rows])
        return all_rows.take(self.rows, axis=1).T

    @override
    def coded(self) -> CodedTable:
        all_rows = self.source.coded_table(self.column_numbers)
        return CodedTable(all_rows.codes.take(self.rows, axis=0), all_rows.levels, all_rows.kind)

    @override
    def columns(self, which: Any) -> Table:
        is_slice = isinstance(which, slice)
        column_numbers = (
            self.column_numbers[which] if is_slice else tuple(self.column_numbers[j] for j in which)
        )
        return SourceCells(
            self.source, self.rows, column_numbers, self.is_stored_by_rows and is_slice
        )


def _text_column_names(X: Any) -> list[str] | None:
    """Return the column names if all are strings, or None if none is a string.

    Raise NoClosedForm if only some names are strings, or if a name occurs twice.
    """
    is_string = {isinstance(name, str) for name in X.columns}
    names = column_names(X)
    if len(is_string) > 1 or names is None or len(set(names)) < len(names):
        raise NoClosedForm("columns whose names are mixed, or come twice")
    return names if is_string == {True} else None


def _is_plain(dtype: Any) -> bool:
    """Return True if scikit-learn converts a pandas column of this dtype as NumPy does."""
    if isinstance(dtype, np.dtype):
        return True
    if dtype.name == "category":
        return _is_plain(dtype.categories.dtype) and dtype.categories.dtype.kind == "O"
    missing_value = getattr(dtype, "na_value", None)
    return dtype.name in ("str", "string") and isinstance(missing_value, float)


def _array_kind(column: np.ndarray) -> str:
    dtype_kind = column.dtype.kind
    if dtype_kind == "O":
        return "t"
    if dtype_kind == "U":
        return "U"
    if dtype_kind == "f" and column.dtype.itemsize == 8:
        return "f"
    if dtype_kind == "b":
        return "b"
    if dtype_kind in "iu":
        return "i"
    raise NoClosedForm("cells of another kind")


def _as_finite_doubles(column: np.ndarray) -> np.ndarray:
    is_integer = column.dtype.kind in "iu" and column.size
    if is_integer and (
        int(column.max()) > MAX_EXACT_INTEGER or int(column.min()) < -MAX_EXACT_INTEGER
    ):
        raise NoClosedForm("whole numbers that are no doubles")
    doubles = column.astype(np.float64, copy=False)
    if np.isinf(doubles).any():
        raise NoClosedForm("infinite cells")
    return doubles


def _code_numbers(column: np.ndarray) -> tuple[np.ndarray, Levels]:
    values, codes = np.unique(column, return_inverse=True)
    has_nan = bool(len(values)) and bool(np.isnan(values[-1]))
    return codes.ravel(), Levels(
        tuple(values.tolist()), has_none=False, has_nan=has_nan, is_text=False
    )


def _code_texts(column: np.ndarray) -> tuple[np.ndarray, Levels]:
    cell_list = column.tolist()
    distinct_cells = set(cell_list)
    texts = sorted(cell for cell in distinct_cells if isinstance(cell, str))
    missing_cells = [
        cell for cell in distinct_cells if not isinstance(cell, str) and cell is not None
    ]
    if not all(isinstance(cell, float) and cell != cell for cell in missing_cells):
        raise NoClosedForm("text beside other cells")
    code_by_cell = {cell: text_code for text_code, cell in enumerate([*texts, None])}
    has_none, nan_code = None in distinct_cells, len(texts) + (None in distinct_cells)
    codes = np.array([code_by_cell.get(cell, nan_code) for cell in cell_list], dtype=np.intp)
    missing_levels = [*([None] if has_none else []), *([np.nan] if missing_cells else [])]
    return codes, Levels(
        (*texts, *missing_levels), has_none=has_none, has_nan=bool(missing_cells), is_text=True
    )
