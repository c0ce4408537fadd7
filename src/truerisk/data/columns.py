"""Kinds of the columns of X (numbers, text or dates), and the columns that models cannot read."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from truerisk.core.arguments import as_array
from truerisk.core.formats import clean
from truerisk.core.identity import is_a
from truerisk.core.registry import is_present
from truerisk.data.rows import column_arrays, column_names, is_missing

Kind = Literal["number", "text", "date"]


def kinds_of_columns(table: Any) -> tuple[Kind, ...] | None:
    """Return the kind of every column of a frame or an object array; None for other tables."""
    if column_names(table) is None and not _holds_objects(table):
        return None
    return tuple(_kind(column) for column in _columns(table))


def unreadable(table: Any, *, text: bool = False) -> str | None:
    """Return a sentence on the first column of X that models cannot read, or None.

    With `text` they can read text, because it is encoded as indicators.
    """
    names = column_names(table)
    if (why := unreadable_names(table)) is not None:
        return why
    for j, kind in enumerate(kinds_of_columns(table) or ()):
        where = f"column {clean(names[j], 40)!r}" if names else f"column {j}"
        of_texts = kind == "text" and not text
        if kind == "date" or (of_texts and _holds_dates(_columns(table)[j])):
            return f"X has dates in {where}: {_without_dates(table, names, j)}"
        if kind == "text" and not text:
            return (
                f"X has text in {where}, such as '{_example(_columns(table)[j])}': encode it "
                "inside the folds (make_pipeline(make_column_transformer((OneHotEncoder("
                "handle_unknown='ignore'), columns), remainder='passthrough'), model))."
            )
    return None


def _holds_dates(column: np.ndarray) -> bool:
    """Return True if a column of text holds dates; without the module for times, return False."""
    if not is_present("truerisk.data.times"):
        return False
    from truerisk.data import times

    return times.dates_in(column) is not None


def _without_dates(table: Any, names: list[str] | None, j: int) -> str:
    """Return the advice for a model that cannot read dates: convert or remove them."""
    numbers = "turn them into numbers, such as days since the first"
    if names is None:
        return f"{numbers}."
    name = repr(clean(names[j], 40))
    apart = f"time=X.pop({name})" if hasattr(table, "iloc") else f"time=X[{name}], X.drop({name})"
    return f"{numbers}; if they only say when the rows were taken, take them out of X: {apart}."


def unreadable_names(table: Any) -> str | None:
    """Return a sentence on column names that scikit-learn does not accept, or None."""
    names = column_names(table)
    if names is None:
        return None
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        return f"X has {names.count(twice)} columns named {clean(twice, 40)!r}: rename them."
    frame = hasattr(table, "iloc") and hasattr(table, "columns")
    own = table.columns if frame else ()  # Only in pandas may column names be other than text.
    others = [name for name in own if not isinstance(name, str)]
    if 0 < len(others) < len(names):
        return (
            f"X has columns named by text and others by {clean(type(others[0]).__name__, 40)}, "
            f"such as {clean(str(others[0]), 40)}: name all by text, X.columns.astype(str)."
        )
    return None


def number_columns_have_holes(table: Any) -> bool:
    """Return True if a number is missing, so that it must be imputed within the folds."""
    kinds = kinds_of_columns(table)
    if kinds is not None:
        columns = zip(_columns(table), kinds, strict=True)
        return any(kind == "number" and _has_hole(column) for column, kind in columns)
    try:
        return bool(np.isnan(as_array(table, np.float64)).any())
    except ValueError:  # a sparse table, which the learner accepts or refuses
        return False


def with_plain_gaps(table: Any) -> Any:
    """Return the table, or an object array with every gap as NaN if it has other kinds of gaps.

    Encoders treat NaN as a missing value, but None as one more level, and they cannot sort pandas'
    NA. In a frame, scikit-learn reads NA among numbers as NaN.
    """
    kinds = kinds_of_columns(table) or ()
    columns = _columns(table) if kinds else []
    read = {"number"} if column_names(table) is not None else set()
    pairs = zip(columns, kinds, strict=True)
    if not any(kind not in read and _has_unusual_gap(column) for column, kind in pairs):
        return table
    cells = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        cells[:, j] = [np.nan if is_missing(cell) else cell for cell in column.tolist()]
    return cells


def _has_unusual_gap(column: np.ndarray) -> bool:
    cells = column.tolist() if column.dtype.hasobject else []
    return any(is_missing(cell) and not isinstance(cell, float) for cell in cells)


def _holds_objects(table: Any) -> bool:
    kind = getattr(getattr(table, "dtype", None), "kind", "")
    return isinstance(table, np.ndarray) and table.ndim == 2 and kind in "OUS"


def _columns(table: Any) -> list[np.ndarray]:
    if isinstance(table, np.ndarray):
        return list(table.T)
    return column_arrays(table)


def _kind(column: np.ndarray) -> Kind:
    if column.dtype.kind in "mM":
        return "date"
    if column.dtype.kind in "biufc":
        return "number"
    cells = [cell for cell in column.tolist() if not is_missing(cell)]
    if all(map(_is_numeric, cells)):
        return "number"
    return "date" if all(hasattr(cell, "toordinal") for cell in cells) else "text"


def _is_numeric(cell: Any) -> bool:
    """Return True if a cell can be converted to a number; like scikit-learn, accept '1.5'."""
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _has_hole(column: np.ndarray) -> bool:
    if column.dtype.kind == "f":
        return bool(np.isnan(column).any())
    return column.dtype.hasobject and any(map(is_missing, column.tolist()))


def _example(column: np.ndarray) -> str:
    cells = (cell for cell in column.tolist() if not is_missing(cell))
    return clean(str(next(c for c in cells if not _is_numeric(c))), 40)


def non_finite(X: Any) -> str | None:
    """Return a sentence on the first NaN or infinite cell of X, or None."""
    names = column_names(X)
    if hasattr(X, "tocoo"):
        return _sparse_non_finite(X.tocoo())
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        return None
    array = _numbers(X)
    if array is None:
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        # Quick test: the sum is not finite if a cell is NaN or infinite.
        if np.isfinite(array.sum()):
            return None
    bad = np.argwhere(~np.isfinite(array))
    if array.ndim != 2 or not len(bad):
        return None
    row, column = (int(v) for v in bad[0])
    where = f"column {names[column]!r}" if names else f"column {column}"
    return _non_finite_sentence(len(bad), array[row, column], row, where)


def _numbers(X: Any) -> np.ndarray | None:
    """Return X as numbers, with pandas' NA as NaN; None if X holds anything else."""
    array: np.ndarray
    try:
        array = as_array(X, np.float64)
    except ValueError:
        try:
            array = X.to_numpy(dtype=np.float64, na_value=np.nan)
        except (AttributeError, TypeError, ValueError):
            return None
    return array


