"""Split delimited text into a header and rows of equal length, and detect the delimiter."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace

from truerisk.core.arguments import mention
from truerisk.core.errors import BadData
from truerisk.core.frozen import frozen
from truerisk.kernels import unavailability_reason
from truerisk.readers.cells import Cells, SheetCells, format_count, quote
from truerisk.readers.content import FileText
from truerisk.readers.delimited_text import find_first_row_end, read_sheet

DELIMITER_NAMES = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'"}
_LINE_PATTERN = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_N_SAMPLED_ROWS = 50
_LARGE_FILE_BYTES = 20 * 2**20


@frozen
class Columns:
    """Names and cells of the columns of a file in any format.

    `start_lines` holds the line on which each row starts, or in a file without lines its number
    from 1. `text_columns` holds the names of columns that the file declares as text. `non_features`
    holds further columns, which the file declares as no features. `note` is a remark on the
    reading.
    """

    names: list[str]
    cells: Sequence[Sequence[str] | Cells]
    start_lines: Sequence[int]
    text_columns: frozenset[str]
    non_features: Mapping[str, Sequence[str]] = field(default_factory=dict)
    note: str | None = None


def split_into_columns(
    text: FileText, *, delimiter: str | None, max_cells: int, separate_names: Collection[str] = ()
) -> Columns:
    """Return the columns of a delimited text; detect the delimiter if it is None.

    The detected delimiter is one that splits all rows evenly. The compiled reader reads texts for
    which it gives the same result as the csv module. All other texts are read by the csv module row
    by row, which reports an error with its line.
    """
    if delimiter is None:
        delimiter = _detect_delimiter(text)
    # The csv module limits the characters of a cell.
    # The compiled reader limits the bytes, which is stricter.
    max_cell_length = csv.field_size_limit()
    header_extent = find_first_row_end(text.padded_bytes, delimiter, max_cell_length)
    header_line, header = next(
        _rows(text.decode_start(header_extent[0]) if header_extent else text.full_text, delimiter),
        (1, []),
    )
    _refuse_one_column(text, header, delimiter)
    names = parse_column_names(header, header_line)
    max_rows = max(max_cells // len(names), 0)
    if header_extent is not None and text.pieces is not None:
        separate_columns = [j for j, name in enumerate(names) if name in separate_names]
        sheet = read_sheet(
            text.padded_bytes, text.pieces, delimiter, len(names),
            header=header_extent, max_rows=max_rows, max_cell_bytes=max_cell_length,
            separate_columns=separate_columns,
        )  # fmt: skip
        if sheet is not None and sheet.n_rows:
            cells = [SheetCells(sheet, j) for j in range(len(names))]
            return Columns(names, cells, sheet.lines.data, frozenset())
    numbered_rows = _rows(text.full_text, delimiter)
    next(numbered_rows, None)
    columns = _read_row_by_row(numbered_rows, names, delimiter, max_rows, max_cells)
    return replace(columns, note=_slow_reading_note(text.n_bytes))


def _slow_reading_note(n_bytes: int) -> str | None:
    """Return a note that a large file was read slowly, without the compiled reader, or None."""
    reason = unavailability_reason()
    if reason is None or n_bytes < _LARGE_FILE_BYTES:
        return None
    return (
        f"{n_bytes / 2**20:.0f} MiB were read by the csv module, in ten times the time of the "
        f"compiled reader: {reason}; install a wheel of truerisk, or build it (`make setup`)"
    )


def _read_row_by_row(
    numbered_rows: Iterator[tuple[int, list[str]]],
    names: list[str],
    delimiter: str,
    max_rows: int,
    max_cells: int,
) -> Columns:
    rows: list[list[str]] = []
    start_lines: list[int] = []
    for line_number, row in numbered_rows:
        if len(row) != len(names):
            delimiter_text = DELIMITER_NAMES.get(delimiter, quote(delimiter))
            raise BadData(
                f"line {line_number} has {format_count(len(row), 'cell')} where the header has "
                f"{len(names)} (split at {delimiter_text}): mend the line, or put quotes around "
                f"cells that hold {delimiter_text}."
            )
        if len(rows) == max_rows:
            raise too_many_cells_error(f"line {line_number}", len(names), max_cells)
        rows.append(row)
        start_lines.append(line_number)
    if not rows:
        raise BadData("the file has a header and no rows: add the rows, or check the file.")
    return Columns(names, list(zip(*rows, strict=True)), start_lines, frozenset())


def too_many_cells_error(location: str, n_columns: int, max_cells: int) -> BadData:
    """Return the error for a table with more than `max_cells` cells."""
    return BadData(
        f"the table has more than {max_cells:,} cells ({location}, "
        f"{format_count(n_columns, 'column')}): "
        f"take a sample of its rows or columns, or raise {mention('max_cells')}."
    )


def split_lines(text: str) -> Iterator[str]:
    """Return the lines of a text with their line ends, split as by the csv module.

    `str.splitlines` would split at further characters.
    """
    return (match.group() for match in _LINE_PATTERN.finditer(text))


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the start line and the cells of every row that is not blank."""
    csv_reader = csv.reader(split_lines(text), delimiter=delimiter, strict=True)
    line_number = 1
    try:
        for row in csv_reader:
            if row:
                yield line_number, row
            line_number = csv_reader.line_num + 1
    except csv.Error as error:
        raise BadData(
            f"line {line_number} cannot be split into cells ({error}): "
            "look for a quote that is not closed or stands inside a cell."
        ) from None


