"""The columns that a part of a ColumnTransformer is given: names, places, slices, masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.core.identity import is_exactly
from truerisk.engines.preparation.closed.source import Cells
from truerisk.engines.preparation.closed.table import Refused, Table

__all__ = ["Places", "places_of"]


@dataclass(frozen=True)
class Places:
    """Columns by their places; a slice of an array stays as it lies in memory, a list does not."""

    columns: tuple[int, ...]
    sliced: slice | None = None

    @property
    def which(self) -> slice | list[int]:
        """As a table is asked for them."""
        return list(self.columns) if self.sliced is None else self.sliced


def places_of(which: Any, table: Table) -> Places:
    """What was written down, as places; refused where scikit-learn would say something of it."""
    if is_exactly(which, "sklearn.compose:make_column_selector"):
        which = _selected(which, table)
    width = table.shape[1]
    if isinstance(which, slice):
        places = _of_slice(which, table)
        return Places(tuple(range(width))[places], places)
    listed = which.tolist() if isinstance(which, np.ndarray) else which
    if not isinstance(listed, list):
        raise Refused("columns that are written down in another way")
    return Places(tuple(_of_list(listed, table)))


def _of_list(listed: list[Any], table: Table) -> Sequence[int]:
    kinds = {type(one) for one in listed}
    width = table.shape[1]
    if kinds <= {str} and kinds:
        return [_place(name, table) for name in listed]
    if kinds <= {bool} and kinds:
        if len(listed) != width:
            raise Refused("a mask of another length")
        return [j for j, there in enumerate(listed) if there]
    if kinds <= {int} and all(0 <= j < width for j in listed):
        return listed
    raise Refused("columns that are not there")


def _of_slice(which: slice, table: Table) -> slice:
    ends = which.start, which.stop
    if which.step is not None:
        raise Refused("a slice with steps")
    if any(isinstance(end, str) for end in ends):
        first, last = (None if end is None else _place(end, table) for end in ends)
        return slice(first, None if last is None else last + 1)
    if not all(end is None or (type(end) is int and end >= 0) for end in ends):
        raise Refused("a slice of another kind")
    return which


def _place(name: Any, table: Table) -> int:
    if table.names is None or name not in table.names:
        raise Refused("a column that is not there")
    return list(table.names).index(name)


def _selected(selector: Any, table: Table) -> Any:
    """What a `make_column_selector` says of the frame itself: it looks at its types alone."""
    if not isinstance(table, Cells) or not table.source.is_pandas:
        raise Refused("a selector of columns of another table")
    return selector(table.source.X.iloc[:1, list(table.places)])
