"""Where SciPy's L-BFGS-B stops on penalised logistic regression, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.kernels import native

WAYS = 2  # as the numbers are, and with noise of the size of rounding in every sum


@dataclass(frozen=True, eq=False)
class Stops:
    """Where the solver ends at each penalty, on two ways that only rounding tells apart.

    `coefficients` (penalty, way, f, p) and `intercepts` (penalty, way, f): f is 1 for two classes
    (the second against the first), else the number of classes. `settled` says where both ways
    converged after the same number of `iterations` (penalty), and no test was met by a hair. What
    the two ends differ by is what rounding has grown to; `rough` is how far a linear predictor may
    be off where a step was interpolated from values that are nearly equal.
    """

    coefficients: np.ndarray
    intercepts: np.ndarray
    iterations: np.ndarray
    settled: np.ndarray
    rough: np.ndarray


def logistic_lbfgs(
    X: np.ndarray,
    rows: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    *,
    n_classes: int,
    penalties: np.ndarray,
    tolerance: float,
    most: int,
    directions: np.ndarray | None = None,
    size_of_columns: float = 0.0,
) -> Stops:
    r"""Follow the solver at every penalty λ, from 0, to where it stops.

    .. math:: \sum_i \tilde w_i\,\ell_i + \lambda|\beta|^2/2

    with weights :math:`\tilde w` that add up to one; the intercept is not penalised. On the second
    way every sum has noise of the size of its rounding; it goes beside the first, and all penalties
    together, so that the rows are read once per evaluation of all.

    Parameters
    ----------
    X : array, shape (n, p)
        Doubles, by rows or by columns; `rows` are picked out of it (some may come again).
    codes, weights : arrays, shape (len(rows),)
        Classes 0 ... n_classes − 1 of these rows, each with a positive weight in all.
    tolerance : float
        Of the largest component of the gradient.
    most : int
        Iterations after which it is given up.
    directions : array, shape (columns, p − 1), optional
        Where X are turned rows: what its columns but the last, which is 0, are in those of the
        table as it was, whose gradient the solver looks at. They are orthonormal.
    size_of_columns : float
        The length of the largest cells of those columns: how large rounding is there.

    Raises
    ------
    ValueError
        When a shape or a bound is wrong.
    Refusal
        When the compiled module is missing.
    """
    X = np.asarray(X, dtype=np.float64)
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    penalties = np.ascontiguousarray(penalties, dtype=np.float64)
    _check(X, rows, codes, weights, n_classes)
    turn = np.zeros((0, 0)) if directions is None else np.ascontiguousarray(directions)
    if turn.ndim != 2 or (len(turn) and turn.shape[1] != X.shape[1] - 1):
        raise ValueError(f"directions of shape {turn.shape} do not turn {X.shape[1]} columns.")
    functions, p, n = 1 if n_classes == 2 else n_classes, X.shape[1], len(penalties)
    ends = np.zeros((n, WAYS, functions * (p + 1)))
    iterations = np.zeros(n, dtype=np.int64)
    settled, rough = np.zeros(n, dtype=np.uint8), np.zeros(n)
    native().logistic_lbfgs(
        X,
        rows,
        weights,
        codes,
        int(n_classes),
        penalties,
        float(tolerance),
        int(most),
        turn,
        float(size_of_columns),
        ends,
        iterations,
        settled,
        rough,
    )
    ends = ends.reshape(n, WAYS, functions, p + 1)
    return Stops(ends[..., :p], ends[..., p], iterations, settled.astype(bool), rough)


def _check(
    X: np.ndarray, rows: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int
) -> None:
    """Everything that the kernel would read out of bounds or divide by."""
    if rows.ndim != 1 or not len(rows) or not 0 <= rows.min() <= rows.max() < X.shape[0]:
        raise ValueError(f"rows are at least one and below {X.shape[0]}.")
    if codes.shape != rows.shape or weights.shape != rows.shape:
        raise ValueError(f"{len(rows)} rows have {codes.shape} codes and {weights.shape} weights.")
    if not (weights.min() >= 0 and weights.max() < np.inf):  # NaN is neither
        raise ValueError("weights must be finite and not negative.")
    if n_classes < 2 or not 0 <= codes.min() <= codes.max() < n_classes:
        raise ValueError(f"codes must give each row a class below {n_classes}.")
    if (np.bincount(codes, weights=weights, minlength=n_classes) <= 0).any():
        raise ValueError("a class has no weight: there is nothing to fit to.")
