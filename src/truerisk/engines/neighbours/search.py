"""Neighbour lists for a group of candidates, walked for a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import ALL, Plan
from truerisk.core.table.data import Data
from truerisk.engines.neighbours.family import Group
from truerisk.engines.templates.prepared import unless_it_fails
from truerisk.kernels.neighbours import Lists, by_distances, euclidean, is_moderate
from truerisk.kernels.walk import SHORT, SURE, TIED, Said, walk_plan

__all__ = ["Found", "Want", "found_per_fit", "found_together", "nearest", "prepared"]

EPS = float(np.finfo(np.float64).eps)
DIGITS = 2e-8  # of what is left: bounds of rounding are some ten times what it is
Want = Literal["labels", "shares"]


@dataclass(frozen=True, eq=False)
class Found:
    """`answers` of every k for every position, and which of them equal distances leave `open`."""

    answers: np.ndarray
    open: np.ndarray


def found_together(
    group: Group, data: Data, plan: Plan, said: Said, want: Want, only: np.ndarray | None
) -> Found:
    """One list per asked row for all fits: no step before the neighbours learns from the rows."""
    X = unless_it_fails(lambda: prepared(group, data))
    if X is None or not is_moderate(X):
        return _nothing(group, plan, said, want, only)
    seen = _seen_by_any(plan)
    is_asked = np.zeros(plan.n_rows, dtype=bool)
    is_asked[plan.positions[0]] = True
    asked = np.flatnonzero(is_asked)
    list_of = np.full(plan.n_rows, -1, dtype=np.int32)
    list_of[asked] = np.arange(len(asked))
    queries, rows = (X if len(part) == len(X) else X[part] for part in (asked, seen))
    share = max(1, int(plan.least_train_sizes.min())) / len(seen)
    length = _length(int(group.ks.max()), share)
    whole = len(asked) == len(seen) == plan.n_rows
    while True:
        near = _kept(group, data, X, length) if whole else nearest(group, queries, rows, length)
        if seen[-1] >= len(seen):  # else rows keep their numbers
            near = Lists(seen[near.index].astype(np.int32), near.squared, near.ties, near.complete)
        found = _walked(near, list_of, plan, group, said, want, only, X.shape[1])
        if found is not None:
            return found
        length *= 4


_lists: WeakKeyDictionary[Data, tuple[Any, int, Lists]] = WeakKeyDictionary()


def _kept(group: Group, data: Data, X: np.ndarray, length: int) -> Lists:
    """The lists of all rows among all rows; the last ones of a data set serve its next pass.

    Nested validation asks twice, inside and outside: both walk the same lists.
    """
    steps = [] if group.rowwise is None else group.rowwise.steps
    key = (group.metric, group.p, [(type(step), step.get_params()) for _, step in steps])
    known = _lists.get(data)
    if known is not None and known[0] == key and known[1] >= length:
        return known[2]
    near = nearest(group, X, X, length)
    _lists[data] = (key, length, near)
    return near


def found_per_fit(
    group: Group, data: Data, plan: Plan, said: Said, want: Want, only: np.ndarray | None
) -> Found:
    """The steps before the neighbours are fitted on every train set; one search for all its k."""
    nothing = _nothing(group, plan, said, want, only)
    answers, unsure = nothing.answers, nothing.open
    order, starts = plan.questions_of
    for fit in range(plan.n_fits):
        if only is not None and only[fit] < 0:
            continue
        places = np.arange(len(group.ks)) if only is None else np.array([only[fit]])
        questions = order[starts[fit] : starts[fit + 1]]
        at = np.concatenate([np.arange(*plan.test_offsets[q : q + 2]) for q in questions])
        one = _one_fit(group, data, plan, said, want, fit, plan.positions[0][at], group.ks[places])
        if one is not None:
            answers[:, at], unsure[:, at] = one.answers, one.open
    return Found(answers, unsure)


def _nothing(group: Group, plan: Plan, said: Said, want: Want, only: np.ndarray | None) -> Found:
    """Every answer left open."""
    n_out = len(group.ks) if only is None else 1
    total = int(plan.test_offsets[-1])
    open_ = np.ones((n_out, total), dtype=bool)
    if only is not None:
        open_[:, (only < 0)[np.repeat(plan.fit, plan.test_sizes)]] = False
    if want == "labels":
        return Found(np.full((n_out, total), -1, dtype=np.int16), open_)
    width = said.n_classes if said.targets is None else said.targets.shape[1]
    return Found(np.full((n_out, total, width), np.nan), open_)


def _one_fit(
    group: Group,
    data: Data,
    plan: Plan,
    said: Said,
    want: Want,
    fit: int,
    tested: np.ndarray,
    ks: np.ndarray,
) -> Found | None:
    """Train rows first, then tested rows, as a small plan of one fit.

    None where a step failed, or scikit-learn's arithmetic on what the steps give out is another.
    """
    rows, counts = plan.train_rows(fit)
    rows = rows if counts is None else np.repeat(rows, counts)
    labels, shown = _labels_shown(data, plan, fit, said)
    tables = unless_it_fails(lambda: _tables(group, data, labels, rows, tested))
    if tables is None:
        return None
    T, Q = tables
    n, m = len(rows), len(tested)
    builder = PlanBuilder(n + m)
    train, test = builder.block(np.arange(n)), builder.block(np.arange(n, n + m))
    builder.ask((train, ()), (test, ()))
    both = np.concatenate([rows, tested])
    local = Said(
        None if shown.codes is None else shown.codes[both],
        None if shown.targets is None else shown.targets[both],
        shown.n_classes,
    )
    list_of = np.concatenate([np.full(n, -1), np.arange(m)])
    length = int(ks.max()) + 8
    while True:
        near = nearest(group, Q, T, length)
        found = _walked(near, list_of, builder.build(), group, local, want, None, T.shape[1], ks)
        if found is not None:
            return found
        length *= 4


def _tables(
    group: Group, data: Data, labels: np.ndarray, rows: np.ndarray, tested: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Train rows and tested rows after the steps before the neighbours."""
    from sklearn.base import clone

    preparation = clone(group.preparation)
    T = preparation.fit_transform(data.rows(rows), labels[rows])
    if group.needs_doubles and not _is_doubles(T):
        raise ValueError("the learner weights by single-precision distances")
    T, Q = _dense(T), _dense(preparation.transform(data.rows(tested)))
    if (len(T), len(Q)) != (len(rows), len(tested)) or not np.isfinite([T.sum(), Q.sum()]).all():
        raise ValueError("other rows than were given, or cells that are not finite")
    if not is_moderate(T, Q):
        raise ValueError("squares of the cells overflow or vanish")
    return T, Q


