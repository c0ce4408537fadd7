"""Plans of many fits at once: leave every block out, flip every label, draw every train set, nest.

The builder of `planning.py` takes one question at a time; these do the same for thousands, array
by array. A nested leave-one-out of 5000 rows is 45,000 fits and must not cost more than its search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.plan.blocks import ALL, LAWS, Blocks, Flips, Laws, RowSets
from truerisk.core.plan.plan import ASKED, Plan
from truerisk.core.table.checksums import mixed

__all__ = ["draw_every", "flip_each", "leave_out", "leave_pairs_out", "merge_equal_fits", "nest"]


def leave_out(n_rows: int, partitions: Sequence[np.ndarray]) -> Plan:
    """For every partition (a label per row) and every label: all rows but its own, tested on these.

    >>> plan = leave_out(4, [np.array([1, 0, 1, 0])])
    >>> [plan.test_rows(q)[0].tolist() for q in range(2)]
    [[1, 3], [0, 2]]
    """
    orders, sizes, repeats, folds = [], [], [], []
    for repeat, labels in enumerate(partitions):
        order, counts = _blocks_of(labels)
        orders.append(order)
        sizes.append(counts)
        repeats.append(np.full(len(counts), repeat))
        folds.append(np.arange(len(counts)))
    n_blocks = sum(map(len, sizes))
    each = np.arange(n_blocks, dtype=np.int32)
    nothing = RowSets(each, np.empty(0, np.int32), np.zeros(n_blocks + 1, np.int64))
    plan = Plan(
        n_rows=n_rows,
        blocks=Blocks(np.concatenate(orders).astype(np.int32), _offsets(np.concatenate(sizes))),
        train=RowSets(np.full(n_blocks, ALL, np.int32), each, np.arange(n_blocks + 1)),
        test=nothing,
        fit=each,
        part=np.zeros(n_blocks, np.int8),
        repeat=np.concatenate(repeats).astype(np.int32),
        fold=np.concatenate(folds).astype(np.int32),
        unit=np.full(n_blocks, -1, np.int32),
        parts=("test",),
    )
    return plan if len(partitions) == 1 else merge_equal_fits(plan)


def leave_pairs_out(n_rows: int, partitions: Sequence[np.ndarray]) -> Plan:
    """For every partition into K folds: all rows but each fold, and all rows but each two of them.

    Question i K + j asks the fit without folds i and j about fold i, and i K + i the fit that lacks
    fold i alone: K + K (K - 1) / 2 fits answer K K questions a partition.

    >>> plan = leave_pairs_out(6, [np.array([0, 0, 1, 1, 2, 2])])
    >>> plan.n_fits, plan.n_questions
    (6, 9)
    >>> plan.train_rows(int(plan.fit[1]))[0].tolist(), plan.test_rows(1)[0].tolist()
    ([4, 5], [0, 1])
    """
    blocks, minus, lengths, tests, fits, repeats, codes = ([] for _ in range(7))
    first_block = first_fit = 0
    for repeat, labels in enumerate(partitions):
        order, counts = _blocks_of(labels)
        k = len(counts)
        low, high = np.triu_indices(k, 1)
        without = np.diag(np.arange(k))  # which fit lacks folds i and j
        without[low, high] = without[high, low] = k + np.arange(len(low))
        blocks.append((order, counts))
        pairs = np.column_stack([low, high]).ravel()
        minus.append(first_block + np.concatenate([np.arange(k), pairs]))
        lengths.append(np.repeat([1, 2], [k, len(low)]))
        tests.append(first_block + np.repeat(np.arange(k), k))
        fits.append(first_fit + without.ravel())
        repeats.append(np.full(k * k, repeat))
        codes.append(np.arange(k * k))
        first_block, first_fit = first_block + k, first_fit + k + len(low)
    test = np.concatenate(tests).astype(np.int32)
    plan = Plan(
        n_rows=n_rows,
        blocks=Blocks(
            np.concatenate([order for order, _ in blocks]).astype(np.int32),
            _offsets(np.concatenate([counts for _, counts in blocks])),
        ),
        train=RowSets(
            np.full(first_fit, ALL, np.int32),
            np.concatenate(minus).astype(np.int32),
            _offsets(np.concatenate(lengths)),
        ),
        test=RowSets(test, np.empty(0, np.int32), np.zeros(len(test) + 1, np.int64)),
        fit=np.concatenate(fits).astype(np.int32),
        part=np.zeros(len(test), np.int8),
        repeat=np.concatenate(repeats).astype(np.int32),
        fold=np.concatenate(codes).astype(np.int32),
        unit=np.full(len(test), -1, np.int32),
        parts=("test",),
    )
    return plan if len(partitions) == 1 else merge_equal_fits(plan)


def _blocks_of(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows sorted by label, and how many have each; one row per label needs no sorting."""
    each = np.arange(len(labels))
    if labels.dtype.kind in "iu" and np.array_equal(labels, each):
        return each, np.ones(len(labels), dtype=np.int64)
    codes = np.unique(labels, return_inverse=True)[1].ravel()
    return np.argsort(codes, kind="stable"), np.bincount(codes)


