"""Degrees of freedom of linear and kernel regression: the trace of the hat matrix.

The hat matrix maps y to the fitted values.

Sample weights are used as in the fit: columns are centred by their weighted means, and rows are
multiplied by the square root of their weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.errors import Refusal


def least_squares_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the degrees of freedom of LinearRegression: the rank of X, plus 1 for an intercept.

    The rank is the one that LinearRegression found.
    """
    _refuse_positive(model)
    rank = getattr(model, "rank_", None)
    # For sparse X the solver does not report the rank.
    if rank is None:
        rank = numerical_rank(_solver_rows(model, X, sample_weight))
    return float(rank) + bool(model.fit_intercept)


def ridge_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    r"""Return the degrees of freedom of ridge regression, from the singular values d of X.

    They are the sum of :math:`d_j^2/(d_j^2 + \alpha)` over the singular values. An intercept adds
    1.
    """
    _refuse_positive(model)
    penalty = _single_penalty(model)
    return _ridge_degrees_of_freedom(_solver_rows(model, X, sample_weight), penalty) + bool(
        model.fit_intercept
    )


def lasso_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the number of nonzero coefficients, plus 1 for an intercept (Zou et al., 2007)."""
    _refuse_positive(model)
    return float(np.count_nonzero(_coefficients(model))) + bool(model.fit_intercept)


def elastic_net_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    """Return the degrees of freedom of an elastic net, by the formula of ridge regression.

    The formula uses only the columns with nonzero coefficients. An intercept adds 1.
    """
    _refuse_positive(model)
    solver_rows = _solver_rows(model, X, sample_weight, normalises_weights=True)[
        :, np.flatnonzero(_coefficients(model))
    ]
    # ElasticNet halves the squared error and divides it by the total weight (n by default).
    penalty = len(solver_rows) * model.alpha * (1 - model.l1_ratio)
    return _ridge_degrees_of_freedom(solver_rows, penalty) + bool(model.fit_intercept)


def kernel_ridge_dof(model: Any, X: Any, sample_weight: np.ndarray | None) -> float:
    r"""Return the trace of :math:`K (K + \alpha I)^{-1}`, with K the kernel matrix.

    There is no intercept.
    """
    from sklearn.metrics.pairwise import pairwise_kernels

    penalty = _single_penalty(model)
    if callable(model.kernel):
        kernel_parameters = model.kernel_params or {}
    else:
        kernel_parameters = {"gamma": model.gamma, "degree": model.degree, "coef0": model.coef0}
    K = pairwise_kernels(X, metric=model.kernel, filter_params=True, **kernel_parameters)
    if sample_weight is not None:
        root_weights = np.sqrt(sample_weight)
        K = K * np.outer(root_weights, root_weights)
    eigenvalues = np.linalg.eigvalsh(K)
    return _sum_of_shrinkage_factors(np.maximum(eigenvalues, 0.0), penalty, len(K))


def to_dense(X: Any) -> np.ndarray:
    """Convert X to a dense array of doubles."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def numerical_rank(X: np.ndarray) -> int:
    """Return the numerical rank of a matrix, which is 0 without rows or columns."""
    return int(np.linalg.matrix_rank(X)) if X.size else 0


def _solver_rows(
    model: Any, X: Any, weights: np.ndarray | None, normalises_weights: bool = False
) -> np.ndarray:
    """Return the rows of X as a linear solver uses them: centred, and multiplied by root weights.

    If `normalises_weights` is True, the weights are scaled so that they sum to n.
    """
    rows = to_dense(X)
    if model.fit_intercept:
        rows = rows - np.average(rows, axis=0, weights=weights)
    if weights is None:
        return rows
    weight_scale = len(rows) / weights.sum() if normalises_weights else 1.0
    return rows * np.sqrt(weights * weight_scale)[:, None]


def _ridge_degrees_of_freedom(solver_rows: np.ndarray, penalty: float) -> float:
    if not solver_rows.size:
        return 0.0
    eigenvalues = np.linalg.svd(solver_rows, compute_uv=False) ** 2
    return _sum_of_shrinkage_factors(eigenvalues, penalty, max(solver_rows.shape))


def _sum_of_shrinkage_factors(
    eigenvalues: np.ndarray, penalty: float, largest_dimension: int
) -> float:
    """Return the sum of v / (v + penalty) over the eigenvalues v.

    Without a penalty, the sum is the rank.
    """
    if penalty == 0:
        relative_tolerance = (
            (largest_dimension * np.finfo(np.float64).eps) ** 2 if eigenvalues.size else 0.0
        )
        return float(
            np.count_nonzero(eigenvalues > eigenvalues.max(initial=0.0) * relative_tolerance)
        )
    return float((eigenvalues / (eigenvalues + penalty)).sum())


def _single_penalty(model: Any) -> float:
    alpha = np.ravel(model.alpha)
    if len(alpha) != 1:
        raise Refusal("one penalty per target has no single number of degrees of freedom.")
    return float(alpha[0])


def _coefficients(model: Any) -> np.ndarray:
    coefficients = np.asarray(model.coef_)
    if coefficients.ndim > 1 and len(coefficients) > 1:
        raise Refusal("several targets share no single number of degrees of freedom.")
    return coefficients.ravel()


def _refuse_positive(model: Any) -> None:
    if getattr(model, "positive", False):
        raise Refusal(
            f"no formula is stated for the degrees of freedom of {type(model).__name__}"
            "(positive=True): use positive=False, or a method that holds rows out."
        )
