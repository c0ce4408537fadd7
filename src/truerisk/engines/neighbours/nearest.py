"""Neighbour lists for a group of candidates, walked for a plan; which settings are served."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from truerisk.data.data import Data, SameRows
from truerisk.engines.neighbours.distances import NearestRows, by_distances, euclidean
from truerisk.engines.neighbours.walk import SHORT, SURE, TIED, RowTargets, walk_plan
from truerisk.engines.settings import Group
from truerisk.engines.templates.task import Shown, Task
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan

WEIGHTS = ("uniform", "distance")
OTHERS = {"manhattan", "cityblock", "l1", "chebyshev", "cosine", "minkowski", "canberra"}
SEARCHES = ("auto", "brute", "kd_tree", "ball_tree")


@dataclass(frozen=True)
class Measure:
    """How the candidates of a group measure; they differ in the number of neighbours only."""

    by_distance: bool
    metric: str
    p: float
    algorithm: str

    @classmethod
    def of(cls, group: Group) -> Measure:
        setting = group.settings[0]
        by_distance = setting["weights"] == "distance"
        return cls(by_distance, setting["metric"], float(setting["p"]), setting["algorithm"])

    def searches_all(self, n_columns: int, n_rows: int, k: int) -> bool:
        """Whether scikit-learn measures all distances for this k, by products: its user guide."""
        many = n_columns > 15 or k >= n_rows // 2
        return self.algorithm == "brute" or (self.algorithm == "auto" and many)

    @property
    def is_euclidean(self) -> bool:
        return self.metric in ("euclidean", "l2") or (self.metric == "minkowski" and self.p == 2)

    @property
    def needs_doubles(self) -> bool:
        """Whether scikit-learn answers otherwise for a table in single precision, or sparse."""
        return self.by_distance or not self.is_euclidean


def neighbours_refusal(setting: Mapping[str, Any]) -> str | None:
    """Why one setting is not served, or None."""
    from sklearn.neighbors import VALID_METRICS

    k, metric, p = setting["n_neighbors"], setting["metric"], setting["p"]
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        return f"n_neighbors={k!r} is no number of neighbours."
    if not isinstance(setting["weights"], str) or setting["weights"] not in WEIGHTS:
        return f"weights={setting['weights']!r} is no weighting that it knows."
    if setting["metric_params"] is not None:
        return "metric_params are given."
    if not isinstance(metric, str):
        return "the metric is a function."
    if metric == "braycurtis":
        return "braycurtis is no metric, so scikit-learn's trees pass over rows that are nearer."
    if metric not in OTHERS | {"euclidean", "l2"}:
        return f"metric '{metric}' is not one that it knows."
    if isinstance(p, bool) or not isinstance(p, Real) or not float(p) >= 1:
        return f"p={p!r} is no Minkowski distance."
    # scikit-learn's search fails in three cases; how it searches decides about ties alone
    algorithm, leaf_size = setting["algorithm"], setting["leaf_size"]
    if not isinstance(algorithm, str) or algorithm not in SEARCHES:
        return f"algorithm={algorithm!r} is no search that it knows."
    if algorithm.endswith("_tree") and metric not in VALID_METRICS[algorithm]:
        return f"algorithm={algorithm!r} does not search by metric {metric!r}."
    if isinstance(leaf_size, bool) or not isinstance(leaf_size, Integral) or leaf_size < 1:
        return f"leaf_size={leaf_size!r} is no size."
    return None


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
    """What lists are walked for: a plan, every k of a group (or one per fit), the targets."""

    task: Task
    group: Group
    plan: Plan
    targets: RowTargets
    list_of: np.ndarray
    n_columns: int
    places: np.ndarray | None = None

    @property
    def ks(self) -> np.ndarray:
        """How many neighbours each candidate asks."""
        return self.group.values("n_neighbors").astype(np.int64)

    def answers(self, lists: Callable[[int], NearestRows], share: float) -> NearestAnswers:
        """The answers, from lists in which a `share` of the rows is in a train set, and so counts.

        The first lists are so long that a random part of their rows holds the largest k nearly
        always; where some end too early they are made four times as long.
        """
        k = int(self.ks.max())
        length = int(np.ceil((k + 4 * np.sqrt(k * (1 - share))) / share)) + 8
        while (answers := self._along(lists(length))) is None:
            length *= 4
        return answers

    def _along(self, near: NearestRows) -> NearestAnswers | None:
        """The answers along these lists, or None where one of them is too short."""
        labels = self.task.request.response == "label" and self.task.extra is None
        by_distance = Measure.of(self.group).by_distance
        walked = walk_plan(
            near,
            self.list_of,
            self.plan,
            self.ks,
            self.targets,
            only=self.places,
            by_distance=by_distance,
            doubts=self._doubts(near) if by_distance else None,
            want="labels" if labels else "shares",
        )
        if walked.verdicts.max(initial=SURE) == SHORT:
            return None
        answers = walked.labels if walked.labels is not None else walked.shares
        assert answers is not None
        open_ = walked.verdicts == TIED
        if np.isinf(near.ties).any():  # lists without an order
            open_ |= np.isinf(near.ties)[self.list_of[self.plan.positions[0]]]
        return NearestAnswers(answers, open_)

    def _doubts(self, near: NearestRows) -> np.ndarray:
        """Squared distances whose reciprocal roots are not known to nine digits.

        What is left of |x|² − 2x'y + |y|², or of 1, has lost its first digits.
        """
        measure, n_rows = Measure.of(self.group), int(self.plan.least_train_sizes.min())
        if measure.metric == "cosine":
            return np.maximum(near.ties, (_cosine_rounding(self.n_columns) / DIGITS) ** 2)
        most = int(self.ks.max())
        if measure.is_euclidean and measure.searches_all(self.n_columns, n_rows, most):
            return np.divide(near.ties, DIGITS)
        return near.ties


def answers_together(task: Task) -> NearestAnswers:
    """One list per asked row for all fits: no step before the neighbours learns from the rows."""
    plan, group, data, X = task.plan, task.group, task.data, task.X
    if plan.n_fits == 1:  # a holdout: distances among the rows that it tests are asked by nobody
        seen = plan.train_rows(0)[0]
    elif (plan.train.base == ALL).any():
        seen = np.arange(plan.n_rows)
    else:  # the rows that stand in some train set
        bases = np.unique(plan.train.base)
        seen = np.unique(np.concatenate([plan.blocks[int(b)] for b in bases]))
    is_asked = np.zeros(plan.n_rows, dtype=bool)
    is_asked[plan.positions[0]] = True
    queried = np.flatnonzero(is_asked)
    list_of = np.full(plan.n_rows, -1, dtype=np.int32)
    list_of[queried] = np.arange(len(queried))
    queries = X if len(queried) == len(X) else X[queried]
    rows = X if len(seen) == len(X) else X[seen]
    whole = len(queried) == len(seen) == plan.n_rows

    def lists(length: int) -> NearestRows:
        measure = Measure.of(group)
        near = _lists_of_all(task, length) if whole else nearest(measure, queries, rows, length)
        if seen[-1] < len(seen):  # rows keep their numbers
            return near
        return NearestRows(
            seen[near.index].astype(np.int32), near.squared, near.ties, near.complete
        )

    targets = _targets(data.y if data.codes is None else data.codes, data)
    walk = Walk(task, group, plan, targets, list_of, X.shape[1], task.places)
    share = max(1, int(plan.least_train_sizes.min())) / len(seen)
    share = max(2 * share - 1, min(share, PAIRS))  # fits that lack two folds mostly follow
    return walk.answers(lists, share)


_lists: WeakKeyDictionary[SameRows, tuple[Any, int, NearestRows]] = WeakKeyDictionary()


def _lists_of_all(task: Task, length: int) -> NearestRows:
    """The lists of all rows among all rows; the last ones of a data set serve its next pass.

    Nested validation asks twice, inside and outside, and a permutation test thousands of times with
    other targets: all walk the same lists.
    """
    group, measure = task.group, Measure.of(task.group)
    steps = [] if group.rowwise is None else group.rowwise.steps
    key = (measure.metric, measure.p, [(type(step), step.get_params()) for _, step in steps])
    cached = _lists.get(task.data.same_rows)
    if cached is not None and cached[0] == key and cached[1] >= length:
        return cached[2]
    near = nearest(measure, task.X, task.X, length)
    _lists[task.data.same_rows] = (key, length, near)
    return near


def answers_in_pass(task: Task, group: Group, shown: Shown, asked: np.ndarray) -> NearestAnswers:
    """Train rows first, copies and all, then asked rows, as a small plan of one fit."""
    X, y = shown.X, shown.y
    if shown.times is not None:
        X, y = np.repeat(X, shown.times, axis=0), np.repeat(y, shown.times, axis=0)
    n, m = len(X), len(asked)
    builder = PlanBuilder(n + m)
    train, test = builder.block(np.arange(n)), builder.block(np.arange(n, n + m))
    builder.ask((train, ()), (test, ()))
    unused = np.zeros((m, *y.shape[1:]), dtype=y.dtype)  # asked rows are nobody's neighbours
    targets = _targets(np.concatenate([y, unused]), task.data)
    list_of = np.concatenate([np.full(n, -1), np.arange(m)])
    walk = Walk(task, group, builder.build(), targets, list_of, X.shape[1])
    measure = Measure.of(group)
    return walk.answers(lambda length: nearest(measure, asked, X, length), share=1.0)


def _targets(y: np.ndarray, data: Data) -> RowTargets:
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
