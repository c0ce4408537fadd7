"""Read delimited text by compiled loops, in parallel pieces.

Plain numbers are stored in an array. All other cells are stored as distinct words.
"""

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
from truerisk.kernels import is_available, native_module

PADDING = 16
"""Number of zero bytes after the text in its array, because the compiled loops read ahead."""

_MAX_UINT32 = 2**32 - 1  # Line numbers, row numbers and lengths are stored in four bytes.
_MAX_ROWS = 2**31 - 1
_HASH_SEED = hash("cells") % 2**64  # The seed differs between processes, as Python's hashes do.
_MIN_PIECE_BYTES = 2**20  # A smaller piece of text is not worth a thread of its own.
_MAX_THREADS = 8

T = TypeVar("T")
R = TypeVar("R")


def pad_bytes(text_bytes: bytes | bytearray) -> NDArray[np.uint8]:
    """Return the bytes of a text in an array that ends with `PADDING` zeros."""
    return np.frombuffer(bytearray(text_bytes) + bytes(PADDING), dtype=np.uint8)


@frozen(eq=False)
class TextPieces:
    """Division of a text into pieces at ends of lines, with counts for each piece.

    A cut may be inside or outside of quotes. `bounds` holds the starts of the pieces and the end of
    the last one. `n_lines` and `n_rows` are the numbers of lines and of lines that are not blank,
    which are the rows if the text has no quotes. `n_quotes`, `n_nul_bytes` and `n_non_ascii_bytes`
    are the numbers of quote characters, of NUL bytes and of bytes that are not ASCII.
    """

    bounds: Sequence[int]
    n_lines: NDArray[np.int64]
    n_rows: NDArray[np.int64]
    n_quotes: NDArray[np.int64]
    n_nul_bytes: NDArray[np.int64]
    n_non_ascii_bytes: NDArray[np.int64]


