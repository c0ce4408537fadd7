"""Recognise the format of a file, by its content or else by its name; read ARFF and LIBSVM.

ARFF, the format of Weka and OpenML, has a header of typed attributes, followed by dense or sparse
rows. Nominal and string attributes are text, even if their categories look like numbers.

A LIBSVM (SVMlight) file has a label per row, followed by pairs of column number and value. All
other values are 0. Ranking data have a query number such as ``qid:3`` after the label, which is not
a feature but the group of the row.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePath

from truerisk.core.arguments import mention
from truerisk.core.errors import BadData
from truerisk.readers.cells import format_count, quote
from truerisk.readers.columnar import (
    FORMAT_BY_FIRST_BYTES,
    MISSING_TEXTS,
    parse_number,
    read_columnar,
)
from truerisk.readers.content import FileText, read_text, refuse_large_file
from truerisk.readers.grid import (
    Columns,
    parse_column_names,
    split_into_columns,
    split_lines,
    too_many_cells_error,
)

_DELIMITER_BY_EXTENSION = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_COMPRESSED_SUFFIXES = {".gz", ".bz2", ".xz", ".zip"}
_LIBSVM_SUFFIXES = {".libsvm", ".svmlight", ".svm"}
_COLUMNAR_SUFFIXES = {
    ".parquet": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}

LIBSVM_TARGET_NAME = "label"
"""Name of the target of a LIBSVM file; the features are named x1, x2, ... by their numbers."""
LIBSVM_QUERY_NAME = "qid"
"""Name of the column of query numbers in a LIBSVM file of ranking data, which is no feature."""

# The quantifier is possessive, and each line can match the pattern in one way only.
# Otherwise a file with many blank lines would take unbounded time to match.
_ARFF_START = re.compile(r"(?:[^\S\n]*(?:%[^\n]*)?\n)*+\s*@relation\b", re.IGNORECASE)
_ARFF_ATTRIBUTE = re.compile(
    r"""@attribute\s+("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s{]+)\s*(\{.*\}|\S+).*""",
    re.IGNORECASE | re.DOTALL,
)
_ARFF_CELL = re.compile(
    r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"'\s][^,]*?|)\s*(,|$)""", re.DOTALL
)
_SPARSE_PAIR = re.compile(
    r"""\s*(\d+)\s+("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"'\s][^,\s]*)\s*(,(?=.)|$)""",
    re.DOTALL,
)
_ESCAPE_CHARACTERS = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
}  # Any other escaped character stands for itself.
_NUMERIC_TYPES = {"numeric", "real", "integer"}
_TEXT_TYPES = {"string", "date"}


def read_columns(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None,
    max_cells: int,
    max_bytes: int,
    separate_names: Collection[str] = (),
) -> Columns:
    """Read the names and cells of a file: delimited text, ARFF, LIBSVM, Parquet or Arrow.

    Columns with names in `separate_names` will not be features, so they are stored in separate
    arrays.
    """
    columnar_format = _detect_columnar_format(path)
    if columnar_format is not None:
        refuse_large_file(path, max_bytes)
        return read_columnar(path, columnar_format, max_cells=max_cells, max_bytes=max_bytes)
    text = _read_as_text(path, max_bytes)
    # ARFF begins with @ or %, possibly after more blank text than the head holds.
    if text.head.lstrip()[:1] in ("@", "%", "") and _ARFF_START.match(text.full_text):
        return read_arff(text.full_text, max_cells=max_cells)
    extension = _file_extension(path)
    if extension in _LIBSVM_SUFFIXES:
        return read_libsvm(text.full_text, max_cells=max_cells)
    separator = delimiter or _DELIMITER_BY_EXTENSION.get(extension)
    return split_into_columns(
        text, delimiter=separator, max_cells=max_cells, separate_names=separate_names
    )


def _read_as_text(path: str | os.PathLike[str], max_bytes: int) -> FileText:
    """Return the text of a file, or raise an error if the file is no text.

    If the file has a name such as a.parquet, the error contains a hint.
    """
    try:
        return read_text(path, max_bytes=max_bytes)
    except BadData as error:
        format_name = _COLUMNAR_SUFFIXES.get(_file_extension(path))
        if format_name is None:
            raise
        raise BadData(
            f"{error.sentence.marked_text} It is named like a file of {format_name} and does not "
            "begin "
            "like one: if it should be one, it is damaged; write it anew."
        ) from error


def _detect_columnar_format(path: str | os.PathLike[str]) -> str | None:
    """Return the format of a columnar file by its first bytes: "parquet", "ipc", or None."""
    try:
        if not Path(path).is_file():  # Reading the first bytes of a pipe would consume them.
            return None
        with Path(path).open("rb") as file:
            first_bytes = file.read(8)
    except (OSError, ValueError):  # `read_text` will meet the error again and report it.
        return None
    return next(
        (
            format_name
            for magic_bytes, format_name in FORMAT_BY_FIRST_BYTES.items()
            if first_bytes.startswith(magic_bytes)
        ),
        None,
    )


