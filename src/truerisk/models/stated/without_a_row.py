r"""Approximate predictions of a fitted model for each training row without that row.

They take one Newton step from the fit on all rows, with a fixed penalty and, under an L1 penalty,
the same columns. Leaving out row i moves its score from :math:`s_i` to

.. math:: s_i + \frac{h_i\, g_i}{1 - h_i W_i},\qquad
    h_i = z_i^\top (Z^\top W Z + D)^{-1} z_i,

where g and W are the first and second derivatives of the row's loss with respect to its score
(times its weight), Z holds the columns in the fit with one for the intercept, and D is the
curvature of the penalty. For squared loss without an L1 penalty this is exact: the residual divided
by one minus the leverage.

References: Rad and Maleki (2020), A scalable estimate of the out-of-sample prediction error via
approximate leave-one-out cross-validation. Beirami et al. (2017), On optimal generalizability in
parametric learning.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from truerisk.core.errors import Refusal
from truerisk.models.stated.degrees_of_freedom import penalties
from truerisk.models.stated.freedom_of_regressions import table
from truerisk.models.stated.question import Question

ALONE = 1e-10  # One minus the leverage. A row that alone determines a direction cannot be left out.
_INSTEAD = "use a method that holds rows out, such as 'loo' or '10-fold'."


def taken_out(model: Any, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> np.ndarray:
    """Return the score of every training row without it: second-class log-odds, or a number.

    For a pipeline it is the score of its last step, and the other steps stay as they were fitted on
    all rows. Other models can define a method ``taken_out(X, y)``; without it they are refused.

    Parameters
    ----------
    model : fitted estimator
    X, y : table and array
        The rows it was fitted on, in that order.
    sample_weight : array, optional
        The weights it was fitted with.
    """
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    return _QUESTION(model, X, np.asarray(y), weights)


def logistic_without(
    X: np.ndarray,
    second: np.ndarray,
    weights: np.ndarray,
    scores: np.ndarray,
    curvature: np.ndarray,
    *,
    intercept: bool = True,
) -> np.ndarray:
    """Return log-odds without each row; X holds the columns in the fit, `second` is 1 for class 2.

    `curvature` is the second derivative of the whole penalty with respect to each coefficient.
    """
    shares = expit(scores)
    gradient, bend = weights * (shares - second), weights * shares * expit(-scores)
    return _step(X, scores, gradient, bend, curvature, intercept)


def squared_without(
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    fitted: np.ndarray,
    curvature: np.ndarray,
    *,
    intercept: bool = True,
) -> np.ndarray:
    """Return predictions without each row, for half the squared error."""
    return _step(X, fitted, weights * (fitted - y), weights, curvature, intercept)


def row_variances(X: Any, weights: np.ndarray) -> np.ndarray:
    """Return the weighted variance of every column."""
    share = weights / weights.sum()
    mean = share @ X
    return np.asarray(share @ (X - mean) ** 2)


def _step(
    X: np.ndarray,
    scores: np.ndarray,
    gradient: np.ndarray,
    bend: np.ndarray,
    curvature: np.ndarray,
    intercept: bool,
) -> np.ndarray:
    """Return the Newton step of every row; the intercept is eliminated by weighted centring."""
    total = bend.sum()
    base = np.zeros(len(X))
    if intercept and total > 0:
        X = X - (bend @ X) / total
        base = np.full(len(X), 1 / total)
    leverage = base + _quadratic_forms(X, bend, curvature)
    left = 1 - leverage * bend
    alone = np.flatnonzero(left < ALONE)
    if len(alone):
        raise ValueError(
            f"row {alone[0]} alone decides a coefficient (its leverage is 1): there is no fit "
            "without it to first order. Penalise more, or use 'loo'."
        )
    return scores + leverage * gradient / left


def _quadratic_forms(X: np.ndarray, bend: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """Return X' (X' W X + D)⁻¹ x of every row, in the smaller of the two shapes."""
    n, p = X.shape
    if not p:
        return np.zeros(n)
    if p <= n or not (curvature > 0).all():
        information = (X * bend[:, None]).T @ X
        information[np.diag_indices(p)] += curvature
        return np.asarray(np.einsum("ij,ij->i", X @ _inverse(information), X))
    scaled = X / np.sqrt(curvature)
    products = scaled @ scaled.T
    root = np.sqrt(bend)
    inner = np.eye(n) + root[:, None] * products * root  # Woodbury
    sides = root[:, None] * products
    return np.asarray(
        np.diagonal(products) - np.einsum("ij,ij->j", sides, np.linalg.solve(inner, sides))
    )


def _inverse(information: np.ndarray) -> np.ndarray:
    """Invert the information, ignoring directions without curvature (such as equal columns)."""
    try:
        root = np.linalg.cholesky(information)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(information, hermitian=True)
    half = np.diagonal(root)
    if half.min() < 1e-7 * half.max():
        return np.linalg.pinv(information, hermitian=True)
    return np.linalg.inv(information)


def _logistic(model: Any, X: Any, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    _refuse_many(model)
    if model.class_weight is not None or model.solver == "liblinear":
        given = "class_weight" if model.class_weight is not None else "solver='liblinear'"
        raise Refusal(f"LogisticRegression with {given} is not stated: {_INSTEAD}")
    lasso, ridge = penalties(model)
    slopes = model.coef_[0]
    used = np.flatnonzero(slopes) if lasso > 0 else np.arange(len(slopes))
    rows = table(X)[:, used]
    curvature = np.full(len(used), ridge)
    second = (y == model.classes_[1]).astype(np.float64)
    return logistic_without(
        rows, second, weights, model.decision_function(X), curvature, intercept=model.fit_intercept
    )


def _logistic_path(model: Any, X: Any, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    _refuse_many(model)
    slopes = model.coef_[0]
    used = np.flatnonzero(slopes) if model.l1_ratio > 0 else np.arange(len(slopes))
    rows = table(X[:, used] if hasattr(X, "tocsc") else np.asarray(X)[:, used])
    scale = row_variances(rows, weights) if model.standardize else np.ones(len(used))
    curvature = weights.sum() * model.lambda_ * (1 - model.l1_ratio) * scale
    second = (y == model.classes_[1]).astype(np.float64)
    return logistic_without(rows, second, weights, model.decision_function(X), curvature)


def _ridge_classifier(model: Any, X: Any, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute scores of the linear fit to the codes −1 and 1."""
    _refuse_positive(model)
    _refuse_many(model)
    if model.class_weight is not None:
        raise Refusal(f"RidgeClassifier with class_weight is not stated: {_INSTEAD}")
    return _line(model, X, np.where(y == model.classes_[1], 1.0, -1.0), weights)


