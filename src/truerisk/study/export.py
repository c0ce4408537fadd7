"""Results in a file: Parquet, CSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.core.errors import MissingExtra, UnknownName
from truerisk.core.registry import closest
from truerisk.core.writing import write_file

__all__ = ["FORMATS", "export"]

Rows = Iterable[Mapping[str, Any]]
RISKY = ("=", "+", "-", "@", "\t", "\r")


def export(rows: Rows, path: str | os.PathLike[str], form: str) -> int:
    """Write the rows; all have the columns of the first. How many there were.

    A file that was there before is replaced when the new one is whole.
    """
    if form not in FORMATS:
        raise UnknownName(
            f"there is no format {form!r}{closest(form, FORMATS) or '.'} Known: "
            f"{', '.join(FORMATS)}."
        )
    return write_file(path, partial(FORMATS[form], rows))


def _parquet(rows: Rows, path: Path) -> int:
    try:
        import polars as pl
    except ImportError:
        raise MissingExtra("Parquet needs polars: pip install 'truerisk[io]'.") from None
    frame = pl.DataFrame([_plain(row) for row in rows], infer_schema_length=None, strict=False)
    written = io.BytesIO()  # polars words a full disk as an error of its own
    frame.write_parquet(written)
    path.write_bytes(written.getbuffer())
    return int(frame.height)


def _csv(rows: Rows, path: Path) -> int:
    """Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    with path.open("w", encoding="utf-8", newline="") as file:
        return _lines(rows, file, _as_csv)


def _jsonl(rows: Rows, path: Path) -> int:
    """One object a line; what is no number (NaN) is null."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        return _lines(rows, file, _as_json)


def _lines(rows: Rows, file: io.TextIOBase, write: Callable[..., Iterator[int]]) -> int:
    return sum(write(rows, file))


def _as_csv(rows: Rows, file: Any) -> Iterator[int]:
    writer = csv.writer(file)
    for number, row in enumerate(rows):
        if number == 0:
            writer.writerow([_harmless(name) for name in row])
        writer.writerow([_harmless(value) for value in _plain(row).values()])
        yield 1


def _as_json(rows: Rows, file: Any) -> Iterator[int]:
    for row in rows:
        plain = {name: _finite(value) for name, value in row.items()}
        file.write(json.dumps(plain, allow_nan=False) + "\n")
        yield 1


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    """A cell of a table: lists and dicts as JSON."""
    value = _finite(value)
    return json.dumps(value, allow_nan=False) if isinstance(value, dict | list) else value


def _finite(value: Any) -> Any:
    """The value as JSON can say it; NaN is null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list):
        return [_finite(v) for v in value]
    if isinstance(value, dict):
        return {name: _finite(v) for name, v in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(RISKY) else value


FORMATS: dict[str, Callable[[Rows, Path], int]] = {
    "parquet": _parquet,
    "csv": _csv,
    "jsonl": _jsonl,
}
"""Word -> what writes rows in that format."""
