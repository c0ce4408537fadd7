"""Figures and tables of subgroups, stability and checklists on the page of a validation."""

from __future__ import annotations

from collections.abc import Sequence

from truerisk.core.present import number
from truerisk.report.figure import Figure, FigureTable, Key, columns_of, thinned
from truerisk.report.review_document import (
    FeaturesRecord,
    ItemRecord,
    LevelRecord,
    PredictionsRecord,
    SubgroupsRecord,
)
from truerisk.report.scale import Scale
from truerisk.report.svg import WIDTH, Drawing

__all__ = ["checklist_table", "draw_features", "draw_forest", "draw_instability"]

ROW, TOP, LEFT, MOST = 26, 8, 168, 20
N_SHOWN = 21
TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]


def draw_forest(found: SubgroupsRecord, place: int) -> Figure | None:
    """One loss in every level; None where no level has a value."""
    lines = found.lines[:MOST]
    values = [v for one in lines for v in _ends(one)]
    if not values:
        return None
    bottom = TOP + ROW * len(lines)
    drawing = Drawing(
        title=f"{found.loss} in subgroups",
        about="; ".join(f"{one.name}: {number(one.value)}" for one in lines),
        height=bottom + 42,
        x=Scale.around(values, LEFT, WIDTH - 14),
        y=Scale(0, len(lines), TOP, bottom),
    )
    better = "larger" if found.is_score else "lower"
    drawing.bottom_axis(f"{columns_of(found.loss, 30)} ({better} is better)")
    whole = lines[0].value
    if whole is not None:
        drawing.upright(whole, "baseline")
    for i, one in enumerate(lines):
        _level(drawing, one, i)
    return Figure(
        name=f"subgroups-{place}",
        title=found.loss,
        drawing=drawing,
        caption=(
            "Intervals of subgroups hold together at their level; that of all rows stands alone. "
            "Diamonds are drawn to the mean of their column's levels, as far as noise explains "
            "that these differ."
        ),
        table=_levels(found.lines),
        keys=(
            Key("s0", "value and interval", "span"),
            Key("s1", "shrunken value", "diamond"),
            Key("baseline", "all rows", "line"),
        ),
    )


def _ends(one: LevelRecord) -> list[float]:
    if one.value is None:
        return []
    interval = [] if one.interval is None else [one.interval.low, one.interval.high]
    return [one.value, *interval]


def _level(drawing: Drawing, one: LevelRecord, i: int) -> None:
    at = i + 0.5
    drawing.text(LEFT - 10, drawing.y(at) + 4, columns_of(one.name, 22), "name", anchor="end")
    if one.value is None:
        drawing.text(LEFT + 6, drawing.y(at) + 4, columns_of(one.reason, 48), "tick")
        return
    sure = "" if one.interval is None else f" {one.interval}"
    said = f"{one.name}, {one.n_rows} rows: {number(one.value)}{sure}"
    if one.interval is not None:
        drawing.span(one.interval.low, one.interval.high, at, "s0")
    drawing.point(one.value, at, "s0", said)
    if one.shrunken is not None:
        shrunken = f"{one.name}, shrunken: {number(one.shrunken)}"
        drawing.point(one.shrunken, at, "s1", shrunken, shape="diamond")


def _levels(lines: Sequence[LevelRecord]) -> FigureTable:
    head = ("subgroup", "rows", "events", "value", "interval", "shrunken", "why not")
    rows = [
        [
            one.name, str(one.n_rows), "–" if one.n_events is None else str(one.n_events),
            number(one.value), "–" if one.interval is None else str(one.interval),
            number(one.shrunken), one.reason,
        ]
        for one in lines
    ]  # fmt: skip
    return FigureTable.of(head, rows)


def draw_instability(found: PredictionsRecord) -> Figure:
    """The range of further models' predictions over those given."""
    ends = (0.0, 1.0)
    if found.event is None:
        ends = min(found.low), max(found.high)
    air = 0.01 * (ends[1] - ends[0]) or 1.0
    drawing = Drawing(
        title="Instability of predictions",
        about=f"{found.summary[0][0]}: {number(found.summary[0][1])}.",
        height=380,
        x=Scale(ends[0] - air, ends[1] + air, 52, WIDTH - 12),
        y=Scale(ends[0] - air, ends[1] + air, 336, 30),
    )
    ticks = None if found.event is None else TICKS
    what = "prediction" if found.event is None else "probability"
    drawing.left_axis(f"range of {found.n_models} further models, 95 %", ticks)
    drawing.bottom_axis(f"{what} given", ticks)
    order = sorted(range(len(found.given)), key=found.given.__getitem__)
    shown = [order[i] for i in thinned(len(order))]
    for i in shown:
        drawing.slope(found.given[i], found.low[i], found.given[i], found.high[i], "whisker s0")
    drawing.slope(ends[0], ends[0], ends[1], ends[1], "baseline")
    if found.threshold is not None:
        drawing.level(found.threshold, "grid")
    table = [order[i] for i in thinned(len(order), N_SHOWN)]
    rows = [[number(one[i]) for one in (found.given, found.low, found.high)] for i in table]
    return Figure(
        name="instability",
        title="How far single predictions move",
        drawing=drawing,
        caption=f"A line for a row: {found.source}",
        table=FigureTable.of(("given", "2.5 %", "97.5 %"), rows),
        keys=(
            Key("s0", "where 95 % of the further models lie", "line"),
            Key("baseline", "the same prediction", "line"),
        ),
    )


def draw_features(found: FeaturesRecord) -> Figure | None:
    """How often the features were selected; None where nothing was."""
    if found.index is None:
        return None
    shown = found.shares[:MOST]
    bottom = TOP + ROW * len(shown)
    drawing = Drawing(
        title="Selected features",
        about="; ".join(f"{name}: {share:.0%}" for name, share in shown),
        height=bottom + 42,
        x=Scale(0, 100, LEFT, WIDTH - 16),
        y=Scale(0, len(shown), TOP, bottom),
    )
    drawing.bottom_axis(f"of {found.n_models} models, %")
    for i, (name, share) in enumerate(shown):
        drawing.text(LEFT - 10, drawing.y(i + 0.5) + 4, columns_of(name, 22), "name", anchor="end")
        drawing.bar(0, 100 * share, i + 0.2, i + 0.8, "s0", f"{name}: {share:.0%}")
    rows = [
        [name, f"{share * found.n_models:.0f} of {found.n_models}"] for name, share in found.shares
    ]
    return Figure(
        name="features",
        title="Which features were selected",
        drawing=drawing,
        caption=(
            f"Stability {number(found.index)} {found.interval} (Nogueira et al. 2018): 1 where all "
            "models selected the same, 0 where they agree by chance. The interval takes the fits "
            "as independent, and they share rows."
        ),
        table=FigureTable.of(("feature", "models"), rows),
    )


def checklist_table(items: Sequence[ItemRecord], guideline: str) -> FigureTable:
    """The items of one guideline."""
    rows = [
        [one.number, one.asks, one.answer or "open"] for one in items if one.guideline == guideline
    ]
    return FigureTable(("item", "asks", "answer"), tuple(tuple(row) for row in rows))
