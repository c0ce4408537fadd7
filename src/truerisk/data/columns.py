"""Find the kind of each column of X: numbers, text or dates; refuse what models cannot read."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from truerisk.core.arguments import as_array
from truerisk.core.formats import escape_and_truncate
from truerisk.core.identity import is_a
from truerisk.core.registry import is_present
from truerisk.data.rows import column_arrays, column_names, is_missing

ColumnKind = Literal["number", "text", "date"]


def kinds_of_columns(table: Any) -> tuple[ColumnKind, ...] | None:
    """Return the kind of every column, such as "number"; None if X is no frame or object array."""
    if column_names(table) is None and not _is_object_array(table):
        return None
    return tuple(_kind_of_column(column) for column in _columns(table))


def message_on_unreadable_column(table: Any, *, accepts_text: bool = False) -> str | None:
    """Return an error message about the first column of X that models cannot read, or None.

    If `accepts_text` is True, columns of text are accepted, because they are encoded as indicators.
    """
    names = column_names(table)
    if (reason := message_on_unreadable_names(table)) is not None:
        return reason
    for j, column_kind in enumerate(kinds_of_columns(table) or ()):
        column_id = f"column {escape_and_truncate(names[j], 40)!r}" if names else f"column {j}"
        is_unencoded_text = column_kind == "text" and not accepts_text
        if column_kind == "date" or (is_unencoded_text and _holds_dates(_columns(table)[j])):
            return f"X has dates in {column_id}: {_advice_on_dates(table, names, j)}"
        if column_kind == "text" and not accepts_text:
            return (
                f"X has text in {column_id}, such as '{_first_text_cell(_columns(table)[j])}': "
                "encode it inside the folds (make_pipeline(make_column_transformer((OneHotEncoder("
                "handle_unknown='ignore'), columns), remainder='passthrough'), model))."
            )
    return None


def _holds_dates(column: np.ndarray) -> bool:
    """Return True if a column of text holds dates.

    Return False if the module that reads times is not installed.
    """
    if not is_present("truerisk.data.times"):
        return False
    from truerisk.data import times

    return times.parse_dates(column) is not None


def _advice_on_dates(table: Any, names: list[str] | None, j: int) -> str:
    """Return advice on the j-th column, which holds dates that the model cannot read.

    The advice is to convert the column to numbers, or to remove it.
    """
    advice = "turn them into numbers, such as days since the first"
    if names is None:
        return f"{advice}."
    name = repr(escape_and_truncate(names[j], 40))
    removal_code = (
        f"time=X.pop({name})" if hasattr(table, "iloc") else f"time=X[{name}], X.drop({name})"
    )
    return (
        f"{advice}; if they only say when the rows were taken, take them out of X: {removal_code}."
    )


def message_on_unreadable_names(table: Any) -> str | None:
    """Return an error message about column names that scikit-learn does not accept, or None."""
    names = column_names(table)
    if names is None:
        return None
    if len(set(names)) < len(names):
        duplicate_name = next(name for name in names if names.count(name) > 1)
        truncated_name = escape_and_truncate(duplicate_name, 40)
        return f"X has {names.count(duplicate_name)} columns named {truncated_name!r}: rename them."
    is_pandas_frame = hasattr(table, "iloc") and hasattr(table, "columns")
    # Only pandas allows column names that are not text.
    raw_names = table.columns if is_pandas_frame else ()
    non_text_names = [name for name in raw_names if not isinstance(name, str)]
    if 0 < len(non_text_names) < len(names):
        return (
            f"X has columns named by text and others by "
            f"{escape_and_truncate(type(non_text_names[0]).__name__, 40)}, "
            f"such as {escape_and_truncate(str(non_text_names[0]), 40)}: name all by text, "
            "X.columns.astype(str)."
        )
    return None


def has_missing_numbers(table: Any) -> bool:
    """Return True if a column of numbers has missing cells, which must be imputed in each fold."""
    column_kinds = kinds_of_columns(table)
    if column_kinds is not None:
        columns = zip(_columns(table), column_kinds, strict=True)
        return any(
            column_kind == "number" and _has_missing_cell(column) for column, column_kind in columns
        )
    try:
        return bool(np.isnan(as_array(table, np.float64)).any())
    # This error comes from a sparse table, which cannot be checked here.
    # The learner accepts or refuses it.
    except ValueError:
        return False


def replace_missing_by_nan(table: Any) -> Any:
    """Replace None and pandas' NA in a table by NaN, which encoders treat as a missing value.

    A table that must be changed is returned as an object array.

    Encoders treat NaN as a missing value, but None as one more category, and they cannot sort
    pandas' NA. Columns of numbers in a frame stay as they are, because scikit-learn reads their NA
    as NaN.
    """
    column_kinds = kinds_of_columns(table) or ()
    columns = _columns(table) if column_kinds else []
    kinds_allowing_missing = {"number"} if column_names(table) is not None else set()
    columns_with_kinds = zip(columns, column_kinds, strict=True)
    if not any(
        column_kind not in kinds_allowing_missing and _has_missing_besides_nan(column)
        for column, column_kind in columns_with_kinds
    ):
        return table
    cells = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        cells[:, j] = [np.nan if is_missing(cell) else cell for cell in column.tolist()]
    return cells


def _has_missing_besides_nan(column: np.ndarray) -> bool:
    cells = column.tolist() if column.dtype.hasobject else []
    return any(is_missing(cell) and not isinstance(cell, float) for cell in cells)


def _is_object_array(table: Any) -> bool:
    dtype_kind = getattr(getattr(table, "dtype", None), "kind", "")
    return isinstance(table, np.ndarray) and table.ndim == 2 and dtype_kind in "OUS"


def _columns(table: Any) -> list[np.ndarray]:
    if isinstance(table, np.ndarray):
        return list(table.T)
    return column_arrays(table)


def _kind_of_column(column: np.ndarray) -> ColumnKind:
    if column.dtype.kind in "mM":
        return "date"
    if column.dtype.kind in "biufc":
        return "number"
    cells = [cell for cell in column.tolist() if not is_missing(cell)]
    if all(map(_is_numeric, cells)):
        return "number"
    return "date" if all(hasattr(cell, "toordinal") for cell in cells) else "text"


def _is_numeric(cell: Any) -> bool:
    """Return True if a cell can be converted to a number.

    A text such as '1.5' counts as a number, as in scikit-learn.
    """
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _has_missing_cell(column: np.ndarray) -> bool:
    if column.dtype.kind == "f":
        return bool(np.isnan(column).any())
    return column.dtype.hasobject and any(map(is_missing, column.tolist()))


def _first_text_cell(column: np.ndarray) -> str:
    cells = (cell for cell in column.tolist() if not is_missing(cell))
    return escape_and_truncate(
        str(next(present_cell for present_cell in cells if not _is_numeric(present_cell))), 40
    )


def message_on_non_finite_cell(X: Any) -> str | None:
    """Return an error message about the first NaN or infinite cell of X, or None."""
    names = column_names(X)
    if hasattr(X, "tocoo"):
        return _sparse_non_finite_message(X.tocoo())
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        return None
    numeric_cells = _as_numbers(X)
    if numeric_cells is None:
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        # The sum is a quick test: it is not finite if a cell is NaN or infinite.
        if np.isfinite(numeric_cells.sum()):
            return None
    bad_cells = np.argwhere(~np.isfinite(numeric_cells))
    if numeric_cells.ndim != 2 or not len(bad_cells):
        return None
    row, column = (int(index) for index in bad_cells[0])
    column_label = f"column {names[column]!r}" if names else f"column {column}"
    return _non_finite_sentence(len(bad_cells), numeric_cells[row, column], row, column_label)


def _as_numbers(X: Any) -> np.ndarray | None:
    """Convert X to numbers, with pandas' NA as NaN; return None if X holds anything but numbers."""
    array: np.ndarray
    try:
        array = as_array(X, np.float64)
    except ValueError:
        try:
            array = X.to_numpy(dtype=np.float64, na_value=np.nan)
        except (AttributeError, TypeError, ValueError):
            return None
    return array


