"""Columns of cells as floats: what is a number, what is text, and what carries nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.core.errors import BadData
from truerisk.datasets.cells import Tally, plain_numbers, tally
from truerisk.datasets.wording import counted, quoted

__all__ = ["MISSING", "Column", "Kind", "number", "numbers_rows", "read_column"]

Kind = Literal["number", "text"]

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "None", "?"})
"""The cells that count as empty, after surrounding spaces are dropped."""

_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
_MOSTLY = 0.9


@dataclass(frozen=True, eq=False)
class Column:
    """One feature: its floats (text as codes of `levels`, missing as NaN) and what to say of it.

    `left_out` is the reason why the column is no feature, or None.
    """

    name: str
    kind: Kind
    values: NDArray[np.float64]
    levels: tuple[str, ...] = ()
    left_out: str | None = None
    note: str | None = None

    @cached_property
    def n_missing(self) -> int:
        return int(np.isnan(self.values).sum())


def number(cell: str) -> float | None:
    """The cell as a float, or None: `1_000`, which Python would take, is text.

    >>> number("1e3"), number("-inf"), number("1_000"), number("red")
    (1000.0, -inf, None, None)
    """
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def read_column(
    name: str, cells: Sequence[str], lines: Sequence[int], *, as_text: bool = False
) -> Column:
    """A column from its cells: numbers if every cell that is not missing is one, else text.

    With `as_text`, the file says that it is text, whatever its cells look like.
    """
    if as_text:
        return _text(name, tally(cells))
    values, rows, others = plain_numbers(cells)
    bare = [word.strip() for word in others.words]
    judged = [None if word in MISSING else number(word) for word in bare]
    strays = [v is None and w not in MISSING for v, w in zip(judged, bare, strict=True)]
    if any(strays):
        _refuse_comma(name, cells, lines, rows, others)
        told = others if len(rows) == len(cells) else tally(cells)
        n_present = len(cells) - len(others.rows_of([word in MISSING for word in bare]))
        where = rows[others.rows_of(strays)]
        return _text(name, told, _stray_text(name, cells, lines, where, n_present))
    infinite = [v is not None and math.isinf(v) for v in judged]
    if any(infinite):
        raise BadData(_infinite(name, lines, rows[others.rows_of(infinite)]))
    values[rows] = others.floats(judged)
    return Column(name, "number", values, left_out=_idle_numbers(values))


def numbers_rows(values: NDArray[np.float64]) -> bool:
    """Whether the column counts the rows from 0 or 1."""
    return float(values[0]) in (0.0, 1.0) and bool((np.diff(values) == 1).all())


def _infinite(name: str, lines: Sequence[int], rows: NDArray[np.intp]) -> str:
    return (
        f"column {quoted(name)} has {counted(len(rows), 'infinite value')}, the first on line "
        f"{lines[rows[0]]}: write a number, or leave the cell empty to have it imputed."
    )


def _idle_numbers(values: NDArray[np.float64]) -> str | None:
    least, most = np.fmin.reduce(values), np.fmax.reduce(values)  # of those that are not missing
    if np.isnan(least):
        return "has no value"
    return "is constant" if least == most else None


def _text(name: str, told: Tally, note: str | None = None) -> Column:
    bare = [word.strip() for word in told.words]
    levels = tuple(sorted(set(bare) - MISSING))
    code_of_level = {level: float(code) for code, level in enumerate(levels)}
    values = told.floats([code_of_level.get(word) for word in bare])
    return Column(name, "text", values, levels, _idle_text(values, levels), note)


def _idle_text(values: NDArray[np.float64], levels: tuple[str, ...]) -> str | None:
    n_missing = int(np.isnan(values).sum())
    if len(levels) == 1 and not n_missing:
        return "is constant"
    if len(levels) == len(values) - n_missing and n_missing <= 1:
        return "has a different value in every row"
    return None


def _stray_text(
    name: str, cells: Sequence[str], lines: Sequence[int], strays: NDArray[np.intp], n_present: int
) -> str | None:
    """A sentence when a few words make text of a column of numbers."""
    if len(strays) > (1 - _MOSTLY) * n_present:
        return None
    first = int(strays[0])
    return (
        f"column {quoted(name)} is read as text because of {counted(len(strays), 'cell')} "
        f"without a number, the first on line {lines[first]}: {quoted(cells[first])}"
    )


def _refuse_comma(
    name: str,
    cells: Sequence[str],
    lines: Sequence[int],
    rows: NDArray[np.intp],
    others: Tally,
) -> None:
    """A column of numbers, some with a decimal comma; a plain number has none."""
    present = [word for word in others.words if word.strip() not in MISSING]
    bare = [word.strip() for word in present]
    if not all(_COMMA_NUMBER.fullmatch(word) or number(word) is not None for word in bare):
        return
    commas = {word for word in present if "," in word}
    first = int(rows[others.rows_of([word in commas for word in others.words])[0]])
    raise BadData(
        f"column {quoted(name)} has numbers with a comma inside (line {lines[first]}: "
        f"{quoted(cells[first])}): write a decimal point, and no thousands separator."
    )
