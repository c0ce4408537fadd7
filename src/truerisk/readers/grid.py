"""Text cut into a header and rows of equal length: the delimiter found and checked."""

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
    """Names and cells of the columns of any file; `text` are those that the file says are text.

    `lines` are where the rows start; in a file without lines they count the rows from 1.
    `aside` are columns that the file says are no features; `note` is what to say of the reading.
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
    """The columns of `text`; `delimiter=None` takes the one that splits the first rows evenly.

    The compiled reader cuts where the csv module would, or leaves the text to the csv module, whose
    rows are then counted one by one: it says what is wrong, and on which line.
    """
    if delimiter is None:
        delimiter = _sniffed(text)
    longest = csv.field_size_limit()  # the compiled reader counts bytes, which are at least as many
    end = first_row(text.content, delimiter, longest)
    first, header = next(_rows(text.first(end[0]) if end else text.whole, delimiter), (1, []))
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
    numbered = _rows(text.whole, delimiter)
    next(numbered, None)
    grid = _row_by_row(numbered, names, delimiter, most, max_cells)
    return replace(grid, note=_slow(text.n_bytes))


def _slow(n_bytes: int) -> str | None:
    """What to say of a large file that the compiled reader could not read."""
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
    """What is said of a table that passes the cap."""
    return BadData(
        f"the table has more than {max_cells:,} cells ({where}, {counted(n_columns, 'column')}): "
        f"take a sample of its rows or columns, or raise {mention('max_cells')}."
    )


def lines_of(text: str) -> Iterator[str]:
    """The lines with their ends: those of csv, not the many that str.splitlines knows."""
    return (match.group() for match in _LINE.finditer(text))


def _rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Every row that is not blank, with the line on which it starts."""
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
    """How many cells the first rows have under this delimiter."""
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
    # the last row of a cut-off head may be half a row
    return widths[:-1] if text.goes_on and len(widths) > 1 else widths


def _even_width(text: Text, delimiter: str) -> int:
    """The number of columns if all sampled rows have it and it is more than one, else 0."""
    widths = _sample(text, delimiter)
    return widths[0] if widths and widths[0] > 1 and len(set(widths)) == 1 else 0


def _sniffed(text: Text) -> str:
    best = max(DELIMITERS, key=lambda d: _even_width(text, d))
    if _even_width(text, best):
        return best
    # none splits evenly: the one that splits the header most, so that the ragged row is named
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
    """The column names; a column without one is called by its place."""
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
