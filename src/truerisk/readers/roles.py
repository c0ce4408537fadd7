"""The columns of a file by their role: the target, and columns other than features.

The target is classes or numbers, by a stated rule or on request, or a survival outcome. Other
columns hold the groups, times and places of rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.core.arguments import mention
from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.mentions import Sentence
from truerisk.core.registry import closest
from truerisk.data.targets import MOST_INTEGER_CLASSES
from truerisk.readers.cells import Cells, Tally, cells_of, counted, listed, quoted
from truerisk.readers.columnar import MISSING, number
from truerisk.readers.grid import Columns

TaskWord = Literal["classification", "regression", "survival"]

_LARGEST = 2**63 - 1
_LONGEST_LABEL = 100
_SHOWN_CLASSES = 6


@frozen(eq=False)
class TargetColumn:
    """y, the task that it defines, and a sentence on how the task was determined."""

    y: NDArray[Any]
    task: TaskWord
    note: str


def read_target(
    name: str, cells: Cells, lines: Sequence[int], target_type: TaskWord | None = None
) -> TargetColumn:
    """Return the target from its cells.

    Text makes it a classification, and so do integers with at most ten distinct values
    (`MOST_INTEGER_CLASSES`). All other numbers make it a regression. `target_type` overrides this
    rule. Labels keep their form: integers as integers, all else as text.
    """
    if target_type in (None, "regression") and not cells.tally.words:
        # If all cells are plain numbers, their words need not be distinguished.
        y = cells.floats([])
        if target_type or not np.array_equal(y, np.floor(y)):
            return _on_numbers(name, y, cells, target_type)
    cells = cells.as_words()
    column = _Cells(name, cells, [label.strip() for label in cells.tally.words], lines)
    column.refuse_empty()
    if target_type not in (None, "classification", "regression"):
        raise BadData(
            f"{mention('target_type', target_type, quoted(target_type))} is neither "
            "classification nor regression."
        )
    if target_type is None:
        column.refuse_numbering()
    task = target_type or _inferred(column.numbers)
    return (
        _regression(column, target_type) if task == "regression" else _classes(column, target_type)
    )


def read_outcome(
    event: str,
    label: str | None,
    of_event: Cells,
    time: str,
    of_time: Cells,
    lines: Sequence[int],
) -> TargetColumn:
    """Return a survival outcome: whether the event occurred, and the time of it or of censoring.

    The pairs are those of scikit-survival. The event is 1 or true against 0 or false, or the
    `label` against another one.
    """
    came, when = (
        _Cells(name, cells, [title.strip() for title in cells.tally.words], lines, what)
        for name, cells, what in (
            (event, of_event.as_words(), "event"),
            (time, of_time.as_words(), "time to event"),
        )
    )
    came.refuse_empty()
    when.refuse_empty()
    is_event = _events(came, label)
    wrong = [v is None or not 0 <= v < math.inf for v in when.numbers]
    if any(wrong):
        raise BadData(
            f"the time to event {quoted(time)} is {quoted(when.tally.first_text(wrong).strip())} "
            f"on line {lines[when.tally.first_row(wrong)]}: it is a number from 0 on; mend the "
            "cell or leave the row out."
        )
    n_events, n_rows = came.tally.n_of(is_event), came.n_rows
    if not n_events:
        raise BadData(
            f"the event {quoted(event)} is {quoted(came.bare[0])} in every row: it came in none, "
            "and there is nothing to predict; use another column."
        )
    y = np.empty(n_rows, dtype=[("event", np.bool_), ("time", np.float64)])
    y["event"], y["time"] = np.array(is_event)[came.cells.codes()], when.cells.floats(when.numbers)
    note = (
        f"target {quoted(event)} is {quoted(came.tally.first_text(is_event).strip())} in "
        f"{n_events:,} of {counted(n_rows, 'row')}, the times {quoted(time)} go from "
        f"{y['time'].min():g} to {y['time'].max():g}: survival"
    )
    return TargetColumn(y, "survival", note)


def _events(came: _Cells, label: str | None) -> list[bool]:
    """Return for each word whether it says that the event occurred."""
    labels = list(dict.fromkeys(came.bare))
    the_event = f"the event {quoted(came.name)}"
    if label is not None and label not in labels:
        raise BadData(f"{the_event} is never {quoted(label)}: its labels are {listed(labels)}.")
    truth_of = {1.0: True, 0.0: False, "true": True, "false": False}
    known = [
        truth_of.get(name.casefold() if value is None else value)
        for name, value in zip(came.bare, came.numbers, strict=True)
    ]
    if label is None and None not in known:
        return [name is True for name in known]
    if len(labels) > 2:
        raise BadData(
            f"{the_event} has {len(labels)} labels, {listed(labels)}: it came or not; make a "
            "column of two labels of it."
        )
    if label is None:
        shown = sorted(labels)
        readings = " or ".join(_reading(f"{came.name}={each}") for each in shown)
        survival = " (in R's survival 1 is censored and 2 the event)" if shown == ["1", "2"] else ""
        raise BadData(
            f"{the_event} is {listed(shown)}, and not 1 and 0 or true and false: say which label "
            f"means that the event came, {readings}{survival}."
        )
    return [name == label for name in came.bare]


def _reading(event: str) -> str:
    return mention("event", event, repr(event))


@frozen(eq=False)
class _Cells:
    """The target's cells, by their distinct words without surrounding spaces."""

    name: str
    cells: Cells
    bare: list[str]
    lines: Sequence[int]
    what: str = "target"

    @property
    def n_rows(self) -> int:
        return self.cells.n_rows

    @property
    def tally(self) -> Tally:
        return self.cells.tally

    @cached_property
    def numbers(self) -> list[float | None]:
        """The number of each word, or None."""
        return [number(name) for name in self.bare]

    def refuse_empty(self) -> None:
        """Raise for empty cells as in features; `NAN` or `-nan` is missing too."""
        words = zip(self.bare, self.numbers, strict=True)
        none = [name in MISSING or (v is not None and math.isnan(v)) for name, v in words]
        if not any(none):
            return
        n = self.tally.n_of(none)
        cells = "has an empty cell" if n == 1 else f"has {n:,} empty cells"
        first = self.lines[self.tally.first_row(none)]
        raise BadData(
            f"the {self.what} {quoted(self.name)} {cells} among {counted(self.n_rows, 'row')}, the "
            f"first on line {first}: fill them in or leave these rows out."
        )

    def refuse_numbering(self) -> None:
        """Raise if the integers of a range occur once each, because they number the rows."""
        present = {v for v in self.numbers if v is not None and v.is_integer()}
        n = self.n_rows
        if len(present) < n or max(present) - min(present) != n - 1:
            return
        if n > 1:
            raise _too_many(self.name, len(present), n, numeric=True)


