"""The same problem in other words: rows in another order, classes under other names.

And a plan that is no longer the same: one thing in it changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from truerisk.core.plan.blocks import Blocks
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data, has_row_entries
from truerisk.core.table.rows import take_rows


def permuted_data(data: Data, order: np.ndarray) -> Data:
    """Row j of the new data is row `order[j]` of the old."""
    cut = {
        name: take_rows(value, order) if has_row_entries(value, data.n_rows) else value
        for name, value in data.fit_params.items()
    }
    return replace(
        data,
        X=data.rows(order),
        y=data.y[order],
        codes=None if data.codes is None else data.codes[order],
        groups=None if data.groups is None else data.groups[order],
        sample_weight=data.weights(order),
        time=None if data.time is None else data.time[order],
        block=None if data.block is None else data.block[order],
        fit_params=cut,
    )


def permuted_plan(plan: Plan, order: np.ndarray) -> Plan:
    """The plan that asks about permuted data what `plan` asks about the old."""
    place = np.argsort(order).astype(np.int32)  # where each old row stands now
    flips = plan.flips
    if flips is not None:
        flips = replace(flips, row=place[flips.row])
    rows = place[plan.blocks.rows]
    block = np.repeat(np.arange(len(plan.blocks)), plan.blocks.sizes)
    ascending = np.lexsort((rows, block))
    counts = None if plan.blocks.counts is None else plan.blocks.counts[ascending]
    return replace(plan, blocks=Blocks(rows[ascending], plan.blocks.offsets, counts), flips=flips)


def renamed(data: Data, names: Any) -> Data:
    """Class number c (in sorted order) is now called `names[c]`."""
    classes, codes = np.unique(np.asarray(names)[data.class_codes], return_inverse=True)
    return replace(data, y=classes[codes], classes=classes, codes=codes.astype(np.int64))


def recoded_plan(plan: Plan, codes: np.ndarray) -> Plan:
    """The plan whose replaced labels say `codes[c]` where `plan` says c."""
    if plan.flips is None:
        return plan
    code = np.asarray(codes)[plan.flips.code].astype(plan.flips.code.dtype)
    return replace(plan, flips=replace(plan.flips, code=code))


def frozen(data: Data) -> Data:
    """The same data in arrays that cannot be written to."""
    return replace(
        data,
        X=_read_only(data.X),
        y=_read_only(data.y),
        classes=_read_only(data.classes),
        codes=_read_only(data.codes),
        groups=_read_only(data.groups),
        sample_weight=_read_only(data.sample_weight),
        time=_read_only(data.time),
        block=_read_only(data.block),
        fit_params={name: _read_only(value) for name, value in data.fit_params.items()},
    )


def _read_only(array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return array
    array = array.copy()
    array.flags.writeable = False
    return array


def altered(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """The plan with one thing changed, and what that is."""
    yield "the number of rows", replace(plan, n_rows=plan.n_rows + 1)
    yield "the names of parts", replace(plan, parts=(*plan.parts[:-1], "another"))
    for each in fields(plan):
        held = getattr(plan, each.name)
        if isinstance(held, np.ndarray) and held.size:
            yield each.name, _with(plan, each.name, _other(held))
        elif is_dataclass(held) and not isinstance(held, type):
            for inside in fields(held):
                array = getattr(held, inside.name)
                if isinstance(array, np.ndarray) and array.size:
                    changed = _with(held, inside.name, _other(array))
                    yield f"{each.name}.{inside.name}", _with(plan, each.name, changed)


def _with(holder: Any, name: str, value: Any) -> Any:
    return replace(holder, **{name: value})


def _other(array: np.ndarray) -> np.ndarray:
    changed = array.copy()
    changed.flat[-1] += 1
    return changed
