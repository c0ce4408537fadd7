"""Columns of cells as floats: what is a number, what is text, and what carries nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.core.errors import BadData
from truerisk.datasets.cells import Cells, Tally, counted, quoted

Kind = Literal["number", "text"]

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "None", "?"})
"""The cells that count as empty, after surrounding spaces are dropped."""

_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
_MOSTLY = 0.9


@dataclass(frozen=True, eq=False)
class Column:
    """One feature: its cells, what number its words are, and what to say of it.

    The words of text are codes of `levels`, missing ones NaN. `left_out` is the reason why the
    column is no feature, or None.
    """

    name: str
    kind: Kind
    cells: Cells
    of_words: NDArray[np.float64]
    levels: tuple[str, ...] = ()
    left_out: str | None = None
    note: str | None = None

    @property
    def values(self) -> NDArray[np.float64]:
        return self.cells.floats(self.of_words)

    @property
    def n_missing(self) -> int:
        return self.cells.tally.n_of(np.isnan(self.of_words))

    @property
    def n_rows(self) -> int:
        return self.cells.n_rows

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value; +inf and -inf where all are missing."""
        least, most = self.cells.span
        known = self.of_words[~np.isnan(self.of_words)]
        return float(known.min(initial=least)), float(known.max(initial=most))


def number(cell: str) -> float | None:
    """The cell as a float, or None: `1_000`, which Python would take, is text.

    >>> number("1e3"), number("-inf"), number("1_000"), number("red")
    (1000.0, -inf, None, None)
    """
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def read_column(name: str, cells: Cells, lines: Sequence[int], *, as_text: bool = False) -> Column:
    """A column from its cells: numbers if every cell that is not missing is one, else text.

    With `as_text`, the file says that it is text, whatever its cells look like.
    """
    if as_text:
        return _text(name, cells.as_words())
    told = cells.tally
    bare = [word.strip() for word in told.words]
    judged = [None if word in MISSING else number(word) for word in bare]
    strays = [v is None and w not in MISSING for v, w in zip(judged, bare, strict=True)]
    if any(strays):
        _refuse_comma(name, lines, told)
        n_present = cells.n_rows - told.n_of([word in MISSING for word in bare])
        return _text(name, cells.as_words(), _stray_text(name, lines, told, strays, n_present))
    infinite = [v is not None and math.isinf(v) for v in judged]
    if any(infinite):
        raise BadData(_infinite(name, lines, told, infinite))
    column = Column(name, "number", cells, np.array(judged, dtype=np.float64))
    return replace(column, left_out=_idle_numbers(column))


def numbers_rows(column: Column) -> bool:
    """Whether the column counts the rows from 0 or 1."""
    least, most = column.range
    if column.n_missing or least not in (0.0, 1.0) or most != least + column.n_rows - 1:
        return False
    values = column.values
    return float(values[0]) == least and bool((np.diff(values) == 1).all())


def _infinite(name: str, lines: Sequence[int], told: Tally, infinite: Sequence[bool]) -> str:
    return (
        f"column {quoted(name)} has {counted(told.n_of(infinite), 'infinite value')}, the first on "
        f"line {lines[told.first_row(infinite)]}: write a number, or leave the cell empty to have "
        "it imputed."
    )


def _idle_numbers(column: Column) -> str | None:
    least, most = column.range
    if least > most:
        return "has no value"
    return "is constant" if least == most else None


def _text(name: str, cells: Cells, note: str | None = None) -> Column:
    bare = [word.strip() for word in cells.tally.words]
    levels = tuple(sorted(set(bare) - MISSING))
    code_of_level = {level: float(code) for code, level in enumerate(levels)}
    of_words = np.array([code_of_level.get(word) for word in bare], dtype=np.float64)
    column = Column(name, "text", cells, of_words, levels, note=note)
    return replace(column, left_out=_idle_text(column))


def _idle_text(column: Column) -> str | None:
    n_levels, n_missing = len(column.levels), column.n_missing
    if n_levels == 1 and not n_missing:
        return "is constant"
    if n_levels == column.n_rows - n_missing and n_missing <= 1:
        return "has a different value in every row"
    return None


def _stray_text(
    name: str, lines: Sequence[int], told: Tally, strays: Sequence[bool], n_present: int
) -> str | None:
    """A sentence when a few words make text of a column of numbers."""
    n_strays = told.n_of(strays)
    if n_strays > (1 - _MOSTLY) * n_present:
        return None
    return (
        f"column {quoted(name)} is read as text because of {counted(n_strays, 'cell')} "
        f"without a number, the first on line {lines[told.first_row(strays)]}: "
        f"{quoted(told.first_word(strays))}"
    )


def _refuse_comma(name: str, lines: Sequence[int], told: Tally) -> None:
    """A column of numbers, some with a decimal comma; a plain number has none."""
    bare = [word.strip() for word in told.words]
    present = [word for word in bare if word not in MISSING]
    if not all(_COMMA_NUMBER.fullmatch(word) or number(word) is not None for word in present):
        return
    commas = ["," in word for word in bare]
    raise BadData(
        f"column {quoted(name)} has numbers with a comma inside (line "
        f"{lines[told.first_row(commas)]}: {quoted(told.first_word(commas))}): write a decimal "
        "point, and no thousands separator."
    )
