"""The cells of the data, coded once over all rows and shared by all training sets of all plans."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.identity import is_exactly
from truerisk.core.overrides import override
from truerisk.data.rows import column_names
from truerisk.engines.preparation.closed.step_tables import Coded, Levels, Refused, Table

EXACT = 2**53  # Integers up to this size are exact in double precision.
FRAMES = ("pandas:DataFrame", "polars:DataFrame")
TEXT = "tU"  # Objects, and NumPy's own texts, which some steps do not accept.


class Source:
    """A frame or an array; results for some columns are cached for the next request."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.is_array = type(X) is np.ndarray
        self.frame = next((place for place in FRAMES if is_exactly(X, place)), None)
        if not self.is_array and self.frame is None:
            raise Refused("a table of another kind")
        if len(np.shape(X)) != 2 or not np.shape(X)[1]:
            raise Refused("no table")
        self.names = None if self.is_array else _names(X)
        self.width = int(np.shape(X)[1])
        self.is_pandas = hasattr(X, "iloc")
        self._kinds: dict[int, str] = {}
        self._coded: dict[int, tuple[np.ndarray, Levels]] = {}
        self._numbers: dict[tuple[int, ...], np.ndarray] = {}
        self._codes: dict[tuple[int, ...], Coded] = {}
        self._orders: dict[tuple[int, ...], bool] = {}

    def by_rows(self, columns: tuple[int, ...]) -> bool:
        """Return True if these columns of a frame, once selected, lie in memory row by row.

        This depends on how the frame was made. Sums are computed in this order.
        """
        if not self.is_pandas:
            return False
        if columns not in self._orders:
            some = self.X.iloc[[0, 1, 3]] if len(self.X) > 3 else self.X
            flags = np.asarray(some.iloc[:, list(columns)]).flags
            self._orders[columns] = flags.c_contiguous and not flags.f_contiguous
        return self._orders[columns]

    def kind(self, columns: Sequence[int]) -> str:
        """Return the kind of array that NumPy makes of these columns: b, i, f, or t for text."""
        kinds = {self._kind(j) for j in columns}
        if kinds <= {"i", "f"}:
            return "f" if "f" in kinds else "i"
        if len(kinds) > 1:
            raise Refused("columns of several kinds in one array")
        return kinds.pop()

    @cached_property
    def array(self) -> np.ndarray:
        """All columns of a numeric array, in its memory order."""
        if _kind_of(self.X) in TEXT:
            raise Refused("text is no number")
        return _doubles(self.X)

    def numbers(self, columns: tuple[int, ...]) -> np.ndarray:
        """Return the columns as doubles, one column after the other in memory."""
        if columns not in self._numbers:
            if self.kind(columns) in TEXT:
                raise Refused("text is no number")
            self._numbers[columns] = np.stack([_doubles(self._column(j)) for j in columns])
        return self._numbers[columns]

    def coded(self, columns: tuple[int, ...]) -> Coded:
        """Return codes of the cells, one row after the other in memory."""
        if columns not in self._codes:
            if not self.is_pandas:  # Other frames make one array of all columns.
                self.kind(columns)
            coded = [self._coded_column(j) for j in columns]
            codes = np.ascontiguousarray(np.column_stack([codes for codes, _ in coded]))
            levels = tuple(levels for _, levels in coded)
            kind = "t" if any(one.text for one in levels) else "f"
            self._codes[columns] = Coded(codes, levels, kind)
        return self._codes[columns]

    def _coded_column(self, j: int) -> tuple[np.ndarray, Levels]:
        if j not in self._coded:
            column = self._column(j)
            text = self._kind(j) in TEXT
            self._coded[j] = _coded_texts(column) if text else _coded_numbers(_doubles(column))
        return self._coded[j]

    def _kind(self, j: int) -> str:
        if j not in self._kinds:
            self._kinds[j] = _kind_of(self._column(j))
        return self._kinds[j]

    def _column(self, j: int) -> np.ndarray:
        if self.is_array:
            column = self.X[:, j]
        elif self.is_pandas:
            column = self.X.iloc[:, j]
            if not _is_plain(column.dtype):
                raise Refused("a column of another kind")
            column = np.asarray(column)
        else:
            if self.X.dtypes[j].is_integer() and self.X[:, j].null_count():
                raise Refused("whole numbers of which some are missing")
            column = np.asarray(self.X[:, j])
        return column


