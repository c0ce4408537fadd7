"""Least squares without one or several blocks of rows, many fits at once.

With Z the rows (a column of ones first) and Z_b those of block b, the fit that lacks blocks B
solves (Z'Z − Σ_{b∈B} Z_b'Z_b) β = Z'y − Σ_{b∈B} Z_b'y. A kernel solves all systems in one call,
penalty by penalty. Only well conditioned ones are answered; the others, and long lists of
penalties, which one decomposition serves sooner, are left to `shared_rows.py`. Z is made of some
rows at a time: there is no copy of a tall table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from truerisk.engines.linear.fit import DOUBT, Coding, Manner
from truerisk.engines.linear.normal_equations import answers_of, solve_without
from truerisk.engines.templates.fits_of_one_table import lacking_blocks
from truerisk.engines.templates.task import Task
from truerisk.kernels import why_not
from truerisk.kernels.spectral import CLEARLY, EPS
from truerisk.plan.plan import Plan

FEW = 5  # fits; fewer are answered one by one, which is as fast
MANY = 300  # penalties times columns; above it a decomposition of every fit is faster
CLEAR = 1e4  # condition number up to which rounding stays below 1e-11 of the targets' spread
ALIKE = 1e2  # how far scales of columns may differ where small directions are dropped
NARROW = 1e-3  # share of a column's variance that is left in a fit
SHARP = 1e-6  # the usual cut-off of directions
ROWS = 1 << 16  # of which Z is made at a time


def answer_blocks(
    task: Task,
    manner: Manner,
    penalties: np.ndarray,
    single: np.ndarray,
    *,
    standardised: bool = False,
) -> np.ndarray:
    """Which fits were answered; none of those in `single`.

    With `standardised` each fit scales its columns to variance 1 before they are penalised.
    """
    plan, coding, y = task.plan, *_target(task)
    done = np.zeros(plan.n_fits, dtype=bool)
    fits = lacking_blocks(plan, ~single)
    plain = not plan.needs and task.weights is None
    sharp = manner.penalised or manner.cutoff <= SHARP
    if len(fits) < FEW or len(penalties) * task.X.shape[1] > MANY or task.run.only is not None:
        return done
    if coding is None or not (plain and sharp and manner.intercept):
        return done
    mean, X = task.X.mean(axis=0), task.X
    squares = sum(((X[part] - mean) ** 2).sum(axis=0) for part in _parts(plan.n_rows))
    spread = np.sqrt(squares / plan.n_rows)
    constant = spread <= CLEARLY * EPS * np.abs(mean)  # but for rounding
    if constant.any() or (not manner.penalised and spread.max() > ALIKE * spread.min()):
        return done
    if plan.train_sizes[fits].min() <= task.X.shape[1] + 1:
        return done
    if (reason := why_not()) is not None:
        note = f"Fits that lack blocks of rows were made one by one: {reason}."
        task.collected.notes.append(note)
        return done
    middle = float(y.mean())

    def rows_of(rows: np.ndarray | slice) -> np.ndarray:
        """Rows of Z."""
        scaled = (X[rows] - mean) / spread
        return np.concatenate([np.ones((*scaled.shape[:-1], 1)), scaled], axis=-1)

    whole, of_blocks, minus, offsets = _products(plan, fits, rows_of, y - middle)
    scale = _scales(plan, fits, y, middle)
    lost = np.maximum(y.std() / scale, 1.0)  # digits of targets that a fit does not see
    far = float(np.linalg.norm(mean / spread))
    weights, sound = np.broadcast_to(1 / spread**2, (len(fits), len(spread))), np.True_
    if standardised:
        weights = _variances(whole, of_blocks, minus, offsets)
        sound = weights.min(axis=1) > NARROW  # else a column may be constant but for rounding
    solved = []
    for penalty in penalties:
        ridge = np.pad(penalty * weights, ((0, 0), (1, 0)))
        beta, condition = solve_without(whole, of_blocks, minus, offsets, ridge)
        doubts = EPS * far * np.linalg.norm(beta[:, 1:], axis=1) / scale  # an intercept's rounding
        clear = (condition * lost <= CLEAR) & (doubts <= DOUBT) & sound
        if not clear.any():
            return done
        solved.append((beta, clear))
    done[fits] = np.all([clear for _, clear in solved], axis=0)
    _place(task, coding, done, fits, [beta for beta, _ in solved], rows_of, middle)
    return done


def _target(task: Task) -> tuple[Coding | None, np.ndarray]:
    """The one number that each row says; no coding where it says several, or all say the same."""
    y = task.data.y if task.data.codes is None else task.data.codes
    coding = Coding.of(task.data, task.request.response, y)
    numbers = y[:, None] if coding is None else coding.numbers(y)
    return coding if numbers.shape[1] == 1 and y.ndim == 1 else None, numbers[:, 0]


def _parts(n: int, size: int = ROWS) -> Iterator[slice]:
    """Of `n` things, so many at a time."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def _products(
    plan: Plan, fits: np.ndarray, rows_of: Callable[..., np.ndarray], y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Z'Z and Z'y side by side, of all rows and of each block; which blocks every fit lacks."""
    sets = plan.train.take(fits)
    used, place = np.unique(sets.minus, return_inverse=True)

    def product(rows: np.ndarray | slice) -> np.ndarray:
        Z = rows_of(rows)
        return Z.swapaxes(-1, -2) @ np.concatenate([Z, y[rows][..., None]], axis=-1)

    whole = np.sum([product(part) for part in _parts(plan.n_rows)], axis=0)
    of_blocks = np.zeros((len(used), *whole.shape))
    for size in np.unique(plan.blocks.sizes[used]):
        at = np.flatnonzero(plan.blocks.sizes[used] == size)
        rows = plan.blocks.rows[plan.blocks.offsets[used[at], None] + np.arange(size)]
        for part in _parts(size, max(1, ROWS // len(at))):
            of_blocks[at] += product(rows[:, part])
    return whole, of_blocks, place.ravel(), sets.offsets


def _variances(
    whole: np.ndarray, of_blocks: np.ndarray, minus: np.ndarray, offsets: np.ndarray
) -> np.ndarray:
    """Of the columns in the rows of every fit, (fit, column), from the products of rows."""
    lacking = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    moments = []
    for every, each in (
        (whole[0, :-1], of_blocks[:, 0, :-1]),
        (whole.diagonal(), np.diagonal(of_blocks, axis1=1, axis2=2)),
    ):
        lost = np.zeros((len(offsets) - 1, len(every)))
        np.add.at(lost, lacking, each[minus])
        moments.append(every - lost)
    first, second = moments
    variances: np.ndarray = second / first[:, :1] - (first / first[:, :1]) ** 2
    return variances[:, 1:]


def _scales(plan: Plan, fits: np.ndarray, y: np.ndarray, middle: float) -> np.ndarray:
    """The spread of the targets of every fit, never far below their size (`linear_fit.scales`)."""
    sets, moved = plan.train.take(fits), y - middle
    block = np.repeat(np.arange(len(plan.blocks)), plan.blocks.sizes)
    lacking = np.repeat(np.arange(len(fits)), np.diff(sets.offsets))
    n, first, second = (
        power.sum()
        - np.bincount(lacking, np.bincount(block, power[plan.blocks.rows])[sets.minus], len(fits))
        for power in (np.ones(len(y)), moved, moved**2)
    )
    mean = first / n
    scale = np.sqrt(np.maximum(second / n - mean**2, 0.0)) + 1e-6 * np.abs(mean + middle)
    return np.where(scale > 0, scale, 1.0)


def _place(
    task: Task,
    coding: Coding,
    done: np.ndarray,
    fits: np.ndarray,
    solved: list[np.ndarray],
    rows_of: Callable[..., np.ndarray],
    middle: float,
) -> None:
    """The answers of the fits that are done, position by position; `solved`: by penalty."""
    plan = task.plan
    rows, _ = plan.positions
    number = np.zeros(plan.n_fits, dtype=np.int64)
    number[fits] = np.arange(len(fits))
    lines = np.arange(len(task.collected.values))[task.lines_of(task.group)]
    for part in _parts(len(rows)):
        at = np.arange(part.start, part.stop)
        fit = plan.fit[np.searchsorted(plan.test_offsets, at, side="right") - 1]
        at, fit = at[done[fit]], fit[done[fit]]
        Z, every = rows_of(rows[at]), np.arange(len(at), dtype=np.int32)
        for line, beta in zip(lines, solved, strict=True):
            numbers = answers_of(Z, every, beta, number[fit]) + middle
            answers, tied = coding.answers(numbers[None, :, None])
            task.collected.values[line, at] = answers[0]
            for tied_fit in np.unique(fit[tied[0]]):
                task.leave_open(tied_fit, [line])
