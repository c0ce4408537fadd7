"""Measures of how much the losses of rows depend on the training rows of their models."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from truerisk.plan.plan import Plan
from truerisk.results.evaluation import AT_ONCE, LeftTwoOut

# relative to 1/K of the training rows: below it, a learner may look stable only because its
# training sets hardly changed
LEAST = 0.6


def instabilities(
    losses: np.ndarray,
    means: np.ndarray,
    shares: np.ndarray,
    plan: Plan,
) -> np.ndarray | None:
    """Return the instability of every candidate, or None if the drawings of the folds show none.

    `means` are the mean losses of the tested rows, in ascending order. There must be at least two
    drawings that test every row, and training sets must change from one to the next.
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
    """Return for each candidate the share of a loss's variance that is variance within a row.

    `losses` are those of all tests, `(n_candidates, n_tests)`. `row_of` is the place of their row
    among the columns of `means`, whose weights `shares` sum to 1. Every row is tested equally
    often, at least twice. A learner that predicts the same for a row whatever the folds has
    instability 0; one whose errors move from row to row with every drawing has 1. One minus the
    instability is the intraclass correlation. It is NaN for a candidate without losses.

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
    # 1 − 1/n for equal weights, since the mean is estimated from the rows
    lost = 1 - shares @ shares
    of_means = centred**2 @ shares / (lost if lost > 0 else 1.0)
    whole = of_means + within * (1 - 1 / times)  # Means of rows already contain within/times.
    share = np.where(np.isnan(whole), np.nan, 0.0)
    np.divide(within, whole, out=share, where=whole > 0)
    return np.clip(share, 0.0, 1.0, out=share)


def exchanged(labels: np.ndarray) -> float:
    """Return how much a row's training set changes between drawings, times the number of folds.

    `labels` has a row of fold numbers for each drawing. The result is about 1 for large folds that
    are drawn anew, and smaller for small folds, because a row is always in its own fold: 1 − 1/m
    for folds of m rows, or of m groups that stay together. It is 0 if the folds do not change.
    Below `LEAST`, the losses do not show how a learner changes with its training rows.

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
    k = (1 / sizes).sum(axis=1).mean()  # each fold contributes 1
    return float(gone.sum() / trained.sum() * k)


def _sizes(labels: np.ndarray) -> np.ndarray:
    """Return for each row the number of rows with its label."""
    _, member, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return sizes[member.ravel()]


def instability_of_pairs(
    left_two_out: LeftTwoOut,
    residuals: np.ndarray,
    weights: np.ndarray,
    rows: np.ndarray,
    groups: np.ndarray | None,
) -> np.ndarray | None:
    """Return U = W/(Σ φ² + W) for each candidate; None if a group is in several folds.

    φ of a row is its residual (loss minus risk) times its share in the `weights`, which belong to
    `rows` in ascending order; the rows of a group are summed. W is the sum of the variances of φ
    over the models that lack a further fold. U is 0 if nothing changes, and ½ if losses change
    between models as much as they differ between rows.

    >>> rows = np.array([0, 0, 1, 1])
    >>> moved = LeftTwoOut(rows, np.array([1, 2, 0, 2]), np.array([[0.0, 1.0, 1.0, 1.0]]))
    >>> instability_of_pairs(moved, np.array([[-0.5, 0.5]]), np.full(2, 0.5), np.arange(2), None)
    array([0.5])
    """
    member = np.arange(len(rows)) if groups is None else _numbered(groups)
    shape = int(member.max()) + 1, int(left_two_out.other.max()) + 1
    seen, sums = np.zeros(shape, dtype=bool), np.zeros((len(left_two_out.losses), *shape))
    # There are K - 1 tests of each row, which are never all in memory.
    for part, place in left_two_out.parts(rows):
        cell = member[place] * shape[1] + left_two_out.other[part]
        seen.ravel()[cell] = True
        for line, losses in zip(sums, left_two_out.losses, strict=True):
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