def flip_each(codes: np.ndarray) -> Plan:
    """All rows, asked about all of them and counted; and row i shown as `codes[i]`, asked about i.

    >>> plan = flip_each(np.array([1, 0, 0]))
    >>> [(plan.flips_of(f)[0].tolist(), plan.flips_of(f)[1].tolist()) for f in range(3)]
    [([], []), ([0], [1]), ([1], [0])]
    """
    n = len(codes)
    rows, fits = np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int32)
    no_minus = np.empty(0, np.int32), np.zeros(n + 2, np.int64)
    return Plan(
        n_rows=n,
        blocks=Blocks(np.concatenate([rows, rows]), np.append(np.arange(n + 1), 2 * n)),
        train=RowSets(np.full(n + 1, ALL, np.int32), *no_minus),
        test=RowSets(np.append(np.int32(n), rows).astype(np.int32), *no_minus),
        fit=fits,
        part=(fits > 0).astype(np.int8),
        repeat=np.zeros(n + 1, np.int32),
        fold=np.maximum(fits - 1, 0).astype(np.int32),
        unit=np.full(n + 1, -1, np.int32),
        parts=("apparent", "swap"),
        flips=Flips(fits[1:], rows, np.asarray(codes).astype(np.int32)),
        counted=np.zeros(1, np.int32),
    )


def draw_every(n_rows: int, kind: str, size: int) -> Plan:
    """Every train set that a law can draw from all rows, asked about the rows it does not hold.

    >>> draw_every(5, "subsets", 3).law_of(0)
    Law(kind='subsets', size=3)
    """
    zero = np.zeros(1, np.int32)
    no_minus = np.empty(0, np.int32), np.zeros(2, np.int64)
    return Plan(
        n_rows=n_rows,
        blocks=Blocks(np.arange(n_rows, dtype=np.int32), np.array([0, n_rows])),
        train=RowSets(np.full(1, ALL, np.int32), *no_minus),
        test=RowSets(zero, *no_minus),
        fit=zero,
        part=np.zeros(1, np.int8),
        repeat=zero,
        fold=zero,
        unit=np.full(1, -1, np.int32),
        parts=("test",),
        laws=Laws(zero, np.array([LAWS.index(kind)], np.int8), np.array([size], np.int32)),
    )


def nest(outer: Plan, inner: Sequence[Plan]) -> Plan:
    """The outer questions as part "outer", and those of `inner[f]` within the train set of fit f.

    `inner[f]` was drawn on the distinct training rows of outer fit f, ascending; a train set
    "all but b" becomes "that training set but b", copies of a bootstrap sample included. A test
    set asks about each row once: all means that count copies and means that do not do not mix.
    """
    pieces = [replace(outer, part=np.zeros(outer.n_questions, np.int8), parts=("outer", "inner"))]
    for unit, plan in enumerate(inner):
        pieces.append(_within(outer, unit, plan))
    return merge_equal_fits(_joined(pieces))