def divide_into_pieces(padded_bytes: NDArray[np.uint8], n_pieces: int | None = None) -> TextPieces:
    r"""Divide a text into pieces for parallel threads, and count the lines and rows of each piece.

    >>> found = divide_into_pieces(pad_bytes(b"a,b\n\n1,2\n"), 1)
    >>> found.bounds, found.n_lines.tolist(), found.n_rows.tolist()
    ([0, 9], [3], [2])
    """
    n_bytes = len(padded_bytes) - PADDING
    n_pieces = n_pieces or max(1, min(_n_threads(), n_bytes // _MIN_PIECE_BYTES))
    estimated_cuts = [n_bytes * k // n_pieces for k in range(1, n_pieces)]
    cut_positions = {
        native_module().next_line(padded_bytes, estimated_cut, False)
        for estimated_cut in estimated_cuts
    }
    bounds = sorted({0, n_bytes} | cut_positions) if n_bytes else [0, 0]
    piece_counts = _map_in_threads(
        lambda piece_bounds: native_module().survey_of(padded_bytes, *piece_bounds),
        list(pairwise(bounds)),
    )
    return TextPieces(bounds, *np.array(piece_counts, dtype=np.int64).T)


def find_first_row_end(
    padded_bytes: NDArray[np.uint8], delimiter: str, max_cell_bytes: int
) -> tuple[int, int] | None:
    """Find the end of the first row that is not blank.

    Return the position of this end in bytes, and the number of the row's last line. Return None if
    the row does not end, or if the compiled loops cannot read the text.
    """
    if not _can_use_compiled_loops(padded_bytes, delimiter):
        return None
    n_bytes = len(padded_bytes) - PADDING
    n_rows, row_end, n_lines = native_module().rows_of(
        padded_bytes, 0, n_bytes, ord(delimiter), max(0, max_cell_bytes), 1
    )
    return (row_end, n_lines) if n_rows == 1 else None


@frozen
class ColumnLayout:
    """Layout of columns in memory: in the main array, separately, or not stored at all.

    The columns in `separate_columns` are stored separately. With `has_only_separate_columns` no
    other column is stored. In the columns in `word_columns` all cells are read as words, including
    numbers.
    """

    n_columns: int
    separate_columns: Sequence[int] = ()
    word_columns: Collection[int] = ()
    has_only_separate_columns: bool = False

    @property
    def table_columns(self) -> list[int]:
        """Indices of the columns stored in the main array, in the order of the file."""
        return (
            []
            if self.has_only_separate_columns
            else [j for j in range(self.n_columns) if j not in self.separate_columns]
        )

    @property
    def storage_indices(self) -> NDArray[np.int64]:
        """Index of each column in `Sheet.table`, or a negative number if it is stored separately.

        Columns that are stored separately have the numbers −1, −2, ...
        """
        storage_indices = np.full(self.n_columns, len(self.table_columns), dtype=np.int64)
        storage_indices[self.table_columns] = np.arange(len(self.table_columns))
        storage_indices[list(self.separate_columns)] = -1 - np.arange(len(self.separate_columns))
        return storage_indices


@frozen
class DelimitedText:
    """A text with its delimiter and its pieces, for the compiled reader.

    `row_pieces` has a tuple for each piece: its start, its end, and its numbers of rows and of
    lines.
    """

    padded_bytes: NDArray[np.uint8]
    delimiter: str
    max_cell_bytes: int
    first_line_number: int
    row_pieces: Sequence[tuple[int, int, int, int]]


@frozen(eq=False)
class Sheet:
    """Cells of a text: plain numbers in arrays, and distinct words, which get numbers later.

    `table` has a column for each of `layout.table_columns`, and `separate_cells` has a row for each
    column that is stored separately.
    """

    text: DelimitedText
    layout: ColumnLayout
    table: NDArray[np.float64]
    separate_cells: NDArray[np.float64]
    lines: NDArray[np.uint32]
    chunks: Sequence[Any]
    _word_counts_by_column: dict[int, tuple[list[str], NDArray[Any], NDArray[Any]]] = field(
        default_factory=dict
    )

    @property
    def n_rows(self) -> int:
        """Number of rows of the text."""
        return len(self.lines)

    def count_words(self, column: int) -> tuple[list[str], NDArray[Any], NDArray[Any]]:
        """Return the words of a column: its distinct cells that are no plain numbers.

        The words are in order of appearance, with their counts and first rows. Plain numbers are
        ASCII digits with a sign, a point and an exponent, surrounded by any number of ASCII spaces.
        Other numbers that Python accepts are words, too, which the caller interprets.
        """
        if column not in self._word_counts_by_column:
            self._word_counts_by_column[column] = native_module().words_of(
                self.chunks, column, _HASH_SEED
            )
        return self._word_counts_by_column[column]

    def span(self, column: int) -> tuple[float, float]:
        """Return the smallest and largest plain number of a column; +inf and -inf without any."""
        spans = [(np.inf, -np.inf), *(chunk.span(column) for chunk in self.chunks)]
        return min(smallest for smallest, _ in spans), max(largest for _, largest in spans)

    def reread_as_words(self, column: int) -> Sheet | None:
        """Read all cells of a column again as words; return None if that fails."""
        n_columns = self.layout.n_columns
        return _read_rows(
            self.text, ColumnLayout(n_columns, [column], [column], has_only_separate_columns=True)
        )

    def floats(self, column: int, of_words: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a column as numbers; `of_words` holds the number of each distinct word."""
        self._check_word_numbers(column, of_words)
        column_values = np.empty(self.n_rows)
        _map_in_threads(lambda chunk: chunk.copy(column, of_words, column_values), self.chunks)
        return column_values

    def recode(self, numbers_by_column: Mapping[int, NDArray[np.float64]]) -> None:
        """Replace each word in the given columns of `table` by its number.

        The words are lost.
        """
        for column, word_numbers in numbers_by_column.items():
            self._check_word_numbers(column, word_numbers)
        nonempty_numbers_by_column = {
            j: word_numbers for j, word_numbers in numbers_by_column.items() if len(word_numbers)
        }
        if nonempty_numbers_by_column:
            column_numbers, value_arrays = (
                list(nonempty_numbers_by_column),
                list(nonempty_numbers_by_column.values()),
            )
            _map_in_threads(lambda chunk: chunk.recode(column_numbers, value_arrays), self.chunks)

    def _check_word_numbers(self, column: int, of_words: NDArray[np.float64]) -> None:
        if len(of_words) != len(self.count_words(column)[0]):
            raise ValueError("every word has a value")


def read_sheet(
    padded_bytes: NDArray[np.uint8],
    text_pieces: TextPieces,
    delimiter: str,
    n_columns: int,
    *,
    header: tuple[int, int] = (0, 0),
    max_rows: int = _MAX_ROWS,
    max_cell_bytes: int = _MAX_UINT32,
    separate_columns: Sequence[int] = (),
) -> Sheet | None:
    r"""Read the rows of UTF-8 text that follow the header, which ends at `header[0]`.

    `header[1]` is the number of lines of the header. The rows are those of the csv module with
    ``strict=True``. The result is None if a row does not have `n_columns` cells, if a quote is
    misplaced, if a cell has more than `max_cell_bytes` bytes or if there are more than `max_rows`
    rows. It is also None without the compiled module. In these cases the csv module has to read the
    text. The result does not depend on the pieces.

    >>> text = pad_bytes(b'1,"2"\nNA,3')
    >>> sheet = read_sheet(text, divide_into_pieces(text), ",", 2)
    >>> sheet.table[:, 1], sheet.count_words(0)[0], sheet.lines
    (array([2., 3.]), ['NA'], array([1, 2], dtype=uint32))
    """
    if n_columns < 1 or not _can_use_compiled_loops(padded_bytes, delimiter):
        return None
    header_end, n_header_lines = header
    if text_pieces.n_quotes.any():
        row_pieces = _pieces_with_quotes(
            padded_bytes, text_pieces, header_end, delimiter, max(0, max_cell_bytes)
        )
    else:
        row_pieces = _pieces_without_quotes(padded_bytes, text_pieces, header_end)
    if row_pieces is None or sum(n_piece_rows for _, _, n_piece_rows, _ in row_pieces) > min(
        max_rows, _MAX_ROWS
    ):
        return None
    text = DelimitedText(
        padded_bytes, delimiter, max(0, max_cell_bytes), n_header_lines + 1, row_pieces
    )
    return _read_rows(text, ColumnLayout(n_columns, separate_columns))


def _read_rows(text: DelimitedText, layout: ColumnLayout) -> Sheet | None:
    n_rows = sum(n_piece_rows for _, _, n_piece_rows, _ in text.row_pieces)
    table, separate_cells = (
        np.empty((n_rows, len(layout.table_columns))),
        np.empty((len(layout.separate_columns), n_rows)),
    )
    start_lines = np.empty(n_rows, dtype=np.uint32)
    is_word_column = np.isin(np.arange(layout.n_columns), list(layout.word_columns)).astype(
        np.uint8
    )
    chunk_tasks, row_start, line_start = [], 0, text.first_line_number
    for piece_start, piece_end, n_piece_rows, n_lines in text.row_pieces:
        chunk = native_module().Chunk(
            text.padded_bytes,
            table,
            separate_cells,
            layout.storage_indices,
            is_word_column,
            _HASH_SEED,
        )
        chunk_tasks.append((chunk, piece_start, piece_end, row_start, n_piece_rows, line_start))
        row_start, line_start = row_start + n_piece_rows, line_start + n_lines

    def read_chunk(task: tuple[Any, int, int, int, int, int]) -> bool:
        chunk, piece_start, piece_end, row_start, n_piece_rows, line_start = task
        delimiter_code = ord(text.delimiter)
        return bool(
            chunk.read(
                piece_start,
                piece_end,
                delimiter_code,
                text.max_cell_bytes,
                row_start,
                n_piece_rows,
                line_start,
                start_lines,
            )
        )

    if not all(_map_in_threads(read_chunk, chunk_tasks)):
        return None
    return Sheet(
        text,
        layout,
        table,
        separate_cells,
        start_lines,
        [chunk_task[0] for chunk_task in chunk_tasks],
    )


def _pieces_without_quotes(
    padded_bytes: NDArray[np.uint8], text_pieces: TextPieces, header_end: int
) -> list[tuple[int, int, int, int]]:
    """Return extent and counts of each piece after the header, for a text without quotes.

    The result has the start, the end, the number of rows and the number of lines of each piece.
    Without quotes, every line that is not blank is a row.
    """
    row_pieces = []
    for k, (piece_start, piece_end) in enumerate(pairwise(text_pieces.bounds)):
        if piece_end > header_end:
            n_lines, n_rows = int(text_pieces.n_lines[k]), int(text_pieces.n_rows[k])
            if piece_start < header_end:
                header_counts = native_module().survey_of(padded_bytes, piece_start, header_end)
                n_lines, n_rows = n_lines - header_counts[0], n_rows - header_counts[1]
            row_pieces.append((max(piece_start, header_end), piece_end, n_rows, n_lines))
    return row_pieces


def _pieces_with_quotes(
    padded_bytes: NDArray[np.uint8],
    text_pieces: TextPieces,
    header_end: int,
    delimiter: str,
    max_cell_bytes: int,
) -> list[tuple[int, int, int, int]] | None:
    """Return extent and counts of each piece after the header, for a text with quotes.

    The result has the start, the end, the number of rows and the number of lines of each piece.

    The start of a piece is a guess. An odd number of quotes before it suggests the inside of a
    cell. The guess is right if the previous piece was started correctly and ends there. Otherwise
    the piece is scanned again from the correct position.
    """
    n_bytes = len(padded_bytes) - PADDING
    is_inside_quotes = np.cumsum(text_pieces.n_quotes) % 2 == 1
    cut_positions = [
        native_module().next_line(padded_bytes, bound, True) if is_quoted else bound
        for bound, is_quoted in zip(text_pieces.bounds[1:-1], is_inside_quotes, strict=False)
    ]
    bounds = sorted(
        {header_end, n_bytes}
        | {cut_position for cut_position in cut_positions if header_end < cut_position < n_bytes}
    )

    def count_rows(piece_bounds: tuple[int, int]) -> list[int]:
        max_rows = 2**62
        return native_module().rows_of(
            padded_bytes, *piece_bounds, ord(delimiter), max_cell_bytes, max_rows
        )

    row_pieces, piece_start = [], header_end
    guessed_pieces = _map_in_threads(count_rows, list(pairwise(bounds)))
    for (guessed_start, guessed_end), guessed_piece in zip(
        pairwise(bounds), guessed_pieces, strict=True
    ):
        n_rows, piece_end, n_lines = (
            guessed_piece
            if guessed_start == piece_start
            else count_rows((piece_start, max(piece_start, guessed_end)))
        )
        if n_rows < 0:
            return None
        row_pieces.append((piece_start, piece_end, n_rows, n_lines))
        piece_start = piece_end
    return row_pieces


def _can_use_compiled_loops(padded_bytes: NDArray[np.uint8], delimiter: str) -> bool:
    """Return True if the compiled loops exist and support this delimiter and this size of text."""
    if padded_bytes.dtype != np.uint8 or padded_bytes.ndim != 1:
        raise ValueError(f"bytes are cut, not {padded_bytes.dtype} {padded_bytes.shape}")
    is_supported = len(delimiter) == 1 and delimiter.isascii() and delimiter not in '\r\n"\0'
    return is_available() and is_supported and len(padded_bytes) <= _MAX_UINT32


def _n_threads() -> int:
    """Return the number of threads to use: the cores that this process may use, up to a limit."""
    get_affinity = getattr(os, "sched_getaffinity", None)
    n_cores = len(get_affinity(0)) if get_affinity else os.cpu_count() or 1
    return min(n_cores, _MAX_THREADS)


def _map_in_threads(function: Callable[[T], R], call_arguments: Iterable[T]) -> list[R]:
    """Call a function for each argument in parallel threads, and return the results in order.

    Threads help because the compiled loops release the interpreter lock.
    """
    call_arguments = list(call_arguments)
    if len(call_arguments) < 2:
        return [function(call_argument) for call_argument in call_arguments]
    with ThreadPoolExecutor(min(len(call_arguments), _n_threads())) as thread_pool:
        return list(thread_pool.map(function, call_arguments))