def _inferred(numbers: Sequence[float | None]) -> TaskWord:
    values = set(numbers)
    if None in values:
        return "classification"
    whole = all(v is not None and v.is_integer() for v in values)
    return "classification" if whole and len(values) <= MOST_INTEGER_CLASSES else "regression"


def _regression(column: _Cells, requested: TaskWord | None) -> TargetColumn:
    name, numbers = column.name, column.numbers
    wrong = [v is None or math.isinf(v) for v in numbers]
    if any(wrong):
        line = column.lines[column.tally.first_row(wrong)]
        other = f", or use {mention('target_type', 'classification')}" if None in numbers else ""
        raise BadData(
            f"the target {quoted(name)} holds {quoted(column.tally.first_text(wrong).strip())} on "
            f"line {line}, which is no finite number: mend the cell{other}."
        )
    return _on_numbers(name, column.cells.floats(numbers), column.cells, requested)


def _on_numbers(
    name: str, y: NDArray[np.float64], cells: Cells, requested: TaskWord | None
) -> TargetColumn:
    if (y == y[0]).all():
        first = cells.as_words().tally.words[0].strip()
        raise BadData(
            f"the target {quoted(name)} is {first} in every row: there is nothing to "
            "predict; use another column."
        )
    n_values = len(np.unique(y))
    span = f"{y.min():g} to {y.max():g}, {n_values:,} different values"
    note = f"target {quoted(name)} is a number ({span}): regression"
    if requested is None and 2 * n_values <= len(y) and np.array_equal(y, np.floor(y)):
        note += f"; if its integers are labels, use {mention('target_type', 'classification')}"
    return TargetColumn(y, "regression", Sentence(note))


def _classes(column: _Cells, requested: TaskWord | None) -> TargetColumn:
    name, numbers = column.name, column.numbers
    labels = _labels(column.bare, numbers)
    counts: Counter[Any] = Counter()  # The order is that of the first appearance of labels.
    for label, n in zip(labels.tolist(), column.tally.counts.tolist(), strict=True):
        counts[label] += n
    if len(counts) == 1:
        raise BadData(
            f"the target {quoted(name)} has one class only, {quoted(labels[0])}: there is nothing "
            "to distinguish; use another column, or add rows of another class."
        )
    single = [label for label, n in counts.items() if n == 1]
    if 2 * len(single) > len(counts) > 2:
        raise _too_many(name, len(counts), column.n_rows, numeric=None not in numbers)
    if single:
        line = column.lines[column.tally.first_row((labels == single[0]).tolist())]
        more = f" (and {len(single) - 1} more)" if len(single) > 1 else ""
        raise BadData(
            f"the class {quoted(single[0])}{more} of the target {quoted(name)} has a single row, "
            f"line {line}: add rows of it, merge it with another class, or leave it out."
        )
    note = _classes_note(name, counts)
    if requested is None and None not in numbers:
        note += f"; if its integers are quantities, use {mention('target_type', 'regression')}"
    return TargetColumn(labels[column.cells.codes()], "classification", Sentence(note))


