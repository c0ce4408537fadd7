"""Delimited text read in parallel pieces: numbers in place, all else as distinct words."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from truerisk.core.frozen import frozen
from truerisk.kernels import available, native

PADDING = 16
"""Number of zeros after the text in its array, because the loops look ahead."""

_LARGEST = 2**32 - 1  # Lines, rows and lengths are stored in four bytes.
_MOST_ROWS = 2**31 - 1
_SEED = hash("cells") % 2**64  # The seed differs between processes.
_PIECE = 2**20  # number of bytes from which a thread is worth its overhead
_MOST_THREADS = 8

T = TypeVar("T")
R = TypeVar("R")


def padded(content: bytes | bytearray) -> NDArray[np.uint8]:
    """Return the text in an array with padding, as the functions of this file need it."""
    return np.frombuffer(bytearray(content) + bytes(PADDING), dtype=np.uint8)


@frozen(eq=False)
class Pieces:
    """A text cut at ends of lines, inside or outside of quotes, with counts for each piece.

    `bounds` are the starts of the pieces, and the end of the last one. If the text has no quotes,
    `rows` are its lines that are not blank. `foreign` are bytes that are not ASCII.
    """

    bounds: Sequence[int]
    lines: NDArray[np.int64]
    rows: NDArray[np.int64]
    quotes: NDArray[np.int64]
    zeros: NDArray[np.int64]
    foreign: NDArray[np.int64]


def survey(content: NDArray[np.uint8], n_pieces: int | None = None) -> Pieces:
    r"""Cut the text into as many pieces as threads are worthwhile, and count in each.

    >>> found = survey(padded(b"a,b\n\n1,2\n"), 1)
    >>> found.bounds, found.lines.tolist(), found.rows.tolist()
    ([0, 9], [3], [2])
    """
    n = len(content) - PADDING
    n_pieces = n_pieces or max(1, min(_n_threads(), n // _PIECE))
    near = [n * k // n_pieces for k in range(1, n_pieces)]
    cuts = {native().next_line(content, start, False) for start in near}
    bounds = sorted({0, n} | cuts) if n else [0, 0]
    counts = _map_in_threads(
        lambda piece: native().survey_of(content, *piece), list(pairwise(bounds))
    )
    return Pieces(bounds, *np.array(counts, dtype=np.int64).T)


def first_row(content: NDArray[np.uint8], delimiter: str, longest: int) -> tuple[int, int] | None:
    """Return the end of the first row that is not blank, and its number of lines, or None.

    It is None if the row does not end.
    """
    if not _cuts(content, delimiter):
        return None
    n = len(content) - PADDING
    rows, end, lines = native().rows_of(content, 0, n, ord(delimiter), max(0, longest), 1)
    return (end, lines) if rows == 1 else None


@frozen
class Layout:
    """Storage of the columns of a file: in the table, beside it (`aside`), or nowhere.

    The cells of the columns in `as_words` are read as text, including numbers.
    """

    n_columns: int
    aside: Sequence[int] = ()
    as_words: Collection[int] = ()
    only_aside: bool = False

    @property
    def table_columns(self) -> list[int]:
        """The columns of the table, in the order of the file."""
        return [] if self.only_aside else [j for j in range(self.n_columns) if j not in self.aside]

    @property
    def places(self) -> NDArray[np.int64]:
        """For each column its position in the table, below 0 if it is stored beside the table."""
        places = np.full(self.n_columns, len(self.table_columns), dtype=np.int64)
        places[self.table_columns] = np.arange(len(self.table_columns))
        places[list(self.aside)] = -1 - np.arange(len(self.aside))
        return places


@frozen
class Text:
    """The text to read, and how: `rows` are the pieces, as start, stop, rows and lines."""

    content: NDArray[np.uint8]
    delimiter: str
    longest: int
    first_line: int
    rows: Sequence[tuple[int, int, int, int]]


@frozen(eq=False)
class Sheet:
    """The cells of a text: numbers in `table` and `aside`, and words that get their values later.

    `table` has the columns of the layout that are kept in it, `aside` one row for each other
    column.
    """

    text: Text
    layout: Layout
    table: NDArray[np.float64]
    aside: NDArray[np.float64]
    lines: NDArray[np.uint32]
    chunks: Sequence[Any]
    _tallies: dict[int, tuple[list[str], NDArray[Any], NDArray[Any]]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.lines)

    def words(self, column: int) -> tuple[list[str], NDArray[Any], NDArray[Any]]:
        """Return the distinct cells that are no plain numbers, with their counts and first rows.

        They are in order of appearance. Plain numbers are ASCII digits with a sign, a point and an
        exponent, surrounded by any number of ASCII spaces. Other numbers that Python accepts are
        words, too, which the caller interprets.
        """
        if column not in self._tallies:
            self._tallies[column] = native().words_of(self.chunks, column, _SEED)
        return self._tallies[column]

    def span(self, column: int) -> tuple[float, float]:
        """Return the smallest and the largest plain number; +inf and -inf if there is none."""
        spans = [(np.inf, -np.inf), *(chunk.span(column) for chunk in self.chunks)]
        return min(least for least, _ in spans), max(most for _, most in spans)

    def all_words(self, column: int) -> Sheet | None:
        """Return the column alone, with all of its cells as words."""
        n = self.layout.n_columns
        return _read(self.text, Layout(n, [column], [column], only_aside=True))

    def floats(self, column: int, of_words: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers of a column, with the given number for each of its words."""
        self._check(column, of_words)
        out = np.empty(self.n_rows)
        _map_in_threads(lambda chunk: chunk.copy(column, of_words, out), self.chunks)
        return out

    def recode(self, of_words: Mapping[int, NDArray[np.float64]]) -> None:
        """Replace each word of these columns by its number, after which they have no words."""
        for column, values in of_words.items():
            self._check(column, values)
        chosen = {j: values for j, values in of_words.items() if len(values)}
        if chosen:
            columns, tables = list(chosen), list(chosen.values())
            _map_in_threads(lambda chunk: chunk.recode(columns, tables), self.chunks)

    def _check(self, column: int, of_words: NDArray[np.float64]) -> None:
        if len(of_words) != len(self.words(column)[0]):
            raise ValueError("every word has a value")


