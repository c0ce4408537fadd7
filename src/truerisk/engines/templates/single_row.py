"""Fits that differ from all rows by one row, asked about that row alone; where answers go."""

from __future__ import annotations

import numpy as np

from truerisk.core.plan.blocks import ALL, Blocks, RowSets, spread
from truerisk.core.plan.plan import Plan
from truerisk.engines.templates.task import ELSEWHERE, Task

__all__ = [
    "place_singles",
    "single_row_fits",
]

NOTHING = -1


def single_row_fits(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Which fits leave one row out or replace one label, and the row; −1 for all other fits.

    The questions of such a fit ask about its row and no other. Found from the codes of the plan:
    O(fits + questions), no row set is written out.
    """
    row = _only_one_taken(plan.train, plan.blocks)
    if plan.flips is not None:
        flips = np.bincount(plan.flips.fit, minlength=plan.n_fits)
        flipped = np.full(plan.n_fits, NOTHING)
        flipped[plan.flips.fit] = plan.flips.row
        whole = (plan.train.base == ALL) & (np.diff(plan.train.offsets) == 0)
        row = np.where(whole & (flips == 1), flipped, np.where(flips == 0, row, NOTHING))
    elsewhere = _only_row(plan.test, plan.blocks) != row[plan.fit]
    row[plan.fit[elsewhere]] = NOTHING
    return row != NOTHING, row


def _only_one_taken(sets: RowSets, blocks: Blocks) -> np.ndarray:
    """The row that a set lacks, where it is all rows but one block of one row."""
    if sets.leave_one_block_out:
        return _row_of(blocks, sets.minus)
    found = np.full(len(sets), NOTHING)
    one = np.flatnonzero((sets.base == ALL) & (np.diff(sets.offsets) == 1))
    found[one] = _row_of(blocks, sets.minus[sets.offsets[one]])
    return found


def _only_row(sets: RowSets, blocks: Blocks) -> np.ndarray:
    """The row of a set that is one block of one row."""
    if not len(sets.minus) and (sets.base != ALL).all():
        return _row_of(blocks, sets.base)
    found = np.full(len(sets), NOTHING)
    plain = np.flatnonzero((sets.base != ALL) & (np.diff(sets.offsets) == 0))
    found[plain] = _row_of(blocks, sets.base[plain])
    return found


def _row_of(blocks: Blocks, which: np.ndarray) -> np.ndarray:
    """The row of each block of one row."""
    if not len(which):
        return np.empty(0, dtype=np.int64)
    if len(blocks.rows) == len(blocks) and (blocks.sizes == 1).all():
        return blocks.rows[which].astype(np.int64)
    first = blocks.rows[np.minimum(blocks.offsets[which], len(blocks.rows) - 1)]
    return np.where(blocks.sizes[which] == 1, first, NOTHING)


def place_singles(task: Task, fits: np.ndarray, answers: np.ndarray, open_: np.ndarray) -> None:
    """Put `answers[candidate of the group, fit]` in their place, and leave the open ones open."""
    plan, candidates = task.plan, task.group.candidates
    order, starts = plan.questions_of
    offsets, inside = spread(starts, fits)
    position = plan.test_offsets[order[inside]]
    asked = np.repeat(np.arange(len(fits)), np.diff(offsets))
    if task.places is None:
        if len(asked) != len(fits):  # a fit that is asked twice
            answers = answers[:, asked]
        if len(candidates) == len(task.values) and np.array_equal(position, np.arange(len(asked))):
            task.values[candidates, : len(asked)] = answers
        else:
            task.values[np.ix_(candidates, position)] = answers
        for j in np.flatnonzero(open_.any(axis=0)):
            task.leave_open(fits[j], candidates[open_[:, j]])
        return
    line = task.places[fits]
    mine = line != ELSEWHERE
    number = np.arange(len(fits))
    task.values[0, position[mine[asked]]] = answers[line, number][asked[mine[asked]]]
    for j in np.flatnonzero(mine & open_[line, number]):
        task.leave_open(fits[j], candidates[line[j], None])