def _sparse_non_finite_message(X: Any) -> str | None:
    bad_cells = np.flatnonzero(~np.isfinite(X.data))
    if not len(bad_cells):
        return None
    first_bad_cell = bad_cells[np.lexsort((X.col[bad_cells], X.row[bad_cells]))[0]]
    column_label = f"column {X.col[first_bad_cell]}"
    return _non_finite_sentence(
        len(bad_cells), X.data[first_bad_cell], int(X.row[first_bad_cell]), column_label
    )


def _non_finite_sentence(n_bad_cells: int, value: float, row: int, column: str) -> str:
    value_text = "NaN" if np.isnan(value) else "infinity (inf)"
    return (
        f"X has {n_bad_cells} cells that are NaN or infinite, the first ({value_text}) in row "
        f"{row}, "
        f"{column}. Impute inside the folds (make_pipeline(SimpleImputer(), model)) or leave them "
        "out."
    )


def category_order(column: Any) -> list[Any] | None:
    """Return the categories of an ordered categorical column in their order, or None if unordered.

    The ordered types are an ordered ``Categorical`` of pandas, an ``Enum`` of polars and an ordered
    dictionary of pyarrow.
    """
    column_type = getattr(column, "dtype", None)
    categories = getattr(column_type, "categories", None)
    if categories is not None and (
        getattr(column_type, "ordered", False) or is_a(column_type, "polars:Enum")
    ):
        return list(categories)
    arrow_type = getattr(column, "type", None)
    if getattr(arrow_type, "ordered", False):
        combined_column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        combined_column = (
            combined_column.unify_dictionaries()
            if hasattr(combined_column, "unify_dictionaries")
            else combined_column
        )
        first_chunk = (
            combined_column.chunk(0) if hasattr(combined_column, "chunk") else combined_column
        )
        return list(first_chunk.dictionary.to_pylist())
    return None
