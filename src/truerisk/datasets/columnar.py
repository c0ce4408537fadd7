"""Parquet and Arrow files as columns of cells, looked at before they are held in memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np

from truerisk.core.errors import BadData, MissingExtra, first_line, is_failure
from truerisk.core.present import clean
from truerisk.datasets.cells import counted, quoted
from truerisk.datasets.grid import Columns, named, too_many_cells

REFUSED = 65
LOOK = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from truerisk.datasets.columnar import look; sys.exit(look(*sys.argv[2:]))"
)

READERS = {b"PAR1": "parquet", b"ARROW1": "ipc"}
_NUMBERS = ("Int", "UInt", "Float", "Boolean", "Decimal")
_TEXT = ("String", "Categorical", "Enum")
_TIMES = ("Date", "Datetime", "Time")


def read_columnar(
    path: str | os.PathLike[str], kind: str, *, max_cells: int, max_bytes: int
) -> Columns:
    """Columns of a Parquet ("parquet") or Arrow ("ipc") file.

    Numbers and truth values become numbers, strings and categories stay text, dates are written as
    ISO 8601. The cells and the characters of all texts are counted before anything is read whole: a
    file of 91 kB can hold 160 MB.

    Another process reads it first. polars panics over some damaged files and ends its process over
    others (it asks for 2 exabytes, say), which nothing in this process could catch.
    """
    _polars(path)
    _refuse_deadly(path, kind, max_cells, max_bytes)
    return read_here(path, kind, max_cells=max_cells, max_bytes=max_bytes)


def read_here(
    path: str | os.PathLike[str], kind: str, *, max_cells: int, max_bytes: int
) -> Columns:
    """The columns, read in this process; a damaged file may end it."""
    polars = _polars(path)
    try:
        lazy = getattr(polars, f"scan_{kind}")(os.fspath(path))
        schema = dict(lazy.collect_schema())
        _refuse_nested(schema, path)
        names = named(list(schema), 1)
        n_rows = int(lazy.select(polars.len()).collect().item())
        _refuse_size(lazy, schema, n_rows, polars, max_cells, max_bytes)
        frame = lazy.collect()
        cells = [_cells(frame[name], polars) for name in schema]
        if {len(column) for column in cells} != {n_rows}:
            raise ValueError("columns are not equally long")
    except BadData:
        raise
    except BaseException as error:  # of a damaged file, in polars' words, or it panics
        if not is_failure(error):
            raise
        why = clean(first_line(error))
        raise BadData(f"{quoted(path, 200)} is damaged: {why}; write it anew.") from None
    text = frozenset(
        name for name, kind in zip(names, schema.values(), strict=True) if _is(kind, _TEXT + _TIMES)
    )
    return Columns(names, cells, range(1, n_rows + 1), text)


def look(path: str, kind: str, max_cells: str, max_bytes: str) -> int:
    """What the other process does: the exit code, with the sentence on stdout where one is due."""
    try:
        read_here(path, kind, max_cells=int(max_cells), max_bytes=int(max_bytes))
    except BadData as error:
        print(json.dumps(str(error)))  # noqa: T201  to the process that asked
        return REFUSED
    return 0


def _refuse_deadly(path: Any, kind: str, max_cells: int, max_bytes: int) -> None:
    """Read the file in another process; what it refuses, or does not survive, is refused."""
    if not sys.executable:  # where no process can be started, this one reads it
        return
    words = [json.dumps(sys.path), os.fsdecode(path), kind, str(max_cells), str(max_bytes)]
    try:
        done = subprocess.run(
            [sys.executable, "-c", LOOK, *words], capture_output=True, check=False
        )
    except OSError:
        return
    if done.returncode == REFUSED:
        raise BadData(json.loads(done.stdout))
    if done.returncode not in (0, 1):  # 1: it could not begin
        raise BadData(
            f"{quoted(path, 200)} is damaged: it ends the process that reads it (exit code "
            f"{done.returncode}); write it anew."
        )


def _polars(path: Any) -> Any:
    try:
        import polars as pl
    except ImportError:
        raise MissingExtra(
            f"{quoted(path, 200)} needs polars to be read: pip install 'truerisk[io]', "
            "or export it as CSV."
        ) from None
    return pl


def _is(kind: Any, words: tuple[str, ...]) -> bool:
    return str(kind).startswith(words)


def _refuse_nested(schema: dict[str, Any], path: Any) -> None:
    for name, kind in schema.items():
        if not _is(kind, _NUMBERS + _TEXT + _TIMES):
            raise BadData(
                f"column {quoted(name)} of {quoted(path, 200)} holds {kind}: give columns of "
                "numbers, text or dates."
            )


def _refuse_size(
    lazy: Any, schema: dict[str, Any], n_rows: int, polars: Any, max_cells: int, max_bytes: int
) -> None:
    if not n_rows:
        raise BadData("the file has columns and no rows: add the rows, or check the file.")
    if n_rows * len(schema) > max_cells:
        raise too_many_cells(counted(n_rows, "row"), len(schema), max_cells)
    texts = [name for name, kind in schema.items() if _is(kind, _TEXT)]
    if not texts:
        return
    sizes = [polars.col(name).cast(polars.String).str.len_bytes().sum() for name in texts]
    n_bytes = sum(int(size or 0) for size in lazy.select(sizes).collect().row(0))
    if n_bytes > max_bytes:
        raise BadData(
            f"its texts hold {n_bytes:,} bytes, more than the cap of {max_bytes:,}: "
            "take a sample of its rows or columns, or raise --max-bytes."
        )


def _cells(column: Any, polars: Any) -> list[str]:
    """What a CSV file would say; empty where a value is missing."""
    kind = column.dtype
    if _is(kind, ("Float", "Decimal")):
        values = column.cast(polars.Float64).to_numpy()
        return ["" if np.isnan(v) else repr(v) for v in values.tolist()]
    if _is(kind, ("Boolean",)):
        column = column.cast(polars.Int8)
    return ["" if v is None else v for v in column.cast(polars.String).to_list()]
