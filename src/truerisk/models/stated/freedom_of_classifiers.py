"""Degrees of freedom of classifiers with a likelihood: free parameters of P(class | x)."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.models.stated.freedom_of_regressions import rank_of, table

__all__ = ["linear", "logistic", "logistic_path", "naive_bayes", "penalties", "quadratic"]

MOST_PARAMETERS = 3000  # the information matrix of a penalised fit is inverted


def logistic(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    r"""The coefficients that are not 0; under a ridge penalty the trace of F (F + P)⁻¹.

    F is the Fisher information of intercepts and coefficients at the fit, P the second derivative
    of the penalty. Without a penalty that is the rank of (1, X) times K − 1 for K classes.
    """
    _refuse_other_likelihoods(model)
    lasso, ridge = penalties(model)
    columns, held = _design(model, X)
    n_free = len(model.classes_) - 1
    if lasso == 0 and ridge == 0:
        return float(rank_of(columns) * n_free)
    if ridge == 0:
        return float(np.count_nonzero(model.coef_) + bool(model.fit_intercept) * n_free)
    penalty = np.where(held, ridge, 0.0)
    return _trace(model, X, columns, penalty, sample_weight, selects=lasso > 0)


def logistic_path(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """As `logistic`, at the λ that the path answers with; its penalty is per weight of a row."""
    if model.l1_ratio == 1:
        return float(np.count_nonzero(model.coef_) + len(model.classes_) - 1)
    rows = table(X)
    weights = np.ones(len(rows)) if sample_weight is None else sample_weight
    ridge = model.lambda_ * (1 - model.l1_ratio) * weights.sum()
    penalty = np.full(rows.shape[1], ridge)
    if model.standardize:
        centre = np.average(rows, axis=0, weights=weights)
        penalty *= np.average((rows - centre) ** 2, axis=0, weights=weights)
    columns = np.hstack([np.ones((len(rows), 1)), rows])
    held = np.append(0.0, penalty)
    return _trace(model, X, columns, held, sample_weight, selects=model.l1_ratio > 0)


def _trace(
    model: Any,
    X: Any,
    columns: np.ndarray,
    penalty: np.ndarray,
    sample_weight: np.ndarray | None,
    *,
    selects: bool,
) -> float:
    """That of F (F + P)⁻¹ over the coefficients that are not 0, where the penalty selects."""
    coefficients = np.atleast_2d(model.coef_)
    active = np.ones((len(coefficients), columns.shape[1]), dtype=bool)
    if selects:
        active[:, -coefficients.shape[1] :] = coefficients != 0
    if active.sum() > MOST_PARAMETERS:
        raise Refusal(
            f"the effective degrees of freedom of {active.sum():,} penalised coefficients need "
            f"their information matrix, which is stated up to {MOST_PARAMETERS:,}: use a method "
            "that holds rows out, such as '10-fold'."
        )
    information = _information(model, X, columns, sample_weight)
    keep = np.flatnonzero(active.ravel())
    F = information[np.ix_(keep, keep)]
    P = np.diag(np.tile(penalty, len(coefficients))[keep])
    return float(np.trace(np.linalg.pinv(F + P, hermitian=True) @ F))


def linear(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """(K − 1)(p + 1): the coefficients of the linear discriminant functions."""
    _refuse_shrunken(model, model.shrinkage is None and model.covariance_estimator is None)
    return float((len(model.classes_) - 1) * (1 + _spread(X)))


def quadratic(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """(K − 1)(1 + p + p (p + 1)/2): the coefficients of the quadratic discriminant functions."""
    _refuse_shrunken(model, not model.reg_param and getattr(model, "shrinkage", None) is None)
    p = _spread(X)
    return (len(model.classes_) - 1) * (1 + p + p * (p + 1) / 2)


def naive_bayes(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """(K − 1)(1 + 2p): the coefficients of discriminants without products of features."""
    varying = int((np.ptp(table(X), axis=0) > 0).sum())
    return float((len(model.classes_) - 1) * (1 + 2 * varying))


def _spread(X: Any) -> int:
    """How many dimensions the rows span."""
    rows = table(X)
    return rank_of(rows - rows.mean(axis=0))


def _refuse_shrunken(model: Any, is_plain: bool) -> None:
    if not is_plain:
        raise Refusal(
            f"no formula is stated for the degrees of freedom of a shrunken "
            f"{type(model).__name__}: use it without shrinkage, or a method that holds rows out."
        )


def _refuse_other_likelihoods(model: Any) -> None:
    several = len(model.classes_) > 2
    if model.class_weight is not None:
        raise Refusal(
            "class_weight makes the fit maximise another likelihood than the criterion counts: "
            "leave it out, or use a method that holds rows out."
        )
    if several and (model.solver == "liblinear" or getattr(model, "multi_class", "") == "ovr"):
        raise Refusal(
            "one class against the others, class by class, maximises no common likelihood: use "
            "the multinomial fit (solver='lbfgs')."
        )


def penalties(model: Any) -> tuple[float, float]:
    """Weights of the absolute values and of the half squares of the coefficients."""
    word = getattr(model, "penalty", "deprecated")
    if word is None or np.isinf(model.C):
        return 0.0, 0.0
    share = {"l1": 1.0, "l2": 0.0}.get(word, model.l1_ratio)
    return share / model.C, (1 - share) / model.C


def _design(model: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The columns of the fit, its intercept first, and which of them the penalty holds."""
    rows = table(X)
    held = np.ones(rows.shape[1], dtype=bool)
    if not model.fit_intercept:
        return rows, held
    alike = model.solver == "liblinear"  # its intercept is a coefficient like the others
    first = np.full((len(rows), 1), float(model.intercept_scaling) if alike else 1.0)
    return np.hstack([first, rows]), np.append(alike, held)


def _information(model: Any, X: Any, columns: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Fisher information of the coefficients of every class (of the second one, of two)."""
    p = np.asarray(model.predict_proba(X))
    w = np.ones(len(p)) if weights is None else weights
    if p.shape[1] == 2:
        return columns.T @ (columns * (w * p[:, 0] * p[:, 1])[:, None])
    n_classes, size = p.shape[1], columns.shape[1]
    full = np.empty((n_classes * size, n_classes * size))
    for a in range(n_classes):
        for b in range(n_classes):
            curvature = w * p[:, a] * ((a == b) - p[:, b])
            block = columns.T @ (columns * curvature[:, None])
            full[a * size : (a + 1) * size, b * size : (b + 1) * size] = block
    return full
