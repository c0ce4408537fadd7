"""How much the losses of rows depend on which training rows their models saw."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from truerisk.plan.plan import Plan
from truerisk.results.evaluation import AT_ONCE, Shaken

LEAST = 0.6  # of 1/K of the training rows: below, a learner may look stable that was left alone


def instabilities(
    losses: np.ndarray,
    means: np.ndarray,
    shares: np.ndarray,
    plan: Plan,
) -> np.ndarray | None:
    """The instability of every candidate; None where the drawings of the folds show none.

    `means` are those of the tested rows, ascending. There must be two drawings that test every
    row, and training sets must change from one to the next.
    """
    n = means.shape[1]
    order = np.argsort(plan.positions[0], kind="stable")
    times = len(order) // n
    if times < 2 or (np.bincount(plan.positions[0])[plan.positions[0]] != times).any():
        return None
    question = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
    if exchanged(question[order].reshape(n, times).T) < LEAST:
        return None
    row_of = np.empty(len(order), dtype=np.int64)
    row_of[order] = np.repeat(np.arange(n), times)
    return instability(losses, means, shares, row_of)


def instability(
    losses: np.ndarray, means: np.ndarray, shares: np.ndarray, row_of: np.ndarray
) -> np.ndarray:
    """For each candidate the share of the variance of a loss that is variance within a row.

    `losses` are those of all tests, `(n_candidates, n_tests)`, `row_of` the place of their row
    among the columns of `means`, whose weights `shares` add to 1. Every row is tested equally
    often, at least twice. A learner that says the same of a row whatever the folds has 0; one
    whose errors move from row to row with every drawing has 1. One minus it is the intraclass
    correlation. NaN for a candidate without losses.

    >>> twice = np.array([0, 1, 2, 3, 0, 1, 2, 3])  # two errors in each of two repetitions
    >>> still = np.array([[1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0, 1, 1.0]])
    >>> means = (still[:, :4] + still[:, 4:]) / 2
    >>> instability(still, means, np.full(4, 0.25), twice).tolist()
    [0.0, 1.0]
    """
    times = losses.shape[1] // means.shape[1]
    within = np.empty(len(losses))
    for c, (line, of_rows) in enumerate(zip(losses, means, strict=True)):
        squares = np.bincount(row_of, (line - of_rows[row_of]) ** 2, means.shape[1])
        within[c] = squares @ shares / (times - 1)
    centred = means - (means @ shares)[:, None]
    lost = 1 - shares @ shares  # 1 − 1/n with equal weights: the mean is that of the rows
    of_means = centred**2 @ shares / (lost if lost > 0 else 1.0)
    whole = of_means + within * (1 - 1 / times)  # means of rows have within/times of it already
    share = np.where(np.isnan(whole), np.nan, 0.0)
    np.divide(within, whole, out=share, where=whole > 0)
    return np.clip(share, 0.0, 1.0, out=share)


def exchanged(labels: np.ndarray) -> float:
    """How much a row's training set changes from one drawing to the next, times the folds' number.

    `labels` has a line of fold numbers for each drawing. About 1 for large folds that are drawn
    anew, less for small ones, since a row is always in its own fold: 1 − 1/m for folds of m rows,
    or of m groups that stay together. 0 where the folds stay. Below `LEAST` nothing shows how a
    learner changes with its training rows.

    >>> rows = np.arange(4000)
    >>> exchanged(np.array([rows % 4, rows % 4])), exchanged(np.array([rows, rows[::-1]]))
    (0.0, 0.0)
    >>> round(exchanged(np.array([rows % 4, rows // 4 % 4])), 2)
    1.0
    """
    n = labels.shape[1]
    sizes = np.array([_sizes(line) for line in labels])
    both = np.array([_sizes(a * (int(b.max()) + 1) + b) for a, b in pairwise(labels)])
    gone, trained = sizes[1:] - both, n - sizes[:-1]
    k = (1 / sizes).sum(axis=1).mean()  # each fold adds 1
    return float(gone.sum() / trained.sum() * k)


def _sizes(labels: np.ndarray) -> np.ndarray:
    """For each row the number of rows with its label."""
    _, member, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return sizes[member.ravel()]


def instability_of_pairs(
    shaken: Shaken,
    residuals: np.ndarray,
    weights: np.ndarray,
    rows: np.ndarray,
    groups: np.ndarray | None,
) -> np.ndarray | None:
    """U = W/(Σ φ² + W), a number for each candidate; None where a group is in several folds.

    φ of a row is its `residuals`, loss minus risk, times its share in the `weights`, which belong
    to `rows` in ascending order; the rows of a group are added up. W adds the variances of φ over
    the models that lack a further fold. Nothing moves: 0; losses that move as much as they differ
    from row to row: ½.

    >>> rows = np.array([0, 0, 1, 1])
    >>> moved = Shaken(rows, np.array([1, 2, 0, 2]), np.array([[0.0, 1.0, 1.0, 1.0]]))
    >>> instability_of_pairs(moved, np.array([[-0.5, 0.5]]), np.full(2, 0.5), np.arange(2), None)
    array([0.5])
    """
    member = np.arange(len(rows)) if groups is None else _numbered(groups)
    shape = int(member.max()) + 1, int(shaken.other.max()) + 1
    seen, sums = np.zeros(shape, dtype=bool), np.zeros((len(shaken.losses), *shape))
    for part, place in shaken.parts(rows):  # K - 1 tests of each row: never all at once
        cell = member[place] * shape[1] + shaken.other[part]
        seen.ravel()[cell] = True
        for line, losses in zip(sums, shaken.losses, strict=True):
            np.add.at(line.ravel(), cell, losses[part] * weights[place])
    times = seen.sum(axis=1)
    if np.ptp(times) or times[0] < 2:
        return None
    step = 1 + AT_ONCE // shape[1]
    moved = np.empty((len(residuals), shape[0]))
    for start in range(0, shape[0], step):
        part = slice(start, start + step)
        for c, line in enumerate(sums):
            tests = line[part][seen[part]].reshape(-1, times[0])
            moved[c, part] = tests.var(axis=1, ddof=1)
    within = moved.sum(axis=1)
    influence = residuals * weights
    if groups is not None:
        influence = np.array([np.bincount(member, line) for line in influence])
    whole = (influence**2).sum(axis=1) + within
    share = np.where(np.isnan(whole), np.nan, 0.0)
    return np.divide(within, whole, out=share, where=whole > 0)


def _numbered(groups: np.ndarray) -> np.ndarray:
    numbers: np.ndarray = np.unique(groups, return_inverse=True)[1].ravel()
    return numbers
