"""Risk curves of a learner, one drawing per loss; for a grid of two parameters, a heat map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, log10
from typing import Any

from truerisk.assessment.assessment import Assessment
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.arguments import is_number
from truerisk.core.formats import clean, number
from truerisk.core.frozen import frozen
from truerisk.report.figure import Figure, FigureTable, Key, known, thinned
from truerisk.report.svg import (
    N_SHADES,
    WIDTH,
    Drawing,
    PixelScale,
    columns_of,
    of_rows,
    series,
    shape,
    tick_text,
)
from truerisk.results.results import RiskCurve
from truerisk.results.sentences import setting_text

HEIGHT, TOP, BOTTOM, LEFT = 264, 30, 222, 52
# Smaller parameters, and larger ones than its inverse, are not drawn on a logarithmic axis.
LEAST = 1e-100
MOST_MARKS = 48  # maximum number of points of a line with a tooltip for their setting
IN_ORDER = "setting, in the order of the grid"
WIDE = 2.0  # number of decades from which a parameter is drawn on a logarithmic axis
GRID_TOP, GRID_LEFT, MOST = 26, 74, 24
WIDE_ENOUGH = 40  # minimum width of a cell that shows its number


@frozen
class Axis:
    """Positions of the settings: values of the only varying number, or their order in the grid."""

    name: str
    places: tuple[float, ...]
    log: bool = False

    @classmethod
    def from_settings(cls, settings: Sequence[Mapping[str, object]], x: str | None = None) -> Axis:
        """Place settings at the values of `x`, by default of the only parameter that varies."""
        varying = list(_varying(settings)) if x is None else [x]
        in_order = cls(IN_ORDER, tuple(map(float, range(len(settings)))))
        if len(varying) != 1:
            return in_order
        values = [setting.get(varying[0]) for setting in settings]
        numbers = [float(v) for v in values if is_number(v)]  # type: ignore[arg-type]
        if len(numbers) < len(values):
            return in_order
        low, high = min(numbers), max(numbers)
        log = low > LEAST and high < 1 / LEAST and log10(high) - log10(low) > WIDE
        return cls(_short(varying[0]) + (", logarithmic" if log else ""), tuple(numbers), log)

    @property
    def order(self) -> list[int]:
        """The settings from left to right."""
        return sorted(range(len(self.places)), key=lambda c: self.places[c])


def draw_curves(
    name: str, learner: TunedLearner, document: Assessment, number_on_page: int
) -> tuple[Figure, ...]:
    """Draw a figure per loss of the criteria; return none for a learner with one setting."""
    if len(learner.curve) < 2:
        return ()
    shown, curve = clean(name, 60), learner.curve
    curves = {f"{curve.common.method} (tuned)": curve, **learner.criteria}
    by_loss: dict[str, dict[str, RiskCurve]] = {}
    for label, each in curves.items():
        if len(each) == len(curve):
            by_loss.setdefault(each.common.named_scoring, {})[label] = each
    heat = draw_heat(shown, curve, f"curve-{number_on_page}-heat")
    figures = (
        _of_loss(shown, learner, some, document, f"curve-{number_on_page}-{i}")
        for i, some in enumerate(by_loss.values())
    )
    return known(heat, *figures)


def _of_loss(
    shown: str,
    learner: TunedLearner,
    curves: Mapping[str, RiskCurve],
    document: Assessment,
    name: str,
) -> Figure | None:
    common = next(iter(curves.values())).common
    loss, scale, own, risk = common.named_scoring, common.scale, learner.curve, learner.risk
    tuned = own if loss == own.common.named_scoring else None
    honest = risk.value if loss == risk.named_scoring else None
    noun = scale.noun.capitalize()
    chosen = "; ".join(
        f"{clean(label, 60)} chooses {setting_text(curve.best_params)} "
        f"with {number(curve.values[curve.best])}"
        for label, curve in curves.items()
    )
    about = f"{noun} of {len(own)} settings of {shown}. {chosen}."
    drawing = draw_lines(f"{noun} curve of {shown}", about, curves, banded=tuned, honest=honest)
    if drawing is None:
        return None
    keys = keys_of(curves)
    if honest is not None:
        keys.append(Key("honest", f"honest {risk.scale.noun} of tuning", "line"))
    band = " The band is ± 1 standard error." if tuned and (tuned.std_errors > 0).any() else ""
    chosen = setting_text(learner.setting)
    return Figure(
        name=name,
        title=f"{shown}: {scale.name_for(loss)} against its settings",
        drawing=drawing,
        caption=f"Rule {clean(document.rule, 40)} chose {chosen}.{band}",
        table=_table(curves),
        keys=tuple(keys),
    )


def draw_lines(
    title: str,
    about: str,
    curves: Mapping[str, RiskCurve],
    *,
    banded: RiskCurve | None,
    honest: float | None = None,
    x: str | None = None,
) -> Drawing | None:
    """Draw curves of the same settings in one loss; show standard errors of `banded`."""
    first = next(iter(curves.values()))
    axis, common = Axis.from_settings(first.candidates, x), first.common
    heights = [v for curve in curves.values() for v in curve.values.tolist() if isfinite(v)]
    if not heights:
        return None
    if banded:
        heights += [value + sign * e for value, e in _errors(banded).values() for sign in (-1, 1)]
    heights += [honest] if honest is not None else []
    drawing = Drawing(
        title=title,
        about=about,
        height=HEIGHT,
        x=PixelScale.around(axis.places, LEFT, WIDTH - 12, log=axis.log, margin=0.03),
        y=PixelScale.around(heights, BOTTOM, TOP),
    )
    drawing.left_axis(common.scale.axis(common.named_scoring))
    drawing.bottom_axis(axis.name, _ticks(axis))
    if honest is not None:
        drawing.level(honest, "honest")
    if banded:
        errors = _errors(banded)
        order = [c for c in axis.order if c in errors]
        if len(order) > 1:
            order = [order[i] for i in thinned(len(order))]
            xs = [axis.places[c] for c in order]
            lows = [errors[c][0] - errors[c][1] for c in order]
            highs = [errors[c][0] + errors[c][1] for c in order]
            drawing.band(xs, lows, highs, "s0")
    for i, (name, curve) in enumerate(curves.items()):
        _draw_line(drawing, clean(name, 60), curve, axis, i)
    return drawing


def keys_of(curves: Iterable[str]) -> list[Key]:
    """Return a legend entry for each curve, and for the setting that it chooses."""
    lines = [Key(series(i), clean(w, 60), shape(i)) for i, w in enumerate(curves)]
    return [*lines, Key("ring", "chosen by the criterion", "ring")]


def _errors(curve: RiskCurve) -> dict[int, tuple[float, float]]:
    """Return risk and standard error of the settings that have both."""
    pairs = zip(curve.values.tolist(), curve.std_errors.tolist(), strict=True)
    return {c: pair for c, pair in enumerate(pairs) if all(map(isfinite, pair))}


def _draw_line(drawing: Drawing, name: str, curve: RiskCurve, axis: Axis, number_of: int) -> None:
    values = {c: v for c, v in enumerate(curve.values.tolist()) if isfinite(v)}
    finite = [c for c in axis.order if c in values]
    order = [finite[i] for i in thinned(len(finite))]
    if curve.best in finite and curve.best not in order:
        order = sorted([*order, curve.best], key=lambda c: axis.places[c])
    look = series(number_of)
    drawing.line([axis.places[c] for c in order], [values[c] for c in order], look)
    marked = [order[i] for i in thinned(len(order), MOST_MARKS)]
    for c in marked if curve.best in marked or curve.best not in values else [*marked, curve.best]:
        tip = f"{setting_text(curve.candidates[c])}: {number(values[c])}{_error(curve, c)} ({name})"
        place = axis.places[c], values[c]
        drawing.point(*place, look, tip, shape=shape(number_of), size=3.2)
    if curve.best in values:
        drawing.point(axis.places[curve.best], values[curve.best], f"ring {look}", size=7.5)


def _error(curve: RiskCurve, candidate: int) -> str:
    error = curve.std_errors[candidate]
    return f" ± {number(error)}" if isfinite(error) else ""


def _ticks(axis: Axis) -> list[float] | None:
    """Return a tick for each of a few settings in grid order; None for default ticks."""
    whole = all(p == int(p) for p in axis.places)
    if axis.log or not whole or len(axis.places) > 9:
        return None
    return sorted(set(axis.places))


def _table(curves: Mapping[str, RiskCurve]) -> FigureTable:
    head = ["setting", *(clean(name, 60) for name in curves)]
    settings = next(iter(curves.values())).candidates
    rows = [
        [setting_text(setting), *(_cell(curve, c) for curve in curves.values())]
        for c, setting in enumerate(settings)
    ]
    return FigureTable.from_rows(head, rows)


def _cell(curve: RiskCurve, candidate: int) -> str:
    others = " may be best (95 %)" if candidate in (curve.rivals or ()) else ""
    mark = " ← chosen" if candidate == curve.best else others
    return f"{number(curve.values[candidate])}{_error(curve, candidate)}{mark}"


@frozen
class SettingGrid:
    """A full grid of two parameters; `at[row, column]` is the number of the setting."""

    down: str
    across: str
    rows: tuple[object, ...]
    columns: tuple[object, ...]
    at: dict[tuple[int, int], int]

    @classmethod
    def from_curve(cls, curve: RiskCurve) -> SettingGrid | None:
        """Arrange settings in a grid.

        The result is None if not exactly two parameters vary, or if cells are missing or too many.
        """
        values = _varying(curve.candidates)
        if len(values) != 2:
            return None
        down, across = sorted(values, key=lambda n: (len(values[n]), n))
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


def draw_heat(shown: str, curve: RiskCurve, name: str) -> Figure | None:
    """Draw the tuning risks over a full grid of two parameters; return None for other grids."""
    grid = SettingGrid.from_curve(curve)
    known = [v for v in curve.values.tolist() if isfinite(v)]
    if grid is None or not known:
        return None
    low, high, noun = min(known), max(known), curve.common.scale.noun
    chosen = setting_text(curve.best_params)
    n_rows, n_columns = len(grid.rows), len(grid.columns)
    title = f"{noun.capitalize()}s of {shown} over two parameters"
    about = f"The smallest is {number(low)}, the largest {number(high)}; chosen: {chosen}."
    x = PixelScale(0, n_columns, GRID_LEFT, WIDTH - 12)
    drawing = of_rows(title, about, x, n_rows, max(18, min(30, 300 // n_rows)), GRID_TOP)
    is_wide = (x.end - x.start) / n_columns > WIDE_ENOUGH
    for place, candidate in grid.at.items():
        value = curve.values[candidate]
        share = 0.0 if not isfinite(value) or high == low else (value - low) / (high - low)
        shade, tip = round(N_SHADES * share), f"{setting_text(curve.candidates[candidate])}: "
        row, column = place
        drawing.cell(column, row, shade, tip + number(value))
        if is_wide:
            drawing.inscription(column, row, shade, number(value, 3))
        if candidate == curve.best:
            drawing.frame(column, row)
    for i, named in enumerate(grid.rows):
        drawing.row(i + 0.5, _cell_text(named), 10, "tick")
    some = range(0, n_columns, 1 + n_columns // 10)
    names = {j + 0.5: columns_of(_cell_text(grid.columns[j]), 9) for j in some}
    drawing.bottom_names(names, grid.across)
    drawing.left_axis(grid.down, ())
    return Figure(
        name=name,
        title=f"{shown}: {noun}s over {grid.down} and {grid.across}",
        drawing=drawing,
        caption=f"The stronger the shade, the larger the {noun} (by "
        f"{clean(curve.common.method, 60)}, while tuning). The frame marks the chosen setting, "
        f"{chosen}.",
        table=_grid_table(curve, grid),
        keys=(Key("h0", number(low), "cell"), Key("h8", number(high), "cell")),
    )


def _varying(settings: Sequence[Mapping[str, object]]) -> dict[str, list[object]]:
    """Return the distinct values, in order, of every parameter that has more than one."""
    names = dict.fromkeys(name for setting in settings for name in setting)
    values = {n: list({repr(s.get(n)): s.get(n) for s in settings}.values()) for n in names}
    return {name: each for name, each in values.items() if len(each) > 1}


def _short(name: str) -> str:
    return clean(name.rpartition("__")[2], 40)


def _cell_text(value: Any) -> str:
    return tick_text(value) if is_number(value) else clean(str(value), 40)


def _grid_table(curve: RiskCurve, grid: SettingGrid) -> FigureTable:
    cells = [
        [
            _cell_text(row),
            *(number(curve.values[grid.at[i, j]]) for j in range(len(grid.columns))),
        ]
        for i, row in enumerate(grid.rows)
    ]
    return FigureTable.from_rows([grid.down, *map(_cell_text, grid.columns)], cells)
