"""Columns of numbers or text, missing or left out; Parquet and Arrow files as columns of cells."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.core.arguments import mention
from truerisk.core.errors import BadData, MissingExtra, first_line, is_failure
from truerisk.core.formats import clean
from truerisk.core.frozen import frozen
from truerisk.readers.cells import Cells, Tally, counted, quoted
from truerisk.readers.grid import Columns, named, too_many_cells

REFUSED = 65
LOOK = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from truerisk.readers.columnar import look; sys.exit(look(*sys.argv[2:]))"
)

READERS = {b"PAR1": "parquet", b"ARROW1": "ipc"}
_NUMBERS = ("Int", "UInt", "Float", "Boolean", "Decimal")
_TEXT = ("String", "Categorical", "Enum")
_TIMES = ("Date", "Datetime", "Time")


def read_columnar(
    path: str | os.PathLike[str], kind: str, *, max_cells: int, max_bytes: int
) -> Columns:
    """Return the columns of a Parquet ("parquet") or Arrow ("ipc") file.

    Numbers and booleans become numbers, strings and categories remain text, dates are converted to
    ISO 8601. The numbers of cells and of characters are determined before anything is read as a
    whole, since a file of 91 kB can hold 160 MB.

    Another process reads the file first. polars panics on some damaged files and ends its process
    on others (for example by requesting 2 exabytes), which cannot be caught in this process.
    """
    _polars(path)
    _refuse_deadly(path, kind, max_cells, max_bytes)
    return read_here(path, kind, max_cells=max_cells, max_bytes=max_bytes)


def read_here(
    path: str | os.PathLike[str], kind: str, *, max_cells: int, max_bytes: int
) -> Columns:
    """Read the columns in this process, which a damaged file may end."""
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
    except BaseException as error:  # A damaged file causes an error in polars' words, or a panic.
        if not is_failure(error) or isinstance(error, SystemExit):  # No code of a user runs here.
            raise
        why = clean(first_line(error))
        raise BadData(f"{quoted(path, 200)} is damaged: {why}; write it anew.") from None
    text = frozenset(
        name for name, kind in zip(names, schema.values(), strict=True) if _is(kind, _TEXT + _TIMES)
    )
    return Columns(names, cells, range(1, n_rows + 1), text)


def look(path: str, kind: str, max_cells: str, max_bytes: str) -> int:
    """Read the file in the other process; return the exit code and print a sentence if needed."""
    try:
        read_here(path, kind, max_cells=int(max_cells), max_bytes=int(max_bytes))
    except BadData as error:
        # The output goes to the calling process.
        print(json.dumps(error.sentence.marked))  # noqa: T201  to the process that asked
        return REFUSED
    return 0


def _refuse_deadly(path: Any, kind: str, max_cells: int, max_bytes: int) -> None:
    """Read the file in another process, and raise if it refuses the file or ends."""
    if not sys.executable:  # If no process can be started, this process reads the file.
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
    if done.returncode not in (0, 1):  # An exit code of 1 means that it could not start.
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
            f"its texts hold {n_bytes:,} bytes, more than the cap of {max_bytes:,}: take a sample "
            f"of its rows or columns, or raise {mention('max_bytes')}."
        )


def _cells(column: Any, polars: Any) -> list[str]:
    """Return the cells as in a CSV file; missing values are empty."""
    kind = column.dtype
    if _is(kind, ("Float", "Decimal")):
        values = column.cast(polars.Float64).to_numpy()
        return ["" if np.isnan(v) else repr(v) for v in values.tolist()]
    if _is(kind, ("Boolean",)):
        column = column.cast(polars.Int8)
    return ["" if v is None else v for v in column.cast(polars.String).to_list()]


Kind = Literal["number", "text"]

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "None", "?"})
"""Cells that count as empty after removing surrounding spaces."""

_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
_MOSTLY = 0.9


@frozen(eq=False)
class Column:
    """One feature: its cells, the number of each word, and notes on it.

    The words of text are codes of `levels`, missing ones NaN. `left_out` is the reason why the
    column is not a feature, or None.
    """

    name: str
    kind: Kind
    cells: Cells
    of_words: NDArray[np.float64]
    levels: tuple[str, ...] = ()
    left_out: str | None = None
    note: str | None = None

    @property
    def values(self) -> NDArray[np.float64]:
        """The cells as numbers."""
        return self.cells.floats(self.of_words)

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return self.cells.tally.n_of(np.isnan(self.of_words))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.cells.n_rows

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest value; +inf and -inf if all are missing."""
        least, most = self.cells.span
        known = self.of_words[~np.isnan(self.of_words)]
        return float(known.min(initial=least)), float(known.max(initial=most))


