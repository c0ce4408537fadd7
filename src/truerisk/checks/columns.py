"""Checks of columns: single columns that reveal y, and preprocessing before the folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from truerisk.core.arguments import as_array
from truerisk.core.formats import escape_and_truncate
from truerisk.core.frozen import frozen
from truerisk.data.columns import kinds_of_columns
from truerisk.data.data import Data
from truerisk.data.rows import codes_of_cells, column_arrays, column_names, n_columns, n_rows
from truerisk.results.finding import Finding

MAX_TABLE_CELLS = 20_000_000  # Columns of a table with more cells are not checked.


@frozen(eq=False)
class ColumnView:
    """Columns of a table: numeric columns as one matrix, and every column as category codes."""

    numbers: np.ndarray
    numeric_names: tuple[str, ...]
    category_codes: tuple[np.ndarray, ...]
    names: tuple[str, ...]
    has_names: bool


def column_view(X: Any) -> ColumnView | None:
    """Return the columns of a table, or None if X is too large or not a table."""
    n_columns_of_X = n_columns(X)
    if not n_columns_of_X or n_rows(X) * n_columns_of_X > MAX_TABLE_CELLS:
        return None
    given_names = column_names(X)
    if hasattr(X, "toarray"):
        X = X.toarray()
    cells_by_column = list(np.asarray(X).T) if given_names is None else column_arrays(X)
    display_names = [
        escape_and_truncate(column_name, 60)
        for column_name in given_names or (f"column {j}" for j in range(len(cells_by_column)))
    ]
    numeric_columns = {
        column_name: finite_values
        for column_name, column_cells in zip(display_names, cells_by_column, strict=True)
        if (finite_values := _to_varying_floats(column_cells)) is not None
    }
    return ColumnView(
        numbers=np.column_stack(list(numeric_columns.values()))
        if numeric_columns
        else np.empty((n_rows(X), 0)),
        numeric_names=tuple(numeric_columns),
        category_codes=tuple(codes_of_cells(column_cells) for column_cells in cells_by_column),
        names=tuple(display_names),
        has_names=given_names is not None,
    )


def _to_varying_floats(column_cells: np.ndarray) -> np.ndarray | None:
    """Return a column's cells as floats, or None unless they are finite and not constant."""
    try:
        column_values = as_array(column_cells, np.float64)
    except ValueError:
        return None
    return (
        column_values
        if np.isfinite(column_values).all() and column_values.min() < column_values.max()
        else None
    )


def column_findings(data: Data, columns: ColumnView | None) -> list[Finding]:
    """Return the findings about columns; a table that is too large gives a finding of its own."""
    if columns is None:
        return [
            Finding(
                "columns-unseen",
                f"The columns were not looked through: X has more than {MAX_TABLE_CELLS:,} cells, "
                "or "
                "none.",
                "Audit a part of the rows and columns for leaks.",
            )
        ]
    return [
        *find_target_leaks(data, columns),
        *identifier_column_findings(data, columns),
        *_scaling_findings(columns),
        *_rotation_findings(columns),
        *_imputation_findings(columns),
    ]


# ---------------------------------------------------------------- columns that reveal y


def find_target_leaks(data: Data, columns: ColumnView) -> Iterator[Finding]:
    """Yield a finding if single columns determine y exactly or almost exactly."""
    leaking_names = (
        _class_determining_columns(data, columns)
        if data.codes is not None
        else _columns_collinear_with_y(data, columns)
    )
    if leaking_names:
        yield Finding(
            "column-predicts-alone",
            f"{_enumerate_names(leaking_names)} by itself predicts y (almost) without error.",
            "Is it known when the prediction is made? If it is y in disguise, drop it.",
        )


