"""Walk along neighbour lists for every fit of a plan, and answer all k in one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.data.data import SameRows
from truerisk.engines.neighbours.distances import Measure, NearestRows, cosine_rounding, nearest
from truerisk.engines.settings import Group
from truerisk.engines.templates.task import Shown, Task
from truerisk.kernels import native
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.flips import Flips
from truerisk.plan.plan import Plan

CERTAIN, TIED, SHORT = 0, 1, 2
PAIRS = 0.6  # share of the rows in the training sets of fits that lack two of five folds
# relative error of the remaining digits; the bounds of rounding are about ten times too large
DIGITS = 2e-8
MOST_CLASSES = 32767  # labels are stored in two bytes


@frozen(eq=False)
class RowTargets:
    """The targets of rows: class codes below `n_classes`, or numbers (n, t)."""

    codes: np.ndarray | None
    targets: np.ndarray | None
    n_classes: int = 0


@frozen(eq=False)
class Walked:
    """Answers and verdicts: `labels` (n_ks, n_positions) or `shares` (n_ks, n_positions, width).

    A verdict is SURE, TIED (rows at equal distances around rank k have different targets, and the
    search algorithm decides which are used), or SHORT (the list ended too early).
    """

    labels: np.ndarray | None
    shares: np.ndarray | None
    verdicts: np.ndarray


def walk_plan(
    lists: NearestRows,
    list_of: np.ndarray,
    plan: Plan,
    ks: np.ndarray,
    row_targets: RowTargets,
    *,
    only: np.ndarray | None = None,
    by_distance: bool = False,
    doubts: np.ndarray | None = None,
    want: Literal["labels", "shares"] = "labels",
) -> Walked:
    """Answer every k (or the k numbered `only[fit]`, -1 for none) for all test rows.

    With `by_distance`, an answer is TIED if the squared distance of its nearest row is at most the
    `doubts` of its list (default: its `ties`), because it then depends on how a program rounds.
    `list_of[row]` is the number of the row's list, -1 for rows that are never tested.
    """
    _check(lists, list_of, plan, ks, row_targets)
    if doubts is not None and doubts.shape != lists.ties.shape:
        raise ValueError(f"{len(doubts)} doubts for {len(lists.ties)} lists")
    n_out = len(ks) if only is None else 1
    n_positions = int(plan.test_offsets[-1])
    if row_targets.codes is not None:
        codes, targets, width = (
            row_targets.codes.astype(np.int32),
            np.empty((0, 0)),
            row_targets.n_classes,
        )
    else:
        targets = np.ascontiguousarray(row_targets.targets, dtype=np.float64).reshape(
            plan.n_rows, -1
        )
        codes, width = np.empty(0, np.int32), targets.shape[1]
    as_labels = want == "labels"
    labels = np.empty((n_out if as_labels else 0, n_positions), dtype=np.int16)
    if only is not None:  # Some positions may have no answer.
        labels.fill(-1)
    shares = np.full((0 if as_labels else n_out, n_positions, width), np.nan)
    verdicts = np.zeros((n_out, n_positions), dtype=np.uint8)
    counts = plan.blocks.counts
    order, starts = plan.questions_of
    flips = None if plan.extra is None else Flips.from_holder(plan)
    if flips is None:
        nothing = np.empty(0, np.int32)
        flip_starts, flips = np.zeros(plan.n_fits + 1, np.int32), Flips(nothing, nothing, nothing)
    else:
        flip_starts, flips = _sorted_by_fit(flips, plan.n_fits)
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
    lists: NearestRows, list_of: np.ndarray, plan: Plan, ks: np.ndarray, row_targets: RowTargets
) -> None:
    """Refuse everything that would make the kernel read out of bounds."""
    n = plan.n_rows
    if list_of.shape != (n,) or list_of.max(initial=-1) >= len(lists.index):
        raise ValueError(f"list_of must name one of {len(lists.index)} lists for each of {n} rows")
    if lists.index.size and not 0 <= lists.index.min() <= lists.index.max() < n:
        raise ValueError(f"lists name rows outside 0 ... {n - 1}")
    if lists.squared.shape != lists.index.shape or len(lists.ties) != len(lists.index):
        raise ValueError("lists and their distances have different shapes")
    if not len(ks) or ks.min() < 1:
        raise ValueError("ks must be positive")
    if row_targets.codes is not None:
        if (
            len(row_targets.codes) != n
            or not 0 <= row_targets.codes.min() <= row_targets.codes.max() < row_targets.n_classes
        ):
            raise ValueError(
                f"codes must give each of {n} rows a class below {row_targets.n_classes}"
            )
        if row_targets.n_classes > MOST_CLASSES:
            raise ValueError(f"{row_targets.n_classes} classes are more than labels can tell apart")
    elif row_targets.targets is None or len(row_targets.targets) != n:
        raise ValueError(f"targets must give each of {n} rows a value")
    rows, _ = plan.positions
    if len(rows) and list_of[rows].min() < 0:
        raise ValueError("a row is asked about that has no list")


def _sorted_by_fit(given: Flips, n_fits: int) -> tuple[np.ndarray, Flips]:
    """Return the start of each fit's flips, and the flips sorted by fit."""
    order = np.argsort(given.fit, kind="stable")
    flips = Flips(*(getattr(given, n)[order] for n in ("fit", "row", "code")))
    return np.searchsorted(flips.fit, np.arange(n_fits + 1)).astype(np.int32), flips


