"""Which splits of a search mix rows that belong together: in time, in space, or in groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from truerisk.api.auditing.order_of_rows import OrderOfRows, neighbours_alike, order_of_table
from truerisk.core.contracts import Method
from truerisk.core.plan.leaks import cut_groups, leaks_in_time, tested_by_neighbours
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.kfold import KFold
from truerisk.methods.spatial import Blocks
from truerisk.methods.temporal import Purged

__all__ = ["Kind", "Mixed", "mixed_splits"]

Kind = Literal["time", "space", "groups"]

MOST_PARTS = 10


@dataclass(frozen=True, eq=False)
class Mixed:
    """Splits that test rows by models which saw what belongs to them.

    `n_rows` of `data` were tested so. `place` says where that was learned, `given` whether the user
    has said it. Where nobody has, `sure` says whether these are times, or only what the table is
    sorted by, and `alike` whether y of neighbours is alike. The splits of `method` keep apart what
    belongs together: as many as the search had, so that models see about as many rows.
    """

    kind: Kind
    data: Data
    n_rows: int
    place: str
    given: bool
    method: Method
    sure: bool = True
    alike: bool = True

    @property
    def parts(self) -> str:
        """What its method leaves out whole."""
        stretches = "stretches of time" if self.sure else "stretches of rows"
        kinds: dict[type, str] = {Purged: stretches, Blocks: "folds of whole blocks"}
        return kinds.get(type(self.method), "folds of whole groups")


def mixed_splits(data: Data, plan: Plan, order: OrderOfRows | None = None) -> Mixed | None:
    """What the splits of a plan mix, or None.

    Where nobody has said when or where the rows were taken, or of which group they are, `order`
    is looked at: by default what the table is sorted by.
    """
    known = _of_given(data, plan)
    if known is not None or data.time is not None:
        return known
    order = order_of_table(data) if order is None else order
    if order is None:
        return None
    timed = replace(data, time=order.times)
    found = _of(timed, plan, "time", len(leaks_in_time(timed, plan)), order.place, given=False)
    alike = neighbours_alike(data.y[np.argsort(order.times, kind="stable")])
    return None if found is None else replace(found, sure=order.sure, alike=alike)


def _of_given(data: Data, plan: Plan) -> Mixed | None:
    late = len(leaks_in_time(data, plan))
    if late:
        return _of(data, plan, "time", late, "time=")
    near, n_tested = tested_by_neighbours(data, plan)
    if 2 * len(near) > n_tested:
        return _of(data, plan, "space", len(near), "block=")
    return _of(data, plan, "groups", len(cut_groups(data, plan)), "groups=")


def _of(
    data: Data, plan: Plan, kind: Kind, n_rows: int, place: str, *, given: bool = True
) -> Mixed | None:
    """With the method that keeps apart all that is known of the rows, not this kind alone."""
    if not n_rows:
        return None
    k = min(max(plan.n_questions, 2), MOST_PARTS)
    method: Method = Purged(k, average="fold")
    if data.time is None and data.places is not None:
        method = Blocks(k, average="fold")
    elif data.time is None and data.groups is not None:
        method = KFold(min(k, len(np.unique(data.groups))), average="fold")
    return Mixed(kind, data, n_rows, place, given, method)
