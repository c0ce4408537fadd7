"""Compute the regularization path of penalised logistic regression in one compiled call."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.kernels import native_module


@frozen(eq=False)
class LogisticPathFit:
    """Coefficients that minimise the penalised negative log-likelihood at every penalty λ.

    `coefficients` have shape (λ, f, p) and `intercepts` (λ, f), in the units of X, where f is 1 for
    two classes (the second against the first), else the number of classes, and p is the number of
    columns. `n_passes[l]` is the number of passes over the coefficients at λ number l.
    `has_converged[l]` is False if `max_passes` ended the iteration, in which case the coefficients
    at λ number l are not the minimiser. `used_columns` are the columns with a nonzero coefficient
    at some λ.
    """

    lambdas: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    n_passes: np.ndarray
    has_converged: np.ndarray
    used_columns: np.ndarray


def to_column_major(X: Any) -> Any:
    """Convert a dense X to column-major doubles, and a sparse X to CSC format.

    X is not copied if it has this form already.
    """
    if hasattr(X, "tocsc"):
        sparse_columns = X.tocsc()
        if sparse_columns.dtype != np.float64:
            sparse_columns = sparse_columns.astype(np.float64)
        if not sparse_columns.has_canonical_format:
            sparse_columns = sparse_columns.copy()
            sparse_columns.sum_duplicates()
        return sparse_columns
    return np.asfortranarray(X, dtype=np.float64)


def logistic_path(
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    *,
    n_classes: int,
    rows: np.ndarray | None = None,
    lambdas: np.ndarray | None,
    n_lambdas: int = 100,
    least_ratio: float = 1e-4,
    aside: np.ndarray | None = None,
    l1_ratio: float = 1.0,
    standardize: bool = True,
    tolerance: float = 1e-7,
    max_passes: int = 100_000,
) -> LogisticPathFit:
    r"""Minimise a penalised negative log-likelihood of class labels at every penalty λ.

    .. math::
        \sum_i \tilde w_i\,\ell_i + \lambda(\alpha|\beta|_1 + (1-\alpha)|\beta|^2/2)

    The weights :math:`\tilde w` add up to one, :math:`\ell_i` is the negative log-likelihood of
    row i, α is `l1_ratio`, and the intercept is not penalised. With `standardize` the penalty
    applies to the coefficients of columns that are scaled to a (weighted) variance of one. Rows of
    weight 0 do not influence the fit.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, p)
        The feature table; it is not copied if it is column-major doubles or canonical CSC.
    codes : array of int, shape (m,)
        Classes 0 ... n_classes − 1 of the training rows; every class has positive weight.
    weights : array, shape (m,)
    rows : array of int, shape (m,), optional
        The training rows, selected from a dense X; rows may be repeated. The result is identical to
        that for `X[rows]`, to the bit.
    lambdas : array or None
        Penalties in any order. None stands for `n_lambdas` penalties in equal ratios, from the
        largest λ with a nonzero coefficient down to `least_ratio` times this λ.
    aside : array, optional
        Additional penalties, which come last in the result. They are not used as starting points
        for smaller penalties, so that the solutions at `lambdas` do not depend on them.
    tolerance : float
        The iteration stops after a Newton step that changes the linear predictor by less than this:
        the curvature-weighted mean square of the change, divided by the deviance of the fit without
        coefficients.

    Returns
    -------
    Solutions

    Raises
    ------
    ValueError
        If an array has a wrong shape, or a value is out of bounds.
    Refusal
        If the compiled module is missing.
    """
    X = to_column_major(X)
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    _check(X, rows, codes, weights, n_classes)
    if not 0.0 <= l1_ratio <= 1.0:
        raise ValueError(f"l1_ratio={l1_ratio!r} is no number from 0 to 1.")
    requested_penalties = (
        np.zeros(n_lambdas) if lambdas is None else np.asarray(lambdas, dtype=np.float64)
    )
    extra_penalties = np.empty(0) if aside is None else np.asarray(aside, dtype=np.float64)
    penalties = np.concatenate([requested_penalties, extra_penalties])
    if not (np.isfinite(penalties) & (penalties >= 0)).all():
        raise ValueError("penalties must be finite and not negative.")
    n_penalties, n_functions = len(penalties), 1 if n_classes == 2 else n_classes
    coefficients = np.zeros((n_penalties, n_functions, X.shape[1]))
    intercepts = np.zeros((n_penalties, n_functions))
    n_passes, has_converged = (
        np.zeros(n_penalties, dtype=np.int64),
        np.zeros(n_penalties, dtype=np.uint8),
    )
    is_used = np.zeros(X.shape[1], dtype=np.uint8)
    is_extra = np.repeat(
        np.array([0, 1], dtype=np.uint8), [len(requested_penalties), len(extra_penalties)]
    )
    kernel_arguments = (
        weights,
        codes,
        n_classes,
        penalties,
        is_extra,
        least_ratio if lambdas is None else 0.0,
        float(l1_ratio),
        bool(standardize),
        float(tolerance),
        int(max_passes),
        coefficients,
        intercepts,
        n_passes,
        has_converged,
        is_used,
    )
    if hasattr(X, "indptr"):
        native_module().logistic_path_sparse(X.data, X.indices, X.indptr, *kernel_arguments)
    else:
        selected_rows = np.empty(0) if rows is None else rows
        native_module().logistic_path_dense(
            X, np.ascontiguousarray(selected_rows, dtype=np.int64), *kernel_arguments
        )
    used_columns = np.flatnonzero(is_used)
    return LogisticPathFit(
        penalties, coefficients, intercepts, n_passes, has_converged.astype(bool), used_columns
    )


def _check(
    X: Any, rows: np.ndarray | None, codes: np.ndarray, weights: np.ndarray, n_classes: int
) -> None:
    """Raise ValueError if the compiled code would read out of bounds or divide by zero."""
    n_rows = X.shape[0]
    if rows is not None:
        if hasattr(X, "indptr") or rows.ndim != 1 or not len(rows):
            raise ValueError("rows are picked out of a dense X, at least one.")
        if not 0 <= rows.min() <= rows.max() < n_rows:
            raise ValueError(f"rows name some outside 0 ... {n_rows - 1}.")
        n_rows = len(rows)
    if codes.shape != (n_rows,) or weights.shape != (n_rows,):
        raise ValueError(
            f"X has {n_rows} rows, with {codes.shape} codes and {weights.shape} weights."
        )
    if n_rows and not (
        weights.min() >= 0 and weights.max() < np.inf
    ):  # NaN weights are refused here as well, since comparisons with NaN are False.
        raise ValueError("weights must be finite and not negative.")
    if n_classes < 2 or not n_rows or not 0 <= codes.min() <= codes.max() < n_classes:
        raise ValueError(f"codes must give each of {n_rows} rows a class below {n_classes}.")
    if (np.bincount(codes, weights=weights, minlength=n_classes) <= 0).any():
        raise ValueError("a class has no weight: there is nothing to fit to.")
