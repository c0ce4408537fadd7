"""The column to be predicted: classes or numbers, by a stated rule or by request."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.core.errors import BadData
from truerisk.datasets.columns import MISSING, number
from truerisk.datasets.wording import counted, quoted

__all__ = ["MOST_INTEGER_CLASSES", "Target", "Task", "read_target"]

Task = Literal["classification", "regression"]

MOST_INTEGER_CLASSES = 10
"""A target of integers with at most so many different values is read as class labels."""

_LARGEST = 2**63 - 1
_LONGEST_LABEL = 100
_SHOWN_CLASSES = 6


@dataclass(frozen=True, eq=False)
class Target:
    """y, what kind of task it makes, and one sentence on how that was decided."""

    y: NDArray[Any]
    task: Task
    note: str


def read_target(
    name: str, cells: Sequence[str], lines: Sequence[int], target_type: Task | None = None
) -> Target:
    """The target from its cells.

    Text makes a classification. Integers with at most ten different values do too
    (`MOST_INTEGER_CLASSES`); all other numbers make a regression. `target_type` overrides
    the rule. Labels stay as they stand: integers as integers, all else as text.
    """
    bare = [cell.strip() for cell in cells]
    numbers = [number(cell) for cell in bare]
    _refuse_empty(name, bare, numbers, lines)
    if target_type not in (None, "classification", "regression"):
        raise BadData(
            f"--target-type {quoted(target_type)} is neither classification nor regression."
        )
    if target_type is None:
        _refuse_numbering(name, numbers)
    task = target_type or _inferred(numbers)
    if task == "regression":
        return _regression(name, bare, numbers, lines, target_type)
    return _classification(name, bare, numbers, lines, target_type)


def _refuse_empty(
    name: str, bare: Sequence[str], numbers: Sequence[float | None], lines: Sequence[int]
) -> None:
    """Empty as in features, where `NAN` or `-nan` is a number that is none, too."""
    told = zip(lines, bare, numbers, strict=True)
    empty = [line for line, cell, v in told if cell in MISSING or (v is not None and math.isnan(v))]
    if empty:
        cells = "has an empty cell" if len(empty) == 1 else f"has {len(empty):,} empty cells"
        raise BadData(
            f"the target {quoted(name)} {cells} among {counted(len(bare), 'row')}, the first on "
            f"line {empty[0]}: fill them in or leave these rows out."
        )


def _inferred(numbers: Sequence[float | None]) -> Task:
    values = set(numbers)
    if None in values:
        return "classification"
    whole = all(v is not None and v.is_integer() for v in values)
    return "classification" if whole and len(values) <= MOST_INTEGER_CLASSES else "regression"


def _refuse_numbering(name: str, numbers: Sequence[float | None]) -> None:
    """Each integer of a range exactly once is a numbering of the rows, not something to predict."""
    present = {v for v in numbers if v is not None and v.is_integer()}
    if len(present) < len(numbers) or max(present) - min(present) != len(numbers) - 1:
        return
    if len(numbers) > 1:
        raise BadData(_too_many(name, len(present), len(numbers), numeric=True))


def _regression(
    name: str,
    bare: Sequence[str],
    numbers: Sequence[float | None],
    lines: Sequence[int],
    asked: Task | None,
) -> Target:
    bad = next((i for i, v in enumerate(numbers) if v is None or math.isinf(v)), None)
    if bad is not None:
        other = ", or use --target-type classification" if None in numbers else ""
        raise BadData(
            f"the target {quoted(name)} holds {quoted(bare[bad])} on line {lines[bad]}, which is "
            f"no finite number: mend the cell{other}."
        )
    y = np.array(numbers, dtype=np.float64)
    if (y == y[0]).all():
        raise BadData(
            f"the target {quoted(name)} is {bare[0]} in every row: there is nothing to predict; "
            "use another column."
        )
    n_values = len(np.unique(y))
    span = f"{y.min():g} to {y.max():g}, {n_values:,} different values"
    note = f"target {quoted(name)} is a number ({span}): regression"
    if asked is None and 2 * n_values <= len(y) and np.array_equal(y, np.floor(y)):
        note += "; if its integers are labels, use --target-type classification"
    return Target(y, "regression", note)


def _classification(
    name: str,
    bare: Sequence[str],
    numbers: Sequence[float | None],
    lines: Sequence[int],
    asked: Task | None,
) -> Target:
    y = _labels(bare, numbers)
    counts = Counter(y.tolist())
    if len(counts) == 1:
        raise BadData(
            f"the target {quoted(name)} has one class only, {quoted(y[0])}: there is nothing to "
            "tell apart; use another column, or add rows of another class."
        )
    single = [label for label, n in counts.items() if n == 1]
    if 2 * len(single) > len(counts) > 2:
        raise BadData(_too_many(name, len(counts), len(y), numeric=None not in numbers))
    if single:
        line = lines[y.tolist().index(single[0])]
        more = f" (and {len(single) - 1} more)" if len(single) > 1 else ""
        raise BadData(
            f"the class {quoted(single[0])}{more} of the target {quoted(name)} has a single row, "
            f"line {line}: add rows of it, merge it with another class, or leave it out."
        )
    note = _classes_note(name, counts)
    if asked is None and None not in numbers:
        note += "; if its integers are quantities, use --target-type regression"
    return Target(y, "classification", note)


def _labels(bare: Sequence[str], numbers: Sequence[float | None]) -> NDArray[Any]:
    whole = [v for v in numbers if v is not None and v.is_integer() and abs(v) < _LARGEST]
    if len(whole) < len(numbers):
        # fixed-width text pays the longest label in every row: not for labels of 10,000 characters
        long = max(map(len, bare)) > _LONGEST_LABEL
        return np.array(bare, dtype=object if long else np.str_)
    # by way of the float only where the cell is written as one: 2**53 + 1 stays itself
    return np.array([_integer(cell, v) for cell, v in zip(bare, whole, strict=True)], np.int64)


def _integer(cell: str, value: float) -> int:
    try:
        return int(cell)
    except ValueError:
        return int(value)


def _too_many(name: str, n_classes: int, n_rows: int, *, numeric: bool) -> str:
    looks = "an identifier or a number" if numeric else "an identifier or free text"
    remedy = "--target-type regression or another column" if numeric else "another column"
    return (
        f"the target {quoted(name)} has {counted(n_classes, 'class', 'classes')} and "
        f"{counted(n_rows, 'row')}: looks like {looks}; use {remedy}."
    )


def _classes_note(name: str, counts: Counter[Any]) -> str:
    shown = ", ".join(f"{quoted(c)} {n:,}" for c, n in counts.most_common(_SHOWN_CLASSES))
    more = ", ..." if len(counts) > _SHOWN_CLASSES else ""
    return (
        f"target {quoted(name)} has {counted(len(counts), 'class', 'classes')} "
        f"({shown}{more}): classification"
    )