def _sparse_non_finite(X: Any) -> str | None:
    bad = np.flatnonzero(~np.isfinite(X.data))
    if not len(bad):
        return None
    first = bad[np.lexsort((X.col[bad], X.row[bad]))[0]]
    where = f"column {X.col[first]}"
    return _non_finite_sentence(len(bad), X.data[first], int(X.row[first]), where)


def _non_finite_sentence(count: int, value: float, row: int, where: str) -> str:
    kind = "NaN" if np.isnan(value) else "infinity (inf)"
    return (
        f"X has {count} cells that are NaN or infinite, the first ({kind}) in row {row}, {where}. "
        "Impute inside the folds (make_pipeline(SimpleImputer(), model)) or leave them out."
    )


def category_order(column: Any) -> list[Any] | None:
    """Return the categories of an ordered categorical column in their order, or None.

    The ordered types are an ordered ``Categorical`` of pandas, an ``Enum`` of polars and an ordered
    dictionary of pyarrow.
    """
    kind = getattr(column, "dtype", None)
    categories = getattr(kind, "categories", None)
    if categories is not None and (getattr(kind, "ordered", False) or is_a(kind, "polars:Enum")):
        return list(categories)
    arrow = getattr(column, "type", None)
    if getattr(arrow, "ordered", False):
        whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        whole = whole.unify_dictionaries() if hasattr(whole, "unify_dictionaries") else whole
        part = whole.chunk(0) if hasattr(whole, "chunk") else whole
        return list(part.dictionary.to_pylist())
    return None
