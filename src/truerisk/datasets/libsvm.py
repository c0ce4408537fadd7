"""LIBSVM (SVMlight) files: a label, then pairs of column number and value; the rest is 0."""

from __future__ import annotations

from truerisk.core.errors import BadData
from truerisk.datasets.columns import number
from truerisk.datasets.grid import Columns, lines_of
from truerisk.datasets.wording import counted, quoted

__all__ = ["LABEL", "read_libsvm"]

LABEL = "label"
"""What the target of such a file is called; its columns are x1, x2, ... by their numbers."""


def read_libsvm(text: str, *, max_cells: int) -> Columns:
    """Columns of such a file, written out with their zeros."""
    labels: list[str] = []
    rows: list[dict[int, str]] = []
    starts: list[int] = []
    last = 0
    for line, content in enumerate(lines_of(text), start=1):
        bare = content.partition("#")[0].split()
        if not bare:
            continue
        if "," in bare[0] or number(bare[0]) is None:
            raise BadData(f"line {line} has the label {quoted(bare[0])}: give one number.")
        row = _row(bare[1:], line)
        last = max(last, max(row, default=0))
        labels.append(bare[0])
        rows.append(row)
        starts.append(line)
        if len(rows) * (last + 1) > max_cells:
            raise BadData(
                f"with its zeros the table has more than {max_cells:,} cells (line {line}, "
                f"{counted(last, 'column')}): take a sample, or raise --max-cells."
            )
    if not rows or not last:
        raise BadData("the file has no row with a label and a value such as 3:0.5.")
    first = 0 if any(0 in row for row in rows) else 1
    numbers = range(first, last + 1)
    cells = [[row.get(j, "0") for row in rows] for j in numbers]
    return Columns([LABEL, *(f"x{j}" for j in numbers)], [labels, *cells], starts, frozenset())


def _row(pairs: list[str], line: int) -> dict[int, str]:
    row: dict[int, str] = {}
    for pair in pairs:
        place, colon, value = pair.partition(":")
        if place == "qid":
            continue
        if not colon or not place.isdecimal() or number(value) is None or len(place) > 9:
            raise BadData(
                f"line {line}: {quoted(pair)} is no pair of a column number and a value, "
                "such as 3:0.5."
            )
        if int(place) in row:
            raise BadData(f"line {line} names column {place} twice.")
        row[int(place)] = value
    return row
