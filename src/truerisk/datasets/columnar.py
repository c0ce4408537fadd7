"""Parquet and Arrow files as columns of cells, looked at before they are held in memory."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from truerisk.core.errors import BadData, MissingExtra
from truerisk.datasets.grid import Columns, named
from truerisk.datasets.wording import counted, quoted

__all__ = ["READERS", "read_columnar"]

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
    """
    polars = _polars(path)
    try:
        lazy = getattr(polars, f"scan_{kind}")(os.fspath(path))
        schema = dict(lazy.collect_schema())
        _refuse_nested(schema, path)
        names = named(list(schema), 1)
        n_rows = int(lazy.select(polars.len()).collect().item())
        _refuse_size(lazy, schema, n_rows, polars, max_cells, max_bytes)
        frame = lazy.collect()
    except BadData:
        raise
    except Exception as error:  # noqa: BLE001  of a damaged file, in polars' words
        why = str(error).partition("\n")[0]
        raise BadData(f"{quoted(path, 200)} is damaged: {why}; write it anew.") from None
    cells = [_cells(frame[name], polars) for name in schema]
    text = frozenset(
        name for name, kind in zip(names, schema.values(), strict=True) if _is(kind, _TEXT + _TIMES)
    )
    return Columns(names, cells, range(1, n_rows + 1), text)


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
        raise BadData(
            f"the table has more than {max_cells:,} cells ({counted(n_rows, 'row')}, "
            f"{counted(len(schema), 'column')}): take a sample of its rows or columns, "
            "or raise --max-cells."
        )
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
