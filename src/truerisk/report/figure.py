"""A figure of the page: a drawing, its legend, and the same numbers as a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from markupsafe import Markup

from truerisk.core.frozen import frozen
from truerisk.report.svg import Drawing

MOST_ROWS = 60  # Maximum number of table rows on the page. The JSON has all of them.
MOST_POINTS = 400  # maximum number of points of a line


@frozen
class FigureTable:
    """Table cells with column heads; numeric columns are right-aligned."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_left_out: int = 0

    @classmethod
    def from_rows(cls, head: Sequence[str], rows: Sequence[Sequence[str]]) -> FigureTable:
        """Return a table of at most `MOST_ROWS` rows."""
        retained = tuple(tuple(row) for row in rows[:MOST_ROWS])
        return cls(tuple(head), retained, len(rows) - len(retained))

    @cached_property
    def looks(self) -> tuple[str, ...]:
        """The CSS class of each column."""
        return tuple(
            "number" if all(_is_number(row[j]) for row in self.rows) else "words"
            for j in range(len(self.head))
        )


@frozen
class Key:
    """An entry of a legend: a small drawing of the mark and its meaning."""

    look: str
    text: str
    kind: str = "point"


@frozen
class Figure:
    """A drawing with title, caption, table and legend."""

    name: str
    title: str
    drawing: Drawing
    caption: str
    table: FigureTable
    keys: tuple[Key, ...] = ()
    here: tuple[float, float] | None = None  # a point that the slider of the page moves
    steps: tuple[str, ...] = ()  # texts for its points at each x, selected by a slider of the page

    @property
    def svg(self) -> Markup:
        """Drawing of the figure as SVG."""
        return self.drawing.svg(f"drawing-{self.name}", self.here)


def known(*figures: Figure | None) -> tuple[Figure, ...]:
    """Return the figures that are not None."""
    return tuple(figure for figure in figures if figure is not None)


def _is_number(cell: str) -> bool:
    return not cell or cell in "–" or cell.lstrip("+-−[")[:1].isdigit()


# Maximum number of corners of a line. If there are more, a selection is drawn.
MOST_CORNERS = 4_000


def corners(xs: np.ndarray, ys: np.ndarray) -> list[int]:
    """Return the positions without which the line through all points would look different.

    Points on a straight piece of the line are left out. If more than `MOST_CORNERS` corners remain,
    that many are selected, evenly spread.

    >>> corners(np.array([0, 0, 0, 0.5, 1]), np.array([0, 0.2, 0.4, 0.4, 1]))
    [0, 2, 3, 4]
    """
    dx, dy = np.diff(xs), np.diff(ys)
    moves = np.flatnonzero((dx != 0) | (dy != 0))
    dx, dy = dx[moves], dy[moves]
    lengths = np.abs(dx) + np.abs(dy)
    turns = np.abs(dx[:-1] * dy[1:] - dy[:-1] * dx[1:]) > 1e-9 * lengths[:-1] * lengths[1:]
    retained = [0, *(moves[1:][turns]).tolist(), *([len(xs) - 1] if len(xs) > 1 else [])]
    return [retained[i] for i in thinned(len(retained), MOST_CORNERS)]


def thinned(n: int, most: int = MOST_POINTS) -> list[int]:
    """Return at most `most` of n positions, evenly spread, including the first and the last."""
    if n <= most:
        return list(range(n))
    return sorted({round(i * (n - 1) / (most - 1)) for i in range(most)})
