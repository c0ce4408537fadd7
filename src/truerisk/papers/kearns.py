"""Kearns' interval problem, every k at once: apparent, conditional and true risk, LOO, swapping.

The rule with at most k intervals and least errors is had for every k, every row left out and every
label flipped by one pass each way (`kernels/intervals.py`), so a data set of 500 rows takes
milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from truerisk.datasets.kearns import KearnsProblem
from truerisk.kernels.intervals import labels_after_changes, labels_for_every_k
from truerisk.models.interval_classifier import boundaries_between
from truerisk.papers.experiment import stream

__all__ = ["LabelledLine", "Trial", "line_of", "trial"]

DOCUMENT = "Daudin, Mary-Huard: Model selection in classification: the swapping method, §3.2"
N0 = 10  # of the document: how strongly shares are drawn towards one half


@dataclass(frozen=True, eq=False)
class LabelledLine:
    """What n labelled points on the line say, one row per k, one column per point from the left.

    `labels` are those of the rule, `left_out` those it gives a point it was not shown, `swaps`
    whether the label of a point there follows its own label; `shares` and `sizes` are the share
    of ones and the number of rows of the interval that holds the point.
    """

    x: np.ndarray
    y: np.ndarray
    labels: np.ndarray
    left_out: np.ndarray
    swaps: np.ndarray
    shares: np.ndarray
    sizes: np.ndarray

    @property
    def apparent(self) -> np.ndarray:
        """The empirical error rate of every k."""
        return (self.labels != self.y).mean(axis=1)

    @property
    def leave_one_out(self) -> np.ndarray:
        """The leave-one-out error of every k."""
        return (self.left_out != self.y).mean(axis=1)

    def penalty(self, n0: float = N0) -> np.ndarray:
        """S of every k: (2/n) Σ p(1 − p) [φ(xᵢ|1) − φ(xᵢ|0)], p drawn towards ½ by n0 rows."""
        p = (self.sizes * self.shares + n0 / 2) / (self.sizes + n0)
        return 2 * (p * (1 - p) * self.swaps).mean(axis=1)


@dataclass(frozen=True, eq=False)
class Trial:
    """A line drawn from a known problem, with what only the problem knows, for every k."""

    line: LabelledLine
    conditional: np.ndarray
    true: np.ndarray


def line_of(x: np.ndarray, y: np.ndarray, ks: Iterable[int]) -> LabelledLine:
    """Everything about distinct points x with labels y."""
    order = np.argsort(x)
    x, y = np.asarray(x, dtype=float)[order], np.asarray(y)[order]
    n, ks = len(x), list(ks)
    if (np.diff(x) == 0).any():
        raise ValueError("two points are equal: here each point is a place of its own")
    each = np.arange(n)
    counts = np.zeros((n, 2), dtype=np.int64)
    counts[each, y] = 1
    labels = labels_for_every_k(counts, ks)
    # first each point without its label, then with the other one
    instead = np.concatenate([np.zeros_like(counts), counts[:, ::-1]])
    right = np.zeros(2 * n, dtype=bool)
    right[1 : n - 1] = boundaries_between(x[:-2], x[2:]) < x[1:-1]
    changed = labels_after_changes(counts, ks, np.tile(each, 2), instead, right)
    flipped = changed[:, n:].astype(np.int64)
    shares, sizes = _intervals(labels, y)
    return LabelledLine(
        x=x,
        y=y,
        labels=labels,
        left_out=changed[:, :n],
        swaps=np.where(y == 1, labels - flipped, flipped - labels),
        shares=shares,
        sizes=sizes,
    )


def _intervals(labels: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Share of ones and number of points of the interval of each point, for every k."""
    n = len(y)
    begins = np.ones(labels.shape, dtype=bool)
    begins[:, 1:] = labels[:, 1:] != labels[:, :-1]
    starts = np.flatnonzero(begins.ravel())
    sizes = np.diff(np.append(starts, labels.size))
    ones = np.add.reduceat(np.tile(y, len(labels)), starts)
    number = np.cumsum(begins.ravel()) - 1
    return (ones / sizes)[number].reshape(-1, n), sizes[number].reshape(-1, n)


def trial(problem: KearnsProblem, n: int, ks: Iterable[int], rng: np.random.Generator) -> Trial:
    """A draw of n points and the risks of every k, exact given the points."""
    X, y = problem(n, random_state=rng)
    line = line_of(X[:, 0], y, ks)
    slope = 1 - 2 * problem.noise
    misplaced = (line.labels != problem.target(line.x)).mean(axis=1)
    return Trial(
        line=line,
        conditional=problem.noise + slope * misplaced,
        true=problem.noise + slope * _disagreement(problem, line),
    )


def _disagreement(problem: KearnsProblem, line: LabelledLine) -> np.ndarray:
    """How much of [0, 1] every rule calls otherwise than the target.

    Points own the cells between the midpoints: boundaries lie on midpoints and nowhere else.
    """
    ends = boundaries_between(line.x[:-1], line.x[1:])
    ones = problem.share_of_ones(ends)
    lengths = np.diff(np.concatenate([[0.0], ends, [1.0]]))
    return np.where(line.labels == 1, lengths - ones, ones).sum(axis=1)


def kearns_trial(noise: float, n: int, most: int, seed: int, number: int) -> Trial:
    """Trial `number` of the document's problem with n points, k = 1 … min(most, n)."""
    rng = stream(f"kearns {noise} {n}", seed, number)
    return trial(KearnsProblem(noise=noise), n, range(1, min(most, n) + 1), rng)


def penalised(line: LabelledLine, n0: float = N0) -> np.ndarray:
    """The criterion L_n + S of every k."""
    return line.apparent + line.penalty(n0)


def means(draws: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """The mean over trials, for every k."""
    return draws[name].mean(axis=0)
