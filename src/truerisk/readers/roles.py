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
from truerisk.data.targets import MAX_INTEGER_CLASSES
from truerisk.readers.cells import Cells, WordCounts, format_count, join_quoted, quote, to_cells
from truerisk.readers.columnar import MISSING_TEXTS, parse_number
from truerisk.readers.grid import Columns

TaskName = Literal["classification", "regression", "survival"]

_MAX_INTEGER = 2**63 - 1
_MAX_LABEL_LENGTH = 100
_MAX_SHOWN_CLASSES = 6


@frozen(eq=False)
class TargetColumn:
    """Target y of a table, with its task and a sentence on how the task was determined."""

    y: NDArray[Any]
    task: TaskName
    note: str


def read_target(
    name: str, cells: Cells, start_lines: Sequence[int], target_type: TaskName | None = None
) -> TargetColumn:
    """Read the target, as classes or as numbers, from the cells of its column.

    A target of text is a classification, and so is a target of integers with at most ten distinct
    values (`MAX_INTEGER_CLASSES`). All other numbers are a regression. `target_type` overrides
    this rule. Labels keep their form: integers stay integers, and all other labels are text.
    """
    if target_type in (None, "regression") and not cells.word_counts.words:
        # A column of plain numbers need not be read again as words, which would be slower.
        y = cells.floats([])
        if target_type or not np.array_equal(y, np.floor(y)):
            return _make_regression_target(name, y, cells, target_type)
    cells = cells.as_words()
    column = _TargetCells(
        name,
        cells,
        [distinct_word.strip() for distinct_word in cells.word_counts.words],
        start_lines,
    )
    column.refuse_empty()
    if target_type not in (None, "classification", "regression"):
        raise BadData(
            f"{mention('target_type', target_type, quote(target_type))} is neither "
            "classification nor regression."
        )
    if target_type is None:
        column.refuse_numbering()
    task = target_type or _infer_task(column.numbers)
    return (
        _read_regression_target(column, target_type)
        if task == "regression"
        else _read_class_target(column, target_type)
    )


def read_survival_outcome(
    event_name: str,
    label: str | None,
    event_column: Cells,
    time_name: str,
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
            [distinct_word.strip() for distinct_word in cells.word_counts.words],
            start_lines,
            column_role,
        )
        for name, cells, column_role in (
            (event_name, event_column.as_words(), "event"),
            (time_name, time_column.as_words(), "time to event"),
        )
    )
    event_cells.refuse_empty()
    time_cells.refuse_empty()
    is_event_word = _mark_event_words(event_cells, label)
    is_invalid = [v is None or not 0 <= v < math.inf for v in time_cells.numbers]
    if any(is_invalid):
        raise BadData(
            f"the time to event {quote(time_name)} is "
            f"{quote(time_cells.word_counts.first_word(is_invalid).strip())} on line "
            f"{start_lines[time_cells.word_counts.first_row(is_invalid)]}: it is a number from 0 "
            "on; "
            "mend the cell or leave the row out."
        )
    n_events, n_rows = event_cells.word_counts.count_rows(is_event_word), event_cells.n_rows
    if not n_events:
        raise BadData(
            f"the event {quote(event_name)} is {quote(event_cells.stripped_words[0])} in every "
            "row: "
            "it came in none, and there is nothing to predict; use another column."
        )
    y = np.empty(n_rows, dtype=[("event", np.bool_), ("time", np.float64)])
    y["event"], y["time"] = (
        np.array(is_event_word)[event_cells.cells.codes()],
        time_cells.cells.floats(time_cells.numbers),
    )
    target_note = (
        f"target {quote(event_name)} is "
        f"{quote(event_cells.word_counts.first_word(is_event_word).strip())} in "
        f"{n_events:,} of {format_count(n_rows, 'row')}, the times {quote(time_name)} go from "
        f"{y['time'].min():g} to {y['time'].max():g}: survival"
    )
    return TargetColumn(y, "survival", target_note)


