"""Columns moved and stretched: the arithmetic of scikit-learn's scalers, operation by operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.engines.preparation.closed.forms import Fitted, Form, fitted, flag, known_parameters
from truerisk.engines.preparation.closed.step_tables import Numbers, Refused, Table

EPS = float(np.finfo(np.float64).eps)


def standard(step: Any) -> Form:
    """StandardScaler: the mean and the deviation of the corrected two-pass algorithm."""
    known = {"with_mean": flag, "with_std": flag, "copy": flag}
    given = known_parameters(step, known)

    def fit(table: Table, y: np.ndarray) -> Fitted:
        X = _numbers(table)
        mean, deviation = _moments(X)
        subtract = mean if given["with_mean"] else None
        return fitted(Numbers(X), _moved(subtract, deviation if given["with_std"] else None))

    return fit


def _moments(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n = float(len(X))
    mean = X.sum(axis=0) / n
    apart = X - mean
    correction = apart.sum(axis=0)
    np.square(apart, out=apart)
    variance = (apart.sum(axis=0) - correction**2 / n) / n
    _finite(mean, variance)
    constant = variance <= n * EPS * variance + (n * mean * EPS) ** 2
    return mean, np.where(constant, 1.0, np.sqrt(variance))


def min_max(step: Any) -> Form:
    """MinMaxScaler: the least and the greatest of a column become the ends of a range."""
    known = {"feature_range": _is_range, "clip": flag, "copy": flag}
    given = known_parameters(step, known)
    low, high = given["feature_range"]

    def fit(table: Table, y: np.ndarray) -> Fitted:
        X = _numbers(table)
        least, most = X.min(axis=0), X.max(axis=0)
        _finite(least, most - least)
        scale = (float(high) - float(low)) / _no_zeros(most - least)
        _finite(scale)
        start = float(low) - least * scale

        def apply(other: Table) -> Table:
            values = other.numbers() * scale
            values += start
            if given["clip"]:
                np.clip(values, low, high, out=values)
            return Numbers(values)

        return fitted(Numbers(X), apply)

    return fit


def _is_range(value: Any) -> bool:
    pair = type(value) is tuple and len(value) == 2
    return pair and all(type(end) in (int, float) for end in value) and value[0] < value[1]


def max_abs(step: Any) -> Form:
    """MaxAbsScaler: the greatest size of a column becomes 1."""
    known_parameters(step, {"copy": flag})

    def fit(table: Table, y: np.ndarray) -> Fitted:
        X = _numbers(table)
        most = np.abs(X).max(axis=0)
        _finite(most)
        return fitted(Numbers(X), _moved(None, _no_zeros(most)))

    return fit


def robust(step: Any) -> Form:
    """RobustScaler: medians and the distance of two percentiles."""
    known = {"with_centering": flag, "with_scaling": flag, "copy": flag}
    given = known_parameters(step, {**known, "quantile_range": _is_quantiles})

    def fit(table: Table, y: np.ndarray) -> Fitted:
        X = _numbers(table)
        _finite(X.sum(axis=0))
        centre = np.median(X, axis=0) if given["with_centering"] else None
        scale = None
        if given["with_scaling"]:
            low, high = np.percentile(X, given["quantile_range"], axis=0)
            scale = _no_zeros(high - low)
        return fitted(Numbers(X), _moved(centre, scale))

    return fit


def _is_quantiles(value: Any) -> bool:
    pair = type(value) is tuple and len(value) == 2
    numbers = pair and all(type(end) in (int, float) for end in value)
    return numbers and 0 <= value[0] <= value[1] <= 100


def _moved(centre: np.ndarray | None, scale: np.ndarray | None) -> Any:
    def apply(table: Table) -> Table:
        values = _numbers(table)
        if centre is not None:
            values = values - centre
        if scale is not None:
            own = values if centre is not None else None  # the table's cells stay as they are
            values = np.divide(values, scale, out=own)
        return Numbers(values)

    return apply


def _numbers(table: Table) -> np.ndarray:
    return table.numbers()


def _no_zeros(scale: np.ndarray) -> np.ndarray:
    return np.where(scale < 10 * EPS, 1.0, scale)


def _finite(*arrays: np.ndarray) -> None:
    """Missing cells that a scaler leaves out, and numbers too large: scikit-learn knows."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise Refused("missing cells, or sums that are too large")
