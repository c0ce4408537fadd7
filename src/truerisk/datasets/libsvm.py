"""LIBSVM (SVMlight) files: a label, then pairs of column number and value; the rest is 0.

Rankings have ``qid:3`` after the label: rows of one query, which are no feature but a group.
"""

from __future__ import annotations

from truerisk.core.errors import BadData
from truerisk.datasets.columns import number
from truerisk.datasets.grid import Columns, lines_of
from truerisk.datasets.wording import counted, quoted

__all__ = ["LABEL", "QUERY", "read_libsvm"]

LABEL = "label"
"""What the target of such a file is called; its columns are x1, x2, ... by their numbers."""

QUERY = "qid"
"""What the number of a row's query is called; it stands aside."""


def read_libsvm(text: str, *, max_cells: int) -> Columns:
    """Columns of such a file, written out with their zeros."""
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
                f"{counted(last, 'column')}): take a sample, or raise --max-cells."
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
    """The query of a row, if it has one, and its other pairs."""
    place, _, value = pairs[0].partition(":") if pairs else ("", "", "")
    if place != QUERY:
        return None, pairs
    if not value.isdecimal():
        raise BadData(f"line {line}: {quoted(pairs[0])} names no query, such as qid:3.")
    return value, pairs[1:]


def _aside(queries: list[str | None], starts: list[int]) -> dict[str, list[str]]:
    """The queries of all rows; some rows without one are a mistake of the file."""
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
