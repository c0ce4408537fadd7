"""The format of a file, recognised by its content if possible, else by its name.

ARFF and LIBSVM, which are used to exchange learners' data, are read here line by line.

ARFF, the format of Weka and OpenML, has a header of typed attributes, followed by dense or sparse
rows. Nominal and string attributes are text, even if their categories look like numbers. A LIBSVM
(SVMlight) file has a label per row, followed by pairs of column number and value; all other values
are 0. Ranking data have ``qid:3`` after the label: rows of one query, which is not a feature but a
group.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePath

from truerisk.core.arguments import mention
from truerisk.core.errors import BadData
from truerisk.readers.cells import counted, quoted
from truerisk.readers.columnar import MISSING, READERS, number, read_columnar
from truerisk.readers.content import Text, read_text, refuse_large
from truerisk.readers.grid import Columns, cut, lines_of, named, too_many_cells

_DELIMITER_OF = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_COMPRESSED = {".gz", ".bz2", ".xz", ".zip"}
_LIBSVM = {".libsvm", ".svmlight", ".svm"}
_COLUMNAR = {".parquet": "Parquet", ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow"}

LABEL = "label"
"""Name of the target of a LIBSVM file; its columns are named x1, x2, ... by their numbers."""
QUERY = "qid"
"""Name of the query number in such a file, which is not a feature."""

# The pattern is possessive, and each line can match in one way only, since otherwise blank lines
# would cost unbounded time.
_START = re.compile(r"(?:[^\S\n]*(?:%[^\n]*)?\n)*+\s*@relation\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""@attribute\s+("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s{]+)\s*(\{.*\}|\S+).*""",
    re.IGNORECASE | re.DOTALL,
)
_CELL = re.compile(
    r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"'\s][^,]*?|)\s*(,|$)""", re.DOTALL
)
_PAIR = re.compile(
    r"""\s*(\d+)\s+("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"'\s][^,\s]*)\s*(,(?=.)|$)""",
    re.DOTALL,
)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}  # All other characters stand for themselves.
_NUMERIC = {"numeric", "real", "integer"}
_WORDS = {"string", "date"}


def read_columns(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None,
    max_cells: int,
    max_bytes: int,
    aside: Collection[str] = (),
) -> Columns:
    """Return names and cells of a file: delimited text, ARFF, LIBSVM, Parquet or Arrow.

    Columns with names in `aside` will not be features, and need not be in one table with them.
    """
    kind = _columnar(path)
    if kind is not None:
        refuse_large(path, max_bytes)
        return read_columnar(path, kind, max_cells=max_cells, max_bytes=max_bytes)
    text = _text(path, max_bytes)
    # ARFF begins with a declaration or a comment, before which a whole head may be empty.
    if text.head.lstrip()[:1] in ("@", "%", "") and _START.match(text.full_text):
        return read_arff(text.full_text, max_cells=max_cells)
    extension = _extension(path)
    if extension in _LIBSVM:
        return read_libsvm(text.full_text, max_cells=max_cells)
    separator = delimiter or _DELIMITER_OF.get(extension)
    return cut(text, delimiter=separator, max_cells=max_cells, aside=aside)


def _text(path: str | os.PathLike[str], max_bytes: int) -> Text:
    """Return the file as text, or raise, with a hint if its name is that of a columnar file."""
    try:
        return read_text(path, max_bytes=max_bytes)
    except BadData as error:
        kind = _COLUMNAR.get(_extension(path))
        if kind is None:
            raise
        raise BadData(
            f"{error.sentence.marked} It is named like a file of {kind} and does not begin like "
            "one: if it should be one, it is damaged; write it anew."
        ) from error


def _columnar(path: str | os.PathLike[str]) -> str | None:
    """Return the reader of a columnar file, by its first bytes; None for all others."""
    try:
        if not Path(path).is_file():  # A pipe would lose its beginning here, or block.
            return None
        with Path(path).open("rb") as file:
            head = file.read(8)
    except (OSError, ValueError):  # The error is reported when it is read as text.
        return None
    return next((kind for magic, kind in READERS.items() if head.startswith(magic)), None)


