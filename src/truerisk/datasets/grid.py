"""Text cut into a header and rows of equal length: the delimiter found and checked."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from truerisk.core.errors import BadData
from truerisk.datasets.cells import PackedCells
from truerisk.datasets.wording import counted, quoted
from truerisk.kernels import why_not
from truerisk.kernels.cells import cut_cells

__all__ = ["DELIMITERS", "Columns", "cut", "lines_of", "named"]

DELIMITERS = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'"}
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_SAMPLED_ROWS = 50
_LARGE = 20 * 2**20
_SAMPLED_CHARACTERS = 1 << 16


@dataclass(frozen=True)
class Columns:
    """Names and cells of the columns of any file; `text` are those that the file says are text.

    `lines` are where the rows start; in a file without lines they count the rows from 1.
    `aside` are columns that the file says are no features; `note` is what to say of the reading.
    """

    names: list[str]
    cells: Sequence[Sequence[str]]
    lines: Sequence[int]
    text: frozenset[str]
    aside: Mapping[str, Sequence[str]] = field(default_factory=dict)
    note: str | None = None


def cut(text: str, content: memoryview, *, delimiter: str | None, max_cells: int) -> Columns:
    """The columns of `text`; `delimiter=None` takes the one that splits the first rows evenly.

    The compiled reader cuts where the csv module would, or leaves the text to the csv module, whose
    rows are then counted one by one: it says what is wrong, and on which line. `content` is `text`
    in UTF-8, and is written to.
    """
    if delimiter is None:
        delimiter = _sniffed(text)
    numbered = _rows(text, delimiter)
    first, header = next(numbered, (1, []))
    _refuse_one_column(text, header, delimiter)
    names = named(header, first)
    most = max(max_cells // len(names), 0)
    packed = _packed(content, names, delimiter, most)
    if packed is not None:
        return packed
    found = _row_by_row(numbered, names, delimiter, most, max_cells)
    return replace(found, note=_slow(len(content)))


def _packed(content: memoryview, names: list[str], delimiter: str, most: int) -> Columns | None:
    """The columns as places in the text; None where the csv module is to read."""
    written = np.frombuffer(content, dtype=np.uint8)
    longest = csv.field_size_limit()  # counted in bytes here, which are at least as many
    found = cut_cells(written, delimiter, len(names), most + 1, longest)
    if found is None or len(found[2]) < 2:
        return None
    starts, ends, lines = found
    cells = [
        PackedCells(written, *places) for places in zip(starts[:, 1:], ends[:, 1:], strict=True)
    ]
    return Columns(names, cells, lines[1:].tolist(), frozenset())


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
            raise BadData(_ragged(line, row, names, delimiter))
        if len(rows) == most:
            raise BadData(
                f"the table has more than {max_cells:,} cells (line {line}, "
                f"{counted(len(names), 'column')}): take a sample of its rows or columns, "
                "or raise --max-cells."
            )
        rows.append(row)
        lines.append(line)
    if not rows:
        raise BadData("the file has a header and no rows: add the rows, or check the file.")
    return Columns(names, list(zip(*rows, strict=True)), lines, frozenset())


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


def _sample(text: str, delimiter: str) -> list[int]:
    """How many cells the first rows have under this delimiter."""
    head = text[:_SAMPLED_CHARACTERS]
    reader = csv.reader(lines_of(head), delimiter=delimiter)
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
    return widths[:-1] if len(head) < len(text) and len(widths) > 1 else widths


def _even_width(text: str, delimiter: str) -> int:
    """The number of columns if all sampled rows have it and it is more than one, else 0."""
    widths = _sample(text, delimiter)
    return widths[0] if widths and widths[0] > 1 and len(set(widths)) == 1 else 0


def _sniffed(text: str) -> str:
    best = max(DELIMITERS, key=lambda d: _even_width(text, d))
    if _even_width(text, best):
        return best
    # none splits evenly: the one that splits the header most, so that the ragged row is named
    return max(DELIMITERS, key=lambda d: (_sample(text, d) or [0])[0])


def _refuse_one_column(text: str, header: list[str], delimiter: str) -> None:
    if len(header) != 1:
        return
    found = DELIMITERS.get(delimiter, quoted(delimiter))
    others = {d: _even_width(text, d) for d in DELIMITERS if d != delimiter}
    best = max(others, key=lambda d: others[d])
    if others[best]:
        option = "tab" if best == "\t" else f"'{best}'"
        raise BadData(
            f"the delimiter looks wrong: with {found} the file has one column, with "
            f"{DELIMITERS[best]} it has {others[best]}; give --delimiter {option}."
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


def _ragged(line: int, row: list[str], names: list[str], delimiter: str) -> str:
    by = DELIMITERS.get(delimiter, quoted(delimiter))
    return (
        f"line {line} has {counted(len(row), 'cell')} where the header has {len(names)} "
        f"(split at {by}): mend the line, or put quotes around cells that hold {by}."
    )
