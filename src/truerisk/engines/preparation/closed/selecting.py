"""Columns chosen by their variance, or by a score against y."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from truerisk.engines.preparation.closed.step_tables import (
    Fitted,
    Form,
    Numbers,
    Refused,
    Table,
    fitted,
    known_parameters,
)


def variance_threshold(step: Any) -> Form:
    """VarianceThreshold: columns that vary more."""
    parameters = known_parameters(step, {"threshold": _is_size})
    threshold = parameters["threshold"]

    def fit(table: Table, y: np.ndarray) -> Fitted:
        X = table.numbers()
        variance = X.var(axis=0)
        if threshold == 0:
            variance = np.minimum(variance, X.max(axis=0) - X.min(axis=0))
        if not np.isfinite(variance).all() or not (variance > threshold).any():
            raise Refused("missing cells, or no column that varies")
        retained = variance > threshold
        return fitted(table, lambda other: Numbers(other.numbers()[:, retained], other.kind))

    return fit


def _is_size(value: Any) -> bool:
    return type(value) in (int, float) and value >= 0


def select_k_best(step: Any) -> Form:
    """SelectKBest: the columns with the largest scores; of equal ones, the later columns."""
    parameters = known_parameters(step, {"score_func": _is_known, "k": _is_count})
    k = parameters["k"]

    def choose(scores: np.ndarray) -> np.ndarray:
        if k != "all" and k > len(scores):
            raise Refused("fewer columns than are to be chosen")
        retained = np.zeros(len(scores), dtype=bool)
        retained[np.argsort(scores, kind="stable")[0 if k == "all" else -k :]] = True
        return retained

    return _selecting(parameters["score_func"], choose)


def select_percentile(step: Any) -> Form:
    """SelectPercentile: scores above a percentile, and the first of those equal to it."""
    parameters = known_parameters(step, {"score_func": _is_known, "percentile": _is_percentile})
    percentile = parameters["percentile"]

    def choose(scores: np.ndarray) -> np.ndarray:
        if percentile == 100:
            return np.ones(len(scores), dtype=bool)
        threshold = np.percentile(scores, 100 - percentile)
        retained = scores > threshold
        ties = np.flatnonzero(scores == threshold)
        if len(ties):
            retained[ties[: int(len(scores) * percentile / 100) - retained.sum()]] = True
        return np.asarray(retained)

    return _selecting(parameters["score_func"], choose)


def _selecting(score: Any, choose: Any) -> Form:
    def fit(table: Table, y: np.ndarray) -> Fitted:
        retained = choose(_scores(score, _finite(table), y))
        if not retained.any():
            raise Refused("no column is chosen")
        return fitted(table, lambda other: Numbers(_finite(other)[:, retained], other.kind))

    return fit


def _finite(table: Table) -> np.ndarray:
    """Cells that are all there: scikit-learn refuses others, chosen or not."""
    X = table.numbers()
    if not np.isfinite(X.sum()):
        raise Refused("missing cells, or sums that are too large")
    return X


def _scores(score: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    if y.ndim != 1:
        raise Refused("several targets")
    if score is _function("f_classif"):
        # This is the F of one-way analysis of variance, in the order of scikit-learn's sums.
        parts = [X[y == k] for k in np.unique(y)]
        sums = [part.sum(axis=0) for part in parts]
        squares = sum((part**2).sum(axis=0) for part in parts)
        common = sum(sums) ** 2 / float(len(X))
        between = sum(one**2 / len(part) for one, part in zip(sums, parts, strict=True)) - common
        within = (squares - common) - between
        freedom = len(X) - len(parts)
        scores = np.asarray((between / float(len(parts) - 1)) / (within / float(freedom)))
    else:
        scores = _own_scores(score, X, y)
    if not np.isfinite(scores).all():
        raise Refused("scores that are no numbers: columns that are constant within classes")
    return scores


def _own_scores(score: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return scikit-learn's scores; raise if it warns, so that the fitted step warns instead."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(divide="warn", invalid="warn"):
        warnings.simplefilter("always")
        try:
            scores = score(X, y)
        except (ValueError, TypeError) as error:
            raise Refused("a score that fails") from error
    if caught:
        raise Refused("a score that warns")
    return np.asarray(scores[0] if isinstance(scores, tuple) else scores)


def _function(name: str) -> Any:
    from sklearn import feature_selection

    return getattr(feature_selection, name)


def _is_known(value: Any) -> bool:
    return any(value is _function(name) for name in ("f_classif", "f_regression", "chi2"))


def _is_count(value: Any) -> bool:
    return (type(value) is str and value == "all") or (type(value) is int and value >= 1)


def _is_percentile(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= 100
