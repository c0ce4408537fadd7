"""Read the columns of a file that are no features: target, groups, times and blocks of rows.

The target is classes or numbers, by a documented rule or on request, or a survival outcome.
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
from truerisk.core.registry import suggestion_for
from truerisk.data.targets import MOST_INTEGER_CLASSES
from truerisk.readers.cells import Cells, Tally, cells_of, counted, listed, quoted
from truerisk.readers.columnar import MISSING, number
from truerisk.readers.grid import Columns

TaskWord = Literal["classification", "regression", "survival"]

_MAX_INTEGER = 2**63 - 1
_MAX_LABEL_LENGTH = 100
_SHOWN_CLASSES = 6


@frozen(eq=False)
class TargetColumn:
    """The target y, the task that it defines, and a sentence on how the task was determined."""

    y: NDArray[Any]
    task: TaskWord
    note: str


def read_target(
    name: str, cells: Cells, start_lines: Sequence[int], target_type: TaskWord | None = None
) -> TargetColumn:
    """Return the target as classes or numbers, from the cells of its column.

    A target of text is a classification, and so is a target of integers with at most ten distinct
    values (`MOST_INTEGER_CLASSES`). All other numbers are a regression. `target_type` overrides
    this rule. Labels keep their form: integers stay integers, and all other labels are text.
    """
    if target_type in (None, "regression") and not cells.tally.words:
        # For a column of plain numbers only, the slower reading as words can be omitted.
        y = cells.floats([])
        if target_type or not np.array_equal(y, np.floor(y)):
            return _on_numbers(name, y, cells, target_type)
    cells = cells.as_words()
    column = _TargetCells(
        name, cells, [distinct_word.strip() for distinct_word in cells.tally.words], start_lines
    )
    column.refuse_empty()
    if target_type not in (None, "classification", "regression"):
        raise BadData(
            f"{mention('target_type', target_type, quoted(target_type))} is neither "
            "classification nor regression."
        )
    if target_type is None:
        column.refuse_numbering()
    task = target_type or _infer_task(column.numbers)
    return (
        _regression(column, target_type) if task == "regression" else _classes(column, target_type)
    )


def read_outcome(
    event: str,
    label: str | None,
    event_column: Cells,
    time: str,
    time_column: Cells,
    start_lines: Sequence[int],
) -> TargetColumn:
    """Return a survival outcome: whether the event occurred, and the time of event or censoring.

    The outcome is a structured array, as in scikit-survival. The event is coded as 1 or true
    against 0 or false, or as `label` against another label.
    """
    event_cells, time_cells = (
        _TargetCells(
            name,
            cells,
            [distinct_word.strip() for distinct_word in cells.tally.words],
            start_lines,
            column_role,
        )
        for name, cells, column_role in (
            (event, event_column.as_words(), "event"),
            (time, time_column.as_words(), "time to event"),
        )
    )
    event_cells.refuse_empty()
    time_cells.refuse_empty()
    is_event = _is_event_by_word(event_cells, label)
    is_invalid = [v is None or not 0 <= v < math.inf for v in time_cells.numbers]
    if any(is_invalid):
        raise BadData(
            f"the time to event {quoted(time)} is "
            f"{quoted(time_cells.tally.first_text(is_invalid).strip())} on line "
            f"{start_lines[time_cells.tally.first_row(is_invalid)]}: it is a number from 0 on; "
            "mend the cell or leave the row out."
        )
    n_events, n_rows = event_cells.tally.n_of(is_event), event_cells.n_rows
    if not n_events:
        raise BadData(
            f"the event {quoted(event)} is {quoted(event_cells.stripped_words[0])} in every row: "
            "it came in none, and there is nothing to predict; use another column."
        )
    y = np.empty(n_rows, dtype=[("event", np.bool_), ("time", np.float64)])
    y["event"], y["time"] = (
        np.array(is_event)[event_cells.cells.codes()],
        time_cells.cells.floats(time_cells.numbers),
    )
    target_note = (
        f"target {quoted(event)} is {quoted(event_cells.tally.first_text(is_event).strip())} in "
        f"{n_events:,} of {counted(n_rows, 'row')}, the times {quoted(time)} go from "
        f"{y['time'].min():g} to {y['time'].max():g}: survival"
    )
    return TargetColumn(y, "survival", target_note)


def _is_event_by_word(event_cells: _TargetCells, label: str | None) -> list[bool]:
    """Return for each word of the event column whether it means that the event occurred."""
    labels = list(dict.fromkeys(event_cells.stripped_words))
    event_phrase = f"the event {quoted(event_cells.name)}"
    if label is not None and label not in labels:
        raise BadData(f"{event_phrase} is never {quoted(label)}: its labels are {listed(labels)}.")
    truth_by_word = {1.0: True, 0.0: False, "true": True, "false": False}
    event_values = [
        truth_by_word.get(stripped_word.casefold() if value is None else value)
        for stripped_word, value in zip(
            event_cells.stripped_words, event_cells.numbers, strict=True
        )
    ]
    if label is None and None not in event_values:
        return [stripped_word is True for stripped_word in event_values]
    if len(labels) > 2:
        raise BadData(
            f"{event_phrase} has {len(labels)} labels, {listed(labels)}: it came or not; make a "
            "column of two labels of it."
        )
    if label is None:
        sorted_labels = sorted(labels)
        option_texts = " or ".join(
            _reading(f"{event_cells.name}={candidate_label}") for candidate_label in sorted_labels
        )
        hint_for_r = (
            " (in R's survival 1 is censored and 2 the event)"
            if sorted_labels == ["1", "2"]
            else ""
        )
        raise BadData(
            f"{event_phrase} is {listed(sorted_labels)}, and not 1 and 0 or true and false: say "
            f"which label means that the event came, {option_texts}{hint_for_r}."
        )
    return [stripped_word == label for stripped_word in event_cells.stripped_words]


def _reading(event: str) -> str:
    return mention("event", event, repr(event))


@frozen(eq=False)
class _TargetCells:
    """The cells of a target column, with its distinct words stripped of surrounding spaces."""

    name: str
    cells: Cells
    stripped_words: list[str]
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
        """Value of each word as a number, or None for a word that is no number."""
        return [number(stripped_word) for stripped_word in self.stripped_words]

    def refuse_empty(self) -> None:
        """Raise if the column has missing cells; besides `MISSING`, any spelling of NaN counts."""
        words_and_numbers = zip(self.stripped_words, self.numbers, strict=True)
        is_missing = [
            stripped_word in MISSING or (v is not None and math.isnan(v))
            for stripped_word, v in words_and_numbers
        ]
        if not any(is_missing):
            return
        n_missing = self.tally.n_of(is_missing)
        count_text = "has an empty cell" if n_missing == 1 else f"has {n_missing:,} empty cells"
        first_line = self.lines[self.tally.first_row(is_missing)]
        raise BadData(
            f"the {self.what} {quoted(self.name)} {count_text} among "
            f"{counted(self.n_rows, 'row')}, the "
            f"first on line {first_line}: fill them in or leave these rows out."
        )

    def refuse_numbering(self) -> None:
        """Raise if each integer of a range occurs once, as the column then numbers the rows."""
        integers = {v for v in self.numbers if v is not None and v.is_integer()}
        n_rows = self.n_rows
        if len(integers) < n_rows or max(integers) - min(integers) != n_rows - 1:
            return
        if n_rows > 1:
            raise _too_many(self.name, len(integers), n_rows, numeric=True)


def _infer_task(word_numbers: Sequence[float | None]) -> TaskWord:
    distinct_numbers = set(word_numbers)
    if None in distinct_numbers:
        return "classification"
    is_integer = all(v is not None and v.is_integer() for v in distinct_numbers)
    return (
        "classification"
        if is_integer and len(distinct_numbers) <= MOST_INTEGER_CLASSES
        else "regression"
    )


def _regression(column: _TargetCells, requested_type: TaskWord | None) -> TargetColumn:
    name, word_numbers = column.name, column.numbers
    is_invalid = [v is None or math.isinf(v) for v in word_numbers]
    if any(is_invalid):
        line_number = column.lines[column.tally.first_row(is_invalid)]
        remedy = (
            f", or use {mention('target_type', 'classification')}" if None in word_numbers else ""
        )
        raise BadData(
            f"the target {quoted(name)} holds "
            f"{quoted(column.tally.first_text(is_invalid).strip())} on "
            f"line {line_number}, which is no finite number: mend the cell{remedy}."
        )
    return _on_numbers(name, column.cells.floats(word_numbers), column.cells, requested_type)


def _on_numbers(
    name: str, y: NDArray[np.float64], cells: Cells, requested_type: TaskWord | None
) -> TargetColumn:
    if (y == y[0]).all():
        first_text = cells.as_words().tally.words[0].strip()
        raise BadData(
            f"the target {quoted(name)} is {first_text} in every row: there is nothing to "
            "predict; use another column."
        )
    n_values = len(np.unique(y))
    range_text = f"{y.min():g} to {y.max():g}, {n_values:,} different values"
    target_note = f"target {quoted(name)} is a number ({range_text}): regression"
    if requested_type is None and 2 * n_values <= len(y) and np.array_equal(y, np.floor(y)):
        target_note += (
            f"; if its integers are labels, use {mention('target_type', 'classification')}"
        )
    return TargetColumn(y, "regression", Sentence(target_note))


def _classes(column: _TargetCells, requested_type: TaskWord | None) -> TargetColumn:
    name, word_numbers = column.name, column.numbers
    labels = _label_of_each_word(column.stripped_words, word_numbers)
    counts: Counter[Any] = Counter()  # Labels are in the order of their first appearance.
    for label, count in zip(labels.tolist(), column.tally.counts.tolist(), strict=True):
        counts[label] += count
    if len(counts) == 1:
        raise BadData(
            f"the target {quoted(name)} has one class only, {quoted(labels[0])}: there is nothing "
            "to distinguish; use another column, or add rows of another class."
        )
    singletons = [label for label, count in counts.items() if count == 1]
    if 2 * len(singletons) > len(counts) > 2:
        raise _too_many(name, len(counts), column.n_rows, numeric=None not in word_numbers)
    if singletons:
        line_number = column.lines[column.tally.first_row((labels == singletons[0]).tolist())]
        more_text = f" (and {len(singletons) - 1} more)" if len(singletons) > 1 else ""
        raise BadData(
            f"the class {quoted(singletons[0])}{more_text} of the target {quoted(name)} has a "
            f"single row, line {line_number}: add rows of it, merge it with another class, or "
            "leave it out."
        )
    target_note = _classes_note(name, counts)
    if requested_type is None and None not in word_numbers:
        target_note += (
            f"; if its integers are quantities, use {mention('target_type', 'regression')}"
        )
    return TargetColumn(labels[column.cells.codes()], "classification", Sentence(target_note))


def _label_of_each_word(
    distinct_words: Sequence[str], word_numbers: Sequence[float | None]
) -> NDArray[Any]:
    """Return the class label of each word: integers if all words are integers, else text."""
    integers = [
        v for v in word_numbers if v is not None and v.is_integer() and abs(v) < _MAX_INTEGER
    ]
    if len(integers) < len(word_numbers):
        # Long labels are stored as objects. NumPy's text arrays use the longest length in each row.
        is_long = max(map(len, distinct_words)) > _MAX_LABEL_LENGTH
        return np.array(distinct_words, dtype=object if is_long else np.str_)
    # Cells are read as integers if possible, because a float cannot hold 2**53 + 1 exactly.
    return np.array(
        [_integer(cell, v) for cell, v in zip(distinct_words, integers, strict=True)], np.int64
    )


def _integer(cell: str, value: float) -> int:
    try:
        return int(cell)
    except ValueError:
        return int(value)


def _too_many(name: str, n_classes: int, n_rows: int, *, numeric: bool) -> BadData:
    likely_meaning = "an identifier or a number" if numeric else "an identifier or free text"
    remedy = (
        f"{mention('target_type', 'regression')} or another column" if numeric else "another column"
    )
    return BadData(
        f"the target {quoted(name)} has {counted(n_classes, 'class', 'classes')} and "
        f"{counted(n_rows, 'row')}: looks like {likely_meaning}; use {remedy}."
    )


def _classes_note(name: str, counts: Counter[Any]) -> str:
    # Two classes are sorted, as scores of one class refer to the second class in this order.
    shown_counts = (
        sorted(counts.items()) if len(counts) == 2 else counts.most_common(_SHOWN_CLASSES)
    )
    shown_classes = ", ".join(f"{quoted(label)} {n:,}" for label, n in shown_counts)
    ellipsis = ", ..." if len(counts) > _SHOWN_CLASSES else ""
    return (
        f"target {quoted(name)} has {counted(len(counts), 'class', 'classes')} "
        f"({shown_classes}{ellipsis}): classification"
    )


MEANING_OF_CELL = {"groups": "group", "time": "time", "block": "place"}
"""Words of error messages for a cell in the columns of groups, times and blocks."""


@frozen
class RowColumns:
    """Names of the columns of groups, times and blocks, without surrounding spaces."""

    groups: str | None
    time: str | None
    block: tuple[str, ...]

    @classmethod
    def from_names(
        cls, target_roles: Mapping[str, str], groups: Any, time: Any, block: Any
    ) -> RowColumns:
        """Check and return the names of the columns of groups, times and blocks.

        Raise if a name is no text, or if a column is named twice. `target_roles` names the target
        columns.
        """
        for argument, name in (("groups", groups), ("time", time)):
            if name is not None and not isinstance(name, str):
                raise BadArgument(
                    f"{mention(argument, name)}: give the name of the column of {argument}."
                )
        if isinstance(block, str) or not all(isinstance(name, str) for name in block):
            raise BadArgument(f"{mention('block', block)}: give a list of names of columns.")
        roles = [*target_roles.items(), ("the groups", groups), ("the time", time)]
        roles += [("the block", name) for name in block]
        role_by_name: dict[str, str] = {}
        for role, name in roles:
            if name is None:
                continue
            if name.strip() in role_by_name:
                first_role = role_by_name[name.strip()]
                raise BadData(
                    f"column {quoted(name.strip())} is named as {first_role} and as {role}."
                )
            role_by_name[name.strip()] = role
        stripped_names = [None if name is None else name.strip() for name in (groups, time)]
        return cls(stripped_names[0], stripped_names[1], tuple(name.strip() for name in block))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns for groups, time and blocks that the user named."""
        return tuple(name for name in (self.groups, self.time, *self.block) if name is not None)

    def separate_from(self, columns: Columns) -> tuple[Columns, dict[str, Any]]:
        """Separate the columns of groups, times and blocks from the columns of a file.

        Return all other columns, and a dict of the separated cells by their role, such as "groups".
        """
        row_labels: dict[str, NDArray[Any]] = {}
        for name in self.names:  # An error about a missing name lists all columns.
            column_index(name, replace(columns, names=[*columns.names, *columns.non_features]))
        for role in ("groups", "time"):
            name = getattr(self, role)
            if name is not None:
                columns, row_labels[role] = _take_column(columns, name, role)
        block_columns = []
        for name in self.block:
            columns, cells = _take_column(columns, name, "block")
            block_columns.append(cells)
        if block_columns:
            row_labels["block"] = (
                block_columns[0] if len(block_columns) == 1 else np.column_stack(block_columns)
            )
        return columns, row_labels