def _mark_event_words(event_cells: _TargetCells, label: str | None) -> list[bool]:
    """Return for each word of the event column whether it means that the event occurred."""
    labels = list(dict.fromkeys(event_cells.stripped_words))
    event_phrase = f"the event {quote(event_cells.name)}"
    if label is not None and label not in labels:
        raise BadData(
            f"{event_phrase} is never {quote(label)}: its labels are {join_quoted(labels)}."
        )
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
            f"{event_phrase} has {len(labels)} labels, {join_quoted(labels)}: it came or not; make "
            "a "
            "column of two labels of it."
        )
    if label is None:
        sorted_labels = sorted(labels)
        options_text = " or ".join(
            _mention_event(f"{event_cells.name}={candidate_label}")
            for candidate_label in sorted_labels
        )
        hint_for_r = (
            " (in R's survival 1 is censored and 2 the event)"
            if sorted_labels == ["1", "2"]
            else ""
        )
        raise BadData(
            f"{event_phrase} is {join_quoted(sorted_labels)}, and not 1 and 0 or true and false: "
            "say "
            f"which label means that the event came, {options_text}{hint_for_r}."
        )
    return [stripped_word == label for stripped_word in event_cells.stripped_words]


def _mention_event(event: str) -> str:
    return mention("event", event, repr(event))


@frozen(eq=False)
class _TargetCells:
    """The cells of a target column, with its distinct words stripped of surrounding spaces."""

    name: str
    cells: Cells
    stripped_words: list[str]
    start_lines: Sequence[int]
    column_role: str = "target"

    @property
    def n_rows(self) -> int:
        return self.cells.n_rows

    @property
    def word_counts(self) -> WordCounts:
        return self.cells.word_counts

    @cached_property
    def numbers(self) -> list[float | None]:
        """Value of each word as a number, or None for a word that is no number."""
        return [parse_number(stripped_word) for stripped_word in self.stripped_words]

    def refuse_empty(self) -> None:
        """Raise an error if the target column has missing cells.

        A cell is missing if it has a text in `MISSING_TEXTS` or any spelling of NaN.
        """
        words_and_numbers = zip(self.stripped_words, self.numbers, strict=True)
        is_missing = [
            stripped_word in MISSING_TEXTS or (v is not None and math.isnan(v))
            for stripped_word, v in words_and_numbers
        ]
        if not any(is_missing):
            return
        n_missing = self.word_counts.count_rows(is_missing)
        count_text = "has an empty cell" if n_missing == 1 else f"has {n_missing:,} empty cells"
        first_line = self.start_lines[self.word_counts.first_row(is_missing)]
        raise BadData(
            f"the {self.column_role} {quote(self.name)} {count_text} among "
            f"{format_count(self.n_rows, 'row')}, the "
            f"first on line {first_line}: fill them in or leave these rows out."
        )

    def refuse_numbering(self) -> None:
        """Raise an error if the target column seems to number the rows.

        This is so if each integer of a range occurs exactly once.
        """
        integers = {v for v in self.numbers if v is not None and v.is_integer()}
        n_rows = self.n_rows
        if len(integers) < n_rows or max(integers) - min(integers) != n_rows - 1:
            return
        if n_rows > 1:
            raise _too_many_classes_error(self.name, len(integers), n_rows, is_numeric=True)


def _infer_task(word_numbers: Sequence[float | None]) -> TaskName:
    distinct_numbers = set(word_numbers)
    if None in distinct_numbers:
        return "classification"
    is_integer = all(v is not None and v.is_integer() for v in distinct_numbers)
    return (
        "classification"
        if is_integer and len(distinct_numbers) <= MAX_INTEGER_CLASSES
        else "regression"
    )


def _read_regression_target(column: _TargetCells, requested_type: TaskName | None) -> TargetColumn:
    name, word_numbers = column.name, column.numbers
    is_invalid = [v is None or math.isinf(v) for v in word_numbers]
    if any(is_invalid):
        line_number = column.start_lines[column.word_counts.first_row(is_invalid)]
        remedy = (
            f", or use {mention('target_type', 'classification')}" if None in word_numbers else ""
        )
        raise BadData(
            f"the target {quote(name)} holds "
            f"{quote(column.word_counts.first_word(is_invalid).strip())} on "
            f"line {line_number}, which is no finite number: mend the cell{remedy}."
        )
    return _make_regression_target(
        name, column.cells.floats(word_numbers), column.cells, requested_type
    )


