"""Figures and tables of subgroups, stability and checklists on the page of a validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from truerisk.core.formats import clean, number
from truerisk.report.figure import Figure, FigureTable, Key, thinned
from truerisk.report.svg import SHARES, WIDTH, Drawing, PixelScale, columns_of, of_rows
from truerisk.validation.checklists.checklist import Item
from truerisk.validation.prediction_stability import PredictionStability
from truerisk.validation.stability import FeatureStability
from truerisk.validation.subgroups import HEAD, SubgroupRisk, SubgroupRisks, rows_of

ROW, TOP, LEFT, MOST = 26, 8, 168, 20
N_SHOWN = 21


PULLED = (
    " Diamonds are shrunken estimates: each is pulled to the mean of its column as far as noise "
    "explains the differences."
)


def draw_forest(risks: SubgroupRisks, place: int = 0, most: int | None = MOST) -> Figure | None:
    """Draw one loss in every level; return None if no level has a value."""
    lines, loss = (risks.whole, *risks.levels)[:most], clean(risks.named_scoring, 60)
    values = [end for line in lines for end in line.ends]
    if not values:
        return None
    about = "; ".join(f"{_name(line)}: {number(line.value)}" for line in lines)
    x = PixelScale.around(values, LEFT, WIDTH - 14)
    drawing = of_rows(f"{loss} in subgroups", about, x, len(lines), ROW, TOP)
    drawing.bottom_axis(f"{columns_of(loss, 30)} ({risks.whole.scale.better} is better)")
    whole = risks.whole.value
    if whole is not None:
        drawing.upright(whole, "baseline")
    for i, line in enumerate(lines):
        _level(drawing, line, i)
    pulled = any(line.shrunken is not None for line in lines)
    return Figure(
        name=f"subgroups-{place}",
        title=loss,
        drawing=drawing,
        caption=(
            "The intervals of the subgroups are simultaneous; that of all rows is not."
            f"{PULLED if pulled else ''}"
        ),
        table=FigureTable.from_rows(
            HEAD, [[clean(cell) for cell in row] for row in rows_of(risks)]
        ),
        keys=(
            Key("s0", "value and interval", "span"),
            *([Key("s1", "shrunken value", "diamond")] if pulled else []),
            Key("baseline", "all rows", "line"),
        ),
    )


def _name(level: SubgroupRisk) -> str:
    return clean(level.subgroup.shown, 120)


def _level(drawing: Drawing, level: SubgroupRisk, i: int) -> None:
    at, name = i + 0.5, _name(level)
    drawing.row(at, name, 22)
    drawing.names[at] = f"{name} ({level.subgroup.n_rows})"
    if level.value is None:
        drawing.note(at, clean(level.reason or ""))
        return
    ends = "" if level.interval is None else f" {level.interval}"
    tip = f"{name}, {level.subgroup.n_rows} rows: {number(level.value)}{ends}"
    drawing.estimate(level.value, level.interval, at, tip)
    if level.shrunken is not None:
        shrunken = f"{name}, shrunken: {number(level.shrunken)}"
        drawing.point(level.shrunken, at, "s1", shrunken, shape="diamond")


def draw_instability(moves: PredictionStability) -> Figure:
    """Draw the range of other models' predictions over the given ones."""
    ends = (0.0, 1.0)
    if moves.event is None:
        ends = float(moves.low.min()), float(moves.high.max())
    air = 0.01 * (ends[1] - ends[0]) or 1.0
    drawing = Drawing(
        title="Instability of predictions",
        about=f"mean absolute prediction error: {number(moves.mape)}.",
        height=380,
        x=PixelScale(ends[0] - air, ends[1] + air, 52, WIDTH - 12),
        y=PixelScale(ends[0] - air, ends[1] + air, 336, 30),
    )
    ticks = None if moves.event is None else SHARES
    what = "prediction" if moves.event is None else "probability"
    drawing.left_axis(f"range of {moves.n_models} further models, 95 %", ticks)
    drawing.bottom_axis(f"{what} given", ticks)
    order = np.argsort(moves.predictions, kind="stable")
    shown = [order[i] for i in thinned(len(order))]
    for i in shown:
        drawing.slope(
            moves.predictions[i], moves.low[i], moves.predictions[i], moves.high[i], "whisker s0"
        )
    drawing.slope(ends[0], ends[0], ends[1], ends[1], "baseline")
    if moves.threshold is not None:
        drawing.level(moves.threshold, "grid")
    table = [order[i] for i in thinned(len(order), N_SHOWN)]
    rows = [[number(each[i]) for each in (moves.predictions, moves.low, moves.high)] for i in table]
    return Figure(
        name="instability",
        title="How far single predictions move",
        drawing=drawing,
        caption=f"One line per row: {clean(moves.source, 600)}",
        table=FigureTable.from_rows(("prediction", "2.5 %", "97.5 %"), rows),
        keys=(
            Key("s0", "where 95 % of the further models lie", "line"),
            Key("baseline", "the same prediction", "line"),
        ),
    )


def draw_features(chosen: FeatureStability) -> Figure:
    """Draw how often each feature was selected."""
    shares = [(clean(chosen.names[f], 60), float(chosen.shares[f])) for f in chosen.order]
    shown = shares[:MOST]
    about = "; ".join(f"{name}: {share:.0%}" for name, share in shown)
    x = PixelScale(0, 100, LEFT, WIDTH - 16)
    drawing = of_rows("Selected features", about, x, len(shown), ROW, TOP)
    drawing.bottom_axis(f"of {chosen.n_models} models, %")
    for i, (name, share) in enumerate(shown):
        drawing.row(i + 0.5, name, 22)
        drawing.bar(0, 100 * share, i + 0.2, i + 0.8, "s0", f"{name}: {share:.0%}")
    rows = [[name, f"{share * chosen.n_models:.0f} of {chosen.n_models}"] for name, share in shares]
    return Figure(
        name="features",
        title="Which features were selected",
        drawing=drawing,
        caption=(
            f"Stability {number(chosen.index)} {chosen.interval} (Nogueira et al. 2018): 1 where "
            "all models selected the same, 0 where they agree by chance. The interval takes the "
            "fits as independent, and they share rows."
        ),
        table=FigureTable.from_rows(("feature", "models"), rows),
    )


def checklist_tables(items: Sequence[Item], caption: str) -> Iterator[tuple[FigureTable, str]]:
    """Yield the tables of each guideline, with a caption of its name and number of items."""
    for guideline in dict.fromkeys(item.guideline for item in items):
        mine = [item for item in items if item.guideline == guideline]
        cells = [[item.number, item.asks, item.answer or ""] for item in mine]
        n_columns = 3 if any(item.answer for item in mine) else 2
        head = ("item", "asks", "answer")[:n_columns]
        rows = [[clean(cell, 1000) for cell in row[:n_columns]] for row in cells]
        yield FigureTable.from_rows(head, rows), caption.format(clean(guideline, 60), len(mine))
