"""Walk neighbour lists for every fit of a plan: the answers of all k from one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from truerisk.data.data import Data, SameRows
from truerisk.engines.neighbours.distances import Measure, NearestRows, cosine_rounding, nearest
from truerisk.engines.settings import Group
from truerisk.engines.templates.task import Shown, Task
from truerisk.kernels import native
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.flips import Flips
from truerisk.plan.plan import Plan

SURE, TIED, SHORT = 0, 1, 2
PAIRS = 0.6  # of the rows are seen by fits that lack two of five folds
DIGITS = 2e-8  # of what is left: bounds of rounding are some ten times what it is
MOST_CLASSES = 32767  # labels are of two bytes


@dataclass(frozen=True, eq=False)
class RowTargets:
    """What rows say: class codes below `n_classes`, or targets (n, t)."""

    codes: np.ndarray | None
    targets: np.ndarray | None
    n_classes: int = 0


@dataclass(frozen=True, eq=False)
class Walked:
    """`labels` (n_ks, n_positions) or `shares` (n_ks, n_positions, width), and verdicts.

    A verdict is SURE, TIED (equal distances at the boundary say different things: which of them
    are taken is up to the searcher), or SHORT (the list ended too early).
    """

    labels: np.ndarray | None
    shares: np.ndarray | None
    verdicts: np.ndarray


def walk_plan(
    lists: NearestRows,
    list_of: np.ndarray,
    plan: Plan,
    ks: np.ndarray,
    said: RowTargets,
    *,
    only: np.ndarray | None = None,
    by_distance: bool = False,
    doubts: np.ndarray | None = None,
    want: Literal["labels", "shares"] = "labels",
) -> Walked:
    """Answers of every k (of the k numbered `only[fit]`, -1 for none) for all asked rows.

    With `by_distance`, answers whose nearest row has a squared distance of at most the `doubts` of
    its list (as given: its `ties`) are TIED: what they say rests on how a peer rounds.
    `list_of[row]` is the number of the row's list, -1 for rows that are never asked.
    """
    _check(lists, list_of, plan, ks, said)
    if doubts is not None and doubts.shape != lists.ties.shape:
        raise ValueError(f"{len(doubts)} doubts for {len(lists.ties)} lists")
    n_out = len(ks) if only is None else 1
    n_positions = int(plan.test_offsets[-1])
    codes, targets, width = _width(said)
    as_labels = want == "labels"
    labels = np.empty((n_out if as_labels else 0, n_positions), dtype=np.int16)
    if only is not None:  # some may not be asked
        labels.fill(-1)
    shares = np.full((0 if as_labels else n_out, n_positions, width), np.nan)
    verdicts = np.zeros((n_out, n_positions), dtype=np.uint8)
    counts = plan.blocks.counts
    order, starts = plan.questions_of
    flip_starts, flips = _flips(plan)
    native().walk_plan(
        lists.index,
        lists.squared,
        lists.ties,
        lists.ties if doubts is None else np.ascontiguousarray(doubts, dtype=np.float64),
        lists.complete,
        list_of.astype(np.int32),
        plan.blocks.rows,
        plan.blocks.offsets,
        np.empty(0, np.int32) if counts is None else counts,
        plan.train.base,
        plan.train.minus,
        plan.train.offsets,
        plan.test.base,
        plan.test.minus,
        plan.test.offsets,
        order.astype(np.int64),
        starts.astype(np.int64),
        plan.test_offsets,
        flip_starts,
        flips.row,
        flips.code,
        ks.astype(np.int32),
        np.empty(0, np.int32) if only is None else only.astype(np.int32),
        by_distance,
        codes,
        targets,
        width,
        plan.n_rows,
        labels,
        shares,
        verdicts,
    )
    return Walked(labels if as_labels else None, None if as_labels else shares, verdicts)


def _check(
    lists: NearestRows, list_of: np.ndarray, plan: Plan, ks: np.ndarray, said: RowTargets
) -> None:
    """Everything that the kernel would read out of bounds."""
    n = plan.n_rows
    if list_of.shape != (n,) or list_of.max(initial=-1) >= len(lists.index):
        raise ValueError(f"list_of must name one of {len(lists.index)} lists for each of {n} rows")
    if lists.index.size and not 0 <= lists.index.min() <= lists.index.max() < n:
        raise ValueError(f"lists name rows outside 0 ... {n - 1}")
    if lists.squared.shape != lists.index.shape or len(lists.ties) != len(lists.index):
        raise ValueError("lists and their distances have different shapes")
    if not len(ks) or ks.min() < 1:
        raise ValueError("ks must be positive")
    if said.codes is not None:
        if len(said.codes) != n or not 0 <= said.codes.min() <= said.codes.max() < said.n_classes:
            raise ValueError(f"codes must give each of {n} rows a class below {said.n_classes}")
        if said.n_classes > MOST_CLASSES:
            raise ValueError(f"{said.n_classes} classes are more than labels can tell apart")
    elif said.targets is None or len(said.targets) != n:
        raise ValueError(f"targets must give each of {n} rows a value")
    rows, _ = plan.positions
    if len(rows) and list_of[rows].min() < 0:
        raise ValueError("a row is asked about that has no list")


def _width(said: RowTargets) -> tuple[np.ndarray, np.ndarray, int]:
    if said.codes is not None:
        return said.codes.astype(np.int32), np.empty((0, 0)), said.n_classes
    assert said.targets is not None
    targets = np.ascontiguousarray(said.targets, dtype=np.float64).reshape(len(said.targets), -1)
    return np.empty(0, np.int32), targets, targets.shape[1]


def _flips(plan: Plan) -> tuple[np.ndarray, Flips]:
    """Flips sorted by fit, and where each fit's run starts."""
    given = Flips.of(plan)
    if given is None:
        nothing = np.empty(0, np.int32)
        return np.zeros(plan.n_fits + 1, np.int32), Flips(nothing, nothing, nothing)
    order = np.argsort(given.fit, kind="stable")
    flips = Flips(*(getattr(given, n)[order] for n in ("fit", "row", "code")))
    starts = np.searchsorted(flips.fit, np.arange(plan.n_fits + 1)).astype(np.int32)
    return starts, flips


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
            return np.maximum(near.ties, (cosine_rounding(self.n_columns) / DIGITS) ** 2)
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