def _make_regression_target(
    name: str, y: NDArray[np.float64], cells: Cells, requested_type: TaskName | None
) -> TargetColumn:
    if (y == y[0]).all():
        first_text = cells.as_words().word_counts.words[0].strip()
        raise BadData(
            f"the target {quote(name)} is {first_text} in every row: there is nothing to "
            "predict; use another column."
        )
    n_values = len(np.unique(y))
    range_text = f"{y.min():g} to {y.max():g}, {n_values:,} different values"
    target_note = f"target {quote(name)} is a number ({range_text}): regression"
    if requested_type is None and 2 * n_values <= len(y) and np.array_equal(y, np.floor(y)):
        target_note += (
            f"; if its integers are labels, use {mention('target_type', 'classification')}"
        )
    return TargetColumn(y, "regression", Sentence(target_note))


def _read_class_target(column: _TargetCells, requested_type: TaskName | None) -> TargetColumn:
    name, word_numbers = column.name, column.numbers
    labels = _label_of_each_word(column.stripped_words, word_numbers)
    class_counts: Counter[Any] = Counter()  # Labels are in the order of their first appearance.
    for label, count in zip(labels.tolist(), column.word_counts.counts.tolist(), strict=True):
        class_counts[label] += count
    if len(class_counts) == 1:
        raise BadData(
            f"the target {quote(name)} has one class only, {quote(labels[0])}: there is nothing "
            "to distinguish; use another column, or add rows of another class."
        )
    singleton_classes = [label for label, count in class_counts.items() if count == 1]
    if 2 * len(singleton_classes) > len(class_counts) > 2:
        raise _too_many_classes_error(
            name, len(class_counts), column.n_rows, is_numeric=None not in word_numbers
        )
    if singleton_classes:
        line_number = column.start_lines[
            column.word_counts.first_row((labels == singleton_classes[0]).tolist())
        ]
        more_text = (
            f" (and {len(singleton_classes) - 1} more)" if len(singleton_classes) > 1 else ""
        )
        raise BadData(
            f"the class {quote(singleton_classes[0])}{more_text} of the target {quote(name)} has a "
            f"single row, line {line_number}: add rows of it, merge it with another class, or "
            "leave it out."
        )
    target_note = _classes_note(name, class_counts)
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
        # Long labels are stored as objects.
        # In an array of text, NumPy would use the length of the longest label for every row.
        is_long = max(map(len, distinct_words)) > _MAX_LABEL_LENGTH
        return np.array(distinct_words, dtype=object if is_long else np.str_)
    # Integer labels are parsed from text, because a float cannot hold 2**53 + 1 exactly.
    return np.array(
        [_to_integer(cell, v) for cell, v in zip(distinct_words, integers, strict=True)], np.int64
    )


def _to_integer(cell: str, value: float) -> int:
    try:
        return int(cell)
    except ValueError:
        return int(value)


def _too_many_classes_error(name: str, n_classes: int, n_rows: int, *, is_numeric: bool) -> BadData:
    likely_meaning = "an identifier or a number" if is_numeric else "an identifier or free text"
    remedy = (
        f"{mention('target_type', 'regression')} or another column"
        if is_numeric
        else "another column"
    )
    return BadData(
        f"the target {quote(name)} has {format_count(n_classes, 'class', 'classes')} and "
        f"{format_count(n_rows, 'row')}: looks like {likely_meaning}; use {remedy}."
    )


def _classes_note(name: str, class_counts: Counter[Any]) -> str:
    # Two classes are shown in sorted order, because scores refer to the second one in this order.
    shown_counts = (
        sorted(class_counts.items())
        if len(class_counts) == 2
        else class_counts.most_common(_MAX_SHOWN_CLASSES)
    )
    classes_text = ", ".join(f"{quote(label)} {n:,}" for label, n in shown_counts)
    ellipsis = ", ..." if len(class_counts) > _MAX_SHOWN_CLASSES else ""
    return (
        f"target {quote(name)} has {format_count(len(class_counts), 'class', 'classes')} "
        f"({classes_text}{ellipsis}): classification"
    )