def read_sheet(
    content: NDArray[np.uint8],
    pieces: Pieces,
    delimiter: str,
    n_columns: int,
    *,
    header: tuple[int, int] = (0, 0),
    most_rows: int = _MOST_ROWS,
    longest: int = _LARGEST,
    aside: Sequence[int] = (),
) -> Sheet | None:
    r"""Return the rows of UTF-8 text after its header, whose end and number of lines are given.

    The rows are those of the csv module with ``strict=True``. The result is None if a row does not
    have `n_columns` cells, if a quote is misplaced, if a cell has more than `longest` bytes or if
    there are more than `most_rows` rows. It is also None without the compiled module. In these
    cases the csv module has to read the text. The result does not depend on the pieces.

    >>> text = padded(b'1,"2"\nNA,3')
    >>> sheet = read_sheet(text, survey(text), ",", 2)
    >>> sheet.table[:, 1], sheet.words(0)[0], sheet.lines
    (array([2., 3.]), ['NA'], array([1, 2], dtype=uint32))
    """
    if n_columns < 1 or not _cuts(content, delimiter):
        return None
    start, first_line = header
    if pieces.quotes.any():
        rows = _walked(content, pieces, start, delimiter, max(0, longest))
    else:
        rows = _counted(content, pieces, start)
    if rows is None or sum(n for _, _, n, _ in rows) > min(most_rows, _MOST_ROWS):
        return None
    text = Text(content, delimiter, max(0, longest), first_line + 1, rows)
    return _read(text, Layout(n_columns, aside))


