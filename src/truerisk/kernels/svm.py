"""Two-class support vector machines on rows of one Gram matrix, all C in one call."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from truerisk.kernels.loading import native

__all__ = ["Machines", "support_vectors"]


@dataclass(frozen=True, eq=False)
class Machines:
    """The solution at every C: the decision value of x is Σ βᵢ k(xᵢ, x) + b, βᵢ = yᵢ αᵢ.

    `violation[c]` is how far the worst pair of rows is from the conditions of the minimum,
    `loose[c]` the width of the range that its intercept may lie in (0 where a row is free),
    `gap[c]` the duality gap as a part of the primal objective, `converged[c]` whether the
    violation is below the tolerance; where it is not, the line is not the solution.
    """

    beta: np.ndarray
    intercept: np.ndarray
    violation: np.ndarray
    loose: np.ndarray
    gap: np.ndarray
    steps: np.ndarray
    converged: np.ndarray


def support_vectors(
    gram: np.ndarray,
    rows: np.ndarray,
    sign: np.ndarray,
    share: np.ndarray,
    Cs: np.ndarray,
    *,
    tolerance: float = 1e-3,
    hopeless: float = np.inf,
    max_steps: int = 10_000_000,
    start: np.ndarray | None = None,
) -> Machines:
    r"""Support vector machines with boxes :math:`0 \le \alpha_i \le C s_i` for every C.

    .. math::
        \min_\alpha \tfrac12 \sum_{ij} y_i y_j \alpha_i \alpha_j K_{ij} - \sum_i \alpha_i
        \quad\text{subject to}\quad \sum_i y_i \alpha_i = 0

    by moves of two rows (sequential minimal optimisation), the second picked by the second-order
    rule of Fan, Chen and Lin (2005), and by moves of all free rows where they are few. Each C
    starts from the solution at the C before it; once no row is at the end of its box the solution
    is the same for every larger C. Without free rows the intercept is the middle of its range.

    Parameters
    ----------
    gram : array of float32, shape (n, n)
        Inner products of all rows, read in place.
    rows : array of int, shape (m,)
        The rows of the fit.
    sign : array, shape (m,)
        +1 or −1, both present.
    share : array, shape (m,)
        Positive; how many times a row counts.
    Cs : array
        Ascending.
    tolerance : float
        On the worst violation of the conditions, libsvm's criterion.
    hopeless : float
        After a C whose violation is above this, larger ones are not tried: their violation is ∞.
    start : array, shape (len(Cs), m), optional
        Solutions to go on from, one for each C.

    Returns
    -------
    Machines

    Raises
    ------
    ValueError
        When a shape or a bound is wrong.
    Refusal
        When the compiled module is missing.
    """
    rows = np.ascontiguousarray(rows, dtype=np.int32)
    sign = np.ascontiguousarray(sign, dtype=np.float64)
    share = np.ascontiguousarray(share, dtype=np.float64)
    Cs = np.ascontiguousarray(Cs, dtype=np.float64)
    _check(gram, rows, sign, share, Cs)
    if not tolerance > 0 or max_steps < 0:
        raise ValueError(f"tolerance={tolerance!r} and max_steps={max_steps!r} end no search.")
    n, m = len(Cs), len(rows)
    beta = np.zeros((n, m)) if start is None else np.array(start, dtype=np.float64, order="C")
    if beta.shape != (n, m):
        raise ValueError(f"start has shape {beta.shape}, not {(n, m)}.")
    found = Machines(
        beta=beta,
        intercept=np.empty(n),
        violation=np.empty(n),
        loose=np.empty(n),
        gap=np.empty(n),
        steps=np.zeros(n, dtype=np.int64),
        converged=np.zeros(n, dtype=np.uint8),
    )
    native().svm_path(
        gram,
        rows,
        sign,
        share,
        Cs,
        float(tolerance),
        float(hopeless),
        int(max_steps),
        start is not None,
        found.beta,
        found.intercept,
        found.violation,
        found.loose,
        found.gap,
        found.steps,
        found.converged,
    )
    return replace(found, converged=found.converged.astype(bool))


def _check(
    gram: np.ndarray,
    rows: np.ndarray,
    sign: np.ndarray,
    share: np.ndarray,
    Cs: np.ndarray,
) -> None:
    """Everything that the kernel would read out of bounds or never end on."""
    n = len(gram)
    if gram.shape != (n, n) or gram.dtype != np.float32 or not gram.flags.c_contiguous:
        raise ValueError("the Gram matrix must be square, in single precision, in C order.")
    if rows.ndim != 1 or sign.shape != rows.shape or share.shape != rows.shape:
        raise ValueError(f"{rows.shape} rows, {sign.shape} signs and {share.shape} shares.")
    if not len(rows) or not 0 <= rows.min() <= rows.max() < n:
        raise ValueError(f"rows name some outside 0 ... {n - 1}, or none.")
    if set(np.unique(sign)) != {-1.0, 1.0}:
        raise ValueError("signs must be +1 and -1, and both occur.")
    if not (np.isfinite(share).all() and (share > 0).all()):
        raise ValueError("shares must be finite and positive.")
    if Cs.ndim != 1 or not (np.isfinite(Cs).all() and (Cs > 0).all() and (np.diff(Cs) >= 0).all()):
        raise ValueError("C must be finite, positive and ascending.")