def _class_determining_columns(data: Data, columns: ColumnView) -> list[str]:
    """Return the names of the columns that (almost) determine the class of every row.

    A column does so if the rows, sorted by it, (almost) separate into their classes.

    A column with few distinct values also counts if each value belongs to one class.
    """
    assert data.codes is not None
    from scipy.special import gammaln

    class_sizes = data.class_sizes
    log_arrangements = gammaln(len(data.codes) + 1) - gammaln(class_sizes + 1).sum()
    if float(gammaln(len(class_sizes) + 1) - log_arrangements) + np.log(
        len(columns.names)
    ) > np.log(1e-3):
        return []  # By chance, one of many columns separates the classes of so few rows.
    row_order = np.argsort(columns.numbers, axis=0, kind="stable")
    n_class_runs = (np.diff(data.codes[row_order], axis=0) != 0).sum(axis=0) + 1
    max_runs = data.n_classes + 2 * int(0.005 * data.n_rows)
    leaking_names = [
        column_name
        for column_name, column_values, n_runs_of_column in zip(
            columns.numeric_names, columns.numbers.T, n_class_runs, strict=True
        )
        if n_runs_of_column <= max_runs
        and _count_minority_rows(np.unique(column_values, return_inverse=True)[1], data) == 0
    ]
    max_distinct_values = max(data.n_classes, data.n_rows // 10)
    for column_name, value_codes in zip(columns.names, columns.category_codes, strict=True):
        if (
            1 < value_codes.max() + 1 <= max_distinct_values
            and _count_minority_rows(value_codes, data) <= 0.005 * data.n_rows
        ):
            leaking_names.append(column_name)
    return list(dict.fromkeys(leaking_names))


def _count_minority_rows(value_codes: np.ndarray, data: Data) -> int:
    """Count the rows that do not belong to the most frequent class of their value in a column."""
    assert data.codes is not None
    rows_by_value_and_class = np.zeros((int(value_codes.max()) + 1, data.n_classes), dtype=np.int64)
    np.add.at(rows_by_value_and_class, (value_codes, data.codes), 1)
    return int(rows_by_value_and_class.sum() - rows_by_value_and_class.max(axis=1).sum())


def _columns_collinear_with_y(data: Data, columns: ColumnView) -> list[str]:
    """Return the names of columns whose absolute correlation with a numeric y exceeds 0.999."""
    if data.y.ndim != 1 or data.n_rows < 10 or not columns.numeric_names or data.y.std() == 0:
        return []
    centred_columns = columns.numbers - columns.numbers.mean(axis=0)
    centred_y = data.y - data.y.mean()
    norm_products = np.sqrt((centred_columns**2).sum(axis=0) * (centred_y @ centred_y))
    correlations = np.abs(centred_y @ centred_columns) / norm_products
    return [
        column_name
        for column_name, correlation in zip(columns.numeric_names, correlations, strict=True)
        if correlation > 0.999
    ]


def identifier_column_findings(data: Data, columns: ColumnView) -> Iterator[Finding]:
    """Yield a finding for text columns without repeated values, such as patient identifiers."""
    column_kinds = kinds_of_columns(data.X) or ()
    columns_with_kinds = zip(columns.names, columns.category_codes, column_kinds, strict=False)
    identifier_names = [
        column_name
        for column_name, value_codes, column_kind in columns_with_kinds
        if column_kind == "text" and value_codes.max() + 1 == len(value_codes)
    ]
    if identifier_names:
        yield Finding(
            "text-never-repeats",
            f"{_enumerate_names(identifier_names)} is text with another value in every row.",
            "A level that new rows do not have predicts nothing: drop it, unless a step reads its "
            "words.",
        )


# ---------------------------------------------------------------- preprocessing before the folds


def _scaling_findings(columns: ColumnView) -> Iterator[Finding]:
    X = columns.numbers
    many_valued_columns = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) > 2]
    if len(many_valued_columns) < 2:
        return
    X = X[:, many_valued_columns]
    is_standardized = np.abs(X.mean(axis=0)).max() < 1e-6 and any(
        np.abs(X.std(axis=0, ddof=ddof) - 1).max() < 1e-6 for ddof in (0, 1)
    )
    is_unit_range = np.abs(X.min(axis=0)).max() < 1e-12 and np.abs(X.max(axis=0) - 1).max() < 1e-12
    if is_standardized or is_unit_range:
        scaling_text = (
            "mean 0 and standard deviation 1"
            if is_standardized
            else "smallest value 0 and largest 1"
        )
        yield Finding(
            "scaled-outside",
            f"All columns have {scaling_text}: they were scaled with the rows of every test fold.",
            "Scale inside: make_pipeline(StandardScaler(), model).",
        )


def _rotation_findings(columns: ColumnView) -> Iterator[Finding]:
    X = columns.numbers
    n, p = X.shape
    if p < 3 or n < p + 2 or np.abs(X.mean(axis=0)).max() > 1e-6 * np.abs(X).max():
        return
    variances = X.var(axis=0)
    correlations = np.corrcoef(X, rowvar=False) - np.eye(p)
    if np.abs(correlations).max() < 1e-6 and (np.diff(variances) <= 1e-9 * variances[0]).all():
        yield Finding(
            "rotated-outside",
            f"The {p} columns are uncorrelated to six digits, in order of their variance: they are "
            "principal components of all rows.",
            "Rotate inside: make_pipeline(PCA(n), model).",
        )


def _imputation_findings(columns: ColumnView) -> Iterator[Finding]:
    imputed_names = [
        column_name
        for column_name, column_values in zip(columns.numeric_names, columns.numbers.T, strict=True)
        if _is_imputed(column_values)
    ]
    if imputed_names:
        yield Finding(
            "imputed-outside",
            f"In {_enumerate_names(imputed_names)} "
            "one value repeats and is the mean or median of all others: "
            "gaps were filled with the rows of every test fold.",
            "Impute inside: make_pipeline(SimpleImputer(), model).",
        )


def _is_imputed(column_values: np.ndarray) -> bool:
    """Return True if missing values of a continuous column seem to have been imputed.

    This is assumed if its most frequent value is the mean or the median of the other values.
    """
    distinct_values, value_counts = np.unique(column_values, return_counts=True)
    if (
        len(distinct_values) < len(column_values) / 2
        or value_counts.max() < 3
        or (value_counts > 2).sum() > 1
    ):
        return False
    most_frequent_value = distinct_values[value_counts.argmax()]
    other_values = column_values[column_values != most_frequent_value]
    tolerance = 1e-9 * max(1e-300, float(other_values.std()))
    # If missing cells were filled with the median of an odd number of observed values, one of these
    # observed values is equal to the fill value.
    values_with_fill = np.append(other_values, most_frequent_value)
    possible_fill_values = (
        other_values.mean(),
        np.median(other_values),
        np.median(values_with_fill),
    )
    return bool(
        min(abs(most_frequent_value - fill_value) for fill_value in possible_fill_values)
        <= tolerance
    )


def _enumerate_names(column_names: Sequence[str]) -> str:
    names_text = ", ".join(
        repr(column_name) if not column_name.startswith("column ") else column_name
        for column_name in column_names[:3]
    )
    return (
        names_text
        if len(column_names) <= 3
        else f"{names_text} and {len(column_names) - 3} more columns"
    )