def number(cell: str) -> float | None:
    """Return the cell as a float, or None: `1_000`, which Python would accept, is text.

    >>> number("1e3"), number("-inf"), number("1_000"), number("red")
    (1000.0, -inf, None, None)
    """
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def read_column(name: str, cells: Cells, lines: Sequence[int], *, as_text: bool = False) -> Column:
    """Return a column: numbers if every cell that is not missing is one, else text.

    With `as_text` the file declares it as text, whatever its cells look like.
    """
    if as_text:
        return _text(name, cells.as_words())
    tally = cells.tally
    bare = [label.strip() for label in tally.words]
    judged = [None if label in MISSING else number(label) for label in bare]
    strays = [v is None and w not in MISSING for v, w in zip(judged, bare, strict=True)]
    if any(strays):
        _refuse_comma(name, lines, tally)
        n_present = cells.n_rows - tally.n_of([label in MISSING for label in bare])
        return _text(name, cells.as_words(), _stray_text(name, lines, tally, strays, n_present))
    infinite = [v is not None and math.isinf(v) for v in judged]
    if any(infinite):
        raise BadData(
            f"column {quoted(name)} has {counted(tally.n_of(infinite), 'infinite value')}, the "
            f"first on line {lines[tally.first_row(infinite)]}: write a number, or leave the cell "
            "empty to have it imputed."
        )
    column = Column(name, "number", cells, np.array(judged, dtype=np.float64))
    least, most = column.range
    idle = "has no value" if least > most else "is constant" if least == most else None
    return replace(column, left_out=idle)


def numbers_rows(column: Column) -> bool:
    """Return True if the column counts the rows from 0 or 1."""
    least, most = column.range
    if column.n_missing or least not in (0.0, 1.0) or most != least + column.n_rows - 1:
        return False
    values = column.values
    return float(values[0]) == least and bool((np.diff(values) == 1).all())


def _text(name: str, cells: Cells, note: str | None = None) -> Column:
    bare = [label.strip() for label in cells.tally.words]
    levels = tuple(sorted(set(bare) - MISSING))
    code_of_level = {level: float(code) for code, level in enumerate(levels)}
    of_words = np.array([code_of_level.get(label) for label in bare], dtype=np.float64)
    column = Column(name, "text", cells, of_words, levels, note=note)
    n_missing, idle = column.n_missing, None
    if len(levels) == 1 and not n_missing:
        idle = "is constant"
    elif len(levels) == column.n_rows - n_missing and n_missing <= 1:
        idle = "has a different value in every row"
    return replace(column, left_out=idle)


def _stray_text(
    name: str, lines: Sequence[int], tally: Tally, strays: Sequence[bool], n_present: int
) -> str | None:
    """Return a sentence if a few words turn a column of numbers into text."""
    n_strays = tally.n_of(strays)
    if n_strays > (1 - _MOSTLY) * n_present:
        return None
    return (
        f"column {quoted(name)} is read as text because of {counted(n_strays, 'cell')} "
        f"without a number, the first on line {lines[tally.first_row(strays)]}: "
        f"{quoted(tally.first_text(strays))}"
    )


def _refuse_comma(name: str, lines: Sequence[int], tally: Tally) -> None:
    """Raise if a column has numbers with a decimal comma."""
    bare = [label.strip() for label in tally.words]
    present = [label for label in bare if label not in MISSING]
    if not all(_COMMA_NUMBER.fullmatch(label) or number(label) is not None for label in present):
        return
    commas = ["," in label for label in bare]
    raise BadData(
        f"column {quoted(name)} has numbers with a comma inside (line "
        f"{lines[tally.first_row(commas)]}: {quoted(tally.first_text(commas))}): write a "
        "decimal point, and no thousands separator."
    )