def _extension(path: str | os.PathLike[str]) -> str:
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


# ---------------------------------------------------------------- ARFF


def read_arff(text: str, *, max_cells: int) -> Columns:
    """Return the columns of an ARFF file; errors of the format are reported with their line."""
    lines = enumerate(lines_of(text), start=1)
    names, kinds = _header(lines)
    rows: list[list[str]] = []
    starts: list[int] = []
    for line, row in _data(lines, kinds):
        if (len(rows) + 1) * len(names) > max_cells:
            raise too_many_cells(f"line {line}", len(names), max_cells)
        _refuse_kinds(row, names, kinds, line)
        rows.append(row)
        starts.append(line)
    if not rows:
        raise BadData("the file has a header and no rows after @data: add the rows.")
    text_columns = frozenset(n for n, kind in zip(names, kinds, strict=True) if kind != "number")
    return Columns(names, [list(cells) for cells in zip(*rows, strict=True)], starts, text_columns)


def _header(lines: Iterator[tuple[int, str]]) -> tuple[list[str], list[str]]:
    names: list[str] = []
    kinds: list[str] = []
    for line, content in lines:
        bare = content.strip()
        label = bare.partition(" ")[0].lower() if "\t" not in bare else bare.split()[0].lower()
        if not bare or bare.startswith("%") or label == "@relation":
            continue
        if label == "@data":
            if not names:
                raise BadData(f"line {line}: @data stands before any @attribute.")
            return named(names, 1), kinds
        if label != "@attribute":
            raise BadData(
                f"line {line} of the header is neither @attribute nor @data: {quoted(bare)}."
            )
        name, kind = _attribute(bare, line)
        names.append(name)
        kinds.append(kind)
    raise BadData("the file has no line @data: the header never ends.")


def _attribute(bare: str, line: int) -> tuple[str, str]:
    """Return name and kind: "number", "text", or "=" and a nominal attribute's first category."""
    match = _ATTRIBUTE.fullmatch(bare)
    if match is None:
        raise BadData(f"line {line}: no name and type can be read from {quoted(bare)}.")
    name, kind = _unquoted(match[1]), match[2]
    if kind.startswith("{"):
        levels = _split(kind[1:-1], line)
        return name, "=" + (levels[0] if levels else "")
    if kind.lower() in _NUMERIC:
        return name, "number"
    if kind.lower() in _WORDS:
        return name, "text"
    raise BadData(
        f"line {line}: attribute {quoted(name)} is of type {quoted(kind)}; numeric, nominal, "
        "string and date are read."
    )


def _data(lines: Iterator[tuple[int, str]], kinds: list[str]) -> Iterator[tuple[int, list[str]]]:
    for line, content in lines:
        bare = content.strip()
        if not bare or bare.startswith("%"):
            continue
        if bare.startswith("{"):
            yield line, _sparse(bare, kinds, line)
            continue
        row = _split(bare, line)
        if len(row) != len(kinds):
            raise BadData(
                f"line {line} has {counted(len(row), 'cell')} where the header has "
                f"{counted(len(kinds), 'attribute')}: mend the line."
            )
        yield line, row


def _sparse(bare: str, kinds: list[str], line: int) -> list[str]:
    """Return a row of pairs; omitted cells are 0, or the first category of a nominal attribute."""
    row = [kind[1:] if kind.startswith("=") else "0" for kind in kinds]
    if not bare.endswith("}"):
        raise BadData(f"line {line}: a sparse row is not closed by a brace.")
    inside, place = bare[1:-1].strip(), 0
    columns: set[int] = set()
    while place < len(inside):
        pair = _PAIR.match(inside, place)
        if pair is None or int(pair[1]) >= len(kinds):
            raise BadData(
                f"line {line}: {quoted(inside[place:].partition(',')[0].strip())} is no pair of a "
                f"column number below {len(kinds)} and a value."
            )
        column = int(pair[1])
        if column in columns:
            raise BadData(f"line {line} names column {column} twice.")
        columns.add(column)
        row[column] = _unquoted(pair[2])
        place = pair.end()
    return row