def _line(
    model: Any, X: Any, y: np.ndarray, weights: np.ndarray, *, selects: bool = False
) -> np.ndarray:
    """Compute predictions of a linear fit by squared error; if `selects`, with an L1 penalty."""
    _refuse_positive(model)
    slopes = np.asarray(model.coef_)
    if y.ndim > 1 or (slopes.ndim > 1 and len(slopes) > 1):
        raise Refusal(f"{type(model).__name__} of several targets is not stated: {_INSTEAD}")
    slopes = slopes.ravel()
    alpha = np.ravel(getattr(model, "alpha", 0.0))
    if len(alpha) != 1:
        raise Refusal(f"one penalty per target is not stated: {_INSTEAD}")
    penalty = len(y) * float(alpha[0]) * (1 - float(model.l1_ratio)) if selects else float(alpha[0])
    used = np.flatnonzero(slopes) if selects else np.arange(len(slopes))
    rows, curvature = table(X), np.full(len(used), penalty)
    fitted = rows @ slopes + float(np.ravel(model.intercept_)[0])
    if selects:  # These fits scale weights to sum to the number of rows.
        weights = weights * (len(y) / weights.sum())
    y, intercept = y.astype(np.float64), model.fit_intercept
    return squared_without(rows[:, used], y, weights, fitted, curvature, intercept=intercept)


def _refuse_positive(model: Any) -> None:
    if getattr(model, "positive", False):
        raise Refusal(f"{type(model).__name__}(positive=True) is not stated: {_INSTEAD}")


def _refuse_many(model: Any) -> None:
    if len(model.classes_) != 2:
        raise Refusal(
            f"taking a row out of {type(model).__name__} is stated for two classes, and it was "
            f"fitted on {len(model.classes_)}: {_INSTEAD}"
        )


def _unknown(model: Any, *_: Any) -> str:
    return (
        f"no formula is known for taking a row out of a fitted {type(model).__name__}: give "
        f"it a method taken_out(X, y), or {_INSTEAD}"
    )


_QUESTION = Question[np.ndarray](
    "taken_out",
    own=lambda model, X, y, _: np.asarray(model.taken_out(X, y), dtype=np.float64),
    formulas={
        "sklearn.linear_model:LogisticRegression": _logistic,
        "truerisk.models.logistic_path:LogisticPath": _logistic_path,
        "sklearn.linear_model:LinearRegression": _line,
        "sklearn.linear_model:Ridge": _line,
        "sklearn.linear_model:RidgeClassifier": _ridge_classifier,
        "sklearn.linear_model:Lasso": partial(_line, selects=True),
        "sklearn.linear_model:ElasticNet": partial(_line, selects=True),
    },
    unknown=_unknown,
)