@frozen(eq=False)
class Cells(Table):
    """Some rows and columns of the unchanged data.

    `by_rows` says that scikit-learn would store them row by row, and sum them in this order.
    """

    source: Source
    rows: np.ndarray
    places: tuple[int, ...]
    by_rows: bool
    fresh: bool = True

    @classmethod
    def from_source(cls, source: Source, rows: np.ndarray) -> Cells:
        """Return all columns of some rows."""
        return cls(source, rows, tuple(range(source.width)), source.is_array)

    @property
    @override
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.places)

    @property
    @override
    def kind(self) -> str:  # type: ignore[override]
        return self.source.kind(self.places)

    @property
    @override
    def names(self) -> list[str] | None:  # type: ignore[override]
        names = self.source.names
        return None if names is None else [names[j] for j in self.places]

    @override
    def numbers(self) -> np.ndarray:
        if self.by_rows and len(self.places) == self.source.width:
            return self.source.array[self.rows]
        every = self.source.numbers(self.places)
        if self.by_rows or self.source.by_rows(self.places):
            return np.ascontiguousarray(every.T[self.rows])
        return every.take(self.rows, axis=1).T

    @override
    def coded(self) -> Coded:
        every = self.source.coded(self.places)
        return Coded(every.codes.take(self.rows, axis=0), every.levels, every.kind)

    @override
    def columns(self, which: Any) -> Table:
        sliced = isinstance(which, slice)
        places = self.places[which] if sliced else tuple(self.places[j] for j in which)
        return Cells(self.source, self.rows, places, self.by_rows and sliced)


def _names(X: Any) -> list[str] | None:
    """Return the column names if all are strings, None if none is."""
    texts = {isinstance(name, str) for name in X.columns}
    names = column_names(X)
    if len(texts) > 1 or names is None or len(set(names)) < len(names):
        raise Refused("columns whose names are mixed, or come twice")
    return names if texts == {True} else None


def _is_plain(dtype: Any) -> bool:
    """Return True if scikit-learn converts a pandas column as NumPy does."""
    if isinstance(dtype, np.dtype):
        return True
    if dtype.name == "category":
        return _is_plain(dtype.categories.dtype) and dtype.categories.dtype.kind == "O"
    missing = getattr(dtype, "na_value", None)
    return dtype.name in ("str", "string") and isinstance(missing, float)


def _kind_of(column: np.ndarray) -> str:
    kind = column.dtype.kind
    if kind == "O":
        return "t"
    if kind == "U":
        return "U"
    if kind == "f" and column.dtype.itemsize == 8:
        return "f"
    if kind == "b":
        return "b"
    if kind in "iu":
        return "i"
    raise Refused("cells of another kind")


def _doubles(column: np.ndarray) -> np.ndarray:
    whole = column.dtype.kind in "iu" and column.size
    if whole and (int(column.max()) > EXACT or int(column.min()) < -EXACT):
        raise Refused("whole numbers that are no doubles")
    doubles = column.astype(np.float64, copy=False)
    if np.isinf(doubles).any():
        raise Refused("infinite cells")
    return doubles


def _coded_numbers(column: np.ndarray) -> tuple[np.ndarray, Levels]:
    values, codes = np.unique(column, return_inverse=True)
    nan = bool(len(values)) and bool(np.isnan(values[-1]))
    return codes.ravel(), Levels(tuple(values.tolist()), none=False, nan=nan, text=False)


def _coded_texts(column: np.ndarray) -> tuple[np.ndarray, Levels]:
    cells = column.tolist()
    distinct = set(cells)
    texts = sorted(cell for cell in distinct if isinstance(cell, str))
    others = [cell for cell in distinct if not isinstance(cell, str) and cell is not None]
    if not all(isinstance(cell, float) and cell != cell for cell in others):
        raise Refused("text beside other cells")
    code_of = {cell: code for code, cell in enumerate([*texts, None])}
    none, last = None in distinct, len(texts) + (None in distinct)
    codes = np.array([code_of.get(cell, last) for cell in cells], dtype=np.intp)
    ends = [*([None] if none else []), *([np.nan] if others else [])]
    return codes, Levels((*texts, *ends), none=none, nan=bool(others), text=True)
