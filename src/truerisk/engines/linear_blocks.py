"""Least squares without one or several blocks of rows, hundreds of fits at once.

With Z the rows (a column of ones first) and Z_b those of block b, the fit that lacks blocks B
solves (Z'Z − Σ_{b∈B} Z_b'Z_b) β = Z'y − Σ_{b∈B} Z_b'y. All systems are inverted in one call.
Only well conditioned ones are answered; the others are left to `linear_table.py`.
"""

from __future__ import annotations

import numpy as np

from truerisk.core.coding import ALL, covered
from truerisk.core.plan import Plan
from truerisk.engines.linear_fit import Manner
from truerisk.engines.one_pass import Task

__all__ = ["FEW", "answer_blocks"]

FEW = 100  # fits; fewer are answered one by one, which is as fast
CLEAR = 1e4  # condition number up to which rounding stays below 1e-11 of the targets' spread
ALIKE = 1e2  # how far scales of columns may differ where small directions are dropped
SHARP = 1e-6  # the usual cut-off of directions
CELLS = 1 << 22  # of a block of answers


def answer_blocks(
    task: Task, manner: Manner, penalties: np.ndarray, single: np.ndarray
) -> np.ndarray:
    """Which fits were answered; none of those in `single`."""
    plan = task.plan
    done = np.zeros(plan.n_fits, dtype=bool)
    fits = _fits(plan, single)
    if len(fits) < FEW or not _serves(task, manner):
        return done
    assert task.X is not None
    mean, spread = task.X.mean(axis=0), task.X.std(axis=0)
    if not spread.all() or (not manner.penalised and spread.max() > ALIKE * spread.min()):
        return done
    if plan.train_sizes[fits].min() <= task.X.shape[1] + 1:
        return done
    Z = np.column_stack([np.ones(plan.n_rows), (task.X - mean) / spread])
    middle = float(task.data.y.mean())
    products, right = _left(plan, fits, Z, task.data.y - middle)
    lines = np.arange(len(task.values))[task.lines_of(task.group)]
    solved = []
    for penalty in penalties:
        shrunk = products + np.diag(np.append(0.0, penalty / spread**2))
        beta, clear = _solved(shrunk, right)
        if not clear.any():
            return done
        solved.append((beta, clear))
    done[fits] = np.all([clear for _, clear in solved], axis=0)
    for line, (beta, _) in zip(lines, solved, strict=True):
        _place(task, line, done, fits, beta, Z, middle)
    return done


def _fits(plan: Plan, single: np.ndarray) -> np.ndarray:
    """Fits on all rows but some blocks that share no row."""
    lacking = np.diff(plan.train.offsets)
    fits = np.flatnonzero((plan.train.base == ALL) & (lacking > 0) & ~single)
    if plan.blocks.counts is not None or not len(fits):
        return fits[:0]
    apart: np.ndarray = covered(plan.n_rows, plan.blocks, plan.train, fits) == _sums(plan, fits)
    found: np.ndarray = fits[apart]
    return found


def _sums(plan: Plan, fits: np.ndarray) -> np.ndarray:
    """How many rows the blocks of each fit have together."""
    total = np.concatenate([[0], np.cumsum(plan.blocks.sizes[plan.train.minus])])
    found: np.ndarray = total[plan.train.offsets[fits + 1]] - total[plan.train.offsets[fits]]
    return found


def _serves(task: Task, manner: Manner) -> bool:
    """Whether the plain case is at hand: numbers, no weights, all candidates, an intercept."""
    plan, data = task.plan, task.data
    plain = plan.flips is None and plan.freedom is None and plan.rules is None
    numbers = data.classes is None and data.y.ndim == 1 and task.weights is None
    sharp = manner.penalised or manner.cutoff <= SHARP
    return plain and numbers and sharp and manner.intercept and task.run.only is None


def _left(
    plan: Plan, fits: np.ndarray, Z: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Products Z'Z and Z'y of every fit: those of all rows less those of its blocks."""
    sets = plan.train.take(fits)
    used, place = np.unique(sets.minus, return_inverse=True)
    of_blocks = np.empty((len(used), Z.shape[1], Z.shape[1] + 1))
    both = np.column_stack([Z, y])
    for size in np.unique(plan.blocks.sizes[used]):
        at = np.flatnonzero(plan.blocks.sizes[used] == size)
        rows = plan.blocks.rows[plan.blocks.offsets[used[at], None] + np.arange(size)]
        of_blocks[at] = Z[rows].transpose(0, 2, 1) @ both[rows]
    left = np.repeat((Z.T @ both)[None], len(fits), axis=0)
    lacking = np.diff(sets.offsets)
    for nth in range(int(lacking.max())):  # the nth block of all fits that lack so many
        some = np.flatnonzero(lacking > nth)
        left[some] -= of_blocks[place.ravel()[sets.offsets[some] + nth]]
    return left[:, :, :-1], left[:, :, -1]


def _solved(products: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of every fit, and whether its system is well conditioned."""
    try:
        inverse = np.linalg.inv(products)
    except np.linalg.LinAlgError:
        return right, np.zeros(len(right), dtype=bool)
    sizes = np.linalg.norm(products, axis=(1, 2)) * np.linalg.norm(inverse, axis=(1, 2))
    beta: np.ndarray = (inverse @ right[:, :, None])[:, :, 0]
    clear: np.ndarray = np.isfinite(sizes) & (sizes <= CLEAR)
    return beta, clear


def _place(
    task: Task,
    line: int,
    done: np.ndarray,
    fits: np.ndarray,
    beta: np.ndarray,
    Z: np.ndarray,
    middle: float,
) -> None:
    """The answers of the fits that are done, position by position."""
    plan = task.plan
    rows, _ = plan.positions
    of_fit = np.repeat(plan.fit, plan.test_sizes)
    number = np.zeros(plan.n_fits, dtype=np.int64)
    number[fits] = np.arange(len(fits))
    where = np.flatnonzero(done[of_fit])
    step = max(1, CELLS // Z.shape[1])
    for first in range(0, len(where), step):
        some = where[first : first + step]
        found = np.einsum("pj,pj->p", Z[rows[some]], beta[number[of_fit[some]]])
        task.values[line, some] = found + middle