@frozen(eq=False)
class NearestAnswers:
    """`answers` of every k for every position; `open` marks those that equal distances affect."""

    answers: np.ndarray
    open: np.ndarray


@frozen(eq=False)
class Walk:
    """The input of a walk: a plan, every k of a group (or one per fit), and the rows' targets."""

    task: Task
    group: Group
    plan: Plan
    y: np.ndarray
    list_of: np.ndarray
    n_columns: int
    places: np.ndarray | None = None

    def answers(self, lists: Callable[[int], NearestRows], share: float) -> NearestAnswers:
        """Return the answers from lists of nearest rows; `share` is the share of training rows.

        The first lists are long enough that a random part of their rows contains the largest k
        almost always. If some lists are too short, all are made four times as long.
        """
        data, y, measure = self.task.data, self.y, Measure.from_group(self.group)
        ks = self.group.values("n_neighbors").astype(np.int64)
        targets = RowTargets(y, None, data.n_classes)
        if data.codes is None:
            targets = RowTargets(None, y.reshape(len(y), -1))
        as_labels = self.task.request.response == "label" and self.task.collected.extra is None
        k = int(ks.max())
        length = int(np.ceil((k + 4 * np.sqrt(k * (1 - share))) / share)) + 8
        while True:
            near = lists(length)
            walked = walk_plan(
                near,
                self.list_of,
                self.plan,
                ks,
                targets,
                only=self.places,
                by_distance=measure.by_distance,
                doubts=self._doubts(near, measure, k) if measure.by_distance else None,
                want="labels" if as_labels else "shares",
            )
            if walked.verdicts.max(initial=CERTAIN) != SHORT:
                break
            length *= 4
        answers = walked.labels if as_labels else walked.shares
        assert answers is not None
        open_ = walked.verdicts == TIED
        if np.isinf(near.ties).any():  # these lists have no order
            open_ |= np.isinf(near.ties)[self.list_of[self.plan.positions[0]]]
        return NearestAnswers(answers, open_)

    def _doubts(self, near: NearestRows, measure: Measure, k: int) -> np.ndarray:
        """Return squared distances whose reciprocal square roots are not accurate to nine digits.

        The differences in |x|² − 2x'y + |y|², or from 1, have lost their leading digits.
        """
        n_rows = int(self.plan.least_train_sizes.min())
        if measure.metric == "cosine":
            return np.maximum(near.ties, (cosine_rounding(self.n_columns) / DIGITS) ** 2)
        if measure.is_euclidean and measure.searches_all(self.n_columns, n_rows, k):
            return np.divide(near.ties, DIGITS)
        return near.ties


