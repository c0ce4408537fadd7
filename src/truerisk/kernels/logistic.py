"""The path of L1, elastic-net and ridge logistic regression, for all penalties in one call."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.kernels import native


@frozen(eq=False)
class Solutions:
    """The minimiser at every λ.

    `coefficients` (λ, f, p) and `intercepts` (λ, f) are in the units of X, where f is 1 for two
    classes (the second against the first), else the number of classes. `passes[l]` is the number of
    passes over the coefficients at λ number l. `converged[l]` is False if `max_passes` ended the
    iteration, in which case the line is not the minimiser. `used` are the columns with a nonzero
    coefficient at some λ.
    """

    lambdas: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    passes: np.ndarray
    converged: np.ndarray
    used: np.ndarray


def column_major(X: Any) -> Any:
    """Return X as the kernel reads it: column-major doubles or CSC; not copied if it is that."""
    if hasattr(X, "tocsc"):
        columns = X.tocsc()
        if columns.dtype != np.float64:
            columns = columns.astype(np.float64)
        if not columns.has_canonical_format:
            columns = columns.copy()
            columns.sum_duplicates()
        return columns
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
) -> Solutions:
    r"""Return the minimiser of a penalised negative log-likelihood at every λ.

    .. math::
        \sum_i \tilde w_i\,\ell_i + \lambda(\alpha|\beta|_1 + (1-\alpha)|\beta|^2/2)

    The weights :math:`\tilde w` add up to one, :math:`\ell_i` is the negative log-likelihood of
    row i, the intercept is not penalised; with `standardize` the penalty is on the coefficients of
    columns of (weighted) variance one. Rows of weight 0 are not in the fit.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, p)
        Read in place if column-major doubles (`column_major`) or canonical CSC.
    codes : array of int, shape (m,)
        Classes 0 ... n_classes − 1 of the rows of the fit; every one has positive weight.
    weights : array, shape (m,)
    rows : array of int, shape (m,), optional
        The rows of the fit, picked out of a dense X (some may come again). The answers are those
        for `X[rows]`, to the bit.
    lambdas : array or None
        Penalties in any order; None: `n_lambdas` in equal ratios from the largest λ with a
        coefficient that is not zero down to that times `least_ratio`.
    aside : array, optional
        More penalties, after the others in the result, that do not lead on to smaller ones: the
        solutions at `lambdas` are the same with and without them.
    tolerance : float
        A Newton step that moves the predictor by less (its curvature-weighted mean square against
        the deviance of the fit without coefficients) is the last.

    Returns
    -------
    Solutions

    Raises
    ------
    ValueError
        When a shape or a bound is wrong.
    Refusal
        When the compiled module is missing.
    """
    X = column_major(X)
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    _check(X, rows, codes, weights, n_classes)
    if not 0.0 <= l1_ratio <= 1.0:
        raise ValueError(f"l1_ratio={l1_ratio!r} is no number from 0 to 1.")
    main = np.zeros(n_lambdas) if lambdas is None else np.asarray(lambdas, dtype=np.float64)
    more = np.empty(0) if aside is None else np.asarray(aside, dtype=np.float64)
    penalties = np.concatenate([main, more])
    if not (np.isfinite(penalties) & (penalties >= 0)).all():
        raise ValueError("penalties must be finite and not negative.")
    n, fitted = len(penalties), 1 if n_classes == 2 else n_classes
    coefficients = np.zeros((n, fitted, X.shape[1]))
    intercepts = np.zeros((n, fitted))
    passes, converged = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.uint8)
    used = np.zeros(X.shape[1], dtype=np.uint8)
    is_aside = np.repeat(np.array([0, 1], dtype=np.uint8), [len(main), len(more)])
    given = (
        weights,
        codes,
        n_classes,
        penalties,
        is_aside,
        least_ratio if lambdas is None else 0.0,
        float(l1_ratio),
        bool(standardize),
        float(tolerance),
        int(max_passes),
        coefficients,
        intercepts,
        passes,
        converged,
        used,
    )
    if hasattr(X, "indptr"):
        native().logistic_path_sparse(X.data, X.indices, X.indptr, *given)
    else:
        picked = np.empty(0) if rows is None else rows
        native().logistic_path_dense(X, np.ascontiguousarray(picked, dtype=np.int64), *given)
    where = np.flatnonzero(used)
    return Solutions(penalties, coefficients, intercepts, passes, converged.astype(bool), where)


def _check(
    X: Any, rows: np.ndarray | None, codes: np.ndarray, weights: np.ndarray, n_classes: int
) -> None:
    """Raise if the kernel would read out of bounds or divide by zero."""
    n = X.shape[0]
    if rows is not None:
        if hasattr(X, "indptr") or rows.ndim != 1 or not len(rows):
            raise ValueError("rows are picked out of a dense X, at least one.")
        if not 0 <= rows.min() <= rows.max() < n:
            raise ValueError(f"rows name some outside 0 ... {n - 1}.")
        n = len(rows)
    if codes.shape != (n,) or weights.shape != (n,):
        raise ValueError(f"X has {n} rows, with {codes.shape} codes and {weights.shape} weights.")
    if n and not (weights.min() >= 0 and weights.max() < np.inf):  # NaN is neither
        raise ValueError("weights must be finite and not negative.")
    if n_classes < 2 or not n or not 0 <= codes.min() <= codes.max() < n_classes:
        raise ValueError(f"codes must give each of {n} rows a class below {n_classes}.")
    if (np.bincount(codes, weights=weights, minlength=n_classes) <= 0).any():
        raise ValueError("a class has no weight: there is nothing to fit to.")