def _split(content: str, line: int) -> list[str]:
    cells: list[str] = []
    place = 0
    while True:
        match = _CELL.match(content, place)
        if match is None:
            raise BadData(
                f"line {line} cannot be split into cells at {quoted(content[place:])}: "
                "look for a quote that is not closed."
            )
        cells.append(_unquoted(match[1]))
        if not match[2]:
            return cells
        place = match.end()


def _unquoted(cell: str) -> str:
    if len(cell) >= 2 and cell[0] in "\"'" and cell[-1] == cell[0]:
        return re.sub(r"\\(.)", lambda m: _ESCAPED.get(m[1], m[1]), cell[1:-1], flags=re.DOTALL)
    return cell


def _refuse_kinds(row: list[str], names: list[str], kinds: list[str], line: int) -> None:
    for cell, name, kind in zip(row, names, kinds, strict=True):
        if kind == "number" and cell not in MISSING and number(cell) is None:
            raise BadData(
                f"line {line}: attribute {quoted(name)} is numeric and has the cell {quoted(cell)}."
            )


# ---------------------------------------------------------------- LIBSVM


def read_libsvm(text: str, *, max_cells: int) -> Columns:
    """Return the columns of a LIBSVM file, including their zeros."""
    labels: list[str] = []
    rows: list[dict[int, str]] = []
    queries: list[str | None] = []
    starts: list[int] = []
    last = 0
    for line, content in enumerate(lines_of(text), start=1):
        bare = content.partition("#")[0].split()
        if not bare:
            continue
        if "," in bare[0] or number(bare[0]) is None:
            raise BadData(f"line {line} has the label {quoted(bare[0])}: give one number.")
        query, pairs = _query(bare[1:], line)
        row = _row(pairs, line)
        last = max(last, max(row, default=0))
        labels.append(bare[0])
        rows.append(row)
        queries.append(query)
        starts.append(line)
        if len(rows) * (last + 1) > max_cells:
            raise BadData(
                f"with its zeros the table has more than {max_cells:,} cells (line {line}, "
                f"{counted(last, 'column')}): take a sample, or raise {mention('max_cells')}."
            )
    if not rows or not last:
        raise BadData("the file has no row with a label and a value such as 3:0.5.")
    first = 0 if any(0 in row for row in rows) else 1
    numbers = range(first, last + 1)
    cells = [[row.get(j, "0") for row in rows] for j in numbers]
    names = [LABEL, *(f"x{j}" for j in numbers)]
    aside = _aside(queries, starts)
    return Columns(names, [labels, *cells], starts, frozenset(), aside)


def _query(pairs: list[str], line: int) -> tuple[str | None, list[str]]:
    """Return the query of a row, if it has one, and its other pairs."""
    place, _, value = pairs[0].partition(":") if pairs else ("", "", "")
    if place != QUERY:
        return None, pairs
    if not value.isdecimal():
        raise BadData(f"line {line}: {quoted(pairs[0])} names no query, such as qid:3.")
    return value, pairs[1:]


def _aside(queries: list[str | None], starts: list[int]) -> dict[str, list[str]]:
    """Return the queries of all rows; raise if only some rows have one."""
    given = [query for query in queries if query is not None]
    if not given:
        return {}
    if len(given) < len(queries):
        line = starts[queries.index(None)]
        raise BadData(f"line {line} has no qid, and other lines have one: give it to every row.")
    return {QUERY: given}


def _row(pairs: list[str], line: int) -> dict[int, str]:
    row: dict[int, str] = {}
    for pair in pairs:
        place, colon, value = pair.partition(":")
        if not colon or not place.isdecimal() or number(value) is None or len(place) > 9:
            raise BadData(
                f"line {line}: {quoted(pair)} is no pair of a column number and a value, "
                "such as 3:0.5."
            )
        if int(place) in row:
            raise BadData(f"line {line} names column {place} twice.")
        row[int(place)] = value
    return row