CELL_NOUN_BY_ROLE = {"groups": "group", "time": "time", "block": "place"}
"""Words of error messages for a cell in the columns of groups, times and blocks."""


@frozen
class RowLabelColumns:
    """Names of the columns of groups, times and blocks, without surrounding spaces."""

    groups: str | None
    time: str | None
    block: tuple[str, ...]

    @classmethod
    def from_names(
        cls, target_name_by_role: Mapping[str, str], groups: Any, time: Any, block: Any
    ) -> RowLabelColumns:
        """Check and return the names of the columns of groups, times and blocks.

        Raise if a name is no text, or if a column is named twice. `target_name_by_role` names the
        target columns.
        """
        for argument, name in (("groups", groups), ("time", time)):
            if name is not None and not isinstance(name, str):
                raise BadArgument(
                    f"{mention(argument, name)}: give the name of the column of {argument}."
                )
        if isinstance(block, str) or not all(isinstance(name, str) for name in block):
            raise BadArgument(f"{mention('block', block)}: give a list of names of columns.")
        roles_and_names = [*target_name_by_role.items(), ("the groups", groups), ("the time", time)]
        roles_and_names += [("the block", name) for name in block]
        role_by_name: dict[str, str] = {}
        for role, name in roles_and_names:
            if name is None:
                continue
            if name.strip() in role_by_name:
                first_role = role_by_name[name.strip()]
                raise BadData(
                    f"column {quote(name.strip())} is named as {first_role} and as {role}."
                )
            role_by_name[name.strip()] = role
        stripped_names = [None if name is None else name.strip() for name in (groups, time)]
        return cls(stripped_names[0], stripped_names[1], tuple(name.strip() for name in block))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns for groups, time and blocks that the user named."""
        return tuple(name for name in (self.groups, self.time, *self.block) if name is not None)

    def split_off(self, columns: Columns) -> tuple[Columns, dict[str, Any]]:
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
    """Split off the column with this name; return the other columns, and this column's cells."""
    if name in columns.non_features:
        return columns, _read_row_labels(
            name, to_cells(columns.non_features[name]), columns.start_lines, role
        )
    index = column_index(name, columns)
    labels = _read_row_labels(name, to_cells(columns.cells[index]), columns.start_lines, role)
    other_indices = [j for j in range(len(columns.names)) if j != index]
    names, cells = (
        [columns.names[j] for j in other_indices],
        [columns.cells[j] for j in other_indices],
    )
    return replace(columns, names=names, cells=cells), labels


def _read_row_labels(
    name: str, cells: Cells, start_lines: Sequence[int], role: str
) -> NDArray[Any]:
    cells = cells.as_words()
    word_counts = cells.word_counts
    labels = [distinct_word.strip() for distinct_word in word_counts.words]
    is_missing = [label in MISSING_TEXTS for label in labels]
    if any(is_missing):
        remedy = "a group of its own if it stands alone" if role == "groups" else "or leave it out"
        raise BadData(
            f"column {quote(name)} says no {CELL_NOUN_BY_ROLE[role]} on line "
            f"{start_lines[word_counts.first_row(is_missing)]}: give every row one, {remedy}."
        )
    return np.array(labels)[cells.codes()]


def column_index(name: str, columns: Columns) -> int:
    """Return the index of the column with this name; raise with the closest name if none has it."""
    stripped_name = name.strip()
    if stripped_name in columns.names:
        return columns.names.index(stripped_name)
    casefolded_names = [name.casefold() for name in columns.names]
    if casefolded_names.count(stripped_name.casefold()) == 1:
        hint = (
            "; did you mean "
            f"{quote(columns.names[casefolded_names.index(stripped_name.casefold())])}?"
        )
    else:
        hint = suggestion_for(
            quote(stripped_name)[1:-1], [quote(name)[1:-1] for name in columns.names]
        )
    if not hint and all(parse_number(name) is not None for name in columns.names):
        hint = "; its first line holds only numbers: is the header missing?"
    raise UnknownName(
        f"the file has no column {quote(stripped_name)}{hint or '.'} Its columns: "
        f"{join_quoted(columns.names)}."
    )
