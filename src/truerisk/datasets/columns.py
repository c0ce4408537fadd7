"""Columns of cells as floats: what is a number, what is text, and what carries nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.core.errors import BadData
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

    @property
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
    distinct = {cell: cell.strip() for cell in dict.fromkeys(cells)}
    present = {cell: bare for cell, bare in distinct.items() if bare not in MISSING}
    if as_text:
        return _text(name, cells, lines, present, {})
    parsed = {cell: number(bare) for cell, bare in present.items()}
    if all(value is not None for value in parsed.values()):
        return _numbers(name, cells, lines, parsed)
    _refuse_comma(name, present, cells, lines)
    return _text(name, cells, lines, present, parsed)


def _numbers(
    name: str, cells: Sequence[str], lines: Sequence[int], parsed: Mapping[str, float | None]
) -> Column:
    infinite = {cell for cell, value in parsed.items() if value is not None and math.isinf(value)}
    if infinite:
        raise BadData(_infinite(name, cells, lines, infinite))
    values = np.array([parsed.get(cell) for cell in cells], dtype=np.float64)
    return Column(name, "number", values, left_out=_idle_numbers(values))


def numbers_rows(values: NDArray[np.float64]) -> bool:
    """Whether the column counts the rows from 0 or 1."""
    return float(values[0]) in (0.0, 1.0) and bool((np.diff(values) == 1).all())


def _infinite(name: str, cells: Sequence[str], lines: Sequence[int], infinite: set[str]) -> str:
    places = [line for line, cell in zip(lines, cells, strict=True) if cell in infinite]
    return (
        f"column {quoted(name)} has {counted(len(places), 'infinite value')}, the first on line "
        f"{places[0]}: write a number, or leave the cell empty to have it imputed."
    )


def _idle_numbers(values: NDArray[np.float64]) -> str | None:
    present = values[~np.isnan(values)]
    if not len(present):
        return "has no value"
    if (present == present[0]).all():
        return "is constant"
    return None


def _text(
    name: str,
    cells: Sequence[str],
    lines: Sequence[int],
    present: Mapping[str, str],
    parsed: Mapping[str, float | None],
) -> Column:
    levels = tuple(sorted(set(present.values())))
    code_of_level = {level: float(code) for code, level in enumerate(levels)}
    code_of_cell = {cell: code_of_level[bare] for cell, bare in present.items()}
    values = np.array([code_of_cell.get(cell) for cell in cells], dtype=np.float64)
    return Column(
        name,
        "text",
        values,
        levels,
        left_out=_idle_text(values, levels),
        note=_stray_text(name, cells, lines, parsed),
    )


def _idle_text(values: NDArray[np.float64], levels: tuple[str, ...]) -> str | None:
    n_missing = int(np.isnan(values).sum())
    if len(levels) == 1 and not n_missing:
        return "is constant"
    if len(levels) == len(values) - n_missing and n_missing <= 1:
        return "has a different value in every row"
    return None


def _stray_text(
    name: str, cells: Sequence[str], lines: Sequence[int], parsed: Mapping[str, float | None]
) -> str | None:
    """A sentence when a few words make text of a column of numbers."""
    present = [(line, cell) for line, cell in zip(lines, cells, strict=True) if cell in parsed]
    strays = [(line, cell) for line, cell in present if parsed[cell] is None]
    if not strays or len(strays) > (1 - _MOSTLY) * len(present):
        return None
    line, cell = strays[0]
    return (
        f"column {quoted(name)} is read as text because of {counted(len(strays), 'cell')} "
        f"without a number, the first on line {line}: {quoted(cell)}"
    )


def _refuse_comma(
    name: str, present: Mapping[str, str], cells: Sequence[str], lines: Sequence[int]
) -> None:
    if not all(_COMMA_NUMBER.fullmatch(b) or number(b) is not None for b in present.values()):
        return
    commas = (cell in present and "," in cell for cell in cells)
    line, cell = next((li, c) for li, c, comma in zip(lines, cells, commas, strict=True) if comma)
    raise BadData(
        f"column {quoted(name)} has numbers with a comma inside (line {line}: {quoted(cell)}): "
        "write a decimal point, and no thousands separator."
    )
