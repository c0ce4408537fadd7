"""Read the columns of a file by name: CSV, TSV, Parquet, Arrow or JSON lines."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from truerisk.core.errors import BadData
from truerisk.readers.cells import format_count, quote, to_cells
from truerisk.readers.columnar import (
    FORMAT_BY_FIRST_BYTES,
    MISSING_TEXTS,
    parse_number,
    read_column,
)
from truerisk.readers.content import read_text
from truerisk.readers.formats import read_columns
from truerisk.readers.grid import DELIMITER_NAMES

JSON_LINES_SUFFIXES = {".jsonl", ".ndjson"}
COMPRESSED_SUFFIXES = {".gz", ".bz2", ".xz", ".zip"}
MOST_HEADER_BYTES = 65_536


def read_named_columns(
    path: str | os.PathLike[str], *, max_cells: int, max_bytes: int
) -> dict[str, np.ndarray]:
    """Return the columns of a file by name, each as an array of floats or of texts.

    A column holds floats if each of its values is a number or missing, and texts otherwise.
    """
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED_SUFFIXES:
        suffixes.pop()
    if suffixes and suffixes[-1] in JSON_LINES_SUFFIXES:
        return _read_json_lines(path, max_cells=max_cells, max_bytes=max_bytes)
    single_column = _single_column(path, max_bytes)
    if single_column is not None:
        return single_column
    content = read_columns(path, delimiter=None, max_cells=max_cells, max_bytes=max_bytes)
    columns: dict[str, np.ndarray] = {}
    for name, named_cells in zip(content.names, content.cells, strict=True):
        cells = to_cells(named_cells)
        is_text = name in content.text_columns
        column = read_column(name, cells, content.start_lines, is_text=is_text)
        if column.kind == "number":
            columns[name] = column.values
        else:
            words = cells.as_words()
            columns[name] = np.array([*words.word_counts.words])[words.codes()]
    return columns


def _single_column(path: str | os.PathLike[str], max_bytes: int) -> dict[str, np.ndarray] | None:
    """Return the only column of a text file without delimiters, or None for other files.

    Such a file may be a list of predictions, one per line.
    """
    try:
        with Path(path).open("rb") as file:
            first_bytes = file.read(8)
            header = first_bytes + file.readline(MOST_HEADER_BYTES)
    except (OSError, ValueError):
        return None  # `read_columns` will meet the error again and report it.
    is_text = not first_bytes.startswith(tuple(FORMAT_BY_FIRST_BYTES)) and b"\0" not in header
    if not is_text or not header.strip() or any(d.encode() in header for d in DELIMITER_NAMES):
        return None
    # Without a line end, it is a compressed file, or a text whose first line is very long.
    if not header.endswith(b"\n"):
        return None
    name, *cells = read_text(path, max_bytes=max_bytes).full_text.split("\n")
    values = [cell.strip().strip('"') for cell in cells if cell.strip()]
    numbers = [parse_number(value) for value in values]
    column = np.array(values) if None in numbers else np.array(numbers, dtype=np.float64)
    return {name.strip().strip('"'): column}


def _read_json_lines(
    path: str | os.PathLike[str], *, max_cells: int, max_bytes: int
) -> dict[str, np.ndarray]:
    """Read a file with one JSON object per line, all with the same keys."""
    records: list[dict[str, Any]] = []
    lines = read_text(path, max_bytes=max_bytes).full_text.split("\n")
    for line_number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, object_pairs_hook=_record)
        except (ValueError, RecursionError) as error:
            raise BadData(f"{path}: line {line_number} is no JSON: {error}.") from None
        plain_types = str, int, float, bool, type(None)
        if not isinstance(record, dict) or {*map(type, record.values())} - {*plain_types}:
            raise BadData(
                f"{path}: line {line_number} is no JSON object of numbers and texts: write one "
                "object for each candidate and row."
            )
        records.append(record)
        differing = sorted(record.keys() ^ records[0].keys())
        if differing:
            raise BadData(
                f"{path}: line {line_number} and the first differ in the key {quote(differing[0])}."
            )
        if len(records) * len(record) > max_cells:
            raise BadData(f"{path}: more than {format_count(max_cells, 'cell')}.")
    if not records:
        raise BadData(f"{path}: the file holds no line.")
    return {name: _column([record[name] for record in records]) for name in records[0]}


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these keys and values; raise ValueError if a key occurs twice."""
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key occurs twice")
    return record


def _column(values: list[Any]) -> np.ndarray:
    """Return the values of a column as floats, or as texts if one of them is not a number."""
    if not any(isinstance(value, str) for value in values):
        with contextlib.suppress(OverflowError):
            return np.array(values, dtype=np.float64)  # None becomes NaN.
    texts = ["" if value is None else str(value) for value in values]
    return np.array(["" if text in MISSING_TEXTS else text for text in texts])