def _read(text: Text, layout: Layout) -> Sheet | None:
    n_rows = sum(n for _, _, n, _ in text.rows)
    table, aside = (
        np.empty((n_rows, len(layout.table_columns))),
        np.empty((len(layout.aside), n_rows)),
    )
    lines = np.empty(n_rows, dtype=np.uint32)
    as_words = np.isin(np.arange(layout.n_columns), list(layout.as_words)).astype(np.uint8)
    tasks, first, line = [], 0, text.first_line
    for start, stop, n, n_lines in text.rows:
        chunk = native().Chunk(text.content, table, aside, layout.places, as_words, _SEED)
        tasks.append((chunk, start, stop, first, n, line))
        first, line = first + n, line + n_lines

    def read(task: tuple[Any, int, int, int, int, int]) -> bool:
        chunk, start, stop, first, n, line = task
        between = ord(text.delimiter)
        return bool(chunk.read(start, stop, between, text.longest, first, n, line, lines))

    if not all(_map_in_threads(read, tasks)):
        return None
    return Sheet(text, layout, table, aside, lines, [task[0] for task in tasks])


def _counted(
    content: NDArray[np.uint8], pieces: Pieces, start: int
) -> list[tuple[int, int, int, int]]:
    """Return the pieces after `start`, in which every line that is not blank is a row."""
    parts = []
    for k, (a, b) in enumerate(pairwise(pieces.bounds)):
        if b > start:
            lines, rows = int(pieces.lines[k]), int(pieces.rows[k])
            if a < start:
                before = native().survey_of(content, a, start)
                lines, rows = lines - before[0], rows - before[1]
            parts.append((max(a, start), b, rows, lines))
    return parts


def _walked(
    content: NDArray[np.uint8], pieces: Pieces, start: int, delimiter: str, longest: int
) -> list[tuple[int, int, int, int]] | None:
    """Return the pieces after `start`, whose rows are found by scanning quotes.

    The start of a piece is a guess: an odd number of quotes before it suggests the inside of a
    cell. The guess is right if the previous piece, itself started correctly, ends there. Otherwise
    the piece is scanned again from the correct position.
    """
    n = len(content) - PADDING
    odd = np.cumsum(pieces.quotes) % 2 == 1
    cuts = [
        native().next_line(content, bound, True) if quoted else bound
        for bound, quoted in zip(pieces.bounds[1:-1], odd, strict=False)
    ]
    bounds = sorted({start, n} | {cut for cut in cuts if start < cut < n})

    def walk(piece: tuple[int, int]) -> list[int]:
        most = 2**62
        return native().rows_of(content, *piece, ord(delimiter), longest, most)

    parts, at = [], start
    guesses = _map_in_threads(walk, list(pairwise(bounds)))
    for (guessed, stop), guess in zip(pairwise(bounds), guesses, strict=True):
        rows, end, lines = guess if guessed == at else walk((at, max(at, stop)))
        if rows < 0:
            return None
        parts.append((at, end, rows, lines))
        at = end
    return parts


def _cuts(content: NDArray[np.uint8], delimiter: str) -> bool:
    """Return True if the compiled loops support this delimiter and a text of this size."""
    if content.dtype != np.uint8 or content.ndim != 1:
        raise ValueError(f"bytes are cut, not {content.dtype} {content.shape}")
    known = len(delimiter) == 1 and delimiter.isascii() and delimiter not in '\r\n"\0'
    return available() and known and len(content) <= _LARGEST


def _n_threads() -> int:
    """Return the number of cores that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    cores = len(allowed(0)) if allowed else os.cpu_count() or 1
    return min(cores, _MOST_THREADS)


def _map_in_threads(call: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Call the function for each item in parallel, since the loops release the interpreter lock."""
    items = list(items)
    if len(items) < 2:
        return [call(item) for item in items]
    with ThreadPoolExecutor(min(len(items), _n_threads())) as threads:
        return list(threads.map(call, items))
