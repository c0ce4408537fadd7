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
from truerisk.plan.blocks import ALL, Blocks, RowSets, offsets_from_lengths
from truerisk.plan.builder import merge_equal_fits
from truerisk.plan.plan import Plan

if TYPE_CHECKING:
    from truerisk.plan.extra import Extra


def nest_plans(outer_plan: Plan, inner_plans: Sequence[Plan]) -> Plan:
    """Join an outer plan with inner plans, one for the training set of each outer fit.

    The plan `inner_plans[f]` belongs to outer fit f. The test sets of the outer plan are the part
    "outer", all other test sets the part "inner".

    `inner_plans[f]` was drawn on the distinct training rows of outer fit f, in ascending order. An
    inner training set "all rows but block b" becomes "the training set of the outer fit but block
    b", with the copies of a bootstrap sample. A test set contains each row once, so that means that
    count copies and means that do not are not mixed.
    """
    plans = [
        replace(
            outer_plan, part=np.zeros(outer_plan.n_questions, np.int8), parts=("outer", "inner")
        )
    ]
    for outer_fit, inner_plan in enumerate(inner_plans):
        plans.append(_plan_on_all_rows(outer_plan, outer_fit, inner_plan))
    return merge_equal_fits(_join_plans(plans))


def _plan_on_all_rows(outer_plan: Plan, outer_fit: int, inner_plan: Plan) -> Plan:
    """Rewrite an inner plan, made for the training rows of an outer fit, as a plan on all rows.

    Its blocks follow those of the outer plan.
    """
    rows, row_counts = outer_plan.train_rows(outer_fit)
    base_block, removed_blocks = (
        int(outer_plan.train.base[outer_fit]),
        outer_plan.train.get_removed_blocks(outer_fit),
    )
    test_base_and_removed = base_block, removed_blocks
    block_pools = [outer_plan.blocks, replace(inner_plan.blocks, rows=rows[inner_plan.blocks.rows])]
    if row_counts is not None and (inner_plan.test.base == ALL).any():
        test_base_and_removed = (
            len(outer_plan.blocks) + len(inner_plan.blocks),
            np.empty(0, np.int32),
        )
        block_pools.append(Blocks(rows, np.array([0, len(rows)])))
    block_shift = len(outer_plan.blocks)
    return Plan(
        n_rows=outer_plan.n_rows,
        blocks=_join_pools(block_pools),
        train=_shift_row_sets(inner_plan.train, base_block, removed_blocks, block_shift),
        test=_shift_row_sets(inner_plan.test, *test_base_and_removed, block_shift),
        fit=inner_plan.fit,
        part=np.ones(inner_plan.n_questions, np.int8),
        repeat=inner_plan.repeat,
        fold=inner_plan.fold,
        unit=np.full(inner_plan.n_questions, outer_fit, np.int32),
        parts=("outer", "inner"),
        extra=None if inner_plan.extra is None else inner_plan.extra.map_to_rows(rows),
    )


def _shift_row_sets(
    row_sets: RowSets, base_block: int, removed_blocks: np.ndarray, block_shift: int
) -> RowSets:
    """Shift the block numbers of row sets, and replace the base ALL by blocks.

    The base "all rows" becomes `base_block` minus the blocks in `removed_blocks`.
    """
    has_all_rows = row_sets.base == ALL
    if not has_all_rows.any():
        return RowSets(
            row_sets.base + np.int32(block_shift),
            row_sets.removed_blocks + np.int32(block_shift),
            row_sets.offsets,
        )
    n_removed_blocks = np.diff(row_sets.offsets) + has_all_rows * len(removed_blocks)
    offsets = offsets_from_lengths(n_removed_blocks)
    new_removed_blocks = np.empty(offsets[-1], dtype=np.int32)
    is_own_block = np.ones(offsets[-1], dtype=bool)
    added_positions = (
        offsets[1:][has_all_rows, None] - np.arange(1, len(removed_blocks) + 1)[None, ::-1]
    ).ravel()
    is_own_block[added_positions] = False
    new_removed_blocks[is_own_block] = row_sets.removed_blocks + block_shift
    new_removed_blocks[added_positions] = np.tile(removed_blocks, int(has_all_rows.sum()))
    return RowSets(
        np.where(has_all_rows, base_block, row_sets.base + block_shift).astype(np.int32),
        new_removed_blocks,
        offsets,
    )