def _take_column(columns: Columns, name: str, role: str) -> tuple[Columns, NDArray[Any]]:
    """Separate the column with this name; return all other columns, and its cells."""
    if name in columns.non_features:
        return columns, _row_labels(name, cells_of(columns.non_features[name]), columns.lines, role)
    index = column_index(name, columns)
    labels = _row_labels(name, cells_of(columns.cells[index]), columns.lines, role)
    kept_indices = [j for j in range(len(columns.names)) if j != index]
    names, cells = (
        [columns.names[j] for j in kept_indices],
        [columns.cells[j] for j in kept_indices],
    )
    return replace(columns, names=names, cells=cells), labels


def _row_labels(name: str, cells: Cells, start_lines: Sequence[int], role: str) -> NDArray[Any]:
    cells = cells.as_words()
    tally = cells.tally
    labels = [distinct_word.strip() for distinct_word in tally.words]
    is_missing = [label in MISSING for label in labels]
    if any(is_missing):
        remedy = "a group of its own if it stands alone" if role == "groups" else "or leave it out"
        raise BadData(
            f"column {quoted(name)} says no {MEANING_OF_CELL[role]} on line "
            f"{start_lines[tally.first_row(is_missing)]}: give every row one, {remedy}."
        )
    return np.array(labels)[cells.codes()]


def column_index(name: str, columns: Columns) -> int:
    """Return the index of the column with this name; raise with the closest name if none has it."""
    stripped_name = name.strip()
    if stripped_name in columns.names:
        return columns.names.index(stripped_name)
    folded_names = [name.casefold() for name in columns.names]
    if folded_names.count(stripped_name.casefold()) == 1:
        hint = (
            f"; did you mean {quoted(columns.names[folded_names.index(stripped_name.casefold())])}?"
        )
    else:
        hint = suggestion_for(
            quoted(stripped_name)[1:-1], [quoted(name)[1:-1] for name in columns.names]
        )
    if not hint and all(number(name) is not None for name in columns.names):
        hint = "; its first line holds only numbers: is the header missing?"
    raise UnknownName(
        f"the file has no column {quoted(stripped_name)}{hint or '.'} Its columns: "
        f"{listed(columns.names)}."
    )