def answers_together(task: Task) -> NearestAnswers:
    """Answer all fits from one list per test row, as no earlier step learns from the rows."""
    plan, group, data, X = task.plan, task.group, task.data, task.X
    if plan.n_fits == 1:  # In a holdout the distances among the test rows are not needed.
        seen = plan.train_rows(0)[0]
    elif (plan.train.base == ALL).any():
        seen = np.arange(plan.n_rows)
    else:  # These are the rows of all training sets.
        bases = np.unique(plan.train.base)
        seen = np.unique(np.concatenate([plan.blocks[int(b)] for b in bases]))
    is_requested = np.zeros(plan.n_rows, dtype=bool)
    is_requested[plan.positions[0]] = True
    queried = np.flatnonzero(is_requested)
    list_of = np.full(plan.n_rows, -1, dtype=np.int32)
    list_of[queried] = np.arange(len(queried))
    y = data.y if data.codes is None else data.codes
    walk = Walk(task, group, plan, y, list_of, X.shape[1], task.places)
    share = max(1, int(plan.least_train_sizes.min())) / len(seen)
    share = max(2 * share - 1, min(share, PAIRS))  # most of the remaining fits lack two folds
    return walk.answers(partial(_lists_among, task, queried, seen), share)


_lists: WeakKeyDictionary[SameRows, tuple[Any, int, NearestRows]] = WeakKeyDictionary()


def _lists_among(task: Task, queried: np.ndarray, seen: np.ndarray, length: int) -> NearestRows:
    """Return a list for each queried row, among the rows that occur in a training set.

    Nested validation needs the lists of all rows among all rows twice (inside and outside), and a
    permutation test needs them thousands of times with other targets. The last lists of this kind
    are therefore cached per data set.
    """
    X, group, measure = task.X, task.group, Measure.from_group(task.group)
    if not len(queried) == len(seen) == len(X):
        near = nearest(
            measure,
            X if len(queried) == len(X) else X[queried],
            X if len(seen) == len(X) else X[seen],
            length,
        )
        if seen[-1] < len(seen):  # `seen` is 0, 1, 2, ..., so that the numbers are right.
            return near
        return replace(near, index=seen[near.index].astype(np.int32))
    steps = None
    if group.rowwise is not None:
        steps = [(type(step), step.get_params()) for _, step in group.rowwise.steps]
    key = (measure.metric, measure.p, steps)
    cached = _lists.get(task.data.same_rows)
    if cached is not None and cached[0] == key and cached[1] >= length:
        return cached[2]
    near = nearest(measure, X, X, length)
    _lists[task.data.same_rows] = (key, length, near)
    return near


def answers_in_pass(
    task: Task, group: Group, shown: Shown, test_rows: np.ndarray
) -> NearestAnswers:
    """Answer one fit as a small plan: training rows with all copies first, then test rows."""
    X, y = shown.X, shown.y
    if shown.times is not None:
        X, y = np.repeat(X, shown.times, axis=0), np.repeat(y, shown.times, axis=0)
    n, m = len(X), len(test_rows)
    builder = PlanBuilder(n + m)
    train, test = builder.block(np.arange(n)), builder.block(np.arange(n, n + m))
    builder.ask((train, ()), (test, ()))
    # Test rows are never neighbours, so that their targets are not used.
    unused = np.zeros((m, *y.shape[1:]), dtype=y.dtype)
    list_of = np.concatenate([np.full(n, -1), np.arange(m)])
    walk = Walk(task, group, builder.build(), np.concatenate([y, unused]), list_of, X.shape[1])
    measure = Measure.from_group(group)
    return walk.answers(lambda length: nearest(measure, test_rows, X, length), share=1.0)
