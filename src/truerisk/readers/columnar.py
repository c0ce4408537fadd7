"""Readers of Parquet and Arrow files, and the decision whether a column is numbers or text."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.core.arguments import mention
from truerisk.core.errors import BadData, MissingExtra, first_line, is_failure
from truerisk.core.formats import escape_and_truncate
from truerisk.core.frozen import frozen
from truerisk.readers.cells import Cells, WordCounts, format_count, quote
from truerisk.readers.grid import Columns, parse_column_names, too_many_cells_error

REFUSED_EXIT_CODE = 65
CHILD_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from truerisk.readers.columnar import try_reading; sys.exit(try_reading(*sys.argv[2:]))"
)

FORMAT_BY_FIRST_BYTES = {b"PAR1": "parquet", b"ARROW1": "ipc"}
_NUMERIC_TYPE_PREFIXES = ("Int", "UInt", "Float", "Boolean", "Decimal")
_TEXT_TYPE_PREFIXES = ("String", "Categorical", "Enum")
_TIME_TYPE_PREFIXES = ("Date", "Datetime", "Time")


def read_columnar(
    path: str | os.PathLike[str], file_format: str, *, max_cells: int, max_bytes: int
) -> Columns:
    """Read the columns of a Parquet (format "parquet") or Arrow (format "ipc") file.

    Numbers and booleans become numbers, strings and categories remain text, dates are converted to
    ISO 8601. The numbers of cells and of characters are determined before the whole file is read,
    since a file of 91 kB can hold 160 MB.

    Another process reads the file first. polars panics on some damaged files and ends its process
    on others (for example by requesting 2 exabytes), which cannot be caught in this process.
    """
    _import_polars(path)
    _refuse_fatal_file(path, file_format, max_cells, max_bytes)
    return read_in_this_process(path, file_format, max_cells=max_cells, max_bytes=max_bytes)


def read_in_this_process(
    path: str | os.PathLike[str], file_format: str, *, max_cells: int, max_bytes: int
) -> Columns:
    """Read a Parquet or Arrow file in this process, which some damaged files would crash."""
    polars = _import_polars(path)
    try:
        lazy_frame = getattr(polars, f"scan_{file_format}")(os.fspath(path))
        schema = dict(lazy_frame.collect_schema())
        _refuse_nested(schema, path)
        names = parse_column_names(list(schema), 1)
        n_rows = int(lazy_frame.select(polars.len()).collect().item())
        _refuse_size(lazy_frame, schema, n_rows, polars, max_cells, max_bytes)
        frame = lazy_frame.collect()
        cells = [_to_cell_texts(frame[name], polars) for name in schema]
        if {len(column) for column in cells} != {n_rows}:
            raise ValueError("columns are not equally long")
    except BadData:
        raise
    except BaseException as error:  # On a damaged file, polars raises an error or panics.
        # No code of the user runs here that could raise SystemExit, so it is raised again.
        if not is_failure(error) or isinstance(error, SystemExit):
            raise
        reason = escape_and_truncate(first_line(error))
        raise BadData(f"{quote(path, 200)} is damaged: {reason}; write it anew.") from None
    text_columns = frozenset(
        name
        for name, data_type in zip(names, schema.values(), strict=True)
        if _has_type_prefix(data_type, _TEXT_TYPE_PREFIXES + _TIME_TYPE_PREFIXES)
    )
    return Columns(names, cells, range(1, n_rows + 1), text_columns)


def try_reading(path: str, file_format: str, max_cells: str, max_bytes: str) -> int:
    """Try to read a file in this child process, and return the exit code of the process.

    If the file is refused, print the sentence of the error for the calling process.
    """
    try:
        read_in_this_process(path, file_format, max_cells=int(max_cells), max_bytes=int(max_bytes))
    except BadData as error:
        # The parent process reads the sentence of the error from stdout.
        print(json.dumps(error.sentence.marked_text))  # noqa: T201  The calling process reads it.
        return REFUSED_EXIT_CODE
    return 0


def _refuse_fatal_file(path: Any, file_format: str, max_cells: int, max_bytes: int) -> None:
    """Raise an error if a child process refuses the file or crashes while it reads the file."""
    if not sys.executable:  # Without an interpreter, no child process can be started.
        return
    arguments = [
        json.dumps(sys.path),
        os.fsdecode(path),
        file_format,
        str(max_cells),
        str(max_bytes),
    ]
    try:
        process = subprocess.run(
            [sys.executable, "-c", CHILD_PROGRAM, *arguments], capture_output=True, check=False
        )
    except OSError:
        return
    if process.returncode == REFUSED_EXIT_CODE:
        raise BadData(json.loads(process.stdout))
    if process.returncode not in (0, 1):  # Exit code 1 means that the child could not start.
        raise BadData(
            f"{quote(path, 200)} is damaged: it ends the process that reads it (exit code "
            f"{process.returncode}); write it anew."
        )


def _import_polars(path: Any) -> Any:
    try:
        import polars as pl
    except ImportError:
        raise MissingExtra(
            f"{quote(path, 200)} needs polars to be read: pip install 'truerisk[io]', "
            "or export it as CSV."
        ) from None
    return pl


def _has_type_prefix(data_type: Any, type_prefixes: tuple[str, ...]) -> bool:
    return str(data_type).startswith(type_prefixes)


def _refuse_nested(schema: dict[str, Any], path: Any) -> None:
    for name, data_type in schema.items():
        if not _has_type_prefix(
            data_type, _NUMERIC_TYPE_PREFIXES + _TEXT_TYPE_PREFIXES + _TIME_TYPE_PREFIXES
        ):
            raise BadData(
                f"column {quote(name)} of {quote(path, 200)} holds {data_type}: give columns of "
                "numbers, text or dates."
            )


def _refuse_size(
    lazy_frame: Any,
    schema: dict[str, Any],
    n_rows: int,
    polars: Any,
    max_cells: int,
    max_bytes: int,
) -> None:
    if not n_rows:
        raise BadData("the file has columns and no rows: add the rows, or check the file.")
    if n_rows * len(schema) > max_cells:
        raise too_many_cells_error(format_count(n_rows, "row"), len(schema), max_cells)
    text_columns = [
        name
        for name, data_type in schema.items()
        if _has_type_prefix(data_type, _TEXT_TYPE_PREFIXES)
    ]
    if not text_columns:
        return
    byte_count_expressions = [
        polars.col(name).cast(polars.String).str.len_bytes().sum() for name in text_columns
    ]
    n_bytes = sum(
        int(column_bytes or 0)
        for column_bytes in lazy_frame.select(byte_count_expressions).collect().row(0)
    )
    if n_bytes > max_bytes:
        raise BadData(
            f"its texts hold {n_bytes:,} bytes, more than the cap of {max_bytes:,}: take a sample "
            f"of its rows or columns, or raise {mention('max_bytes')}."
        )


def _to_cell_texts(column: Any, polars: Any) -> list[str]:
    """Return the cells of a polars column as texts, as in a CSV file; missing values are empty."""
    data_type = column.dtype
    if _has_type_prefix(data_type, ("Float", "Decimal")):
        cell_values = column.cast(polars.Float64).to_numpy()
        return ["" if np.isnan(v) else repr(v) for v in cell_values.tolist()]
    if _has_type_prefix(data_type, ("Boolean",)):
        column = column.cast(polars.Int8)
    return ["" if v is None else v for v in column.cast(polars.String).to_list()]


ColumnKind = Literal["number", "text"]

MISSING_TEXTS = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "None", "?"})
"""Texts of cells, without surrounding spaces, that count as missing values."""

_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
_MIN_NUMERIC_SHARE = 0.9


@frozen(eq=False)
class Column:
    """A column that may become a feature: its cells, a number for each word, and a note.

    `of_words` holds the number of each word. In a text column it is the word's position in
    `levels`, or NaN if the word means a missing value. `left_out` is the reason why the column is
    not a feature, or None.
    """

    name: str
    kind: ColumnKind
    cells: Cells
    of_words: NDArray[np.float64]
    levels: tuple[str, ...] = ()
    left_out: str | None = None
    note: str | None = None

    @property
    def values(self) -> NDArray[np.float64]:
        """The cells of the column as numbers, with each word replaced by its number."""
        return self.cells.floats(self.of_words)

    @property
    def n_missing(self) -> int:
        """Number of missing cells of the column."""
        return self.cells.word_counts.count_rows(np.isnan(self.of_words))

    @property
    def n_rows(self) -> int:
        """Number of rows of the column."""
        return self.cells.n_rows

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest value of the column; +inf and -inf if all values are missing."""
        smallest, largest = self.cells.span
        word_numbers = self.of_words[~np.isnan(self.of_words)]
        return float(word_numbers.min(initial=smallest)), float(word_numbers.max(initial=largest))


