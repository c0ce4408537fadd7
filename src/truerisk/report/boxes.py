"""Box plots of the risks that single random splits gave."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from truerisk.api.assessing.assessment import Assessment
from truerisk.core.present import clean, five_numbers, number
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.scale import PixelScale
from truerisk.report.svg import WIDTH, columns_of, of_rows

ROW, TOP, LEFT, MOST = 38, 12, 118, 12


def draw_boxes(document: Assessment, most: int | None = MOST) -> Figure | None:
    """One box per learner; None where no learner was tested on random splits."""
    scale = document.scale
    every_risk = {
        name: tuple(scale.value(v) for v in risks.tolist() if isfinite(v))
        for name, risks in document.monte_carlo.items()
    }
    risks = {name: values for name, values in every_risk.items() if len(values) > 1}
    if not risks:
        return None
    order = [name for name in document.ranking if name in risks]
    order += [name for name in risks if name not in order]
    drawn = order[:most]
    every = [v for name in drawn for v in risks[name]]
    noun = scale.noun
    free = min(every) < 0 or scale.perfect is not None
    title, about = f"{noun.capitalize()}s of single splits", (_summary(n, risks[n]) for n in drawn)
    x = PixelScale.around(every, LEFT, WIDTH - 14, floor_at=None if free else -0.01)
    drawing = of_rows(title, "; ".join(about), x, len(drawn), ROW, TOP)
    drawing.bottom_axis(f"{noun} of one split ({columns_of(document.named_loss, 30)})")
    for i, name in enumerate(drawn):
        five = five_numbers(risks[name])
        drawing.row(i + 0.5, clean(name, 60))
        drawing.box(five, i + 0.5, 10, "s0", _summary(name, risks[name]))
        for value in sorted({v for v in risks[name] if not five[0] <= v <= five[4]}):
            said = f"{clean(name, 60)}: {number(value)}"
            drawing.point(value, i + 0.5, "hollow s0", said, size=2.5)
    n = max(len(values) for values in risks.values())
    return Figure(
        name="boxes",
        title="How much single splits differ",
        drawing=drawing,
        caption=(
            f"{noun.capitalize()}s of {n} random splits. Box: quartiles and median; whiskers reach "
            "to the last value within 1.5 interquartile ranges of the box. The spread is that of "
            "single test sets, not the standard error of their mean."
        ),
        table=_table(order, risks),
        keys=(Key("s0", "quartiles, median, whiskers", "box"), Key("hollow s0", "beyond them")),
    )


def _summary(name: str, values: Sequence[float]) -> str:
    low, first, middle, third, high = five_numbers(values)
    return (
        f"{clean(name, 60)}: median {number(middle)}, quartiles {number(first)} and "
        f"{number(third)}, whiskers {number(low)} and {number(high)}"
    )


def _table(order: list[str], risks: dict[str, tuple[float, ...]]) -> FigureTable:
    rows = []
    for name in order:
        values = np.array(risks[name])
        quartiles = [number(float(q)) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])]
        rows.append([clean(name, 60), str(len(values)), *quartiles, number(float(values.mean()))])
    head = ("learner", "splits", "least", "first quartile", "median", "third quartile", "largest")
    return FigureTable.of((*head, "mean"), rows)
