"""Neighbour lists for a group of candidates, walked for a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from truerisk.core.plan.blocks import ALL
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data, SameRows
from truerisk.engines.neighbours.setting import Measure
from truerisk.engines.settings import Group
from truerisk.engines.templates.task import Shown, Task
from truerisk.kernels.neighbours import NearestRows, by_distances, euclidean
from truerisk.kernels.walk import SHORT, SURE, TIED, RowTargets, walk_plan

__all__ = ["NearestAnswers", "found_in_pass", "found_together", "nearest"]

EPS = float(np.finfo(np.float64).eps)
PAIRS = 0.6  # of the rows are seen by fits that lack two of five folds
DIGITS = 2e-8  # of what is left: bounds of rounding are some ten times what it is


@dataclass(frozen=True, eq=False)
class NearestAnswers:
    """`answers` of every k for every position, and which of them equal distances leave `open`."""

    answers: np.ndarray
    open: np.ndarray


@dataclass(frozen=True, eq=False)
class Walk:
    """What lists are walked for: a plan, every k of a group (or one per fit), what rows say."""

    task: Task
    group: Group
    plan: Plan
    said: RowTargets
    list_of: np.ndarray
    n_columns: int
    places: np.ndarray | None = None

    def found(self, lists: Callable[[int], NearestRows], length: int) -> NearestAnswers:
        """What lists of this length hold, or longer ones where some end too early."""
        while True:
            found = self._along(lists(length))
            if found is not None:
                return found
            length *= 4

    def _along(self, near: NearestRows) -> NearestAnswers | None:
        """What the walk found, or None where a list was too short."""
        labels = self.task.request.response == "label" and self.task.counts is None
        by_distance = Measure.of(self.group).by_distance
        walked = walk_plan(
            near,
            self.list_of,
            self.plan,
            _ks(self.group),
            self.said,
            only=self.places,
            by_distance=by_distance,
            doubts=self._doubts(near) if by_distance else None,
            want="labels" if labels else "shares",
        )
        if walked.verdicts.max(initial=SURE) == SHORT:
            return None
        answers = walked.labels if walked.labels is not None else walked.shares
        assert answers is not None
        unordered = np.isinf(near.ties)[self.list_of[self.plan.positions[0]]]
        return NearestAnswers(answers, (walked.verdicts == TIED) | unordered)

    def _doubts(self, near: NearestRows) -> np.ndarray:
        """Squared distances whose reciprocal roots are not known to nine digits.

        What is left of |x|² − 2x'y + |y|², or of 1, has lost its first digits.
        """
        measure, n_rows = Measure.of(self.group), int(self.plan.least_train_sizes.min())
        if measure.metric == "cosine":
            return np.maximum(near.ties, (_cosine_rounding(self.n_columns) / DIGITS) ** 2)
        most = int(_ks(self.group).max())
        if measure.is_euclidean and measure.searches_all(self.n_columns, n_rows, most):
            return np.divide(near.ties, DIGITS)
        return near.ties


def found_together(task: Task) -> NearestAnswers:
    """One list per asked row for all fits: no step before the neighbours learns from the rows."""
    plan, group, data, X = task.plan, task.group, task.data, task.X
    seen = _seen_by_any(plan)
    is_asked = np.zeros(plan.n_rows, dtype=bool)
    is_asked[plan.positions[0]] = True
    asked = np.flatnonzero(is_asked)
    list_of = np.full(plan.n_rows, -1, dtype=np.int32)
    list_of[asked] = np.arange(len(asked))
    queries, rows = (X if len(part) == len(X) else X[part] for part in (asked, seen))
    whole = len(asked) == len(seen) == plan.n_rows

    def lists(length: int) -> NearestRows:
        measure = Measure.of(group)
        near = _kept(task, length) if whole else nearest(measure, queries, rows, length)
        if seen[-1] < len(seen):  # rows keep their numbers
            return near
        return NearestRows(
            seen[near.index].astype(np.int32), near.squared, near.ties, near.complete
        )

    said = _said(data.y if data.codes is None else data.codes, data)
    walk = Walk(task, group, plan, said, list_of, X.shape[1], task.places)
    share = max(1, int(plan.least_train_sizes.min())) / len(seen)
    share = max(2 * share - 1, min(share, PAIRS))  # fits that lack two folds mostly follow
    return walk.found(lists, _length(int(_ks(group).max()), share))


_lists: WeakKeyDictionary[SameRows, tuple[Any, int, NearestRows]] = WeakKeyDictionary()


def _kept(task: Task, length: int) -> NearestRows:
    """The lists of all rows among all rows; the last ones of a data set serve its next pass.

    Nested validation asks twice, inside and outside, and a permutation test thousands of times with
    other targets: all walk the same lists.
    """
    group, measure = task.group, Measure.of(task.group)
    steps = [] if group.rowwise is None else group.rowwise.steps
    key = (measure.metric, measure.p, [(type(step), step.get_params()) for _, step in steps])
    known = _lists.get(task.data.same_rows)
    if known is not None and known[0] == key and known[1] >= length:
        return known[2]
    near = nearest(measure, task.X, task.X, length)
    _lists[task.data.same_rows] = (key, length, near)
    return near


def found_in_pass(task: Task, group: Group, shown: Shown, asked: np.ndarray) -> NearestAnswers:
    """Train rows first, copies and all, then asked rows, as a small plan of one fit."""
    X, y = shown.X, shown.y
    if shown.times is not None:
        X, y = np.repeat(X, shown.times, axis=0), np.repeat(y, shown.times, axis=0)
    n, m = len(X), len(asked)
    builder = PlanBuilder(n + m)
    train, test = builder.block(np.arange(n)), builder.block(np.arange(n, n + m))
    builder.ask((train, ()), (test, ()))
    unsaid = np.zeros((m, *y.shape[1:]), dtype=y.dtype)  # nobody looks at what asked rows say
    said = _said(np.concatenate([y, unsaid]), task.data)
    list_of = np.concatenate([np.full(n, -1), np.arange(m)])
    walk = Walk(task, group, builder.build(), said, list_of, X.shape[1])
    measure = Measure.of(group)
    most = int(_ks(group).max())
    return walk.found(lambda length: nearest(measure, asked, X, length), most + 8)


def _ks(group: Group) -> np.ndarray:
    return group.values("n_neighbors").astype(np.int64)


def _said(y: np.ndarray, data: Data) -> RowTargets:
    """Codes of classes, or one or several targets of every row."""
    if data.codes is None:
        return RowTargets(None, y.reshape(len(y), -1))
    return RowTargets(y, None, data.n_classes)


def _cosine_rounding(n_columns: int) -> float:
    """Of a distance that is what sums leave of 1."""
    return 4 * (n_columns + 8) * EPS


def nearest(measure: Measure, queries: np.ndarray, rows: np.ndarray, length: int) -> NearestRows:
    """The `length` nearest rows of every query, by the distance that is measured."""
    if measure.is_euclidean:
        return euclidean(queries, rows, length)
    from sklearn.metrics import pairwise_distances

    options: dict[str, Any] = {"p": measure.p} if measure.metric == "minkowski" else {}

    def distances(block: slice) -> np.ndarray:
        return pairwise_distances(queries[block], rows, metric=measure.metric, **options)

    rounding = _cosine_rounding(rows.shape[1]) if measure.metric == "cosine" else 0.0
    return by_distances(distances, len(queries), len(rows), length, rounding)


def _length(k: int, share: float) -> int:
    """Enough of a list that a random part of its rows holds k of them, nearly always."""
    return int(np.ceil((k + 4 * np.sqrt(k * (1 - share))) / share)) + 8


def _seen_by_any(plan: Plan) -> np.ndarray:
    """Rows that stand in some train set (all of them where one is 'all but')."""
    if (plan.train.base == ALL).any():
        return np.arange(plan.n_rows)
    return np.unique(np.concatenate([plan.blocks[int(b)] for b in np.unique(plan.train.base)]))