def _join_plans(plans: Sequence[Plan]) -> Plan:
    """Join plans that share the blocks of the first plan.

    The other blocks of each plan are appended.
    """
    first_plan = plans[0]
    n_shared_blocks = len(first_plan.blocks)
    block_pools, train_sets, test_sets, fit_arrays, n_fits = (
        [first_plan.blocks],
        [first_plan.train],
        [first_plan.test],
        [first_plan.fit],
        0,
    )
    extra_requests = [first_plan.extra]
    n_fits, n_blocks, n_questions = first_plan.n_fits, n_shared_blocks, first_plan.n_questions
    for plan in plans[1:]:
        first_own_position = plan.blocks.offsets[n_shared_blocks]
        own_positions = slice(first_own_position, None)
        block_pools.append(
            Blocks(
                plan.blocks.rows[own_positions],
                plan.blocks.offsets[n_shared_blocks:] - first_own_position,
                None if plan.blocks.counts is None else plan.blocks.counts[own_positions],
            )
        )
        block_shift = n_blocks - n_shared_blocks
        train_sets.append(_shift_block_numbers(plan.train, n_shared_blocks, block_shift))
        test_sets.append(_shift_block_numbers(plan.test, n_shared_blocks, block_shift))
        fit_arrays.append(plan.fit + n_fits)
        if plan.extra is not None:
            extra_requests.append(plan.extra.shift_numbers(n_fits, n_questions))
        n_fits += plan.n_fits
        n_questions += plan.n_questions
        n_blocks += len(plan.blocks) - n_shared_blocks
    return Plan(
        n_rows=first_plan.n_rows,
        blocks=_join_pools(block_pools),
        train=_join_row_sets(train_sets),
        test=_join_row_sets(test_sets),
        fit=np.concatenate(fit_arrays).astype(np.int32),
        part=np.concatenate([each_plan.part for each_plan in plans]),
        repeat=np.concatenate([each_plan.repeat for each_plan in plans]),
        fold=np.concatenate([each_plan.fold for each_plan in plans]),
        unit=np.concatenate([each_plan.unit for each_plan in plans]),
        parts=first_plan.parts,
        extra=_join_extras(extra_requests),
    )


def _shift_block_numbers(row_sets: RowSets, n_shared_blocks: int, block_shift: int) -> RowSets:
    """Add `block_shift` to those block numbers of row sets that are at least `n_shared_blocks`."""
    base_blocks = np.where(
        row_sets.base >= n_shared_blocks, row_sets.base + block_shift, row_sets.base
    ).astype(np.int32)
    removed_blocks = np.where(
        row_sets.removed_blocks >= n_shared_blocks,
        row_sets.removed_blocks + block_shift,
        row_sets.removed_blocks,
    ).astype(np.int32)
    return RowSets(base_blocks, removed_blocks, row_sets.offsets)


def _join_row_sets(row_sets_to_join: Sequence[RowSets]) -> RowSets:
    return RowSets(
        np.concatenate([row_sets.base for row_sets in row_sets_to_join]),
        np.concatenate([row_sets.removed_blocks for row_sets in row_sets_to_join]),
        offsets_from_lengths(
            np.concatenate([np.diff(row_sets.offsets) for row_sets in row_sets_to_join])
        ),
    )


def _join_pools(pools: Sequence[Blocks]) -> Blocks:
    """Concatenate several pools of blocks into one pool."""
    return Blocks(
        np.concatenate([pool.rows for pool in pools]).astype(np.int32),
        offsets_from_lengths(np.concatenate([pool.sizes for pool in pools])),
        _join_counts(pools),
    )


def _join_counts(pools: Sequence[Blocks]) -> np.ndarray | None:
    if all(pool.counts is None for pool in pools):
        return None
    return np.concatenate(
        [
            np.ones(len(pool.rows), np.int32) if pool.counts is None else pool.counts
            for pool in pools
        ]
    )


def _join_extras(requests: Sequence[Extra | None]) -> Extra | None:
    """Join the requests of several plans for results other than predictions.

    All requests must be of the same type.
    """
    present_requests = [one_request for one_request in requests if one_request is not None]
    if len({type(one_request) for one_request in present_requests}) > 1:
        raise Refusal("outer and inner splits ask for different things besides answers about rows.")
    return (
        present_requests[0].join(present_requests[1:])
        if len(present_requests) > 1
        else next(iter(present_requests), None)
    )
