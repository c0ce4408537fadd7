"""Walk neighbour lists for every fit of a plan: the answers of all k from one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from truerisk.engines.neighbours.distances import NearestRows
from truerisk.kernels import native
from truerisk.plan.extras.flips import Flips
from truerisk.plan.plan import Plan

SURE, TIED, SHORT = 0, 1, 2
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
