r"""Approximate leave-one-out predictions of a fitted model for its training rows.

Each prediction takes one Newton step from the fit on all rows, with a fixed penalty and, under an
L1 penalty, the same columns. Leaving out row i moves its score from :math:`s_i` to

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
from truerisk.models.stated.degrees_of_freedom import penalty_weights
from truerisk.models.stated.freedom_of_regressions import to_dense
from truerisk.models.stated.question import ModelQuantity

# A row can be left out only if 1 minus its leverage exceeds this value.
# A row with leverage 1 alone determines a coefficient, and cannot be left out.
MIN_ONE_MINUS_LEVERAGE = 1e-10
_HELD_OUT_ROWS_ADVICE = "use a method that holds rows out, such as 'loo' or '10-fold'."


def predict_leave_one_out(
    model: Any, X: Any, y: np.ndarray, sample_weight: np.ndarray | None
) -> np.ndarray:
    """Return each training row's leave-one-out prediction, or its log-odds for a classifier.

    The log-odds are those of the second class.

    A pipeline has the score of its last step, while its other steps stay as they were fitted on all
    rows. Other models can define a method ``taken_out(X, y)``; without it they are refused.

    Parameters
    ----------
    model : fitted estimator
    X, y : table and array
        The rows it was fitted on, in that order.
    sample_weight : array, optional
        The weights it was fitted with.
    """
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    return _LEAVE_ONE_OUT_SCORES(model, X, np.asarray(y), weights)


def leave_one_out_log_odds(
    X: np.ndarray,
    is_second_class: np.ndarray,
    weights: np.ndarray,
    scores: np.ndarray,
    penalty_curvature: np.ndarray,
    *,
    intercept: bool = True,
) -> np.ndarray:
    """Return approximate leave-one-out log-odds of a logistic fit for every training row.

    X holds the columns in the fit, and `is_second_class` is 1 for rows of the second class.

    `penalty_curvature` is the second derivative of the whole penalty with respect to each
    coefficient.
    """
    probabilities = expit(scores)
    gradients, loss_curvature = (
        weights * (probabilities - is_second_class),
        weights * probabilities * expit(-scores),
    )
    return _leave_one_out_scores(X, scores, gradients, loss_curvature, penalty_curvature, intercept)


def leave_one_out_predictions(
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    fitted_values: np.ndarray,
    penalty_curvature: np.ndarray,
    *,
    intercept: bool = True,
) -> np.ndarray:
    """Return leave-one-out predictions of a least-squares fit for every training row."""
    return _leave_one_out_scores(
        X, fitted_values, weights * (fitted_values - y), weights, penalty_curvature, intercept
    )


def weighted_column_variances(X: Any, weights: np.ndarray) -> np.ndarray:
    """Return the weighted variance of every column of X."""
    weight_shares = weights / weights.sum()
    column_means = weight_shares @ X
    return np.asarray(weight_shares @ (X - column_means) ** 2)


def _leave_one_out_scores(
    X: np.ndarray,
    scores: np.ndarray,
    gradients: np.ndarray,
    loss_curvature: np.ndarray,
    penalty_curvature: np.ndarray,
    intercept: bool,
) -> np.ndarray:
    """Return every row's score after a Newton step that removes the row from the fit.

    The intercept is eliminated by weighted centring.
    """
    total_curvature = loss_curvature.sum()
    intercept_leverage = np.zeros(len(X))
    if intercept and total_curvature > 0:
        X = X - (loss_curvature @ X) / total_curvature
        intercept_leverage = np.full(len(X), 1 / total_curvature)
    leverage = intercept_leverage + _quadratic_forms(X, loss_curvature, penalty_curvature)
    one_minus_leverage = 1 - leverage * loss_curvature
    bad_rows = np.flatnonzero(one_minus_leverage < MIN_ONE_MINUS_LEVERAGE)
    if len(bad_rows):
        raise ValueError(
            f"row {bad_rows[0]} alone decides a coefficient (its leverage is 1): there is no fit "
            "without it to first order. Penalise more, or use 'loo'."
        )
    return scores + leverage * gradients / one_minus_leverage


def _quadratic_forms(
    X: np.ndarray, loss_curvature: np.ndarray, penalty_curvature: np.ndarray
) -> np.ndarray:
    """Return x' (X' W X + D)⁻¹ x for every row x of X.

    Either a p × p or an n × n matrix is inverted.
    """
    n, p = X.shape
    if not p:
        return np.zeros(n)
    if p <= n or not (penalty_curvature > 0).all():
        information = (X * loss_curvature[:, None]).T @ X
        information[np.diag_indices(p)] += penalty_curvature
        return np.asarray(np.einsum("ij,ij->i", X @ _invert_information(information), X))
    scaled_rows = X / np.sqrt(penalty_curvature)
    inner_products = scaled_rows @ scaled_rows.T
    root_curvature = np.sqrt(loss_curvature)
    # By the Woodbury identity only an n × n system must be solved.
    woodbury_matrix = np.eye(n) + root_curvature[:, None] * inner_products * root_curvature
    weighted_inner_products = root_curvature[:, None] * inner_products
    return np.asarray(
        np.diagonal(inner_products)
        - np.einsum(
            "ij,ij->j",
            weighted_inner_products,
            np.linalg.solve(woodbury_matrix, weighted_inner_products),
        )
    )


def _invert_information(information: np.ndarray) -> np.ndarray:
    """Invert the information matrix; ignore directions without curvature (e.g. equal columns)."""
    try:
        cholesky_factor = np.linalg.cholesky(information)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(information, hermitian=True)
    diagonal = np.diagonal(cholesky_factor)
    if diagonal.min() < 1e-7 * diagonal.max():
        return np.linalg.pinv(information, hermitian=True)
    return np.linalg.inv(information)


def _logistic_loo(model: Any, X: Any, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    _refuse_multiclass(model)
    if model.class_weight is not None or model.solver == "liblinear":
        parameter = "class_weight" if model.class_weight is not None else "solver='liblinear'"
        raise Refusal(f"LogisticRegression with {parameter} is not stated: {_HELD_OUT_ROWS_ADVICE}")
    l1_penalty, l2_penalty = penalty_weights(model)
    coefficients = model.coef_[0]
    used_columns = np.flatnonzero(coefficients) if l1_penalty > 0 else np.arange(len(coefficients))
    rows = to_dense(X)[:, used_columns]
    penalty_curvature = np.full(len(used_columns), l2_penalty)
    is_second_class = (y == model.classes_[1]).astype(np.float64)
    return leave_one_out_log_odds(
        rows,
        is_second_class,
        weights,
        model.decision_function(X),
        penalty_curvature,
        intercept=model.fit_intercept,
    )


def _logistic_path_loo(model: Any, X: Any, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    _refuse_multiclass(model)
    coefficients = model.coef_[0]
    used_columns = (
        np.flatnonzero(coefficients) if model.l1_ratio > 0 else np.arange(len(coefficients))
    )
    rows = to_dense(X[:, used_columns] if hasattr(X, "tocsc") else np.asarray(X)[:, used_columns])
    variances = (
        weighted_column_variances(rows, weights)
        if model.standardize
        else np.ones(len(used_columns))
    )
    penalty_curvature = weights.sum() * model.lambda_ * (1 - model.l1_ratio) * variances
    is_second_class = (y == model.classes_[1]).astype(np.float64)
    return leave_one_out_log_odds(
        rows, is_second_class, weights, model.decision_function(X), penalty_curvature
    )


def _ridge_classifier_loo(model: Any, X: Any, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return leave-one-out scores of a RidgeClassifier, a linear fit to the codes −1 and 1."""
    _refuse_positive(model)
    _refuse_multiclass(model)
    if model.class_weight is not None:
        raise Refusal(f"RidgeClassifier with class_weight is not stated: {_HELD_OUT_ROWS_ADVICE}")
    return _linear_fit_loo(model, X, np.where(y == model.classes_[1], 1.0, -1.0), weights)


