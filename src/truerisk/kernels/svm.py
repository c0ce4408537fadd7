"""Two-class support vector machines on rows of one Gram matrix, all C in one call."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from truerisk.kernels.loading import native

__all__ = ["Machines", "support_vectors", "support_vectors_of_each"]


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
    m = len(rows)
    given = None if start is None else np.array(start, dtype=np.float64, order="C")
    if given is not None and given.shape != (len(Cs), m):
        raise ValueError(f"start has shape {given.shape}, not {(len(Cs), m)}.")
    found = support_vectors_of_each(
        gram,
        rows,
        np.array([0, m]),
        sign,
        share,
        Cs,
        tolerance=tolerance,
        hopeless=hopeless,
        max_steps=max_steps,
        start=None if given is None else given.ravel(),
    )
    of_one = {name: getattr(found, name)[0] for name in OF_EACH}
    return Machines(found.beta.reshape(len(Cs), m), **of_one)


def support_vectors_of_each(
    gram: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    sign: np.ndarray,
    share: np.ndarray,
    Cs: np.ndarray,
    *,
    tolerance: float = 1e-3,
    hopeless: float = np.inf,
    max_steps: int | np.ndarray = 10_000_000,
    start: np.ndarray | None = None,
) -> Machines:
    """The same for many problems in one call: p has rows `starts[p]` to `starts[p + 1]`.

    `beta` (and `start`) are flat: of problem p the slice from `len(Cs) * starts[p]` on, in the
    shape (len(Cs), m). All other results have a line for each problem.
    """
    rows = np.ascontiguousarray(rows, dtype=np.int32)
    starts = np.ascontiguousarray(starts, dtype=np.int64)
    sign = np.ascontiguousarray(sign, dtype=np.float64)
    share = np.ascontiguousarray(share, dtype=np.float64)
    Cs = np.ascontiguousarray(Cs, dtype=np.float64)
    _check(gram, rows, starts, sign, share, Cs)
    shape = len(starts) - 1, len(Cs)
    steps = np.ascontiguousarray(np.broadcast_to(max_steps, shape[:1]), dtype=np.int64)
    if not tolerance > 0 or (steps < 0).any():
        raise ValueError(f"tolerance={tolerance!r} and max_steps={max_steps!r} end no search.")
    beta = np.zeros(len(Cs) * len(rows)) if start is None else start
    if beta.shape != (len(Cs) * len(rows),):
        raise ValueError(f"start has shape {beta.shape}, not {(len(Cs) * len(rows),)}.")
    found = Machines(
        beta=beta,
        intercept=np.empty(shape),
        violation=np.empty(shape),
        loose=np.empty(shape),
        gap=np.empty(shape),
        steps=np.zeros(shape, dtype=np.int64),
        converged=np.zeros(shape, dtype=np.uint8),
    )
    native().svm_paths(
        gram,
        rows,
        starts,
        sign,
        share,
        Cs,
        float(tolerance),
        float(hopeless),
        steps,
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


OF_EACH = ("intercept", "violation", "loose", "gap", "steps", "converged")


def _check(
    gram: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
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
    if len(starts) < 2 or starts[0] != 0 or starts[-1] != len(rows) or (np.diff(starts) < 1).any():
        raise ValueError(f"problems do not cover the {len(rows)} rows one after the other.")
    least, most = (of.reduceat(sign, starts[:-1]) for of in (np.minimum, np.maximum))
    if not ((np.abs(sign) == 1).all() and (least == -1).all() and (most == 1).all()):
        raise ValueError("signs must be +1 and -1, and both occur.")
    if not (np.isfinite(share).all() and (share > 0).all()):
        raise ValueError("shares must be finite and positive.")
    if Cs.ndim != 1 or not (np.isfinite(Cs).all() and (Cs > 0).all() and (np.diff(Cs) >= 0).all()):
        raise ValueError("C must be finite, positive and ascending.")
