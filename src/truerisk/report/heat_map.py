"""A grid of two parameters as shaded cells."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from truerisk.core.present import clean, number, setting_text
from truerisk.core.results import RiskCurve
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.scale import PixelScale, tick_text
from truerisk.report.svg import WIDTH, Drawing, columns_of

__all__ = ["draw_heat"]

TOP, LEFT, MOST = 26, 74, 24
N_SHADES = 8
WIDE_ENOUGH = 40  # units of a cell that holds its number


@dataclass(frozen=True)
class SettingGrid:
    """A full grid of two parameters; `at[row, column]` is the number of the setting."""

    down: str
    across: str
    rows: tuple[object, ...]
    columns: tuple[object, ...]
    at: dict[tuple[int, int], int]

    @classmethod
    def of(cls, curve: RiskCurve) -> SettingGrid | None:
        """None where another number of parameters varies, or cells are missing, or too many."""
        names = list(dict.fromkeys(n for s in curve.candidates for n in s))
        values = {
            n: list({repr(s.get(n)): s.get(n) for s in curve.candidates}.values()) for n in names
        }
        varying = [n for n in names if len(values[n]) > 1]
        if len(varying) != 2:
            return None
        down, across = sorted(varying, key=lambda n: (len(values[n]), n))
        rows, columns = values[down], values[across]
        n_cells = len(rows) * len(columns)
        if n_cells != len(curve.candidates) or max(len(rows), len(columns)) > MOST:
            return None
        row_of = {repr(v): i for i, v in enumerate(rows)}
        column_of = {repr(v): j for j, v in enumerate(columns)}
        at = {
            (row_of[repr(s.get(down))], column_of[repr(s.get(across))]): c
            for c, s in enumerate(curve.candidates)
        }
        if len(at) < n_cells:
            return None
        return cls(_short(down), _short(across), tuple(rows), tuple(columns), at)

    @property
    def height(self) -> float:
        """Of a cell."""
        return max(18, min(30, 300 // len(self.rows)))

    @property
    def width(self) -> float:
        """Of a cell."""
        return (WIDTH - LEFT - 12) / len(self.columns)

    @property
    def bottom(self) -> float:
        return TOP + self.height * len(self.rows)


def draw_heat(shown: str, curve: RiskCurve, name: str) -> Figure | None:
    """The tuning risks over a full grid of two parameters; None for any other grid."""
    grid = SettingGrid.of(curve)
    known = [v for v in curve.own_values.tolist() if isfinite(v)]
    if grid is None or not known:
        return None
    low, high, noun = min(known), max(known), curve.common.scale.noun
    chosen = setting_text(curve.best_params)
    drawing = Drawing(
        title=f"{noun.capitalize()}s of {shown} over two parameters",
        about=f"The smallest is {number(low)}, the largest {number(high)}; chosen: {chosen}.",
        height=int(grid.bottom) + 42,
        x=PixelScale(0, len(grid.columns), LEFT, WIDTH - 12),
        y=PixelScale(0, len(grid.rows), TOP, grid.bottom),
    )
    for place, candidate in grid.at.items():
        value = curve.own_values[candidate]
        share = 0.0 if not isfinite(value) or high == low else (value - low) / (high - low)
        _cell(drawing, grid, place, round(N_SHADES * share), curve, candidate)
    _name_axes(drawing, grid)
    return Figure(
        name=name,
        title=f"{shown}: {noun}s over {grid.down} and {grid.across}",
        drawing=drawing,
        caption=f"Darker is a larger {noun} ({clean(curve.common.method, 60)}). The frame marks "
        f"{chosen}.",
        table=_table(curve, grid),
        keys=(Key("h0", number(low), "cell"), Key("h8", number(high), "cell")),
    )


def _cell(
    drawing: Drawing,
    grid: SettingGrid,
    place: tuple[int, int],
    shade: int,
    curve: RiskCurve,
    candidate: int,
) -> None:
    width, height = grid.width, grid.height
    x, y = LEFT + place[1] * width, TOP + place[0] * height
    value = curve.own_values[candidate]
    drawing.cell(
        x, y, width, height, shade, f"{setting_text(curve.candidates[candidate])}: {number(value)}"
    )
    if width > WIDE_ENOUGH:
        look = "tick on-dark" if shade > N_SHADES / 2 else "tick on-light"
        drawing.text(x + width / 2, y + height / 2 + 4, number(value, 3), look, anchor="middle")
    if candidate == curve.best:
        drawing.frame(x + 1.5, y + 1.5, width - 3, height - 3)


def _name_axes(drawing: Drawing, grid: SettingGrid) -> None:
    for i, value in enumerate(grid.rows):
        at = TOP + (i + 0.5) * grid.height + 4
        drawing.text(LEFT - 7, at, columns_of(_cell_text(value), 10), "tick", anchor="end")
    for j, value in enumerate(grid.columns):
        if j % (1 + len(grid.columns) // 10) == 0:
            at, said = LEFT + (j + 0.5) * grid.width, columns_of(_cell_text(value), 9)
            drawing.text(at, grid.bottom + 16, said, "tick", anchor="middle")
    drawing.text(4, TOP - 10, grid.down, "label")
    middle = (LEFT + WIDTH) / 2
    drawing.text(middle, grid.bottom + 34, grid.across, "label", anchor="middle")


def _short(name: str) -> str:
    return clean(name.rpartition("__")[2], 40)


def _cell_text(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return tick_text(value)
    return clean(str(value), 40)


def _table(curve: RiskCurve, grid: SettingGrid) -> FigureTable:
    cells = [
        [
            _cell_text(row),
            *(number(curve.own_values[grid.at[i, j]]) for j in range(len(grid.columns))),
        ]
        for i, row in enumerate(grid.rows)
    ]
    return FigureTable.of([grid.down, *map(_cell_text, grid.columns)], cells)
