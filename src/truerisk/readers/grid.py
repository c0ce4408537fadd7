"""Text cut into a header and rows of equal length, with the delimiter detected and checked."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace

from truerisk.core.arguments import mention
from truerisk.core.errors import BadData
from truerisk.core.frozen import frozen
from truerisk.kernels import why_not
from truerisk.readers.cells import Cells, Laid, counted, quoted
from truerisk.readers.content import Text
from truerisk.readers.delimited_text import first_row, read_sheet

DELIMITERS = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'"}
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_SAMPLED_ROWS = 50
_LARGE = 20 * 2**20


@frozen
class Columns:
    """Names and cells of the columns of any file; `text` are those declared as text by the file.

    `lines` are the lines on which rows start; in a file without lines they count the rows from 1.
    `aside` are columns that the file declares as no features. `note` is a remark on the reading.
    """

    names: list[str]
    cells: Sequence[Sequence[str] | Cells]
    lines: Sequence[int]
    text: frozenset[str]
    aside: Mapping[str, Sequence[str]] = field(default_factory=dict)
    note: str | None = None


def cut(
    text: Text, *, delimiter: str | None, max_cells: int, aside: Collection[str] = ()
) -> Columns:
    """Return the columns of `text`; `delimiter=None` detects the one that splits rows evenly.

    The compiled reader reads the text if it does so like the csv module. Otherwise the csv module
    reads it row by row, and reports what is wrong on which line.
    """
    if delimiter is None:
        delimiter = _sniffed(text)
    # The compiled reader counts bytes, of which there are at least as many.
    longest = csv.field_size_limit()
    end = first_row(text.content, delimiter, longest)
    first, header = next(_rows(text.first(end[0]) if end else text.full_text, delimiter), (1, []))
    _refuse_one_column(text, header, delimiter)
    names = named(header, first)
    most = max(max_cells // len(names), 0)
    if end is not None and text.pieces is not None:
        beside = [j for j, name in enumerate(names) if name in aside]
        sheet = read_sheet(
            text.content, text.pieces, delimiter, len(names),
            header=end, most_rows=most, longest=longest, aside=beside,
        )  # fmt: skip
        if sheet is not None and sheet.n_rows:
            cells = [Laid(sheet, j) for j in range(len(names))]
            return Columns(names, cells, sheet.lines.data, frozenset())
    numbered = _rows(text.full_text, delimiter)
    next(numbered, None)
    grid = _row_by_row(numbered, names, delimiter, most, max_cells)
    return replace(grid, note=_slow(text.n_bytes))


def _slow(n_bytes: int) -> str | None:
    """Return a note on a large file that the compiled reader could not read."""
    reason = why_not()
    if reason is None or n_bytes < _LARGE:
        return None
    return (
        f"{n_bytes / 2**20:.0f} MiB were read by the csv module, in ten times the time of the "
        f"compiled reader: {reason}; install a wheel of truerisk, or build it (`make setup`)"
    )


def _row_by_row(
    numbered: Iterator[tuple[int, list[str]]],
    names: list[str],
    delimiter: str,
    most: int,
    max_cells: int,
) -> Columns:
    rows: list[list[str]] = []
    lines: list[int] = []
    for line, row in numbered:
        if len(row) != len(names):
            by = DELIMITERS.get(delimiter, quoted(delimiter))
            raise BadData(
                f"line {line} has {counted(len(row), 'cell')} where the header has {len(names)} "
                f"(split at {by}): mend the line, or put quotes around cells that hold {by}."
            )
        if len(rows) == most:
            raise too_many_cells(f"line {line}", len(names), max_cells)
        rows.append(row)
        lines.append(line)
    if not rows:
        raise BadData("the file has a header and no rows: add the rows, or check the file.")
    return Columns(names, list(zip(*rows, strict=True)), lines, frozenset())


def too_many_cells(where: str, n_columns: int, max_cells: int) -> BadData:
    """Return the error for a table that exceeds the limit."""
    return BadData(
        f"the table has more than {max_cells:,} cells ({where}, {counted(n_columns, 'column')}): "
        f"take a sample of its rows or columns, or raise {mention('max_cells')}."
    )


def lines_of(text: str) -> Iterator[str]:
    """Return the lines with their ends as in csv, not the many kinds of str.splitlines."""
    return (match.group() for match in _LINE.finditer(text))


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every row that is not blank, with the line on which it starts."""
    reader = csv.reader(lines_of(text), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise BadData(
            f"line {line} cannot be split into cells ({error}): "
            "look for a quote that is not closed or stands inside a cell."
        ) from None


def _sample(text: Text, delimiter: str) -> list[int]:
    """Return the number of cells in the first rows with this delimiter."""
    reader = csv.reader(lines_of(text.head), delimiter=delimiter)
    widths: list[int] = []
    try:
        for row in reader:
            if row:
                widths.append(len(row))
            if len(widths) == _SAMPLED_ROWS:
                return widths
    except csv.Error:
        return widths
    # The last row of a truncated head may be incomplete.
    return widths[:-1] if text.goes_on and len(widths) > 1 else widths


def _even_width(text: Text, delimiter: str) -> int:
    """Return the number of columns if all sampled rows have the same one above 1, else 0."""
    widths = _sample(text, delimiter)
    return widths[0] if widths and widths[0] > 1 and len(set(widths)) == 1 else 0


def _sniffed(text: Text) -> str:
    best = max(DELIMITERS, key=lambda d: _even_width(text, d))
    if _even_width(text, best):
        return best
    # If none splits evenly, the one that splits the header most is used, so that the irregular row
    # is reported.
    return max(DELIMITERS, key=lambda d: (_sample(text, d) or [0])[0])


def _refuse_one_column(text: Text, header: list[str], delimiter: str) -> None:
    if len(header) != 1:
        return
    name = DELIMITERS.get(delimiter, quoted(delimiter))
    others = {d: _even_width(text, d) for d in DELIMITERS if d != delimiter}
    best = max(others, key=lambda d: others[d])
    if others[best]:
        right = "tab" if best == "\t" else best
        raise BadData(
            f"the delimiter looks wrong: with {name} the file has one column, with "
            f"{DELIMITERS[best]} it has {others[best]}; give {mention('delimiter', right)}."
        )
    raise BadData(
        f"the file has one column, {quoted(header[0])}, and none of , ; tab | splits it: "
        "a table needs the target and at least one feature."
    )


def named(header: list[str], line: int) -> list[str]:
    """Return the column names; a column without a name is named by its position."""
    names = [name.strip() or f"column {j}" for j, name in enumerate(header, start=1)]
    counts = Counter(names)
    twice = next((name for name in names if counts[name] > 1), None)
    if twice is not None:
        places = ", ".join(str(j) for j, name in enumerate(names, start=1) if name == twice)
        raise BadData(
            f"the header (line {line}) has the name {quoted(twice)} more than once "
            f"(columns {places}): rename them."
        )
    return names