def _file_extension(path: str | os.PathLike[str]) -> str:
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED_SUFFIXES:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


# ---------------------------------------------------------------- ARFF


def read_arff(text: str, *, max_cells: int) -> Columns:
    """Return the columns of an ARFF file; an error in the file is reported with its line number."""
    numbered_lines = enumerate(split_lines(text), start=1)
    names, attribute_kinds = _read_header(numbered_lines)
    rows: list[list[str]] = []
    start_lines: list[int] = []
    for line_number, row in _read_data_rows(numbered_lines, attribute_kinds):
        if (len(rows) + 1) * len(names) > max_cells:
            raise too_many_cells_error(f"line {line_number}", len(names), max_cells)
        _refuse_text_in_numeric(row, names, attribute_kinds, line_number)
        rows.append(row)
        start_lines.append(line_number)
    if not rows:
        raise BadData("the file has a header and no rows after @data: add the rows.")
    text_columns = frozenset(
        n
        for n, attribute_kind in zip(names, attribute_kinds, strict=True)
        if attribute_kind != "number"
    )
    return Columns(
        names, [list(cells) for cells in zip(*rows, strict=True)], start_lines, text_columns
    )


def _read_header(numbered_lines: Iterator[tuple[int, str]]) -> tuple[list[str], list[str]]:
    names: list[str] = []
    attribute_kinds: list[str] = []
    for line_number, line_text in numbered_lines:
        stripped_line = line_text.strip()
        keyword = (
            stripped_line.partition(" ")[0].lower()
            if "\t" not in stripped_line
            else stripped_line.split()[0].lower()
        )
        if not stripped_line or stripped_line.startswith("%") or keyword == "@relation":
            continue
        if keyword == "@data":
            if not names:
                raise BadData(f"line {line_number}: @data stands before any @attribute.")
            return parse_column_names(names, 1), attribute_kinds
        if keyword != "@attribute":
            raise BadData(
                f"line {line_number} of the header is neither @attribute nor @data: "
                f"{quote(stripped_line)}."
            )
        name, attribute_kind = _parse_attribute(stripped_line, line_number)
        names.append(name)
        attribute_kinds.append(attribute_kind)
    raise BadData("the file has no line @data: the header never ends.")


def _parse_attribute(stripped_line: str, line_number: int) -> tuple[str, str]:
    """Return the name and the kind of an ARFF attribute.

    The kind is "number", "text", or "=" followed by the first category of a nominal attribute.
    """
    match = _ARFF_ATTRIBUTE.fullmatch(stripped_line)
    if match is None:
        raise BadData(
            f"line {line_number}: no name and type can be read from {quote(stripped_line)}."
        )
    name, type_text = _remove_quotes(match[1]), match[2]
    if type_text.startswith("{"):
        levels = _split_into_cells(type_text[1:-1], line_number)
        return name, "=" + (levels[0] if levels else "")
    if type_text.lower() in _NUMERIC_TYPES:
        return name, "number"
    if type_text.lower() in _TEXT_TYPES:
        return name, "text"
    raise BadData(
        f"line {line_number}: attribute {quote(name)} is of type {quote(type_text)}; numeric, "
        "nominal, string and date are read."
    )


def _read_data_rows(
    numbered_lines: Iterator[tuple[int, str]], attribute_kinds: list[str]
) -> Iterator[tuple[int, list[str]]]:
    for line_number, line_text in numbered_lines:
        stripped_line = line_text.strip()
        if not stripped_line or stripped_line.startswith("%"):
            continue
        if stripped_line.startswith("{"):
            yield line_number, _parse_sparse_row(stripped_line, attribute_kinds, line_number)
            continue
        row = _split_into_cells(stripped_line, line_number)
        if len(row) != len(attribute_kinds):
            raise BadData(
                f"line {line_number} has {format_count(len(row), 'cell')} where the header has "
                f"{format_count(len(attribute_kinds), 'attribute')}: mend the line."
            )
        yield line_number, row


def _parse_sparse_row(
    stripped_line: str, attribute_kinds: list[str], line_number: int
) -> list[str]:
    """Return the cells of a sparse ARFF row, which is given as pairs of column number and value.

    Omitted cells are 0, or the first category of a nominal attribute.
    """
    row = [
        attribute_kind[1:] if attribute_kind.startswith("=") else "0"
        for attribute_kind in attribute_kinds
    ]
    if not stripped_line.endswith("}"):
        raise BadData(f"line {line_number}: a sparse row is not closed by a brace.")
    pairs_text, pair_start = stripped_line[1:-1].strip(), 0
    columns: set[int] = set()
    while pair_start < len(pairs_text):
        pair_match = _SPARSE_PAIR.match(pairs_text, pair_start)
        if pair_match is None or int(pair_match[1]) >= len(attribute_kinds):
            raise BadData(
                f"line {line_number}: {quote(pairs_text[pair_start:].partition(',')[0].strip())} "
                f"is no pair of a column number below {len(attribute_kinds)} and a value."
            )
        column = int(pair_match[1])
        if column in columns:
            raise BadData(f"line {line_number} names column {column} twice.")
        columns.add(column)
        row[column] = _remove_quotes(pair_match[2])
        pair_start = pair_match.end()
    return row


