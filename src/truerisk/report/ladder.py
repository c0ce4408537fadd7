"""Figures that compare learners: optimism ladder, risks of single splits, and chosen settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isfinite

import numpy as np

from truerisk.assessment.assessment import Assessment
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.formats import escape_and_truncate, number, percent, signed_number
from truerisk.core.tables import five_numbers
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.svg import WIDTH, Drawing, PixelScale, drawing_of_rows, shorten
from truerisk.results.interval import WithInterval
from truerisk.results.results import RiskEstimate
from truerisk.results.sentences import WHOLE_SEARCH, describe_honest_risk, setting_text

ROW_HEIGHT = 34
TOP_MARGIN = 14
LEFT_MARGIN = 118
MAX_LEARNERS = 12  # Maximum number of learners in the figure; its table has all learners.
# A baseline further from the risks than this multiple of their range is named, but not drawn.
MAX_BASELINE_DISTANCE_IN_RANGES = 1.0


def draw_ladder(document: Assessment, max_learners: int | None = MAX_LEARNERS) -> Figure | None:
    """Draw a row per learner: apparent, selected and honest risk; return None without risks."""
    rated_learners = {n: o for n, o in document.ranked_learners.items() if o.risk.value is not None}
    shown_learners = {name: rated_learners[name] for name in list(rated_learners)[:max_learners]}
    if not shown_learners:
        return None
    choice = document.choice if document.choice and document.choice.value is not None else None
    n_rows = len(shown_learners) + (choice is not None)
    values = _axis_values(shown_learners.values(), choice, document)
    # Most losses are never negative, so that the axis starts at 0 or above.
    # The axis of scores, and of a loss with negative values, starts anywhere.
    has_free_start = min(values) < 0 or document.scale.perfect is not None
    x = PixelScale.around(
        values, LEFT_MARGIN, WIDTH - 14, floor_at=None if has_free_start else -0.004 * max(values)
    )
    drawing = drawing_of_rows(
        "Optimism ladder", _describe_ladder(document), x, n_rows, ROW_HEIGHT, TOP_MARGIN
    )
    direction_text = "" if document.scale.perfect is not None else ", lower is better"
    drawing.bottom_axis(
        f"{document.scale.axis_label(shorten(document.named_scoring, 30))}{direction_text}"
    )
    baseline = document.baseline
    if baseline is not None and baseline in values:
        drawing.vertical_line(baseline, "baseline")
    for index, (name, learner) in enumerate(shown_learners.items()):
        _draw_rung(drawing, escape_and_truncate(name, 60), learner, index + 0.5)
    if choice is not None:
        drawing.row(len(shown_learners) + 0.5, WHOLE_SEARCH)
        tooltip = f"{WHOLE_SEARCH}: honest {document.scale.noun}"
        _draw_honest_risk(drawing, choice, len(shown_learners) + 0.5, tooltip)
    scale, is_tuned = document.scale, document.tuned
    selected_text = f"{document.selected_scale.selected_label.capitalize()}. " if is_tuned else ""
    direction = "left to right" if scale.perfect is None else "right to left"
    return Figure(
        name="ladder",
        title="From the flattering number to the honest one",
        drawing=drawing,
        caption=(
            f"Apparent: the rows that were fitted, predicted again. {selected_text}Honest: "
            f"{describe_honest_risk(scale.noun, document.tested_by, is_tuned=is_tuned)}, with its "
            f"interval. The distance from {direction} is the optimism."
        ),
        table=_learners_table(document),
        keys=_legend_entries(document, shown_learners.values(), baseline in values),
    )


def _axis_values(
    learners: Iterable[TunedLearner], choice: RiskEstimate | None, document: Assessment
) -> list[float]:
    """Return all risks and ends of intervals that the axis of the optimism ladder has to show."""
    honest_risks = [learner.risk for learner in learners] + ([choice] if choice else [])
    all_values = [
        *(axis_value for estimate in honest_risks for axis_value in estimate.ends),
        *(value_of(learner.selected) for learner in learners if learner.optimism is not None),
        *(value_of(learner.apparent) for learner in learners),
    ]
    values = [v for v in all_values if v is not None]
    baseline, margin = (
        document.baseline,
        MAX_BASELINE_DISTANCE_IN_RANGES * (max(values) - min(values)),
    )
    if baseline is not None and min(values) - margin <= baseline <= max(values) + margin:
        values.append(baseline)  # A baseline further away would compress all other values.
    return values


def _draw_rung(drawing: Drawing, name: str, learner: TunedLearner, y: float) -> None:
    honest_estimate, apparent_value = learner.risk, value_of(learner.apparent)
    selected_value = None if learner.optimism is None else value_of(learner.selected)
    risk_noun = learner.risk.scale.noun
    drawing.row(y, name)
    risks = [v for v in (honest_estimate.value, selected_value, apparent_value) if v is not None]
    drawing.slope(min(risks), y, max(risks), y, "way")
    _draw_honest_risk(drawing, honest_estimate, y, f"{name}: honest {risk_noun}")
    if selected_value is not None:
        tooltip = f"{name}: selected {risk_noun} {number(selected_value)}"
        drawing.point(selected_value, y, "hollow s1", tooltip, shape="diamond", size=3.8)
    if apparent_value is not None:
        tooltip = f"{name}: apparent {risk_noun} {number(apparent_value)}"
        drawing.point(apparent_value, y, "hollow muted", tooltip, size=3)


def _draw_honest_risk(drawing: Drawing, estimate: WithInterval, y: float, tooltip: str) -> None:
    if estimate.value is None:
        return
    tooltip += f" {number(estimate.value)}"
    tooltip += f", interval {estimate.interval}" if estimate.interval else ""
    drawing.estimate(estimate.value, estimate.interval, y, tooltip, size=5.6)


def _describe_ladder(document: Assessment) -> str:
    best_learner = document.best_learner
    return (
        f"{document.scale.noun.capitalize()}s of {len(document.learners)} learners. The best, "
        f"{escape_and_truncate(document.best, 60)}: apparent "
        f"{number(value_of(best_learner.apparent))}, selected "
        f"{number(value_of(best_learner.selected))}, honest {number(best_learner.risk.value)}. "
        "The table below has all numbers."
    )


def _legend_entries(
    document: Assessment, learners: Collection[TunedLearner], is_baseline_drawn: bool
) -> tuple[Key, ...]:
    legend = []
    if any(learner.apparent for learner in learners):
        legend.append(Key("hollow muted", "apparent"))
    if any(learner.optimism is not None for learner in learners):
        legend.append(Key("hollow s1", "selected", "diamond"))
    level = percent(document.confidence_level)
    legend.append(Key("s0", f"honest, with its {level} interval", "span"))
    if document.baseline is not None:
        baseline_text = (
            f"{escape_and_truncate(document.baseline_rule or '', 60)}: {number(document.baseline)}"
        )
        legend.append(
            Key(
                "baseline",
                baseline_text if is_baseline_drawn else f"{baseline_text}, beyond the axis",
                "line",
            )
        )
    return tuple(legend)


def _learners_table(document: Assessment) -> FigureTable:
    rows = [
        [
            escape_and_truncate(name, 60),
            number(value_of(learner.apparent)),
            number(value_of(learner.selected)),
            number(learner.risk.value),
            str(learner.risk.interval or "none"),
            signed_number(learner.optimism, learner.risk.value),
        ]
        for name, learner in document.ranked_learners.items()
    ]
    if document.choice is not None:
        choice = document.choice
        choice_value = number(choice.value)
        rows.append([WHOLE_SEARCH, "–", "–", choice_value, str(choice.interval or "none"), "–"])
    return FigureTable.from_rows(
        ("learner", "apparent", "selected", "honest", "interval", "optimism"), rows
    )


def value_of(estimate: RiskEstimate | None) -> float | None:
    """Return the value of an estimate, or None if there is no estimate."""
    return None if estimate is None else estimate.value


BOX_ROW_HEIGHT, BOX_TOP_MARGIN = 38, 12


def draw_boxes(document: Assessment, max_learners: int | None = MAX_LEARNERS) -> Figure | None:
    """Draw a box plot of split risks per learner; return None if no learner had random splits."""
    scale = document.scale
    all_risks = {
        name: tuple(scale.value(v) for v in risks.tolist() if isfinite(v))
        for name, risks in document.monte_carlo.items()
    }
    risks = {name: values for name, values in all_risks.items() if len(values) > 1}
    if not risks:
        return None
    ordered_names = [name for name in document.ranking if name in risks]
    ordered_names += [name for name in risks if name not in ordered_names]
    drawn_names = ordered_names[:max_learners]
    drawn_risks = [v for name in drawn_names for v in risks[name]]
    risk_noun = scale.noun
    has_free_start = min(drawn_risks) < 0 or scale.perfect is not None
    title, descriptions = (
        f"{risk_noun.capitalize()}s of single splits",
        (_summary(name, risks[name]) for name in drawn_names),
    )
    x = PixelScale.around(
        drawn_risks, LEFT_MARGIN, WIDTH - 14, floor_at=None if has_free_start else -0.01
    )
    drawing = drawing_of_rows(
        title, "; ".join(descriptions), x, len(drawn_names), BOX_ROW_HEIGHT, BOX_TOP_MARGIN
    )
    drawing.bottom_axis(f"{risk_noun} of one split ({shorten(document.named_scoring, 30)})")
    for i, name in enumerate(drawn_names):
        five_values = five_numbers(risks[name])
        drawing.row(i + 0.5, escape_and_truncate(name, 60))
        drawing.box(five_values, i + 0.5, 10, "s0", _summary(name, risks[name]))
        for outlier in sorted(
            {v for v in risks[name] if not five_values[0] <= v <= five_values[4]}
        ):
            tooltip = f"{escape_and_truncate(name, 60)}: {number(outlier)}"
            drawing.point(outlier, i + 0.5, "hollow s0", tooltip, size=2.5)
    n_splits = max(len(values) for values in risks.values())
    rows = []
    for name in ordered_names:
        values = np.array(risks[name])
        quartiles = [number(float(q)) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])]
        rows.append(
            [
                escape_and_truncate(name, 60),
                str(len(values)),
                *quartiles,
                number(float(values.mean())),
            ]
        )
    header = ("learner", "splits", "least", "first quartile", "median", "third quartile", "largest")
    return Figure(
        name="boxes",
        title="How much single splits differ",
        drawing=drawing,
        caption=(
            f"{risk_noun.capitalize()}s of {n_splits} random splits. Box: quartiles and median; "
            "whiskers reach to the last value within 1.5 interquartile ranges of the box. The "
            "spread is that of single test sets, not the standard error of their mean."
        ),
        table=FigureTable.from_rows((*header, "mean"), rows),
        keys=(Key("s0", "quartiles, median, whiskers", "box"), Key("hollow s0", "beyond them")),
    )


def _summary(name: str, values: Sequence[float]) -> str:
    low, first_quartile, median, third_quartile, high = five_numbers(values)
    return (
        f"{escape_and_truncate(name, 60)}: median {number(median)}, quartiles "
        f"{number(first_quartile)} and "
        f"{number(third_quartile)}, whiskers {number(low)} and {number(high)}"
    )


BAR_ROW_HEIGHT, BAR_TOP_MARGIN = 30, 8


def draw_stability(document: Assessment, max_learners: int | None = MAX_LEARNERS) -> Figure | None:
    """Draw a bar per tuned learner, a segment per chosen setting; return None without a bar."""
    tuned_learners = {
        name: tuned_learner
        for name, tuned_learner in document.ranked_learners.items()
        if len(tuned_learner.curve) > 1 and tuned_learner.stability.frequencies
    }
    if not tuned_learners:
        return None
    shown_learners = {name: tuned_learners[name] for name in list(tuned_learners)[:max_learners]}
    title, x = "Stability of the chosen settings", PixelScale(0, 100, LEFT_MARGIN, WIDTH - 16)
    descriptions = (
        f"{escape_and_truncate(n, 60)}: {o.stability.agreement:.0%} agree"
        for n, o in shown_learners.items()
    )
    drawing = drawing_of_rows(
        title, "; ".join(descriptions), x, len(shown_learners), BAR_ROW_HEIGHT, BAR_TOP_MARGIN
    )
    drawing.bottom_axis("outer splits that chose the setting, %")
    for i, (name, learner) in enumerate(shown_learners.items()):
        drawing.row(i + 0.5, escape_and_truncate(name, 60))
        n_splits = sum(learner.stability.frequencies.values())
        left_end = 0.0
        for candidate, count in _sorted_choices(learner):
            share = 100 * count / n_splits
            css_class = "s0" if candidate == learner.curve.best else "other"
            tooltip = f"{setting_text(learner.curve.candidates[candidate])}: {count} of {n_splits}"
            drawing.bar(left_end, left_end + share, i + 0.2, i + 0.8, css_class, tooltip)
            left_end += share
    return Figure(
        name="stability",
        title="Whether other rows would have chosen the same",
        drawing=drawing,
        caption=(
            "Each outer split chose its own setting. The filled part is the share of splits that "
            "chose the setting of all rows; each further part is another setting. Where few agree, "
            "the setting is arbitrary, and the honest number takes that into account."
        ),
        table=_choices_table(tuned_learners),
        keys=(Key("s0", "the setting chosen on all rows", "cell"), Key("other", "others", "cell")),
    )


def _sorted_choices(learner: TunedLearner) -> list[tuple[int, int]]:
    """Sort settings by how often splits chose them, after the setting chosen on all rows."""
    counts, best_setting = learner.stability.frequencies, learner.curve.best
    return sorted(counts.items(), key=lambda pair: (pair[0] != best_setting, -pair[1]))


def _choices_table(tuned_learners: Mapping[str, TunedLearner]) -> FigureTable:
    rows = [
        [
            escape_and_truncate(name, 60),
            setting_text(learner.curve.candidates[setting]),
            f"{count} of {learner.stability.n_splits}",
            "yes" if setting == learner.curve.best else "",
        ]
        for name, learner in tuned_learners.items()
        for setting, count in _sorted_choices(learner)
    ]
    return FigureTable.from_rows(("learner", "setting", "outer splits", "chosen on all rows"), rows)
