"""The cells of a column: its plain numbers, and its distinct words (all other cell texts).

A reader returns a column as a list of strings, all of which are treated as words, or as
`SheetCells`. In `SheetCells` the compiled reader has already read plain numbers, so that only the
other cells are words. In both cases `columnar.py` and `roles.py` determine the meaning of a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from truerisk.core.errors import Refusal
from truerisk.core.formats import join_first_words
from truerisk.core.frozen import frozen
from truerisk.readers.delimited_text import Sheet

_MAX_QUOTED_LENGTH = 40


def _escape_invisible(character: str) -> str:
    if character.isprintable():
        return character
    character_code = ord(character)
    return f"\\x{character_code:02x}" if character_code < 256 else f"\\u{character_code:04x}"


def quote(text: object, max_length: int = _MAX_QUOTED_LENGTH) -> str:
    r"""Return `text` in quotes on one line, cut to `max_length`, with invisible characters escaped.

    >>> quote("colour")
    "'colour'"
    >>> print(quote("a\nb"))
    'a\x0ab'
    """
    full_text = str(text)
    visible_text = "".join(map(_escape_invisible, full_text[:max_length]))
    return (
        f"'{visible_text[:max_length]}...'"
        if max(len(full_text), len(visible_text)) > max_length
        else f"'{visible_text}'"
    )


def join_quoted(names: Sequence[object], max_shown: int = 8) -> str:
    """Return quoted names separated by commas; after `max_shown` names, only count the others."""
    return join_first_words([quote(name) for name in names], max_shown)


def format_count(n: int, singular: str, plural: str | None = None) -> str:
    """Format a count with its noun in the singular or plural.

    >>> format_count(1, "row"), format_count(2, "row"), format_count(2, "class", "classes")
    ('1 row', '2 rows', '2 classes')
    """
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


WordNumbers = Sequence[float | None] | NDArray[np.float64]
_ROWS_PER_BLOCK = 4_000


@frozen(eq=False)
class WordCounts:
    """Distinct words of a column in order of appearance, with their counts and first rows."""

    words: list[str]
    counts: NDArray[np.int64]
    first_rows: NDArray[np.int64]

    def count_rows(self, is_selected_word: Sequence[bool] | NDArray[np.bool_]) -> int:
        """Return the number of rows with one of the words for which `is_selected_word` is True."""
        return int(self.counts[np.array(is_selected_word, dtype=bool)].sum())

    def first_row(self, is_selected_word: Sequence[bool]) -> int:
        """Return the first row with a word for which `is_selected_word` is True."""
        return int(self.first_rows[is_selected_word.index(True)])

    def first_word(self, is_selected_word: Sequence[bool]) -> str:
        """Return the first word for which `is_selected_word` is True."""
        return self.words[is_selected_word.index(True)]


class Cells(Protocol):
    """Interface of a column of cells, for the columns of any reader."""

    @property
    def n_rows(self) -> int:
        """Number of rows of the column."""

    @property
    def word_counts(self) -> WordCounts:
        """Distinct words of the column, that is, texts of cells that were not read as numbers."""

    @property
    def span(self) -> tuple[float, float]:
        """Smallest and largest plain number of the column; +inf and -inf if there is none."""

    def as_words(self) -> Cells:
        """Return the column with all cells as words, including plain numbers."""

    def codes(self) -> NDArray[np.intp]:
        """Return for each row the index of its word in `word_counts`, if all cells are words."""

    def floats(self, of_words: WordNumbers) -> NDArray[np.float64]:
        """Return the column as numbers; `of_words` holds the number of each distinct word.

        A word whose number is None becomes NaN.
        """


class TextCells:
    """A column read by Python as text, in which all cells are words."""

    span = (np.inf, -np.inf)

    def __init__(self, cells: Sequence[str]) -> None:
        self.n_rows = len(cells)
        distinct_words = list(dict.fromkeys(cells))
        code_of_word = {cell_text: word_code for word_code, cell_text in enumerate(distinct_words)}
        cell_codes = np.fromiter(
            map(code_of_word.__getitem__, cells), dtype=np.int32, count=len(cells)
        )
        self._codes = cell_codes
        first_rows = np.empty(len(distinct_words), dtype=np.int64)
        # If an index is repeated, NumPy keeps the last value.
        first_rows[cell_codes[::-1]] = np.arange(len(cell_codes) - 1, -1, -1)
        self.word_counts = WordCounts(distinct_words, np.bincount(cell_codes), first_rows)

    def as_words(self) -> TextCells:
        """Return the column itself, as all of its cells are words already."""
        return self

    def codes(self) -> NDArray[np.intp]:
        """Return for each row the index of its word among the distinct words."""
        return self._codes.astype(np.intp)

    def floats(self, of_words: WordNumbers) -> NDArray[np.float64]:
        """Return the column as numbers; `of_words` holds the number of each distinct word."""
        return np.array(of_words, dtype=np.float64)[self._codes]


@frozen(eq=False)
class SheetCells:
    """A column of a `Sheet`, in which the compiled reader has stored the plain numbers."""

    sheet: Sheet
    column: int
    is_reread: bool = False  # True if the column was read again into its own sheet, as words only.

    @property
    def n_rows(self) -> int:
        """Number of rows of the column."""
        return self.sheet.n_rows

    @cached_property
    def word_counts(self) -> WordCounts:
        """The different words of the column and how often each occurs."""
        return WordCounts(*self.sheet.count_words(self.column))

    @property
    def span(self) -> tuple[float, float]:
        """Smallest and largest plain number of the column."""
        return self.sheet.span(self.column)

    def as_words(self) -> SheetCells:
        """Read the column again with every cell as a word, plain numbers too."""
        if self.span[0] > self.span[1]:
            return self
        sheet = self.sheet.reread_as_words(self.column)
        if sheet is None:
            raise Refusal("a text that was cut cannot be cut again: was it changed meanwhile?")
        return SheetCells(sheet, self.column, is_reread=True)

    def codes(self) -> NDArray[np.intp]:
        """Return for each row the index of its word among the distinct words."""
        word_codes = np.arange(len(self.word_counts.words), dtype=np.float64)
        return self.sheet.floats(self.column, word_codes).astype(np.intp)

    def floats(self, of_words: WordNumbers) -> NDArray[np.float64]:
        """Return the column as numbers; `of_words` holds the number of each distinct word."""
        return self.sheet.floats(self.column, np.array(of_words, dtype=np.float64))


def to_cells(column: Sequence[str] | Cells) -> Cells:
    """Convert a column of any reader, such as a list of strings, to `Cells`."""
    return (
        column
        if isinstance(column, SheetCells | TextCells)
        else TextCells(cast("Sequence[str]", column))
    )


def join_columns(
    columns: Sequence[tuple[Cells, NDArray[np.float64]]],
) -> NDArray[np.float64]:
    """Join columns to a 2D array, with each word replaced by its number.

    Each column is given with an array of the numbers of its words. The columns of a sheet already
    lie in one array, in which the words are replaced in place, so that they can no longer be used.
    This array is returned if all its columns are requested. Otherwise the requested columns are
    copied.
    """
    sheet_columns = [(cells, values) for cells, values in columns if isinstance(cells, SheetCells)]
    sheet = next((cells.sheet for cells, _ in sheet_columns if not cells.is_reread), None)
    if sheet is None:
        return _stack_columns([cells.floats(values) for cells, values in columns])
    table_index_by_column = {j: index for index, j in enumerate(sheet.layout.table_columns)}
    table_indices, values_by_column = [], {}
    for cells, values in sheet_columns:
        table_indices.append(table_index_by_column[cells.column])
        if cells.is_reread:
            sheet.table[:, table_indices[-1]] = cells.floats(values)
        else:
            values_by_column[cells.column] = values
    sheet.recode(values_by_column)
    return (
        sheet.table
        if table_indices == list(table_index_by_column.values())
        else np.take(sheet.table, table_indices, axis=1)
    )


def _stack_columns(columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Join columns to a 2D array in blocks of rows that fit into the processor's cache."""
    table = np.empty((len(columns[0]), len(columns)))
    for first_row in range(0, len(table), _ROWS_PER_BLOCK):
        rows = slice(first_row, first_row + _ROWS_PER_BLOCK)
        table[rows] = np.array([column[rows] for column in columns]).T
    return table