def _split_into_cells(line_text: str, line_number: int) -> list[str]:
    cells: list[str] = []
    cell_start = 0
    while True:
        match = _ARFF_CELL.match(line_text, cell_start)
        if match is None:
            raise BadData(
                f"line {line_number} cannot be split into cells at "
                f"{quote(line_text[cell_start:])}: "
                "look for a quote that is not closed."
            )
        cells.append(_remove_quotes(match[1]))
        if not match[2]:
            return cells
        cell_start = match.end()


def _remove_quotes(cell: str) -> str:
    if len(cell) >= 2 and cell[0] in "\"'" and cell[-1] == cell[0]:
        return re.sub(
            r"\\(.)", lambda m: _ESCAPE_CHARACTERS.get(m[1], m[1]), cell[1:-1], flags=re.DOTALL
        )
    return cell


def _refuse_text_in_numeric(
    row: list[str], names: list[str], attribute_kinds: list[str], line_number: int
) -> None:
    for cell, name, attribute_kind in zip(row, names, attribute_kinds, strict=True):
        if attribute_kind == "number" and cell not in MISSING_TEXTS and parse_number(cell) is None:
            raise BadData(
                f"line {line_number}: attribute {quote(name)} is numeric and has the "
                f"cell {quote(cell)}."
            )


# ---------------------------------------------------------------- LIBSVM


def read_libsvm(text: str, *, max_cells: int) -> Columns:
    """Return the columns of a LIBSVM file, with the zeros that the file omits."""
    labels: list[str] = []
    rows: list[dict[int, str]] = []
    queries: list[str | None] = []
    start_lines: list[int] = []
    largest_column = 0
    for line_number, line_text in enumerate(split_lines(text), start=1):
        fields = line_text.partition("#")[0].split()
        if not fields:
            continue
        if "," in fields[0] or parse_number(fields[0]) is None:
            raise BadData(f"line {line_number} has the label {quote(fields[0])}: give one number.")
        query, pairs = _split_off_query(fields[1:], line_number)
        row = _parse_libsvm_row(pairs, line_number)
        largest_column = max(largest_column, max(row, default=0))
        labels.append(fields[0])
        rows.append(row)
        queries.append(query)
        start_lines.append(line_number)
        if len(rows) * (largest_column + 1) > max_cells:
            raise BadData(
                f"with its zeros the table has more than {max_cells:,} cells (line {line_number}, "
                f"{format_count(largest_column, 'column')}): take a sample, or raise "
                f"{mention('max_cells')}."
            )
    if not rows or not largest_column:
        raise BadData("the file has no row with a label and a value such as 3:0.5.")
    smallest_column = 0 if any(0 in row for row in rows) else 1
    column_numbers = range(smallest_column, largest_column + 1)
    cells = [[row.get(column, "0") for row in rows] for column in column_numbers]
    names = [LIBSVM_TARGET_NAME, *(f"x{column}" for column in column_numbers)]
    query_column = _query_column_by_name(queries, start_lines)
    return Columns(names, [labels, *cells], start_lines, frozenset(), query_column)


def _split_off_query(pairs: list[str], line_number: int) -> tuple[str | None, list[str]]:
    """Split a LIBSVM row into its query number (None without one) and its other fields."""
    column_number, _, value = pairs[0].partition(":") if pairs else ("", "", "")
    if column_number != LIBSVM_QUERY_NAME:
        return None, pairs
    if not value.isdecimal():
        raise BadData(f"line {line_number}: {quote(pairs[0])} names no query, such as qid:3.")
    return value, pairs[1:]


def _query_column_by_name(
    queries: list[str | None], start_lines: list[int]
) -> dict[str, list[str]]:
    """Return a dict with the column of query numbers; without query numbers it is empty.

    Raise an error if only some rows have a query number.
    """
    given_queries = [query for query in queries if query is not None]
    if not given_queries:
        return {}
    if len(given_queries) < len(queries):
        line_number = start_lines[queries.index(None)]
        raise BadData(
            f"line {line_number} has no qid, and other lines have one: give it to every row."
        )
    return {LIBSVM_QUERY_NAME: given_queries}


def _parse_libsvm_row(pairs: list[str], line_number: int) -> dict[int, str]:
    row: dict[int, str] = {}
    for pair in pairs:
        column_number, colon, value = pair.partition(":")
        if (
            not colon
            or not column_number.isdecimal()
            or parse_number(value) is None
            or len(column_number) > 9
        ):
            raise BadData(
                f"line {line_number}: {quote(pair)} is no pair of a column number and a value, "
                "such as 3:0.5."
            )
        if int(column_number) in row:
            raise BadData(f"line {line_number} names column {column_number} twice.")
        row[int(column_number)] = value
    return row
