"""Nested plans: inner plans drawn within the training sets of an outer plan.

Nested plans are built with array operations: nested leave-one-out of 5000 rows has 45,000 fits, and
building its plan must not cost more than the search itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.plan.blocks import ALL, Blocks, RowSets, offsets_of
from truerisk.plan.builder import merge_equal_fits
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.plan.extra import Extra


def nest(outer: Plan, inner: Sequence[Plan]) -> Plan:
    """Join an outer plan with plans `inner[f]` within the training set of each outer fit f.

    The outer questions are the part "outer", the others are the part "inner".

    `inner[f]` was drawn on the distinct training rows of outer fit f, in ascending order. An inner
    training set "all but b" becomes "that training set but b", with the copies of a bootstrap
    sample. A test set asks about each row once, so that means that count copies and means that do
    not are not mixed.
    """
    pieces = [replace(outer, part=np.zeros(outer.n_questions, np.int8), parts=("outer", "inner"))]
    for unit, plan in enumerate(inner):
        pieces.append(_within(outer, unit, plan))
    return merge_equal_fits(_joined(pieces))


def _within(outer: Plan, unit: int, plan: Plan) -> Plan:
    """Rewrite a plan on the training rows of an outer fit as a plan on all rows.

    Its blocks follow those of the outer plan.
    """
    rows, copies = outer.train_rows(unit)
    base, without = int(outer.train.base[unit]), outer.train.without(unit)
    base_and_minus = base, without
    pool = [outer.blocks, replace(plan.blocks, rows=rows[plan.blocks.rows])]
    if copies is not None and (plan.test.base == ALL).any():
        base_and_minus = len(outer.blocks) + len(plan.blocks), np.empty(0, np.int32)
        pool.append(Blocks(rows, np.array([0, len(rows)])))
    shift = len(outer.blocks)
    return Plan(
        n_rows=outer.n_rows,
        blocks=_pooled(pool),
        train=_inside(plan.train, base, without, shift),
        test=_inside(plan.test, *base_and_minus, shift),
        fit=plan.fit,
        part=np.ones(plan.n_questions, np.int8),
        repeat=plan.repeat,
        fold=plan.fold,
        unit=np.full(plan.n_questions, unit, np.int32),
        parts=("outer", "inner"),
        extra=None if plan.extra is None else plan.extra.within(rows),
    )


def _inside(sets: RowSets, base: int, without: np.ndarray, shift: int) -> RowSets:
    """Shift the block numbers of row sets.

    The base "all rows" becomes `base` minus the blocks in `without`.
    """
    everything = sets.base == ALL
    if not everything.any():
        return RowSets(sets.base + np.int32(shift), sets.minus + np.int32(shift), sets.offsets)
    lengths = np.diff(sets.offsets) + everything * len(without)
    offsets = offsets_of(lengths)
    minus = np.empty(offsets[-1], dtype=np.int32)
    own = np.ones(offsets[-1], dtype=bool)
    tail = (offsets[1:][everything, None] - np.arange(1, len(without) + 1)[None, ::-1]).ravel()
    own[tail] = False
    minus[own] = sets.minus + shift
    minus[tail] = np.tile(without, int(everything.sum()))
    return RowSets(np.where(everything, base, sets.base + shift).astype(np.int32), minus, offsets)


def _joined(pieces: Sequence[Plan]) -> Plan:
    """Join plans that share the first one's blocks; the further blocks of each are appended."""
    first = pieces[0]
    shared = len(first.blocks)
    blocks, train, test, fits, n_fits = [first.blocks], [first.train], [first.test], [first.fit], 0
    extras = [first.extra]
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
        if piece.extra is not None:
            extras.append(piece.extra.after(n_fits, n_questions))
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
        extra=_joined_extras(extras),
    )


def _shifted(sets: RowSets, shared: int, shift: int) -> RowSets:
    """Add `shift` to the block numbers from `shared` on."""
    base = np.where(sets.base >= shared, sets.base + shift, sets.base).astype(np.int32)
    minus = np.where(sets.minus >= shared, sets.minus + shift, sets.minus).astype(np.int32)
    return RowSets(base, minus, sets.offsets)


def _joined_sets(parts: Sequence[RowSets]) -> RowSets:
    return RowSets(
        np.concatenate([p.base for p in parts]),
        np.concatenate([p.minus for p in parts]),
        offsets_of(np.concatenate([np.diff(p.offsets) for p in parts])),
    )


def _pooled(parts: Sequence[Blocks]) -> Blocks:
    """Concatenate pools of blocks into one."""
    return Blocks(
        np.concatenate([p.rows for p in parts]).astype(np.int32),
        offsets_of(np.concatenate([p.sizes for p in parts])),
        _joined_counts(parts),
    )


def _joined_counts(parts: Sequence[Blocks]) -> np.ndarray | None:
    if all(p.counts is None for p in parts):
        return None
    return np.concatenate(
        [np.ones(len(p.rows), np.int32) if p.counts is None else p.counts for p in parts]
    )


def _joined_extras(extras: Sequence[Extra | None]) -> Extra | None:
    """Join the additional questions of several plans, which must be of the same type."""
    present = [extra for extra in extras if extra is not None]
    if len({type(extra) for extra in present}) > 1:
        raise Refusal("outer and inner splits ask for different things besides answers about rows.")
    return present[0].joined(present[1:]) if len(present) > 1 else next(iter(present), None)
