"""Closed forms of steps that select columns by their variance, or by a score against y."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from truerisk.engines.preparation.closed.step_tables import (
    ClosedForm,
    FittedStep,
    NoClosedForm,
    NumberTable,
    Table,
    fitted_step,
    supported_parameters,
)


def variance_threshold(step: Any) -> ClosedForm:
    """Return a function that fits VarianceThreshold, which drops low-variance columns."""
    parameters = supported_parameters(step, {"threshold": _is_nonnegative_number})
    threshold = parameters["threshold"]

    def fit(table: Table, y: np.ndarray) -> FittedStep:
        X = table.numbers()
        variance = X.var(axis=0)
        if threshold == 0:
            variance = np.minimum(variance, X.max(axis=0) - X.min(axis=0))
        if not np.isfinite(variance).all() or not (variance > threshold).any():
            raise NoClosedForm("missing cells, or no column that varies")
        is_selected = variance > threshold
        return fitted_step(
            table,
            lambda other_rows: NumberTable(other_rows.numbers()[:, is_selected], other_rows.kind),
        )

    return fit


def _is_nonnegative_number(value: Any) -> bool:
    return type(value) in (int, float) and value >= 0


def select_k_best(step: Any) -> ClosedForm:
    """Return a function that fits SelectKBest, which selects the columns with the best scores.

    Of equal scores, those of later columns are selected.
    """
    parameters = supported_parameters(
        step, {"score_func": _is_known_score_function, "k": _is_count}
    )
    k = parameters["k"]

    def choose(scores: np.ndarray) -> np.ndarray:
        if k != "all" and k > len(scores):
            raise NoClosedForm("fewer columns than are to be chosen")
        is_selected = np.zeros(len(scores), dtype=bool)
        is_selected[np.argsort(scores, kind="stable")[0 if k == "all" else -k :]] = True
        return is_selected

    return _selection_form(parameters["score_func"], choose)


def select_percentile(step: Any) -> ClosedForm:
    """Return a function that fits SelectPercentile, which selects columns by a score percentile.

    Of the scores equal to the percentile, those of the first columns are selected.
    """
    parameters = supported_parameters(
        step, {"score_func": _is_known_score_function, "percentile": _is_percentile}
    )
    percentile = parameters["percentile"]

    def choose(scores: np.ndarray) -> np.ndarray:
        if percentile == 100:
            return np.ones(len(scores), dtype=bool)
        threshold = np.percentile(scores, 100 - percentile)
        is_selected = scores > threshold
        tied_columns = np.flatnonzero(scores == threshold)
        if len(tied_columns):
            is_selected[tied_columns[: int(len(scores) * percentile / 100) - is_selected.sum()]] = (
                True
            )
        return np.asarray(is_selected)

    return _selection_form(parameters["score_func"], choose)


def _selection_form(score_function: Any, choose_columns: Any) -> ClosedForm:
    def fit(table: Table, y: np.ndarray) -> FittedStep:
        is_selected = choose_columns(_scores(score_function, _finite_cells(table), y))
        if not is_selected.any():
            raise NoClosedForm("no column is chosen")
        return fitted_step(
            table,
            lambda other_rows: NumberTable(
                _finite_cells(other_rows)[:, is_selected], other_rows.kind
            ),
        )

    return fit


def _finite_cells(table: Table) -> np.ndarray:
    """Return the cells of a table, or raise NoClosedForm if any is missing or infinite.

    scikit-learn's step raises in this case, whether the column is selected or not.
    """
    X = table.numbers()
    if not np.isfinite(X.sum()):
        raise NoClosedForm("missing cells, or sums that are too large")
    return X


def _scores(score_function: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    if y.ndim != 1:
        raise NoClosedForm("several targets")
    if score_function is _score_function("f_classif"):
        # Compute the F statistic of the analysis of variance, with sums in scikit-learn's order.
        rows_by_class = [X[y == class_label] for class_label in np.unique(y)]
        class_sums = [class_rows.sum(axis=0) for class_rows in rows_by_class]
        sum_of_squares = sum((class_rows**2).sum(axis=0) for class_rows in rows_by_class)
        mean_term = sum(class_sums) ** 2 / float(len(X))
        between_sum_of_squares = (
            sum(
                class_sum**2 / len(class_rows)
                for class_sum, class_rows in zip(class_sums, rows_by_class, strict=True)
            )
            - mean_term
        )
        within_sum_of_squares = (sum_of_squares - mean_term) - between_sum_of_squares
        residual_df = len(X) - len(rows_by_class)
        scores = np.asarray(
            (between_sum_of_squares / float(len(rows_by_class) - 1))
            / (within_sum_of_squares / float(residual_df))
        )
    else:
        scores = _sklearn_scores(score_function, X, y)
    if not np.isfinite(scores).all():
        raise NoClosedForm("scores that are no numbers: columns that are constant within classes")
    return scores


def _sklearn_scores(score_function: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the column scores of scikit-learn's own score function.

    Raise NoClosedForm if that function fails or warns. scikit-learn's step is then fitted, and
    gives the warning.
    """
    with (
        warnings.catch_warnings(record=True) as caught_warnings,
        np.errstate(divide="warn", invalid="warn"),
    ):
        warnings.simplefilter("always")
        try:
            scores = score_function(X, y)
        except (ValueError, TypeError) as error:
            raise NoClosedForm("a score that fails") from error
    if caught_warnings:
        raise NoClosedForm("a score that warns")
    return np.asarray(scores[0] if isinstance(scores, tuple) else scores)


def _score_function(name: str) -> Any:
    from sklearn import feature_selection

    return getattr(feature_selection, name)


def _is_known_score_function(value: Any) -> bool:
    return any(value is _score_function(name) for name in ("f_classif", "f_regression", "chi2"))


def _is_count(value: Any) -> bool:
    return (type(value) is str and value == "all") or (type(value) is int and value >= 1)


def _is_percentile(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= 100
