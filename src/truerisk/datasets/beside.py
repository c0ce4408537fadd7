"""Columns of a file that are no features: who belongs together, when and where a row was taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.core.registry import closest
from truerisk.datasets.cells import Cells, cells_of
from truerisk.datasets.columns import MISSING, number
from truerisk.datasets.grid import Columns
from truerisk.datasets.wording import listed, quoted

__all__ = ["Beside", "place_of"]

SAYS = {"groups": "group", "time": "time", "block": "place"}
"""What a cell of such a column says of its row."""


@dataclass(frozen=True)
class Beside:
    """The names of such columns, without the spaces around them."""

    groups: str | None
    time: str | None
    block: tuple[str, ...]

    @classmethod
    def named(cls, target: str, groups: Any, time: Any, block: Any) -> Beside:
        """Checked: names are texts, and no column is named twice."""
        for what, name in (("groups", groups), ("time", time)):
            if name is not None and not isinstance(name, str):
                raise BadArgument(f"{what}={shown(name)}: give the name of the column of {what}.")
        if isinstance(block, str) or not all(isinstance(name, str) for name in block):
            raise BadArgument(f"block={shown(block)}: give a list of names of columns.")
        roles = [("the target", target), ("the groups", groups), ("the time", time)]
        roles += [("the block", name) for name in block]
        known: dict[str, str] = {}
        for role, name in roles:
            if name is None:
                continue
            if name.strip() in known:
                first = known[name.strip()]
                raise BadData(f"column {quoted(name.strip())} is named as {first} and as {role}.")
            known[name.strip()] = role
        bare = [None if name is None else name.strip() for name in (groups, time)]
        return cls(bare[0], bare[1], tuple(name.strip() for name in block))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in (self.groups, self.time, *self.block) if name is not None)

    def out_of(self, found: Columns) -> tuple[Columns, dict[str, Any]]:
        """The columns without these, and the cells of these by what they say."""
        taken: dict[str, NDArray[Any]] = {}
        for name in self.names:  # while all columns are there to be listed
            place_of(name, replace(found, names=[*found.names, *found.aside]))
        for what in ("groups", "time"):
            name = getattr(self, what)
            if name is not None:
                found, taken[what] = _apart(found, name, what)
        places = []
        for name in self.block:
            found, cells = _apart(found, name, "block")
            places.append(cells)
        if places:
            taken["block"] = places[0] if len(places) == 1 else np.column_stack(places)
        return found, taken


def _apart(found: Columns, name: str, what: str) -> tuple[Columns, NDArray[Any]]:
    """The columns without the one of this name, and its cells."""
    if name in found.aside:
        return found, _labels(name, cells_of(found.aside[name]), found.lines, what)
    place = place_of(name, found)
    labels = _labels(name, cells_of(found.cells[place]), found.lines, what)
    kept = [j for j in range(len(found.names)) if j != place]
    names, cells = [found.names[j] for j in kept], [found.cells[j] for j in kept]
    return replace(found, names=names, cells=cells), labels


def _labels(name: str, cells: Cells, lines: Sequence[int], what: str) -> NDArray[Any]:
    cells = cells.as_words()
    told = cells.tally
    labels = [word.strip() for word in told.words]
    nameless = [label in MISSING for label in labels]
    if any(nameless):
        own = "a group of its own if it stands alone" if what == "groups" else "or leave it out"
        raise BadData(
            f"column {quoted(name)} says no {SAYS[what]} on line "
            f"{lines[told.first_row(nameless)]}: give every row one, {own}."
        )
    return np.array(labels)[cells.codes()]


def place_of(name: str, grid: Columns) -> int:
    """Where the column of this name stands; an unknown one is refused, with the closest."""
    bare = name.strip()
    if bare in grid.names:
        return grid.names.index(bare)
    folded = [name.casefold() for name in grid.names]
    if folded.count(bare.casefold()) == 1:
        hint = f"; did you mean {quoted(grid.names[folded.index(bare.casefold())])}?"
    else:
        hint = closest(quoted(bare)[1:-1], [quoted(name)[1:-1] for name in grid.names])
    if not hint and all(number(name) is not None for name in grid.names):
        hint = "; its first line holds only numbers: is the header missing?"
    raise UnknownName(
        f"the file has no column {quoted(bare)}{hint or '.'} Its columns: {listed(grid.names)}."
    )
