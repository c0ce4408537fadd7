"""A column of cells: its distinct words, and its numbers.

A reader returns a list of strings, all of which are words here, or `Laid` cells, in which plain
numbers were already read, so that only the other cells are words. The meaning of a word is
determined in `columnar.py` and `roles.py`, for both in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from truerisk.core.errors import Refusal
from truerisk.core.formats import first_few
from truerisk.core.frozen import frozen
from truerisk.readers.delimited_text import Sheet

_LONGEST = 40


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def quoted(text: object, longest: int = _LONGEST) -> str:
    r"""Return `text` in quotes on one line, cut to `longest`, with invisible characters escaped.

    >>> quoted("colour")
    "'colour'"
    >>> print(quoted("a\nb"))
    'a\x0ab'
    """
    whole = str(text)
    shown = "".join(map(_visible, whole[:longest]))
    return f"'{shown[:longest]}...'" if max(len(whole), len(shown)) > longest else f"'{shown}'"


def listed(names: Sequence[object], most: int = 8) -> str:
    """Return quoted names with commas; after `most` of them, say how many more there are."""
    return first_few([quoted(name) for name in names], most)


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return `n` with its noun.

    >>> counted(1, "row"), counted(2, "row"), counted(2, "class", "classes")
    ('1 row', '2 rows', '2 classes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


OfWords = Sequence[float | None] | NDArray[np.float64]
_ROWS_AT_A_TIME = 4_000


@frozen(eq=False)
class Tally:
    """The distinct words in order of appearance, the number of rows with each, and first rows."""

    words: list[str]
    counts: NDArray[np.int64]
    firsts: NDArray[np.int64]

    def n_of(self, chosen: Sequence[bool] | NDArray[np.bool_]) -> int:
        """Return the number of rows with one of the chosen words."""
        return int(self.counts[np.array(chosen, dtype=bool)].sum())

    def first_row(self, chosen: Sequence[bool]) -> int:
        """Return the first row with a chosen word."""
        return int(self.firsts[chosen.index(True)])

    def first_text(self, chosen: Sequence[bool]) -> str:
        """Return the first chosen word."""
        return self.words[chosen.index(True)]


class Cells(Protocol):
    """A column of any reader."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def tally(self) -> Tally:
        """The words: all cells, or those that are not plain numbers."""

    @property
    def span(self) -> tuple[float, float]:
        """The smallest and the largest plain number, +inf and -inf if there is none."""

    def as_words(self) -> Cells:
        """Return the column with all cells as words."""

    def codes(self) -> NDArray[np.intp]:
        """Return the index of each row's word, for a column of words only."""

    def floats(self, of_words: OfWords) -> NDArray[np.float64]:
        """Return the plain numbers, and the given number for every word; NaN if it has none."""


class Listed:
    """Cells that Python reads as text one by one, so that all are words."""

    span = (np.inf, -np.inf)

    def __init__(self, cells: Sequence[str]) -> None:
        self.n_rows = len(cells)
        words = list(dict.fromkeys(cells))
        place = {name: code for code, name in enumerate(words)}
        codes = np.fromiter(map(place.__getitem__, cells), dtype=np.int32, count=len(cells))
        self._codes = codes
        firsts = np.empty(len(words), dtype=np.int64)
        firsts[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # The last assignment wins.
        self.tally = Tally(words, np.bincount(codes), firsts)

    def as_words(self) -> Listed:
        """Return the column itself, as all of its cells are words already."""
        return self

    def codes(self) -> NDArray[np.intp]:
        """Position of each cell's word in the list of different words."""
        return self._codes.astype(np.intp)

    def floats(self, of_words: OfWords) -> NDArray[np.float64]:
        """Return the cells as numbers, given the number of each word."""
        return np.array(of_words, dtype=np.float64)[self._codes]


@frozen(eq=False)
class Laid:
    """A column of a sheet, in which the compiled reader has stored the plain numbers."""

    sheet: Sheet
    column: int
    recut: bool = False  # True if all its cells are words, in a separate sheet.

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.sheet.n_rows

    @cached_property
    def tally(self) -> Tally:
        """The different words of the column and how often each occurs."""
        return Tally(*self.sheet.words(self.column))

    @property
    def span(self) -> tuple[float, float]:
        """Smallest and largest plain number of the column."""
        return self.sheet.span(self.column)

    def as_words(self) -> Laid:
        """Read the column again with every cell as a word, plain numbers too."""
        if self.span[0] > self.span[1]:
            return self
        sheet = self.sheet.all_words(self.column)
        if sheet is None:
            raise Refusal("a text that was cut cannot be cut again: was it changed meanwhile?")
        return Laid(sheet, self.column, recut=True)

    def codes(self) -> NDArray[np.intp]:
        """Position of each cell's word in the list of different words."""
        places = np.arange(len(self.tally.words), dtype=np.float64)
        return self.sheet.floats(self.column, places).astype(np.intp)

    def floats(self, of_words: OfWords) -> NDArray[np.float64]:
        """Return the cells as numbers, given the number of each word."""
        return self.sheet.floats(self.column, np.array(of_words, dtype=np.float64))


def cells_of(column: Sequence[str] | Cells) -> Cells:
    """Return a column of any reader as cells."""
    return column if isinstance(column, Laid | Listed) else Listed(cast("Sequence[str]", column))


def side_by_side(
    columns: Sequence[tuple[Cells, NDArray[np.float64]]],
) -> NDArray[np.float64]:
    """Join columns to one table; each is given with the numbers of its words.

    The columns of a sheet are already in a table. If these are its columns, it becomes the result,
    and its words can no longer be used. If some are left out, the others are copied.
    """
    laid = [(cells, values) for cells, values in columns if isinstance(cells, Laid)]
    sheet = next((cells.sheet for cells, _ in laid if not cells.recut), None)
    if sheet is None:
        return _join_columns([cells.floats(values) for cells, values in columns])
    place_of = {j: place for place, j in enumerate(sheet.layout.table_columns)}
    where, lying = [], {}
    for cells, values in laid:
        where.append(place_of[cells.column])
        if cells.recut:
            sheet.table[:, where[-1]] = cells.floats(values)
        else:
            lying[cells.column] = values
    sheet.recode(lying)
    return sheet.table if where == list(place_of.values()) else np.take(sheet.table, where, axis=1)


def _join_columns(columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Join columns to one table, some rows at a time, which stay in the cache meanwhile."""
    table = np.empty((len(columns[0]), len(columns)))
    for start in range(0, len(table), _ROWS_AT_A_TIME):
        rows = slice(start, start + _ROWS_AT_A_TIME)
        table[rows] = np.array([column[rows] for column in columns]).T
    return table