def parse_number(cell: str) -> float | None:
    """Convert the text of a cell to a float, or return None if it is no number.

    `1_000`, which Python would accept, is no number here.

    >>> parse_number("1e3"), parse_number("-inf"), parse_number("1_000"), parse_number("red")
    (1000.0, -inf, None, None)
    """
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def read_column(
    name: str, cells: Cells, start_lines: Sequence[int], *, is_text: bool = False
) -> Column:
    """Return a column as numbers if every cell that is not missing is a number, else as text.

    `is_text` is True if the file declares the column as text, whatever its cells look like.
    """
    if is_text:
        return _make_text_column(name, cells.as_words())
    word_counts = cells.word_counts
    stripped_words = [stripped_word.strip() for stripped_word in word_counts.words]
    word_numbers = [
        None if stripped_word in MISSING_TEXTS else parse_number(stripped_word)
        for stripped_word in stripped_words
    ]
    is_non_number = [
        v is None and w not in MISSING_TEXTS
        for v, w in zip(word_numbers, stripped_words, strict=True)
    ]
    if any(is_non_number):
        _refuse_decimal_comma(name, start_lines, word_counts)
        n_non_missing = cells.n_rows - word_counts.count_rows(
            [stripped_word in MISSING_TEXTS for stripped_word in stripped_words]
        )
        return _make_text_column(
            name,
            cells.as_words(),
            _non_number_note(name, start_lines, word_counts, is_non_number, n_non_missing),
        )
    is_infinite = [v is not None and math.isinf(v) for v in word_numbers]
    if any(is_infinite):
        raise BadData(
            f"column {quote(name)} has "
            f"{format_count(word_counts.count_rows(is_infinite), 'infinite value')}, the "
            f"first on line {start_lines[word_counts.first_row(is_infinite)]}: write a number, or "
            "leave "
            "the cell empty to have it imputed."
        )
    column = Column(name, "number", cells, np.array(word_numbers, dtype=np.float64))
    smallest, largest = column.range
    exclusion_reason = (
        "has no value" if smallest > largest else "is constant" if smallest == largest else None
    )
    return replace(column, left_out=exclusion_reason)