def _within(outer: Plan, unit: int, plan: Plan) -> Plan:
    """A plan on the train rows of an outer fit as a plan on all rows; its pool comes last."""
    if plan.moves is not None:
        raise Refusal(
            "points drawn around rows are not drawn inside outer splits: choose inside by a method "
            "that holds rows out, such as '10-fold'."
        )
    rows, copies = outer.train_rows(unit)
    base, without = int(outer.train.base[unit]), outer.train.without(unit)
    asked = base, without
    pool = [outer.blocks, replace(plan.blocks, rows=rows[plan.blocks.rows])]
    if copies is not None and (plan.test.base == ALL).any():
        asked = len(outer.blocks) + len(plan.blocks), np.empty(0, np.int32)
        pool.append(Blocks(rows, np.array([0, len(rows)])))
    shift = len(outer.blocks)
    flips = plan.flips
    return Plan(
        n_rows=outer.n_rows,
        blocks=_pooled(pool),
        train=_inside(plan.train, base, without, shift),
        test=_inside(plan.test, *asked, shift),
        fit=plan.fit,
        part=np.ones(plan.n_questions, np.int8),
        repeat=plan.repeat,
        fold=plan.fold,
        unit=np.full(plan.n_questions, unit, np.int32),
        parts=("outer", "inner"),
        flips=None if flips is None else Flips(flips.fit, rows[flips.row], flips.code),
        laws=plan.laws,
        **{name: getattr(plan, name) for name in ASKED},
    )


def _inside(sets: RowSets, base: int, without: np.ndarray, shift: int) -> RowSets:
    """Sets over a shifted pool; "all rows" becomes `base` without the blocks in `without`."""
    everything = sets.base == ALL
    if not everything.any():
        return RowSets(sets.base + np.int32(shift), sets.minus + np.int32(shift), sets.offsets)
    lengths = np.diff(sets.offsets) + everything * len(without)
    offsets = _offsets(lengths)
    minus = np.empty(offsets[-1], dtype=np.int32)
    own = np.ones(offsets[-1], dtype=bool)
    tail = (offsets[1:][everything, None] - np.arange(1, len(without) + 1)[None, ::-1]).ravel()
    own[tail] = False
    minus[own] = sets.minus + shift
    minus[tail] = np.tile(without, int(everything.sum()))
    return RowSets(np.where(everything, base, sets.base + shift).astype(np.int32), minus, offsets)


def _joined(pieces: Sequence[Plan]) -> Plan:
    """Plans that share the first one's pool, as one; the further blocks of each are appended."""
    first = pieces[0]
    shared = len(first.blocks)
    blocks, train, test, fits, n_fits = [first.blocks], [first.train], [first.test], [first.fit], 0
    flips, laws = [first.flips], [first.laws]
    asked = {name: [getattr(first, name)] for name in ASKED}
    n_fits, n_blocks, n_questions = first.n_fits, shared, first.n_questions
    for piece in pieces[1:]:
        start = piece.blocks.offsets[shared]
        own = slice(start, None)
        blocks.append(
            Blocks(
                piece.blocks.rows[own],
                piece.blocks.offsets[shared:] - start,
                None if piece.blocks.counts is None else piece.blocks.counts[own],
            )
        )
        shift = n_blocks - shared
        train.append(_shifted(piece.train, shared, shift))
        test.append(_shifted(piece.test, shared, shift))
        fits.append(piece.fit + n_fits)
        if piece.flips is not None:
            flips.append(Flips(piece.flips.fit + n_fits, piece.flips.row, piece.flips.code))
        if piece.laws is not None:
            laws.append(Laws(piece.laws.fit + n_fits, piece.laws.kind, piece.laws.size))
        for name, listed in asked.items():
            own_list = getattr(piece, name)
            if own_list is not None:
                listed.append(own_list + n_questions)
        n_fits += piece.n_fits
        n_questions += piece.n_questions
        n_blocks += len(piece.blocks) - shared
    return Plan(
        n_rows=first.n_rows,
        blocks=_pooled(blocks),
        train=_joined_sets(train),
        test=_joined_sets(test),
        fit=np.concatenate(fits).astype(np.int32),
        part=np.concatenate([p.part for p in pieces]),
        repeat=np.concatenate([p.repeat for p in pieces]),
        fold=np.concatenate([p.fold for p in pieces]),
        unit=np.concatenate([p.unit for p in pieces]),
        parts=first.parts,
        flips=_joined_fields(Flips, flips),
        laws=_joined_fields(Laws, laws),
        moves=None,
        **{name: _joined_arrays(listed) for name, listed in asked.items()},
    )


