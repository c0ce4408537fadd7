"""Closed forms of scikit-learn's scalers, with the same arithmetic operation by operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.engines.preparation.closed.step_tables import (
    Fitted,
    Form,
    Numbers,
    Refused,
    Table,
    fitted,
    flag,
    known_parameters,
)

EPS = float(np.finfo(np.float64).eps)
CACHED = 2**14  # cells


def standard(step: Any) -> Form:
    """Return the closed form of StandardScaler, with its corrected two-pass algorithm."""
    accepted = {"with_mean": flag, "with_std": flag, "copy": flag}
    parameters = known_parameters(step, accepted)

    def fit(table: Table, y: np.ndarray) -> Fitted:
        X = table.numbers()
        mean, deviation = _moments(X)
        subtract = mean if parameters["with_mean"] else None
        return _moved(table, X, subtract, deviation if parameters["with_std"] else None)

    return fit


def _parts(X: np.ndarray) -> Iterator[np.ndarray]:
    """Yield some rows at a time that fit into the cache if X is stored by rows, else all rows."""
    by_rows = X.flags.c_contiguous and X.shape[1] > 1
    size = 1 + CACHED // X.shape[1] if by_rows else max(1, len(X))
    yield from (X[start : start + size] for start in range(0, len(X), size))


def _moments(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and scale of each column.

    A table that is stored by rows is summed row after row, so that the sums over some rows at a
    time are equal.
    """
    n = float(len(X))
    mean = X.sum(axis=0) / n
    correction = squares = np.zeros(X.shape[1])
    for some in _parts(X):
        apart = some - mean
        square = np.square(apart)
        apart[0] += correction
        square[0] += squares
        correction, squares = apart.sum(axis=0), square.sum(axis=0)
    variance = (squares - correction**2 / n) / n
    _finite(mean, variance)
    constant = variance <= n * EPS * variance + (n * mean * EPS) ** 2
    return mean, np.where(constant, 1.0, np.sqrt(variance))


def min_max(step: Any) -> Form:
    """Return the closed form of MinMaxScaler.

    It maps the minimum and maximum of a column to the ends of a range.
    """
    accepted = {"feature_range": _is_range, "clip": flag, "copy": flag}
    parameters = known_parameters(step, accepted)
    low, high = parameters["feature_range"]

    def fit(table: Table, y: np.ndarray) -> Fitted:
        X = table.numbers()
        least, most = X.min(axis=0), X.max(axis=0)
        _finite(least, most - least)
        scale = (float(high) - float(low)) / _no_zeros(most - least)
        _finite(scale)
        start = float(low) - least * scale

        def apply(other: Table) -> Table:
            values = other.numbers() * scale
            values += start
            if parameters["clip"]:
                np.clip(values, low, high, out=values)
            return Numbers(values)

        return fitted(Numbers(X), apply)

    return fit


def _is_range(value: Any) -> bool:
    pair = type(value) is tuple and len(value) == 2
    return pair and all(type(end) in (int, float) for end in value) and value[0] < value[1]


def max_abs(step: Any) -> Form:
    """Return the closed form of MaxAbsScaler, which scales the largest absolute value to 1."""
    known_parameters(step, {"copy": flag})

    def fit(table: Table, y: np.ndarray) -> Fitted:
        X = table.numbers()
        most = np.abs(X).max(axis=0)
        _finite(most)
        return _moved(table, X, None, _no_zeros(most))

    return fit


def robust(step: Any) -> Form:
    """Return the closed form of RobustScaler, with medians and the range of two percentiles."""
    accepted = {"with_centering": flag, "with_scaling": flag, "copy": flag}
    parameters = known_parameters(step, {**accepted, "quantile_range": _is_quantiles})

    def fit(table: Table, y: np.ndarray) -> Fitted:
        X = table.numbers()
        _finite(X.sum(axis=0))
        centre = np.median(X, axis=0) if parameters["with_centering"] else None
        scale = None
        if parameters["with_scaling"]:
            low, high = np.percentile(X, parameters["quantile_range"], axis=0)
            scale = _no_zeros(high - low)
        return _moved(table, X, centre, scale)

    return fit


def _is_quantiles(value: Any) -> bool:
    pair = type(value) is tuple and len(value) == 2
    numbers = pair and all(type(end) in (int, float) for end in value)
    return numbers and 0 <= value[0] <= value[1] <= 100


def _moved(
    table: Table, X: np.ndarray, centre: np.ndarray | None, scale: np.ndarray | None
) -> Fitted:
    def apply(other: Table) -> Table:
        values = other.numbers() if other.fresh else other.numbers().copy(order="K")
        for some in _parts(values):
            if centre is not None:
                some -= centre
            if scale is not None:
                some /= scale
        return Numbers(values)

    return fitted(Numbers(X, fresh=table.fresh), apply)


def _no_zeros(scale: np.ndarray) -> np.ndarray:
    return np.where(scale < 10 * EPS, 1.0, scale)


def _finite(*arrays: np.ndarray) -> None:
    """Refuse missing cells, which a scaler ignores, and overflow; scikit-learn handles these."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise Refused("missing cells, or sums that are too large")