def _sample_row_widths(text: FileText, delimiter: str) -> list[int]:
    """Split the first rows of a text at this delimiter; return the number of cells per row."""
    csv_reader = csv.reader(split_lines(text.head), delimiter=delimiter)
    row_widths: list[int] = []
    try:
        for row in csv_reader:
            if row:
                row_widths.append(len(row))
            if len(row_widths) == _N_SAMPLED_ROWS:
                return row_widths
    except csv.Error:
        return row_widths
    # If the text continues after the head, the last sampled row may be cut off.
    return row_widths[:-1] if text.continues_after_head and len(row_widths) > 1 else row_widths


def _uniform_row_width(text: FileText, delimiter: str) -> int:
    """Return the number of columns that all sampled rows have; 0 if it varies or is below 2."""
    row_widths = _sample_row_widths(text, delimiter)
    return row_widths[0] if row_widths and row_widths[0] > 1 and len(set(row_widths)) == 1 else 0


def _detect_delimiter(text: FileText) -> str:
    best_delimiter = max(DELIMITER_NAMES, key=lambda d: _uniform_row_width(text, d))
    if _uniform_row_width(text, best_delimiter):
        return best_delimiter
    # If no delimiter splits the rows evenly, use the one that gives the header the most cells.
    # The reader then reports the row with another number of cells.
    return max(DELIMITER_NAMES, key=lambda d: (_sample_row_widths(text, d) or [0])[0])


def _refuse_one_column(text: FileText, header: list[str], delimiter: str) -> None:
    if len(header) != 1:
        return
    delimiter_text = DELIMITER_NAMES.get(delimiter, quote(delimiter))
    width_by_delimiter = {d: _uniform_row_width(text, d) for d in DELIMITER_NAMES if d != delimiter}
    best_delimiter = max(width_by_delimiter, key=lambda d: width_by_delimiter[d])
    if width_by_delimiter[best_delimiter]:
        suggested_delimiter = "tab" if best_delimiter == "\t" else best_delimiter
        raise BadData(
            f"the delimiter looks wrong: with {delimiter_text} the file has one column, with "
            f"{DELIMITER_NAMES[best_delimiter]} it has {width_by_delimiter[best_delimiter]}; give "
            f"{mention('delimiter', suggested_delimiter)}."
        )
    raise BadData(
        f"the file has one column, {quote(header[0])}, and none of , ; tab | splits it: "
        "a table needs the target and at least one feature."
    )


def parse_column_names(header: list[str], line_number: int) -> list[str]:
    """Return the column names of a header; raise for repeated names.

    A column without a name is named by its position.
    """
    names = [name.strip() or f"column {j}" for j, name in enumerate(header, start=1)]
    name_counts = Counter(names)
    repeated_name = next((name for name in names if name_counts[name] > 1), None)
    if repeated_name is not None:
        repeated_positions = ", ".join(
            str(j) for j, name in enumerate(names, start=1) if name == repeated_name
        )
        raise BadData(
            f"the header (line {line_number}) has the name {quote(repeated_name)} more than once "
            f"(columns {repeated_positions}): rename them."
        )
    return names