def holds_row_numbers(column: Column) -> bool:
    """Return True if the column holds the row numbers, counted from 0 or from 1."""
    smallest, largest = column.range
    if column.n_missing or smallest not in (0.0, 1.0) or largest != smallest + column.n_rows - 1:
        return False
    cell_values = column.values
    return float(cell_values[0]) == smallest and bool((np.diff(cell_values) == 1).all())


def _make_text_column(name: str, cells: Cells, reading_note: str | None = None) -> Column:
    stripped_words = [distinct_word.strip() for distinct_word in cells.word_counts.words]
    levels = tuple(sorted(set(stripped_words) - MISSING_TEXTS))
    code_of_level = {level: float(level_code) for level_code, level in enumerate(levels)}
    word_codes = np.array(
        [code_of_level.get(distinct_word) for distinct_word in stripped_words], dtype=np.float64
    )
    column = Column(name, "text", cells, word_codes, levels, note=reading_note)
    n_missing, exclusion_reason = column.n_missing, None
    if len(levels) == 1 and not n_missing:
        exclusion_reason = "is constant"
    elif len(levels) == column.n_rows - n_missing and n_missing <= 1:
        exclusion_reason = "has a different value in every row"
    return replace(column, left_out=exclusion_reason)


def _non_number_note(
    name: str,
    start_lines: Sequence[int],
    word_counts: WordCounts,
    is_non_number: Sequence[bool],
    n_non_missing: int,
) -> str | None:
    """Return a note if a few cells that are no numbers cause a column to be read as text."""
    n_non_numbers = word_counts.count_rows(is_non_number)
    if n_non_numbers > (1 - _MIN_NUMERIC_SHARE) * n_non_missing:
        return None
    return (
        f"column {quote(name)} is read as text because of {format_count(n_non_numbers, 'cell')} "
        f"without a number, the first on line {start_lines[word_counts.first_row(is_non_number)]}: "
        f"{quote(word_counts.first_word(is_non_number))}"
    )


def _refuse_decimal_comma(name: str, start_lines: Sequence[int], word_counts: WordCounts) -> None:
    """Raise an error if a column has only numbers, but some of them have a decimal comma."""
    stripped_words = [stripped_word.strip() for stripped_word in word_counts.words]
    non_missing_words = [
        stripped_word for stripped_word in stripped_words if stripped_word not in MISSING_TEXTS
    ]
    if not all(
        _COMMA_NUMBER.fullmatch(stripped_word) or parse_number(stripped_word) is not None
        for stripped_word in non_missing_words
    ):
        return
    has_comma = ["," in stripped_word for stripped_word in stripped_words]
    raise BadData(
        f"column {quote(name)} has numbers with a comma inside (line "
        f"{start_lines[word_counts.first_row(has_comma)]}: "
        f"{quote(word_counts.first_word(has_comma))}): write a "
        "decimal point, and no thousands separator."
    )
