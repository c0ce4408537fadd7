"""Closed forms of scikit-learn's scalers, which repeat their arithmetic operation by operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.engines.preparation.closed.step_tables import (
    ClosedForm,
    FittedStep,
    NoClosedForm,
    NumberTable,
    Table,
    fitted_step,
    is_boolean,
    supported_parameters,
)

EPS = float(np.finfo(np.float64).eps)
CELLS_IN_CACHE = 2**14  # Number of table cells that fit into the processor's cache.


def standard(step: Any) -> ClosedForm:
    """Return a function that fits StandardScaler by its corrected two-pass algorithm."""
    parameter_tests = {"with_mean": is_boolean, "with_std": is_boolean, "copy": is_boolean}
    parameters = supported_parameters(step, parameter_tests)

    def fit(table: Table, y: np.ndarray) -> FittedStep:
        X = table.numbers()
        mean, deviation = _moments(X)
        subtracted_mean = mean if parameters["with_mean"] else None
        return _centre_and_scale(
            table, X, subtracted_mean, deviation if parameters["with_std"] else None
        )

    return fit


def _row_batches(X: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the rows of X in batches that fit into the cache, or all at once.

    They are divided into batches only if X is stored row by row.
    """
    is_stored_by_rows = X.flags.c_contiguous and X.shape[1] > 1
    batch_size = 1 + CELLS_IN_CACHE // X.shape[1] if is_stored_by_rows else max(1, len(X))
    yield from (X[first_row : first_row + batch_size] for first_row in range(0, len(X), batch_size))


def _moments(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the standard deviation of each column, as StandardScaler computes them.

    A table that is stored by rows is summed row after row, so that summing it batch by batch gives
    the same result. The deviation of a constant column is replaced by 1.
    """
    n = float(len(X))
    mean = X.sum(axis=0) / n
    correction = sum_of_squares = np.zeros(X.shape[1])
    for batch in _row_batches(X):
        deviations = batch - mean
        squared_deviations = np.square(deviations)
        deviations[0] += correction
        squared_deviations[0] += sum_of_squares
        correction, sum_of_squares = deviations.sum(axis=0), squared_deviations.sum(axis=0)
    variance = (sum_of_squares - correction**2 / n) / n
    _check_finite(mean, variance)
    is_constant = variance <= n * EPS * variance + (n * mean * EPS) ** 2
    return mean, np.where(is_constant, 1.0, np.sqrt(variance))


def min_max(step: Any) -> ClosedForm:
    """Return a function that fits MinMaxScaler, which maps a column's range to a given range."""
    parameter_tests = {"feature_range": _is_range, "clip": is_boolean, "copy": is_boolean}
    parameters = supported_parameters(step, parameter_tests)
    low, high = parameters["feature_range"]

    def fit(table: Table, y: np.ndarray) -> FittedStep:
        X = table.numbers()
        minimum, maximum = X.min(axis=0), X.max(axis=0)
        _check_finite(minimum, maximum - minimum)
        scale = (float(high) - float(low)) / _replace_zeros(maximum - minimum)
        _check_finite(scale)
        offset = float(low) - minimum * scale

        def apply(other_rows: Table) -> Table:
            values = other_rows.numbers() * scale
            values += offset
            if parameters["clip"]:
                np.clip(values, low, high, out=values)
            return NumberTable(values)

        return fitted_step(NumberTable(X), apply)

    return fit


def _is_range(value: Any) -> bool:
    is_pair = type(value) is tuple and len(value) == 2
    return (
        is_pair
        and all(type(range_end) in (int, float) for range_end in value)
        and value[0] < value[1]
    )


def max_abs(step: Any) -> ClosedForm:
    """Return a function that fits MaxAbsScaler, which scales the largest absolute value to 1."""
    supported_parameters(step, {"copy": is_boolean})

    def fit(table: Table, y: np.ndarray) -> FittedStep:
        X = table.numbers()
        largest_values = np.abs(X).max(axis=0)
        _check_finite(largest_values)
        return _centre_and_scale(table, X, None, _replace_zeros(largest_values))

    return fit


def robust(step: Any) -> ClosedForm:
    """Return a function that fits RobustScaler, which uses medians and two percentiles."""
    parameter_tests = {"with_centering": is_boolean, "with_scaling": is_boolean, "copy": is_boolean}
    parameters = supported_parameters(
        step, {**parameter_tests, "quantile_range": _is_quantile_range}
    )

    def fit(table: Table, y: np.ndarray) -> FittedStep:
        X = table.numbers()
        _check_finite(X.sum(axis=0))
        centre = np.median(X, axis=0) if parameters["with_centering"] else None
        scale = None
        if parameters["with_scaling"]:
            low_percentiles, high_percentiles = np.percentile(
                X, parameters["quantile_range"], axis=0
            )
            scale = _replace_zeros(high_percentiles - low_percentiles)
        return _centre_and_scale(table, X, centre, scale)

    return fit


def _is_quantile_range(value: Any) -> bool:
    is_pair = type(value) is tuple and len(value) == 2
    are_numbers = is_pair and all(type(percentile) in (int, float) for percentile in value)
    return are_numbers and 0 <= value[0] <= value[1] <= 100


def _centre_and_scale(
    table: Table, X: np.ndarray, centre: np.ndarray | None, scale: np.ndarray | None
) -> FittedStep:
    def apply(other_rows: Table) -> Table:
        values = other_rows.numbers() if other_rows.fresh else other_rows.numbers().copy(order="K")
        for batch in _row_batches(values):
            if centre is not None:
                batch -= centre
            if scale is not None:
                batch /= scale
        return NumberTable(values)

    return fitted_step(NumberTable(X, fresh=table.fresh), apply)


def _replace_zeros(scale: np.ndarray) -> np.ndarray:
    return np.where(scale < 10 * EPS, 1.0, scale)


def _check_finite(*arrays: np.ndarray) -> None:
    """Raise NoClosedForm if a number is not finite, so that scikit-learn's own scaler is fitted.

    Reasons are missing cells, which a scaler ignores, and overflow.
    """
    if not all(np.isfinite(array).all() for array in arrays):
        raise NoClosedForm("missing cells, or sums that are too large")