def _shifted(sets: RowSets, shared: int, shift: int) -> RowSets:
    """Block numbers from `shared` on moved by `shift`."""
    base = np.where(sets.base >= shared, sets.base + shift, sets.base).astype(np.int32)
    minus = np.where(sets.minus >= shared, sets.minus + shift, sets.minus).astype(np.int32)
    return RowSets(base, minus, sets.offsets)


def _joined_sets(parts: Sequence[RowSets]) -> RowSets:
    return RowSets(
        np.concatenate([p.base for p in parts]),
        np.concatenate([p.minus for p in parts]),
        _offsets(np.concatenate([np.diff(p.offsets) for p in parts])),
    )


def _pooled(parts: Sequence[Blocks]) -> Blocks:
    """Pools one after the other, as one."""
    return Blocks(
        np.concatenate([p.rows for p in parts]).astype(np.int32),
        _offsets(np.concatenate([p.sizes for p in parts])),
        _joined_counts(parts),
    )


def _joined_counts(parts: Sequence[Blocks]) -> np.ndarray | None:
    if all(p.counts is None for p in parts):
        return None
    return np.concatenate(
        [np.ones(len(p.rows), np.int32) if p.counts is None else p.counts for p in parts]
    )


def _joined_fields(kind: Any, parts: Sequence[Any]) -> Any:
    """Flips or laws end to end, None where there are none."""
    given = [part for part in parts if part is not None]
    if not given:
        return None
    arrays = ([getattr(part, field.name) for part in given] for field in fields(kind))
    return kind(*(np.concatenate(each).astype(each[0].dtype) for each in arrays))


def _joined_arrays(parts: Sequence[np.ndarray | None]) -> np.ndarray | None:
    given = [part for part in parts if part is not None]
    return np.concatenate(given).astype(np.int32) if given else None


def _offsets(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


# -- equal fits -------------------------------------------------------------------------------


def merge_equal_fits(plan: Plan) -> Plan:
    """The same plan with equal train sets fitted once, told apart by 64-bit content keys."""
    keys = _fit_keys(plan)
    if (np.diff(np.sort(keys)) > 0).all():  # nothing is equal, the usual case
        return plan
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    kept = np.sort(first)
    place = np.searchsorted(kept, first[which.ravel()]).astype(np.int32)
    flips = plan.flips
    if flips is not None:
        mine = np.isin(flips.fit, kept)
        flips = Flips(place[flips.fit[mine]], flips.row[mine], flips.code[mine])
    laws = plan.laws
    if laws is not None:
        mine = np.isin(laws.fit, kept)
        laws = Laws(place[laws.fit[mine]], laws.kind[mine], laws.size[mine])
    return replace(plan, train=plan.train.take(kept), fit=place[plan.fit], flips=flips, laws=laws)


def _fit_keys(plan: Plan) -> np.ndarray:
    blocks = plan.blocks
    row_keys = mixed(np.arange(plan.n_rows, dtype=np.uint64) + np.uint64(1))
    if blocks.counts is None:
        cells = mixed(row_keys + np.uint64(1))[blocks.rows]
    else:  # mixed after the sum: a product would take row 0 twice for row 1 once
        cells = mixed(row_keys[blocks.rows] + blocks.counts.astype(np.uint64))
    sums = np.concatenate([[np.uint64(0)], np.cumsum(cells)])
    of_block = mixed(sums[blocks.offsets[1:]] - sums[blocks.offsets[:-1]] + np.uint64(7))
    removed = np.concatenate([[np.uint64(0)], np.cumsum(of_block[plan.train.minus])])
    base = np.append(of_block, np.uint64(3))[plan.train.base]
    keys: np.ndarray = (
        mixed(base) + removed[plan.train.offsets[1:]] - removed[plan.train.offsets[:-1]]
    )
    if plan.flips is not None:
        pairs = mixed(plan.flips.row.astype(np.uint64) << np.uint64(20)) + plan.flips.code.astype(
            np.uint64
        )
        np.add.at(keys, plan.flips.fit, mixed(pairs))
    if plan.laws is not None:
        laws = mixed(mixed(plan.laws.size) + plan.laws.kind.astype(np.uint64))
        np.add.at(keys, plan.laws.fit, laws)
    return keys
