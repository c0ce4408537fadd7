"""Which splits of a search mix rows that belong together: in time, in space, or in groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from truerisk.core.contracts import Method
from truerisk.core.plan.leaks import cut_groups, leaks_in_time, tested_by_neighbours
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.core.table.rows import column_names
from truerisk.methods.blocks import Blocks
from truerisk.methods.kfold import KFold
from truerisk.methods.purged import Purged

__all__ = ["Kind", "Mixed", "mixed_splits", "times_of_table"]

Kind = Literal["time", "space", "groups"]

MOST_PARTS = 10


@dataclass(frozen=True, eq=False)
class Mixed:
    """Splits that test rows by models which saw what belongs to them.

    `n_rows` of `data` were tested so. `place` says where that was learned, `given` whether the user
    has said it. The splits of `method` keep apart what belongs together: as many as the search had,
    so that models see about as many rows.
    """

    kind: Kind
    data: Data
    n_rows: int
    place: str
    given: bool
    method: Method

    @property
    def parts(self) -> str:
        """What its method leaves out whole."""
        kinds: dict[type, str] = {Purged: "stretches of time", Blocks: "folds of whole blocks"}
        return kinds.get(type(self.method), "folds of whole groups")


def mixed_splits(data: Data, plan: Plan) -> Mixed | None:
    """What the splits of a plan mix, or None.

    Where nobody has said when or where the rows were taken, or of which group they are, the dates
    that a frame is sorted by are looked at.
    """
    known = _of_given(data, plan)
    if known is not None or data.time is not None:
        return known
    times, place = times_of_table(data.X)
    if times is None or len(np.unique(times)) < 2:
        return None
    timed = replace(data, time=times)
    return _of(timed, plan, "time", len(leaks_in_time(timed, plan)), place, given=False)


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


def times_of_table(X: Any) -> tuple[np.ndarray | None, str]:
    """The dates that a frame is sorted by, its index or a column, and where they are.

    >>> times_of_table(np.zeros((3, 1)))
    (None, '')
    """
    index = getattr(X, "index", None)
    if column_names(X) is None:
        return None, ""
    if _are_sorted_dates(getattr(index, "dtype", None), index):
        return np.asarray(index), "the index"
    for place, name in enumerate(column_names(X) or ()):
        column = X.iloc[:, place] if hasattr(X, "iloc") else X[name]
        if _are_sorted_dates(getattr(column, "dtype", None), column):
            return np.asarray(column), f"column {name!r}"
    return None, ""


def _are_sorted_dates(kind: Any, values: Any) -> bool:
    """Whether these are dates, none missing, and none before the one above it."""
    if not str(kind).lower().startswith(("datetime", "date")):
        return False
    dates = np.asarray(values)
    if dates.dtype.kind != "M" or np.isnat(dates).any():
        return False
    return bool((dates[1:] >= dates[:-1]).all())