def _walked(
    near: Lists,
    list_of: np.ndarray,
    plan: Plan,
    group: Group,
    said: Said,
    want: Want,
    only: np.ndarray | None,
    n_columns: int,
    ks: np.ndarray | None = None,
) -> Found | None:
    """What the walk found, or None where a list was too short."""
    least = int(plan.least_train_sizes.min())
    walked = walk_plan(
        near,
        list_of,
        plan,
        group.ks if ks is None else ks,
        said,
        only=only,
        by_distance=group.by_distance,
        doubts=_doubts(near, group, n_columns, least) if group.by_distance else None,
        want=want,
    )
    worst = walked.verdicts.max(initial=SURE)
    if worst == SHORT:
        return None
    answers = walked.labels if walked.labels is not None else walked.shares
    assert answers is not None
    unordered = np.isinf(near.ties)[list_of[plan.positions[0]]]
    return Found(answers, (walked.verdicts == TIED) | unordered)


def _doubts(near: Lists, group: Group, n_columns: int, n_rows: int) -> np.ndarray:
    """Squared distances whose reciprocal roots are not known to nine digits.

    What is left of |x|² − 2x'y + |y|², or of 1, has lost its first digits.
    """
    if group.metric == "cosine":
        found: np.ndarray = np.maximum(near.ties, (_cosine_rounding(n_columns) / DIGITS) ** 2)
        return found
    if group.is_euclidean and group.searches_all(n_columns, n_rows):
        return np.divide(near.ties, DIGITS)
    return near.ties


def _cosine_rounding(n_columns: int) -> float:
    """Of a distance that is what sums leave of 1."""
    return 4 * (n_columns + 8) * EPS


def prepared(group: Group, data: Data) -> np.ndarray:
    """X after the steps that treat each row by itself."""
    if group.rowwise is None:
        return np.ascontiguousarray(np.asarray(data.X), dtype=np.float64)
    every = data.rows(np.arange(data.n_rows))  # a step may write into its rows (copy=False)
    return _dense(group.rowwise.fit_transform(every))


def nearest(group: Group, queries: np.ndarray, rows: np.ndarray, length: int) -> Lists:
    """The `length` nearest rows of every query, by the distance of the group."""
    if group.is_euclidean:
        return euclidean(queries, rows, length)
    from sklearn.metrics import pairwise_distances

    options: dict[str, Any] = {"p": group.p} if group.metric == "minkowski" else {}

    def distances(block: slice) -> np.ndarray:
        return pairwise_distances(queries[block], rows, metric=group.metric, **options)

    rounding = _cosine_rounding(rows.shape[1]) if group.metric == "cosine" else 0.0
    return by_distances(distances, len(queries), len(rows), length, rounding)


def _length(k: int, share: float) -> int:
    """Enough of a list that a random part of its rows holds k of them, nearly always."""
    return int(np.ceil((k + 4 * np.sqrt(k * (1 - share))) / share)) + 8


def _seen_by_any(plan: Plan) -> np.ndarray:
    """Rows that stand in some train set (all of them where one is 'all but')."""
    if (plan.train.base == ALL).any():
        return np.arange(plan.n_rows)
    return np.unique(np.concatenate([plan.blocks[int(b)] for b in np.unique(plan.train.base)]))


def _labels_shown(data: Data, plan: Plan, fit: int, said: Said) -> tuple[np.ndarray, Said]:
    """Y and codes with the fit's replaced labels."""
    flipped, codes = plan.flips_of(fit)
    if not len(flipped):
        return data.y, said
    assert data.classes is not None and said.codes is not None
    labels, shown = data.y.copy(), said.codes.copy()
    labels[flipped], shown[flipped] = data.classes[codes], codes
    return labels, Said(shown, None, said.n_classes)


def _is_doubles(table: Any) -> bool:
    """Whether scikit-learn computes with it in double precision, as one block."""
    dtype = np.asarray(table).dtype
    return not hasattr(table, "toarray") and (dtype.kind != "f" or dtype.itemsize >= 8)


def _dense(table: Any) -> np.ndarray:
    array = table.toarray() if hasattr(table, "toarray") else np.asarray(table)
    return np.ascontiguousarray(array, dtype=np.float64)