def _linear_fit_loo(
    model: Any, X: Any, y: np.ndarray, weights: np.ndarray, *, selects: bool = False
) -> np.ndarray:
    """Return leave-one-out predictions of a linear least-squares fit.

    With `selects`, the fit has an L1 penalty.
    """
    _refuse_positive(model)
    coefficients = np.asarray(model.coef_)
    if y.ndim > 1 or (coefficients.ndim > 1 and len(coefficients) > 1):
        raise Refusal(
            f"{type(model).__name__} of several targets is not stated: {_HELD_OUT_ROWS_ADVICE}"
        )
    coefficients = coefficients.ravel()
    alpha = np.ravel(getattr(model, "alpha", 0.0))
    if len(alpha) != 1:
        raise Refusal(f"one penalty per target is not stated: {_HELD_OUT_ROWS_ADVICE}")
    penalty = len(y) * float(alpha[0]) * (1 - float(model.l1_ratio)) if selects else float(alpha[0])
    used_columns = np.flatnonzero(coefficients) if selects else np.arange(len(coefficients))
    rows, penalty_curvature = to_dense(X), np.full(len(used_columns), penalty)
    fitted_values = rows @ coefficients + float(np.ravel(model.intercept_)[0])
    # Models with an L1 penalty scale the weights of the rows to sum to the number of rows.
    if selects:
        weights = weights * (len(y) / weights.sum())
    y, intercept = y.astype(np.float64), model.fit_intercept
    return leave_one_out_predictions(
        rows[:, used_columns], y, weights, fitted_values, penalty_curvature, intercept=intercept
    )


def _refuse_positive(model: Any) -> None:
    if getattr(model, "positive", False):
        raise Refusal(
            f"{type(model).__name__}(positive=True) is not stated: {_HELD_OUT_ROWS_ADVICE}"
        )


def _refuse_multiclass(model: Any) -> None:
    if len(model.classes_) != 2:
        raise Refusal(
            f"taking a row out of {type(model).__name__} is stated for two classes, and it was "
            f"fitted on {len(model.classes_)}: {_HELD_OUT_ROWS_ADVICE}"
        )


def _reason_without_formula(model: Any, *_: Any) -> str:
    return (
        f"no formula is known for taking a row out of a fitted {type(model).__name__}: give "
        f"it a method taken_out(X, y), or {_HELD_OUT_ROWS_ADVICE}"
    )


_LEAVE_ONE_OUT_SCORES = ModelQuantity[np.ndarray](
    "taken_out",
    call_own_method=lambda model, X, y, _: np.asarray(model.taken_out(X, y), dtype=np.float64),
    formulas={
        "sklearn.linear_model:LogisticRegression": _logistic_loo,
        "truerisk.models.logistic_path:LogisticPath": _logistic_path_loo,
        "sklearn.linear_model:LinearRegression": _linear_fit_loo,
        "sklearn.linear_model:Ridge": _linear_fit_loo,
        "sklearn.linear_model:RidgeClassifier": _ridge_classifier_loo,
        "sklearn.linear_model:Lasso": partial(_linear_fit_loo, selects=True),
        "sklearn.linear_model:ElasticNet": partial(_linear_fit_loo, selects=True),
    },
    fallback=_reason_without_formula,
)
