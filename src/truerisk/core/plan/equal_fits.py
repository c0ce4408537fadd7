"""Equal train sets of a plan become one fit, however many questions they get."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from truerisk.core.plan.plan import Plan
from truerisk.core.plan.special_fits import Flips, Laws
from truerisk.core.table.checksums import mixed

__all__ = ["merge_equal_fits"]


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
