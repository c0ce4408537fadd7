"""All learners side by side: optimism ladder, single splits, and chosen settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isfinite

import numpy as np

from truerisk.assessment.assessment import Assessment
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.formats import clean, number, percent, signed
from truerisk.core.tables import five_numbers
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.svg import WIDTH, Drawing, PixelScale, columns_of, of_rows
from truerisk.results.interval import WithInterval
from truerisk.results.results import RiskEstimate
from truerisk.results.sentences import WHOLE_SEARCH, honest_risk, setting_text

ROW = 34
TOP = 14
LEFT = 118
MOST = 12  # Maximum number of learners in the figure. The table has all of them.
# A baseline that is further out than this multiple of the others' range is named, not drawn.
FAR = 1.0


def draw_ladder(document: Assessment, most: int | None = MOST) -> Figure | None:
    """Draw one row per learner, from its optimistic risk to its honest one; None without risks."""
    rated = {n: o for n, o in document.ranked_learners.items() if o.risk.value is not None}
    shown = {name: rated[name] for name in list(rated)[:most]}
    if not shown:
        return None
    choice = document.choice if document.choice and document.choice.value is not None else None
    n_rows = len(shown) + (choice is not None)
    values = _values(shown.values(), choice, document)
    # Most losses are never negative. If one is, and for scores, the axis starts anywhere.
    free = min(values) < 0 or document.scale.perfect is not None
    x = PixelScale.around(values, LEFT, WIDTH - 14, floor_at=None if free else -0.004 * max(values))
    drawing = of_rows("Optimism ladder", _about(document), x, n_rows, ROW, TOP)
    lower = "" if document.scale.perfect is not None else ", lower is better"
    drawing.bottom_axis(f"{document.scale.axis(columns_of(document.named_scoring, 30))}{lower}")
    baseline = document.baseline
    if baseline is not None and baseline in values:
        drawing.upright(baseline, "baseline")
    for i, (name, learner) in enumerate(shown.items()):
        _rung(drawing, clean(name, 60), learner, i + 0.5)
    if choice is not None:
        drawing.row(len(shown) + 0.5, WHOLE_SEARCH)
        text = f"{WHOLE_SEARCH}: honest {document.scale.noun}"
        _honest(drawing, choice, len(shown) + 0.5, text)
    scale, tuned = document.scale, document.tuned
    selected = f"{document.selected_scale.selected.capitalize()}. " if tuned else ""
    way = "left to right" if scale.perfect is None else "right to left"
    return Figure(
        name="ladder",
        title="From the flattering number to the honest one",
        drawing=drawing,
        caption=(
            f"Apparent: the rows that were fitted, predicted again. {selected}Honest: "
            f"{honest_risk(scale.noun, document.tested_by, tuned=tuned)}, with its interval. The "
            f"distance from {way} is the optimism."
        ),
        table=_table(document),
        keys=_keys(document, shown.values(), baseline in values),
    )


def _values(
    shown: Iterable[TunedLearner], choice: RiskEstimate | None, document: Assessment
) -> list[float]:
    """Return all values that the axis has to show."""
    honest = [each.risk for each in shown] + ([choice] if choice else [])
    ends = [
        *(end for each in honest for end in each.ends),
        *(value_of(each.selected) for each in shown if each.optimism is not None),
        *(value_of(each.apparent) for each in shown),
    ]
    values = [v for v in ends if v is not None]
    baseline, wide = document.baseline, FAR * (max(values) - min(values))
    if baseline is not None and min(values) - wide <= baseline <= max(values) + wide:
        values.append(baseline)  # A baseline further away would compress all other values.
    return values


def _rung(drawing: Drawing, name: str, learner: TunedLearner, y: float) -> None:
    honest, apparent = learner.risk, value_of(learner.apparent)
    selected = None if learner.optimism is None else value_of(learner.selected)
    noun = learner.risk.scale.noun
    drawing.row(y, name)
    risks = [v for v in (honest.value, selected, apparent) if v is not None]
    drawing.slope(min(risks), y, max(risks), y, "way")
    _honest(drawing, honest, y, f"{name}: honest {noun}")
    if selected is not None:
        tip = f"{name}: selected {noun} {number(selected)}"
        drawing.point(selected, y, "hollow s1", tip, shape="diamond", size=3.8)
    if apparent is not None:
        tip = f"{name}: apparent {noun} {number(apparent)}"
        drawing.point(apparent, y, "hollow muted", tip, size=3)


def _honest(drawing: Drawing, estimate: WithInterval, y: float, tip: str) -> None:
    if estimate.value is None:
        return
    tip += f" {number(estimate.value)}"
    tip += f", interval {estimate.interval}" if estimate.interval else ""
    drawing.estimate(estimate.value, estimate.interval, y, tip, size=5.6)


def _about(document: Assessment) -> str:
    best = document.best_learner
    return (
        f"{document.scale.noun.capitalize()}s of {len(document.learners)} learners. The best, "
        f"{clean(document.best, 60)}: apparent {number(value_of(best.apparent))}, selected "
        f"{number(value_of(best.selected))}, honest {number(best.risk.value)}. "
        "The table below has all numbers."
    )


def _keys(document: Assessment, shown: Collection[TunedLearner], near: bool) -> tuple[Key, ...]:
    keys = []
    if any(each.apparent for each in shown):
        keys.append(Key("hollow muted", "apparent"))
    if any(each.optimism is not None for each in shown):
        keys.append(Key("hollow s1", "selected", "diamond"))
    level = percent(document.confidence_level)
    keys.append(Key("s0", f"honest, with its {level} interval", "span"))
    if document.baseline is not None:
        text = f"{clean(document.baseline_rule or '', 60)}: {number(document.baseline)}"
        keys.append(Key("baseline", text if near else f"{text}, beyond the axis", "line"))
    return tuple(keys)


def _table(document: Assessment) -> FigureTable:
    rows = [
        [
            clean(name, 60),
            number(value_of(each.apparent)),
            number(value_of(each.selected)),
            number(each.risk.value),
            str(each.risk.interval or "none"),
            signed(each.optimism, each.risk.value),
        ]
        for name, each in document.ranked_learners.items()
    ]
    if document.choice is not None:
        choice = document.choice
        value = number(choice.value)
        rows.append([WHOLE_SEARCH, "–", "–", value, str(choice.interval or "none"), "–"])
    return FigureTable.from_rows(
        ("learner", "apparent", "selected", "honest", "interval", "optimism"), rows
    )


def value_of(estimate: RiskEstimate | None) -> float | None:
    """Return the value of an estimate, or None without an estimate."""
    return None if estimate is None else estimate.value


BOX_ROW, BOX_TOP = 38, 12


def draw_boxes(document: Assessment, most: int | None = MOST) -> Figure | None:
    """Draw one box per learner; return None if no learner was tested on random splits."""
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
    drawing = of_rows(title, "; ".join(about), x, len(drawn), BOX_ROW, BOX_TOP)
    drawing.bottom_axis(f"{noun} of one split ({columns_of(document.named_scoring, 30)})")
    for i, name in enumerate(drawn):
        five = five_numbers(risks[name])
        drawing.row(i + 0.5, clean(name, 60))
        drawing.box(five, i + 0.5, 10, "s0", _summary(name, risks[name]))
        for value in sorted({v for v in risks[name] if not five[0] <= v <= five[4]}):
            text = f"{clean(name, 60)}: {number(value)}"
            drawing.point(value, i + 0.5, "hollow s0", text, size=2.5)
    n = max(len(values) for values in risks.values())
    rows = []
    for name in order:
        values = np.array(risks[name])
        quartiles = [number(float(q)) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])]
        rows.append([clean(name, 60), str(len(values)), *quartiles, number(float(values.mean()))])
    head = ("learner", "splits", "least", "first quartile", "median", "third quartile", "largest")
    return Figure(
        name="boxes",
        title="How much single splits differ",
        drawing=drawing,
        caption=(
            f"{noun.capitalize()}s of {n} random splits. Box: quartiles and median; whiskers reach "
            "to the last value within 1.5 interquartile ranges of the box. The spread is that of "
            "single test sets, not the standard error of their mean."
        ),
        table=FigureTable.from_rows((*head, "mean"), rows),
        keys=(Key("s0", "quartiles, median, whiskers", "box"), Key("hollow s0", "beyond them")),
    )


def _summary(name: str, values: Sequence[float]) -> str:
    low, first, middle, third, high = five_numbers(values)
    return (
        f"{clean(name, 60)}: median {number(middle)}, quartiles {number(first)} and "
        f"{number(third)}, whiskers {number(low)} and {number(high)}"
    )


BAR_ROW, BAR_TOP = 30, 8


def draw_stability(document: Assessment, most: int | None = MOST) -> Figure | None:
    """Draw one bar per tuned learner, with a part per winning setting; None if none was tuned."""
    tuned = {
        name: one
        for name, one in document.ranked_learners.items()
        if len(one.curve) > 1 and one.stability.frequencies
    }
    if not tuned:
        return None
    shown = {name: tuned[name] for name in list(tuned)[:most]}
    title, x = "Stability of the chosen settings", PixelScale(0, 100, LEFT, WIDTH - 16)
    about = (f"{clean(n, 60)}: {o.stability.agreement:.0%} agree" for n, o in shown.items())
    drawing = of_rows(title, "; ".join(about), x, len(shown), BAR_ROW, BAR_TOP)
    drawing.bottom_axis("outer splits that chose the setting, %")
    for i, (name, learner) in enumerate(shown.items()):
        drawing.row(i + 0.5, clean(name, 60))
        total = sum(learner.stability.frequencies.values())
        at = 0.0
        for setting, count in _ordered(learner):
            share = 100 * count / total
            look = "s0" if setting == learner.curve.best else "other"
            text = f"{setting_text(learner.curve.candidates[setting])}: {count} of {total}"
            drawing.bar(at, at + share, i + 0.2, i + 0.8, look, text)
            at += share
    return Figure(
        name="stability",
        title="Whether other rows would have chosen the same",
        drawing=drawing,
        caption=(
            "Each outer split chose its own setting. The filled part is the share of splits that "
            "chose the setting of all rows; each further part is another setting. Where few agree, "
            "the setting is arbitrary, and the honest number takes that into account."
        ),
        table=_table_of_choices(tuned),
        keys=(Key("s0", "the setting chosen on all rows", "cell"), Key("other", "others", "cell")),
    )


def _ordered(learner: TunedLearner) -> list[tuple[int, int]]:
    """Return the setting chosen on all rows first, and then the others by frequency."""
    counts, best = learner.stability.frequencies, learner.curve.best
    return sorted(counts.items(), key=lambda pair: (pair[0] != best, -pair[1]))


def _table_of_choices(tuned: Mapping[str, TunedLearner]) -> FigureTable:
    rows = [
        [
            clean(name, 60),
            setting_text(learner.curve.candidates[setting]),
            f"{count} of {learner.stability.n_splits}",
            "yes" if setting == learner.curve.best else "",
        ]
        for name, learner in tuned.items()
        for setting, count in _ordered(learner)
    ]
    return FigureTable.from_rows(("learner", "setting", "outer splits", "chosen on all rows"), rows)
