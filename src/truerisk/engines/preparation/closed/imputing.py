"""Closed forms of SimpleImputer for numbers, and for categories by counting their codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.engines.preparation.closed.step_tables import (
    ClosedForm,
    CodedTable,
    FittedStep,
    Levels,
    NoClosedForm,
    NumberTable,
    Table,
    fitted_step,
    is_boolean,
    is_nan,
    one_of,
    supported_parameters,
)


def simple_imputer(step: Any) -> ClosedForm:
    """Return a function that computes the output of SimpleImputer without calling scikit-learn.

    Missing values are NaN, and any of the four strategies is supported.
    """
    parameters = supported_parameters(
        step,
        {
            "missing_values": is_nan,
            "strategy": one_of("mean", "median", "most_frequent", "constant"),
            "fill_value": lambda value: value is None or type(value) in (int, float, str),
            "copy": is_boolean,
            "add_indicator": is_boolean,
            "keep_empty_features": is_boolean,
        },
    )

    def fit(table: Table, y: np.ndarray) -> FittedStep:
        if table.kind == "t":
            return _fit_text(table.coded(), parameters)
        if table.kind not in "if":
            raise NoClosedForm("SimpleImputer on such cells")
        return _fit_numbers(table, parameters)

    return fit


def _fit_text(table: CodedTable, parameters: dict[str, Any]) -> FittedStep:
    """Fit the imputation of missing texts by the most frequent category or by a constant.

    The constant becomes a category of its own.
    """
    if parameters["add_indicator"] or parameters["strategy"] in ("mean", "median"):
        raise NoClosedForm("SimpleImputer on text")
    if any(not levels.is_text for levels in table.levels):
        raise NoClosedForm("text beside numbers in one array")
    counts = table.counts()
    fill_codes = np.array(
        [
            _most_frequent_code(*counts_and_levels)
            for counts_and_levels in zip(counts, table.levels, strict=True)
        ]
    )
    if parameters["strategy"] == "most_frequent":
        return fitted_step(table, lambda other_rows: _fill_codes(other_rows.coded(), fill_codes))
    fill_text = "missing_value" if parameters["fill_value"] is None else parameters["fill_value"]
    if not isinstance(fill_text, str):
        raise NoClosedForm("a constant that is no text")
    return fitted_step(table, lambda other_rows: _fill_with_category(other_rows.coded(), fill_text))


def _most_frequent_code(counts: np.ndarray, levels: Levels) -> int:
    """Return the code of the most frequent category, without regard to NaN.

    Of equally frequent categories, return the first. Raise NoClosedForm if the column has only NaN,
    or if None is as frequent as the most frequent text.
    """
    cell_counts = counts[: len(levels) - levels.has_nan]
    if not cell_counts.any():
        raise NoClosedForm("a column without any cell")
    most_frequent_code = int(cell_counts.argmax())
    if (
        levels.has_none
        and most_frequent_code != len(cell_counts) - 1
        and cell_counts[-1] == cell_counts[most_frequent_code]
    ):
        raise NoClosedForm("None is as frequent as a text")
    return most_frequent_code


def _fill_codes(table: CodedTable, fill_codes: np.ndarray) -> CodedTable:
    nan_codes = np.array([levels.code_of_nan for levels in table.levels])
    filled_codes = np.where(table.codes == nan_codes, fill_codes, table.codes)
    return CodedTable(filled_codes, table.levels, table.kind)


def _fill_with_category(table: CodedTable, fill_text: str) -> CodedTable:
    """Replace missing cells by the category `fill_text`.

    If `fill_text` is a new category, it gets its code by its place in the sorted order of texts.
    """
    codes, levels = table.codes.copy(), []
    for j, column_levels in enumerate(table.levels):
        texts = column_levels.cells[: column_levels.n_values]
        new_code = sum(text < fill_text for text in texts)
        is_known = fill_text in texts
        is_nan_cell = codes[:, j] == column_levels.code_of_nan
        if not is_known:
            codes[codes[:, j] >= new_code, j] += 1
        codes[is_nan_cell, j] = new_code
        level_cells = (
            *texts[:new_code],
            *([] if is_known else [fill_text]),
            *column_levels.cells[new_code:],
        )
        levels.append(
            Levels(level_cells, column_levels.has_none, column_levels.has_nan, is_text=True)
        )
    return CodedTable(codes, tuple(levels), table.kind)


def _fit_numbers(table: Table, parameters: dict[str, Any]) -> FittedStep:
    strategy, fill_codes = parameters["strategy"], None
    X = table.numbers()
    is_missing = np.isnan(X)
    if strategy == "most_frequent":
        coded_table = table.coded()
        counts_and_levels = zip(coded_table.counts(), coded_table.levels, strict=True)
        fill_codes = np.array([_most_frequent_code(*column) for column in counts_and_levels])
        codes_and_levels = zip(fill_codes, coded_table.levels, strict=True)
        fill_values = np.array([levels.values[fill_code] for fill_code, levels in codes_and_levels])
    elif strategy == "constant":
        fill_values = np.full(X.shape[1], _constant_number(parameters["fill_value"], table.kind))
    else:
        fill_values = (_column_means if strategy == "mean" else _column_medians)(X, is_missing)
    is_empty = is_missing.all(axis=0)
    if is_empty.any():
        if not parameters["keep_empty_features"] or strategy not in ("mean", "median"):
            raise NoClosedForm("a column without any cell")
        fill_values[is_empty] = 0.0
    if not np.isfinite(fill_values).all():
        raise NoClosedForm("sums that are too large")
    indicator_columns = (
        np.flatnonzero(is_missing.any(axis=0)) if parameters["add_indicator"] else None
    )
    return fitted_step(
        table,
        lambda other_rows: _fill_numbers(other_rows, fill_values, fill_codes, indicator_columns),
    )


def _constant_number(fill_value: Any, table_kind: str) -> float:
    if fill_value is None:
        return 0.0
    if isinstance(fill_value, str) or (isinstance(fill_value, float) and table_kind == "i"):
        raise NoClosedForm("a constant of another kind")
    if isinstance(fill_value, int) and abs(fill_value) > 2**53:
        raise NoClosedForm("a constant that is no double")
    return float(fill_value)


def _column_means(X: np.ndarray, is_missing: np.ndarray) -> np.ndarray:
    n_present = (len(X) - is_missing.sum(axis=0)).astype(np.float64)
    if is_missing.any():
        X = X.copy("K")
        X[is_missing] = 0.0
    return X.sum(axis=0) / np.maximum(n_present, 1.0)


def _column_medians(X: np.ndarray, is_missing: np.ndarray) -> np.ndarray:
    """Return the median of each column, ignoring missing cells.

    NaN is sorted last, so that the other cells can be counted from the start.
    """
    sorted_cells = np.sort(X, axis=0)
    n_present = len(X) - is_missing.sum(axis=0)
    columns = np.arange(X.shape[1])
    lower_medians = sorted_cells[np.maximum(n_present - 1, 0) // 2, columns]
    return np.asarray(
        (lower_medians + sorted_cells[np.minimum(n_present // 2, len(X) - 1), columns]) / 2.0
    )


def _fill_numbers(
    table: Table,
    fill_values: np.ndarray,
    fill_codes: np.ndarray | None,
    indicator_columns: np.ndarray | None,
) -> Table:
    X = table.numbers()
    is_missing = np.isnan(X)
    values = np.where(is_missing, fill_values, X) if is_missing.any() else X
    if indicator_columns is not None:
        return NumberTable(np.hstack([values, is_missing[:, indicator_columns]]))
    if fill_codes is None:
        return NumberTable(values, table.kind)
    return NumberTable(values, table.kind, _fill_codes(table.coded(), fill_codes))
