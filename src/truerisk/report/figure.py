"""Figures of a page: a drawing, its legend, and the same numbers as a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from markupsafe import Markup

from truerisk.core.frozen import frozen
from truerisk.core.tables import drop_empty_columns
from truerisk.report.svg import Drawing

MAX_TABLE_ROWS = 60  # Maximum number of rows of a table on the page; the JSON has all rows.
MAX_LINE_POINTS = 400  # Maximum number of points of a line in a figure.


@frozen
class FigureTable:
    """Table with column heads and text cells; numeric columns are right-aligned."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_left_out: int = 0

    @classmethod
    def from_rows(cls, header: Sequence[str], rows: Sequence[Sequence[str]]) -> FigureTable:
        """Build a table from the first `MAX_TABLE_ROWS` rows; also count the rows not shown.

        Columns without any value are left out.
        """
        header, rows = drop_empty_columns(header, rows)
        first_rows = tuple(tuple(row) for row in rows[:MAX_TABLE_ROWS])
        return cls(tuple(header), first_rows, len(rows) - len(first_rows))

    @cached_property
    def looks(self) -> tuple[str, ...]:
        """The CSS class of each column, "number" or "words"."""
        return tuple(
            "number" if all(_is_number(row[j]) for row in self.rows) else "words"
            for j in range(len(self.head))
        )


@frozen
class LegendKey:
    """Entry of a figure's legend: the style and kind of a mark, and its meaning."""

    css_class: str
    text: str
    kind: str = "point"


@frozen
class Figure:
    """Figure of a page: a drawing with title, caption, table and legend."""

    name: str
    title: str
    drawing: Drawing
    caption: str
    table: FigureTable
    keys: tuple[LegendKey, ...] = ()
    # Initial position of a point in the drawing, which the reader moves with the page's slider.
    slider_point: tuple[float, float] | None = None
    # One text for each x, about the points of the figure at this x. The page's slider selects one.
    steps: tuple[str, ...] = ()

    @property
    def svg(self) -> Markup:
        """Drawing of the figure as SVG."""
        return self.drawing.svg(f"drawing-{self.name}", self.slider_point)


def drop_none(*figures: Figure | None) -> tuple[Figure, ...]:
    """Return the given figures without those that are None."""
    return tuple(figure for figure in figures if figure is not None)


def _is_number(cell: str) -> bool:
    return not cell or cell in "–" or cell.lstrip("+-−[")[:1].isdigit()


# Maximum number of corners of a line. If a line has more, evenly spread corners are drawn.
MAX_LINE_CORNERS = 4_000


def find_corner_indices(xs: np.ndarray, ys: np.ndarray) -> list[int]:
    """Return the indices of the corners of a line that connects the points (xs, ys) in order.

    Points on a straight piece of the line are left out. If more than `MAX_LINE_CORNERS` corners
    remain, that many are selected, evenly spread.

    >>> find_corner_indices(np.array([0, 0, 0, 0.5, 1]), np.array([0, 0.2, 0.4, 0.4, 1]))
    [0, 2, 3, 4]
    """
    dx, dy = np.diff(xs), np.diff(ys)
    nonzero_steps = np.flatnonzero((dx != 0) | (dy != 0))
    dx, dy = dx[nonzero_steps], dy[nonzero_steps]
    step_lengths = np.abs(dx) + np.abs(dy)
    has_turn = (
        np.abs(dx[:-1] * dy[1:] - dy[:-1] * dx[1:]) > 1e-9 * step_lengths[:-1] * step_lengths[1:]
    )
    corner_positions = [
        0,
        *(nonzero_steps[1:][has_turn]).tolist(),
        *([len(xs) - 1] if len(xs) > 1 else []),
    ]
    return [
        corner_positions[i]
        for i in evenly_spread_positions(len(corner_positions), MAX_LINE_CORNERS)
    ]


def evenly_spread_positions(n: int, max_positions: int = MAX_LINE_POINTS) -> list[int]:
    """Return at most `max_positions` of the indices 0 to n - 1, evenly spread, with both ends."""
    if n <= max_positions:
        return list(range(n))
    return sorted({round(i * (n - 1) / (max_positions - 1)) for i in range(max_positions)})
