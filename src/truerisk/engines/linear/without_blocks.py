"""Least squares without one or several blocks of rows, many fits at once.

Let Z be the rows (with a column of ones first) and Z_b those of block b. The fit that lacks blocks
B solves (Z'Z − Σ_{b∈B} Z_b'Z_b) β = Z'y − Σ_{b∈B} Z_b'y. A compiled kernel solves all systems of a
penalty in one call. Only well-conditioned systems are answered. The others, and long lists of
penalties, for which one decomposition is faster, are left to `shared_rows.py`. Z is formed for some
rows at a time, so that a tall table is not copied.
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

FEW = 5  # Number of fits. Fewer are answered one by one, which is as fast.
MANY = 300  # Number of penalties times columns. Above it a decomposition of every fit is faster.
CLEAR = 1e4  # condition number up to which rounding stays below 1e-11 of the targets' spread
ALIKE = 1e2  # Largest ratio of the scales of columns if small directions are dropped.
NARROW = 1e-3  # smallest share of a column's variance that is left in a fit
SHARP = 1e-6  # default cut-off of directions with little variance
ROWS = 1 << 16  # number of rows for which Z is formed at a time


def answer_blocks(
    task: Task,
    manner: Manner,
    penalties: np.ndarray,
    single: np.ndarray,
    *,
    standardised: bool = False,
) -> np.ndarray:
    """Answer fits that lack blocks, except those in `single`; return a mask of the answered ones.

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
    constant = spread <= CLEARLY * EPS * np.abs(mean)  # Such columns are constant up to rounding.
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
    # loss of precision in targets that vary less within a fit
    lost = np.maximum(y.std() / scale, 1.0)
    far = float(np.linalg.norm(mean / spread))
    weights, sound = np.broadcast_to(1 / spread**2, (len(fits), len(spread))), np.True_
    if standardised:
        weights = _variances(whole, of_blocks, minus, offsets)
        sound = weights.min(axis=1) > NARROW  # Otherwise a column may be constant up to rounding.
    solved = []
    for penalty in penalties:
        ridge = np.pad(penalty * weights, ((0, 0), (1, 0)))
        beta, condition = solve_without(whole, of_blocks, minus, offsets, ridge)
        # rounding error of the intercept
        doubts = EPS * far * np.linalg.norm(beta[:, 1:], axis=1) / scale
        clear = (condition * lost <= CLEAR) & (doubts <= DOUBT) & sound
        if not clear.any():
            return done
        solved.append((beta, clear))
    done[fits] = np.all([clear for _, clear in solved], axis=0)
    _place(task, coding, done, fits, [beta for beta, _ in solved], rows_of, middle)
    return done


def _target(task: Task) -> tuple[Coding | None, np.ndarray]:
    """Return the coding and a single target per row.

    The coding is None if there are several targets, or if all rows have the same class.
    """
    y = task.data.y if task.data.codes is None else task.data.codes
    coding = Coding.from_data(task.data, task.request.response, y)
    numbers = y[:, None] if coding is None else coding.numbers(y)
    return coding if numbers.shape[1] == 1 and y.ndim == 1 else None, numbers[:, 0]


def _parts(n: int, size: int = ROWS) -> Iterator[slice]:
    """Yield slices of `n` items, `size` at a time."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def _products(
    plan: Plan, fits: np.ndarray, rows_of: Callable[..., np.ndarray], y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (Z'Z, Z'y) of all rows and of each block, and the blocks that every fit lacks."""
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
    """Return the variances of the columns in each fit, (fit, column), from the products of rows."""
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
    """Return the spread of the targets of each fit, bounded below by their size.

    It is computed as in `fit.scales`.
    """
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
    """Store the predictions of the finished fits by position.

    `solved` has one entry per penalty.
    """
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
