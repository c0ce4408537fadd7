"""Closed forms of OneHotEncoder and OrdinalEncoder, which count the codes of a training set."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.engines.preparation.closed.step_tables import (
    ClosedForm,
    CodedTable,
    FittedStep,
    Indicators,
    NoClosedForm,
    NumberTable,
    Table,
    fitted_step,
    is_boolean,
    is_nan,
    is_none,
    one_of,
    supported_parameters,
)

UNKNOWN_CATEGORY = -1
DROPPED_CATEGORY = -2


def _is_float64(value: Any) -> bool:
    return value is float or value is np.float64 or value == "float64"


def _is_whole(value: Any) -> bool:
    return type(value) is int and value >= 1


def _is_share(value: Any) -> bool:
    return _is_whole(value) or (type(value) is float and 0.0 < value < 1.0)


def one_hot(step: Any) -> ClosedForm:
    """Return a function that computes the output of OneHotEncoder without calling scikit-learn.

    Each category of the training set has an indicator column; rare categories may share a column.
    """
    parameters = supported_parameters(
        step,
        {
            "categories": one_of("auto"),
            "drop": lambda value: value is None or one_of("first", "if_binary")(value),
            "sparse_output": is_boolean,
            "dtype": _is_float64,
            "handle_unknown": one_of("error", "ignore", "infrequent_if_exist"),
            "min_frequency": lambda value: value is None or _is_share(value),
            "max_categories": lambda value: value is None or _is_whole(value),
        },
    )
    groups_rare_categories = (
        parameters["min_frequency"] is not None or parameters["max_categories"] is not None
    )
    if groups_rare_categories and parameters["drop"] is not None:
        raise NoClosedForm("OneHotEncoder that drops a level, and groups rare ones")
    refuses_unknown = parameters["handle_unknown"] == "error" or parameters["drop"] is not None

    def fit(table: Table, y: np.ndarray) -> FittedStep:
        train_codes = table.coded()
        indicator_of_category, n_indicators = _indicator_columns(train_codes, parameters, len(y))
        is_sparse = parameters["sparse_output"]

        def apply(other_rows: Table) -> Table:
            indicators = indicator_of_category[
                _code_with_same_levels(other_rows, train_codes).category_indices
            ]
            if refuses_unknown and (indicators == UNKNOWN_CATEGORY).any():
                raise NoClosedForm("a level that the train set lacks")
            if parameters["drop"] is not None:
                indicators = np.maximum(indicators, UNKNOWN_CATEGORY)
            return Indicators(indicators, n_indicators, is_sparse)

        return fitted_step(train_codes, apply)

    return fit


def _code_with_same_levels(table: Table, training_table: CodedTable) -> CodedTable:
    coded_table = table.coded()
    if len(coded_table.levels) != len(training_table.levels) or not np.array_equal(
        coded_table.category_starts, training_table.category_starts
    ):
        raise NoClosedForm("other levels than were coded")
    return coded_table


def _indicator_columns(
    table: CodedTable, parameters: dict[str, Any], n_rows: int
) -> tuple[np.ndarray, int]:
    """Return the indicator column of each category, and the number of indicator columns.

    Categories are numbered across all columns.
    """
    n_columns, indicators_by_column = 0, []
    for category_counts in table.counts():
        is_present = category_counts > 0
        is_rare = _rare_categories(category_counts[is_present], parameters, n_rows)
        indicators = np.full(len(category_counts), UNKNOWN_CATEGORY)
        indicators[is_present] = np.where(is_rare, (~is_rare).sum(), np.cumsum(~is_rare) - 1)
        n_indicators = int((~is_rare).sum() + is_rare.any())
        if is_rare.any() and parameters["handle_unknown"] == "infrequent_if_exist":
            indicators[~is_present] = n_indicators - 1
        if parameters["drop"] == "first" or (
            parameters["drop"] == "if_binary" and n_indicators == 2
        ):
            indicators[is_present] = np.where(
                indicators[is_present] == 0, DROPPED_CATEGORY, indicators[is_present] - 1
            )
            n_indicators -= 1
        indicators[indicators >= 0] += n_columns
        indicators_by_column.append(indicators)
        n_columns += n_indicators
    return np.concatenate(indicators_by_column), n_columns


def _rare_categories(
    category_counts: np.ndarray, parameters: dict[str, Any], n_rows: int
) -> np.ndarray:
    """Return a mask of the categories that share an indicator column because they are rare.

    These are the categories below a frequency, and then the rarest ones beyond a maximum number.
    """
    min_frequency, max_categories = parameters["min_frequency"], parameters["max_categories"]
    is_rare = np.zeros(len(category_counts), dtype=bool)
    if min_frequency is not None:
        is_rare = category_counts < (
            min_frequency if isinstance(min_frequency, int) else n_rows * min_frequency
        )
    if max_categories is not None and max_categories < len(category_counts) - is_rare.sum() + 1:
        is_rare[
            np.argsort(category_counts, kind="stable")[
                : len(category_counts) - (max_categories - 1)
            ]
        ] = True
    return is_rare


def ordinal(step: Any) -> ClosedForm:
    """Return a function that computes the output of OrdinalEncoder without calling scikit-learn.

    The categories of the training set are numbered in ascending order.
    """
    parameters = supported_parameters(
        step,
        {
            "categories": one_of("auto"),
            "dtype": _is_float64,
            "handle_unknown": one_of("error", "use_encoded_value"),
            "unknown_value": lambda value: value is None or is_nan(value) or type(value) is int,
            "encoded_missing_value": lambda value: is_nan(value) or type(value) in (int, float),
            "min_frequency": is_none,
            "max_categories": is_none,
        },
    )
    refuses_unknown = parameters["handle_unknown"] == "error"
    if refuses_unknown != (parameters["unknown_value"] is None):
        raise NoClosedForm("OrdinalEncoder(unknown_value=...)")
    unknown_number = np.nan if refuses_unknown else float(parameters["unknown_value"])

    def fit(table: Table, y: np.ndarray) -> FittedStep:
        train_codes = table.coded()
        encoding_numbers, is_present = _category_numbers(train_codes, parameters, unknown_number)

        def apply(other_rows: Table) -> Table:
            category_numbers = _code_with_same_levels(other_rows, train_codes).category_indices
            if refuses_unknown and not is_present[category_numbers].all():
                raise NoClosedForm("a level that the train set lacks")
            return NumberTable(encoding_numbers[category_numbers])

        return fitted_step(train_codes, apply)

    return fit


def _category_numbers(
    table: CodedTable, parameters: dict[str, Any], unknown_number: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number that encodes each category, and which categories the training set has.

    The second array is a mask. Categories are numbered across all columns.
    """
    numbers_of_columns, missing_code = [], float(parameters["encoded_missing_value"])
    counts = table.counts()
    for category_counts, levels in zip(counts, table.levels, strict=True):
        is_present = category_counts > 0
        encoding_numbers = np.where(is_present, np.cumsum(is_present) - 1.0, unknown_number)
        has_nan = levels.has_nan and bool(is_present[-1])
        n_levels = int(is_present.sum()) - has_nan
        if has_nan:
            encoding_numbers[-1] = missing_code
        if 0 <= unknown_number < n_levels or (has_nan and 0 <= missing_code < n_levels):
            raise NoClosedForm("a number that stands for two levels")
        numbers_of_columns.append(encoding_numbers)
    return np.concatenate(numbers_of_columns), np.concatenate(counts) > 0
