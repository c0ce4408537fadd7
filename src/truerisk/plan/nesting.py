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

    The test sets of the outer plan are the part "outer", all other test sets the part "inner".

    `inner[f]` was drawn on the distinct training rows of outer fit f, in ascending order. An inner
    training set "all rows but block b" becomes "the training set of the outer fit but block b",
    with the copies of a bootstrap sample. A test set contains each row once, so that means that
    count copies and means that do not are not mixed.
    """
    plans = [replace(outer, part=np.zeros(outer.n_questions, np.int8), parts=("outer", "inner"))]
    for unit, plan in enumerate(inner):
        plans.append(_plan_on_all_rows(outer, unit, plan))
    return merge_equal_fits(_join_plans(plans))


def _plan_on_all_rows(outer: Plan, unit: int, plan: Plan) -> Plan:
    """Rewrite a plan on the training rows of an outer fit as a plan on all rows.

    Its blocks follow those of the outer plan.
    """
    rows, copies = outer.train_rows(unit)
    base, without = int(outer.train.base[unit]), outer.train.without(unit)
    base_and_minus = base, without
    pools = [outer.blocks, replace(plan.blocks, rows=rows[plan.blocks.rows])]
    if copies is not None and (plan.test.base == ALL).any():
        base_and_minus = len(outer.blocks) + len(plan.blocks), np.empty(0, np.int32)
        pools.append(Blocks(rows, np.array([0, len(rows)])))
    shift = len(outer.blocks)
    return Plan(
        n_rows=outer.n_rows,
        blocks=_join_pools(pools),
        train=_shift_row_sets(plan.train, base, without, shift),
        test=_shift_row_sets(plan.test, *base_and_minus, shift),
        fit=plan.fit,
        part=np.ones(plan.n_questions, np.int8),
        repeat=plan.repeat,
        fold=plan.fold,
        unit=np.full(plan.n_questions, unit, np.int32),
        parts=("outer", "inner"),
        extra=None if plan.extra is None else plan.extra.within(rows),
    )


def _shift_row_sets(sets: RowSets, base: int, without: np.ndarray, shift: int) -> RowSets:
    """Shift the block numbers of row sets, and replace the base "all rows".

    The base "all rows" becomes `base` minus the blocks in `without`.
    """
    has_all_rows = sets.base == ALL
    if not has_all_rows.any():
        return RowSets(sets.base + np.int32(shift), sets.minus + np.int32(shift), sets.offsets)
    lengths = np.diff(sets.offsets) + has_all_rows * len(without)
    offsets = offsets_of(lengths)
    minus = np.empty(offsets[-1], dtype=np.int32)
    is_own_block = np.ones(offsets[-1], dtype=bool)
    added_positions = (
        offsets[1:][has_all_rows, None] - np.arange(1, len(without) + 1)[None, ::-1]
    ).ravel()
    is_own_block[added_positions] = False
    minus[is_own_block] = sets.minus + shift
    minus[added_positions] = np.tile(without, int(has_all_rows.sum()))
    return RowSets(np.where(has_all_rows, base, sets.base + shift).astype(np.int32), minus, offsets)


def _join_plans(plans: Sequence[Plan]) -> Plan:
    """Join plans that share the blocks of the first plan; append the other blocks of each plan."""
    first_plan = plans[0]
    n_shared = len(first_plan.blocks)
    blocks, train, test, fits, n_fits = (
        [first_plan.blocks],
        [first_plan.train],
        [first_plan.test],
        [first_plan.fit],
        0,
    )
    extras = [first_plan.extra]
    n_fits, n_blocks, n_questions = first_plan.n_fits, n_shared, first_plan.n_questions
    for plan in plans[1:]:
        start = plan.blocks.offsets[n_shared]
        own_rows = slice(start, None)
        blocks.append(
            Blocks(
                plan.blocks.rows[own_rows],
                plan.blocks.offsets[n_shared:] - start,
                None if plan.blocks.counts is None else plan.blocks.counts[own_rows],
            )
        )
        shift = n_blocks - n_shared
        train.append(_shift_block_numbers(plan.train, n_shared, shift))
        test.append(_shift_block_numbers(plan.test, n_shared, shift))
        fits.append(plan.fit + n_fits)
        if plan.extra is not None:
            extras.append(plan.extra.shifted(n_fits, n_questions))
        n_fits += plan.n_fits
        n_questions += plan.n_questions
        n_blocks += len(plan.blocks) - n_shared
    return Plan(
        n_rows=first_plan.n_rows,
        blocks=_join_pools(blocks),
        train=_join_row_sets(train),
        test=_join_row_sets(test),
        fit=np.concatenate(fits).astype(np.int32),
        part=np.concatenate([p.part for p in plans]),
        repeat=np.concatenate([p.repeat for p in plans]),
        fold=np.concatenate([p.fold for p in plans]),
        unit=np.concatenate([p.unit for p in plans]),
        parts=first_plan.parts,
        extra=_join_extras(extras),
    )


def _shift_block_numbers(sets: RowSets, shared: int, shift: int) -> RowSets:
    """Add `shift` to the block numbers of row sets, from the number `shared` on."""
    base = np.where(sets.base >= shared, sets.base + shift, sets.base).astype(np.int32)
    minus = np.where(sets.minus >= shared, sets.minus + shift, sets.minus).astype(np.int32)
    return RowSets(base, minus, sets.offsets)


def _join_row_sets(set_lists: Sequence[RowSets]) -> RowSets:
    return RowSets(
        np.concatenate([p.base for p in set_lists]),
        np.concatenate([p.minus for p in set_lists]),
        offsets_of(np.concatenate([np.diff(p.offsets) for p in set_lists])),
    )


def _join_pools(pools: Sequence[Blocks]) -> Blocks:
    """Concatenate several pools of blocks into one pool."""
    return Blocks(
        np.concatenate([p.rows for p in pools]).astype(np.int32),
        offsets_of(np.concatenate([p.sizes for p in pools])),
        _join_counts(pools),
    )


def _join_counts(pools: Sequence[Blocks]) -> np.ndarray | None:
    if all(p.counts is None for p in pools):
        return None
    return np.concatenate(
        [np.ones(len(p.rows), np.int32) if p.counts is None else p.counts for p in pools]
    )


def _join_extras(extras: Sequence[Extra | None]) -> Extra | None:
    """Join the requests of several plans besides predictions, which must be of the same type."""
    given_extras = [extra for extra in extras if extra is not None]
    if len({type(extra) for extra in given_extras}) > 1:
        raise Refusal("outer and inner splits ask for different things besides answers about rows.")
    return (
        given_extras[0].joined(given_extras[1:])
        if len(given_extras) > 1
        else next(iter(given_extras), None)
    )