def _labels(bare: Sequence[str], numbers: Sequence[float | None]) -> NDArray[Any]:
    """Return the label of each word."""
    whole = [v for v in numbers if v is not None and v.is_integer() and abs(v) < _LARGEST]
    if len(whole) < len(numbers):
        # Fixed-width text uses the length of the longest label in every row, which is too much for
        # labels of 10,000 characters.
        long = max(map(len, bare)) > _LONGEST_LABEL
        return np.array(bare, dtype=object if long else np.str_)
    # Cells are read as integers where possible, because a float cannot hold 2**53 + 1.
    return np.array([_integer(cell, v) for cell, v in zip(bare, whole, strict=True)], np.int64)


def _integer(cell: str, value: float) -> int:
    try:
        return int(cell)
    except ValueError:
        return int(value)


def _too_many(name: str, n_classes: int, n_rows: int, *, numeric: bool) -> BadData:
    looks = "an identifier or a number" if numeric else "an identifier or free text"
    remedy = (
        f"{mention('target_type', 'regression')} or another column" if numeric else "another column"
    )
    return BadData(
        f"the target {quoted(name)} has {counted(n_classes, 'class', 'classes')} and "
        f"{counted(n_rows, 'row')}: looks like {looks}; use {remedy}."
    )


def _classes_note(name: str, counts: Counter[Any]) -> str:
    # Scores of one class refer to the second of two classes in this order.
    order = sorted(counts.items()) if len(counts) == 2 else counts.most_common(_SHOWN_CLASSES)
    shown = ", ".join(f"{quoted(c)} {n:,}" for c, n in order)
    more = ", ..." if len(counts) > _SHOWN_CLASSES else ""
    return (
        f"target {quoted(name)} has {counted(len(counts), 'class', 'classes')} "
        f"({shown}{more}): classification"
    )


SAYS = {"groups": "group", "time": "time", "block": "place"}
"""Meaning of a cell of such a column."""


@frozen
class RowColumns:
    """The names of such columns, without surrounding spaces."""

    groups: str | None
    time: str | None
    block: tuple[str, ...]

    @classmethod
    def named(cls, goal: Mapping[str, str], groups: Any, time: Any, block: Any) -> RowColumns:
        """Check that names are texts, and no column is named twice; the `goal` are targets."""
        for what, name in (("groups", groups), ("time", time)):
            if name is not None and not isinstance(name, str):
                raise BadArgument(f"{mention(what, name)}: give the name of the column of {what}.")
        if isinstance(block, str) or not all(isinstance(name, str) for name in block):
            raise BadArgument(f"{mention('block', block)}: give a list of names of columns.")
        roles = [*goal.items(), ("the groups", groups), ("the time", time)]
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
        """Names of the columns for groups, time and blocks that the user named."""
        return tuple(name for name in (self.groups, self.time, *self.block) if name is not None)

    def out_of(self, found: Columns) -> tuple[Columns, dict[str, Any]]:
        """Return the columns without these, and the cells of these by their role."""
        taken: dict[str, NDArray[Any]] = {}
        for name in self.names:  # This is done while all columns can still be listed.
            place_of(name, replace(found, names=[*found.names, *found.aside]))
        for what in ("groups", "time"):
            name = getattr(self, what)
            if name is not None:
                found, taken[what] = _take_column(found, name, what)
        places = []
        for name in self.block:
            found, cells = _take_column(found, name, "block")
            places.append(cells)
        if places:
            taken["block"] = places[0] if len(places) == 1 else np.column_stack(places)
        return found, taken


def _take_column(found: Columns, name: str, what: str) -> tuple[Columns, NDArray[Any]]:
    """Return the columns without the one of this name, and its cells."""
    if name in found.aside:
        return found, _row_labels(name, cells_of(found.aside[name]), found.lines, what)
    place = place_of(name, found)
    labels = _row_labels(name, cells_of(found.cells[place]), found.lines, what)
    retained = [j for j in range(len(found.names)) if j != place]
    names, cells = [found.names[j] for j in retained], [found.cells[j] for j in retained]
    return replace(found, names=names, cells=cells), labels


def _row_labels(name: str, cells: Cells, lines: Sequence[int], what: str) -> NDArray[Any]:
    cells = cells.as_words()
    tally = cells.tally
    labels = [title.strip() for title in tally.words]
    nameless = [label in MISSING for label in labels]
    if any(nameless):
        own = "a group of its own if it stands alone" if what == "groups" else "or leave it out"
        raise BadData(
            f"column {quoted(name)} says no {SAYS[what]} on line "
            f"{lines[tally.first_row(nameless)]}: give every row one, {own}."
        )
    return np.array(labels)[cells.codes()]


def place_of(name: str, grid: Columns) -> int:
    """Return the index of the column of this name; suggest the closest one if it is unknown."""
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
