"""Risk curves of a learner, one drawing per loss, and heat maps of two or three parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, log10
from typing import Any

from truerisk.assessment.assessment import Assessment
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.arguments import is_number
from truerisk.core.formats import escape_and_truncate, format_number
from truerisk.core.frozen import frozen
from truerisk.report.figure import (
    Figure,
    FigureTable,
    LegendKey,
    drop_none,
    evenly_spread_positions,
)
from truerisk.report.svg import (
    DRAWING_WIDTH,
    N_SHADES,
    Drawing,
    PixelScale,
    make_row_drawing,
    series_css_class,
    series_marker_shape,
    shorten,
    tick_text,
)
from truerisk.results.results import RiskCurve
from truerisk.results.sentences import format_setting

HEIGHT, TOP, BOTTOM, LEFT = 264, 30, 222, 52
# A logarithmic axis is used only if all values lie between this number and its inverse.
SMALLEST_LOGARITHMIC_VALUE = 1e-100
# Maximum number of marked points of a line. A tooltip shows the setting of a marked point.
MAX_MARKED_SETTINGS = 48
GRID_ORDER_LABEL = "setting, in the order of the grid"
DECADES_FOR_LOGARITHMIC_AXIS = (
    2.0  # The axis of a parameter is logarithmic if its values span more decades.
)
GRID_TOP, GRID_LEFT, LARGEST_GRID_SIDE = 26, 74, 24
# A grid of three parameters is drawn as this number of panels at most, each with smaller sides.
MAX_PANELS, LARGEST_PANEL_SIDE = 6, 12
LETTER_WIDTH = 6  # Approximate width in pixels of a letter of a tick.
# Risks are written into the cells of a heat map if the cells have at least this width.
SMALLEST_LABELLED_CELL = 40


@frozen
class SettingAxis:
    """Horizontal axis of a risk curve, with a position for each hyperparameter setting.

    The position is the value of the only parameter that varies, or else the order in the grid.
    """

    name: str
    positions: tuple[float, ...]
    is_logarithmic: bool = False

    @classmethod
    def from_settings(
        cls, settings: Sequence[Mapping[str, object]], x: str | None = None
    ) -> SettingAxis:
        """Place each setting at its value of the parameter `x`.

        By default `x` is the only parameter that varies between the settings.
        """
        varying_names = list(_varying_parameters(settings)) if x is None else [x]
        grid_order_axis = cls(GRID_ORDER_LABEL, tuple(map(float, range(len(settings)))))
        if len(varying_names) != 1:
            return grid_order_axis
        values = [setting.get(varying_names[0]) for setting in settings]
        numeric_values = [float(v) for v in values if is_number(v)]  # type: ignore[arg-type]
        if len(numeric_values) < len(values):
            return grid_order_axis
        low, high = min(numeric_values), max(numeric_values)
        is_log = (
            low > SMALLEST_LOGARITHMIC_VALUE
            and high < 1 / SMALLEST_LOGARITHMIC_VALUE
            and log10(high) - log10(low) > DECADES_FOR_LOGARITHMIC_AXIS
        )
        return cls(
            _short_name(varying_names[0]) + (", logarithmic" if is_log else ""),
            tuple(numeric_values),
            is_log,
        )

    @property
    def setting_order(self) -> list[int]:
        """Indices of the settings, sorted by horizontal position from left to right."""
        return sorted(range(len(self.positions)), key=lambda c: self.positions[c])


def draw_curves(
    name: str, learner: TunedLearner, document: Assessment, learner_index: int
) -> tuple[Figure, ...]:
    """Draw the risk curves of a learner, with one figure for each loss.

    A learner with a single setting has no curve, so the result is ().
    """
    if len(learner.curve) < 2:
        return ()
    learner_name, curve = escape_and_truncate(name, 60), learner.curve
    curves = {f"{curve.common.method} (tuned)": curve, **learner.criteria}
    curves_by_loss: dict[str, dict[str, RiskCurve]] = {}
    for label, criterion_curve in curves.items():
        if len(criterion_curve) == len(curve):
            curves_by_loss.setdefault(criterion_curve.common.named_scoring, {})[label] = (
                criterion_curve
            )
    heat_map = draw_heat_map(learner_name, curve, f"curve-{learner_index}-heat")
    figures = (
        _draw_loss_figure(
            learner_name, learner, loss_curves, document, f"curve-{learner_index}-{i}"
        )
        for i, loss_curves in enumerate(curves_by_loss.values())
    )
    return drop_none(heat_map, *figures)


def _draw_loss_figure(
    learner_name: str,
    learner: TunedLearner,
    curves: Mapping[str, RiskCurve],
    document: Assessment,
    name: str,
) -> Figure | None:
    provenance = next(iter(curves.values())).common
    loss, score_scale, tuning_curve, risk = (
        provenance.named_scoring,
        provenance.scale,
        learner.curve,
        learner.risk,
    )
    banded_curve = tuning_curve if loss == tuning_curve.common.named_scoring else None
    honest_value = risk.value if loss == risk.named_scoring else None
    loss_noun = score_scale.noun.capitalize()
    chosen_text = "; ".join(
        f"{escape_and_truncate(label, 60)} chooses {format_setting(curve.best_params)} "
        f"with {format_number(curve.values[curve.best])}"
        for label, curve in curves.items()
    )
    description = f"{loss_noun} of {len(tuning_curve)} settings of {learner_name}. {chosen_text}."
    drawing = draw_risk_curves(
        f"{loss_noun} curve of {learner_name}",
        description,
        curves,
        banded_curve=banded_curve,
        honest_value=honest_value,
    )
    if drawing is None:
        return None
    legend = make_legend_keys(curves)
    if honest_value is not None:
        legend.append(LegendKey("honest", f"honest {risk.scale.noun} of tuning", "line"))
    band_text = (
        " The band is ± 1 standard error."
        if banded_curve and (banded_curve.std_errors > 0).any()
        else ""
    )
    chosen_text = format_setting(learner.setting)
    return Figure(
        name=name,
        title=f"{learner_name}: {score_scale.name_for(loss)} against its settings",
        drawing=drawing,
        caption=f"Rule {escape_and_truncate(document.rule, 40)} chose {chosen_text}.{band_text}",
        table=_curves_table(curves),
        keys=tuple(legend),
    )


def draw_risk_curves(
    title: str,
    description: str,
    curves: Mapping[str, RiskCurve],
    *,
    banded_curve: RiskCurve | None,
    honest_value: float | None = None,
    x: str | None = None,
) -> Drawing | None:
    """Draw risk curves that rate the same settings by the same loss.

    `banded_curve` is the curve that gets a band.
    """
    first_curve = next(iter(curves.values()))
    axis, provenance = SettingAxis.from_settings(first_curve.candidates, x), first_curve.common
    y_values = [v for curve in curves.values() for v in curve.values.tolist() if isfinite(v)]
    if not y_values:
        return None
    if banded_curve:
        y_values += [
            value + sign * std_error
            for value, std_error in _risks_and_errors(banded_curve).values()
            for sign in (-1, 1)
        ]
    y_values += [honest_value] if honest_value is not None else []
    drawing = Drawing(
        title=title,
        description=description,
        height=HEIGHT,
        x=PixelScale.from_values(
            axis.positions, LEFT, DRAWING_WIDTH - 12, log=axis.is_logarithmic, margin=0.03
        ),
        y=PixelScale.from_values(y_values, BOTTOM, TOP),
    )
    drawing.left_axis(provenance.scale.axis_label(provenance.named_scoring))
    drawing.bottom_axis(axis.name, _ticks(axis))
    if honest_value is not None:
        drawing.horizontal_line(honest_value, "honest")
    if banded_curve:
        risks_and_errors = _risks_and_errors(banded_curve)
        sorted_settings = [c for c in axis.setting_order if c in risks_and_errors]
        if len(sorted_settings) > 1:
            sorted_settings = [
                sorted_settings[index] for index in evenly_spread_positions(len(sorted_settings))
            ]
            band_positions = [axis.positions[c] for c in sorted_settings]
            lows = [risks_and_errors[c][0] - risks_and_errors[c][1] for c in sorted_settings]
            highs = [risks_and_errors[c][0] + risks_and_errors[c][1] for c in sorted_settings]
            drawing.band(band_positions, lows, highs, "s0")
    for index, (name, curve) in enumerate(curves.items()):
        _draw_line(drawing, escape_and_truncate(name, 60), curve, axis, index)
    return drawing


def make_legend_keys(curves: Iterable[str]) -> list[LegendKey]:
    """Return a legend entry for each curve, and one for the ring that marks chosen settings."""
    line_keys = [
        LegendKey(series_css_class(i), escape_and_truncate(name, 60), series_marker_shape(i))
        for i, name in enumerate(curves)
    ]
    return [*line_keys, LegendKey("ring", "chosen by the criterion", "ring")]


def _risks_and_errors(curve: RiskCurve) -> dict[int, tuple[float, float]]:
    """Return pairs (risk, standard error) by index of the setting, for settings that have both."""
    pairs = zip(curve.values.tolist(), curve.std_errors.tolist(), strict=True)
    return {c: pair for c, pair in enumerate(pairs) if all(map(isfinite, pair))}


def _draw_line(
    drawing: Drawing, name: str, curve: RiskCurve, axis: SettingAxis, series_number: int
) -> None:
    finite_values = {
        candidate: v for candidate, v in enumerate(curve.values.tolist()) if isfinite(v)
    }
    finite_settings = [candidate for candidate in axis.setting_order if candidate in finite_values]
    drawn_settings = [finite_settings[i] for i in evenly_spread_positions(len(finite_settings))]
    if curve.best in finite_settings and curve.best not in drawn_settings:
        drawn_settings = sorted(
            [*drawn_settings, curve.best], key=lambda candidate: axis.positions[candidate]
        )
    css_class = series_css_class(series_number)
    drawing.line(
        [axis.positions[candidate] for candidate in drawn_settings],
        [finite_values[candidate] for candidate in drawn_settings],
        css_class,
    )
    marked_settings = [
        drawn_settings[i] for i in evenly_spread_positions(len(drawn_settings), MAX_MARKED_SETTINGS)
    ]
    for candidate in (
        marked_settings
        if curve.best in marked_settings or curve.best not in finite_values
        else [*marked_settings, curve.best]
    ):
        tooltip = (
            f"{format_setting(curve.candidates[candidate])}: "
            f"{format_number(finite_values[candidate])}{_error_text(curve, candidate)} ({name})"
        )
        point = axis.positions[candidate], finite_values[candidate]
        drawing.point(
            *point, css_class, tooltip, shape=series_marker_shape(series_number), size=3.2
        )
    if curve.best in finite_values:
        drawing.point(
            axis.positions[curve.best], finite_values[curve.best], f"ring {css_class}", size=7.5
        )


def _error_text(curve: RiskCurve, candidate: int) -> str:
    error = curve.std_errors[candidate]
    return f" ± {format_number(error)}" if isfinite(error) else ""


def _ticks(axis: SettingAxis) -> list[float] | None:
    """Return the positions of all settings as ticks, if they are at most nine whole numbers.

    Otherwise, and on a logarithmic axis, the result is None.
    """
    are_whole = all(p == int(p) for p in axis.positions)
    if axis.is_logarithmic or not are_whole or len(axis.positions) > 9:
        return None
    return sorted(set(axis.positions))


def _curves_table(curves: Mapping[str, RiskCurve]) -> FigureTable:
    header = ["setting", *(escape_and_truncate(name, 60) for name in curves)]
    settings = next(iter(curves.values())).candidates
    rows = [
        [format_setting(setting), *(_risk_cell(curve, c) for curve in curves.values())]
        for c, setting in enumerate(settings)
    ]
    return FigureTable.from_rows(header, rows)


def _risk_cell(curve: RiskCurve, candidate: int) -> str:
    rival_mark = " may be best (95 %)" if candidate in (curve.rivals or ()) else ""
    choice_mark = " ← chosen" if candidate == curve.best else rival_mark
    return f"{format_number(curve.values[candidate])}{_error_text(curve, candidate)}{choice_mark}"


@frozen
class SettingGrid:
    """Grid of the values of two or three hyperparameters, with the setting in each cell.

    A third parameter has a panel for each of its values. Otherwise there is one panel.
    """

    names: tuple[str, ...]
    panels: tuple[object, ...]
    rows: tuple[object, ...]
    columns: tuple[object, ...]
    setting_by_cell: dict[tuple[int, int, int], int]

    @classmethod
    def from_curve(cls, curve: RiskCurve) -> SettingGrid | None:
        """Arrange the settings of a risk curve in a grid of two or three varying hyperparameters.

        Of three parameters, the one with the fewest values has the panels. The result is None if
        another number of parameters varies, if cells are missing or too many, or if there are too
        many panels.
        """
        distinct_values = _varying_parameters(curve.candidates)
        if len(distinct_values) not in (2, 3):
            return None
        names = sorted(distinct_values, key=lambda n: (len(distinct_values[n]), n))
        *panel_names, row_name, column_name = names
        panels = distinct_values[panel_names[0]] if panel_names else [None]
        rows, columns = distinct_values[row_name], distinct_values[column_name]
        largest_side = LARGEST_PANEL_SIDE if panel_names else LARGEST_GRID_SIDE
        n_cells = len(panels) * len(rows) * len(columns)
        if (
            n_cells != len(curve.candidates)
            or len(panels) > MAX_PANELS
            or len(columns) > largest_side
        ):
            return None
        positions = [
            {repr(value): i for i, value in enumerate(distinct_values[name])} for name in names
        ]
        setting_by_cell = {}
        for candidate, setting in enumerate(curve.candidates):
            *panel, row, column = (
                positions_of_name[repr(setting.get(name))]
                for name, positions_of_name in zip(names, positions, strict=True)
            )
            setting_by_cell[panel[0] if panel else 0, row, column] = candidate
        if len(setting_by_cell) < n_cells:
            return None
        short_names = tuple(map(_short_name, names))
        return cls(short_names, tuple(panels), tuple(rows), tuple(columns), setting_by_cell)

    @property
    def panel_titles(self) -> tuple[str, ...]:
        """The title of each panel; () if there is one panel."""
        if len(self.panels) == 1:
            return ()
        return tuple(f"{self.names[0]}={_cell_text(panel)}" for panel in self.panels)

    @property
    def n_across(self) -> int:
        """The number of panels side by side."""
        return 2 if len(self.panels) in (2, 4) else min(len(self.panels), 3)

    @property
    def panel_width(self) -> float:
        """The number of columns from a panel to the next one on its right."""
        return len(self.columns) * 1.08 if len(self.panels) > 1 else len(self.columns)

    @property
    def panel_height(self) -> int:
        """The number of rows from a panel to the next one below, with the row of its title."""
        return len(self.rows) + (len(self.panels) > 1)

    def corner(self, panel: int) -> tuple[float, int]:
        """Return the column and the row at which the cells of a panel begin."""
        down, across = divmod(panel, self.n_across)
        return across * self.panel_width, (down + 1) * self.panel_height - len(self.rows)


def draw_heat_map(learner_name: str, curve: RiskCurve, name: str) -> Figure | None:
    """Draw heat maps of risks over two hyperparameters, one for each value of a third one.

    The result is None if the settings are no full grid of two or three varying hyperparameters, or
    if it is too large.
    """
    grid = SettingGrid.from_curve(curve)
    known_risks = [v for v in curve.values.tolist() if isfinite(v)]
    if grid is None or not known_risks:
        return None
    low, high, risk_noun = min(known_risks), max(known_risks), curve.common.scale.noun
    chosen_text = format_setting(curve.best_params)
    n_across, n_columns = grid.n_across, len(grid.columns)
    total_rows = grid.panel_height * -(-len(grid.panels) // n_across)
    n_parameters = {2: "two", 3: "three"}[len(grid.names)]
    title = f"{risk_noun.capitalize()}s of {learner_name} over {n_parameters} parameters"
    description = (
        f"The smallest is {format_number(low)}, the largest {format_number(high)}; chosen: "
        f"{chosen_text}."
    )
    last_column = (n_across - 1) * grid.panel_width + n_columns
    x = PixelScale(0, last_column, GRID_LEFT, DRAWING_WIDTH - 12)
    drawing = make_row_drawing(
        title, description, x, total_rows, max(18, min(30, 300 // total_rows)), GRID_TOP
    )
    cell_width = (x.end - x.start) / last_column
    for cell, candidate in grid.setting_by_cell.items():
        value = curve.values[candidate]
        shade_fraction = 0.0 if not isfinite(value) or high == low else (value - low) / (high - low)
        shade, tooltip = (
            round(N_SHADES * shade_fraction),
            f"{format_setting(curve.candidates[candidate])}: ",
        )
        first_column, first_row = grid.corner(cell[0])
        row, column = first_row + cell[1], first_column + cell[2]
        drawing.cell(column, row, shade, tooltip + format_number(value))
        if cell_width > SMALLEST_LABELLED_CELL:
            drawing.cell_text(column, row, shade, format_number(value, 3))
        if candidate == curve.best:
            drawing.frame(column, row)
    for panel, panel_title in enumerate(grid.panel_titles):
        column, row = grid.corner(panel)
        longest_title = int(n_columns * cell_width / LETTER_WIDTH)
        drawing.panel_title(column + n_columns / 2, row - 0.5, shorten(panel_title, longest_title))
    for panel in range(0, len(grid.panels), n_across):
        for i, row_value in enumerate(grid.rows):
            drawing.row_label(grid.corner(panel)[1] + i + 0.5, _cell_text(row_value), 10, "tick")
    step = 1 + n_columns * n_across // (10 if n_across == 1 else 13)
    longest_label = max(3, min(9, int(step * cell_width / LETTER_WIDTH)))
    names = {
        grid.corner(panel)[0] + j + 0.5: shorten(_cell_text(grid.columns[j]), longest_label)
        for panel in range(n_across)
        for j in range(0, n_columns, step)
    }
    row_name, column_name = grid.names[-2:]
    drawing.column_labels(names, column_name)
    drawing.left_axis(row_name, ())
    panels = f" There is one panel for each {grid.names[0]}." if grid.panel_titles else ""
    *first_names, last_name = [*grid.names[-2:], *grid.names[:-2]]
    return Figure(
        name=name,
        title=f"{learner_name}: {risk_noun}s over {', '.join(first_names)} and {last_name}",
        drawing=drawing,
        caption=f"The stronger the shade, the larger the {risk_noun} (by "
        f"{escape_and_truncate(curve.common.method, 60)}, while tuning).{panels} The frame marks "
        f"the chosen setting, {chosen_text}.",
        table=_grid_table(curve, grid),
        keys=(
            LegendKey("h0", format_number(low), "cell"),
            LegendKey("h8", format_number(high), "cell"),
        ),
    )


def _varying_parameters(settings: Sequence[Mapping[str, object]]) -> dict[str, list[object]]:
    """Return the distinct values of each parameter that varies, in order of first occurrence."""
    names = dict.fromkeys(name for setting in settings for name in setting)
    values = {n: list({repr(s.get(n)): s.get(n) for s in settings}.values()) for n in names}
    return {
        name: distinct_values
        for name, distinct_values in values.items()
        if len(distinct_values) > 1
    }


def _short_name(name: str) -> str:
    return escape_and_truncate(name.rpartition("__")[2], 40)


def _cell_text(param_value: Any) -> str:
    return (
        tick_text(param_value)
        if is_number(param_value)
        else escape_and_truncate(str(param_value), 40)
    )


def _grid_table(curve: RiskCurve, grid: SettingGrid) -> FigureTable:
    has_panels = len(grid.panels) > 1
    cells = [
        [
            *([_cell_text(panel)] if has_panels else []),
            _cell_text(row),
            *(
                format_number(curve.values[grid.setting_by_cell[k, i, j]])
                for j in range(len(grid.columns))
            ),
        ]
        for k, panel in enumerate(grid.panels)
        for i, row in enumerate(grid.rows)
    ]
    return FigureTable.from_rows([*grid.names[:-1], *map(_cell_text, grid.columns)], cells)
