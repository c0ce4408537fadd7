"""Figures that compare learners: optimism ladder, risks of single splits, and chosen settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isfinite

import numpy as np

from truerisk.assessment.assessment import Assessment
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.core.formats import escape_and_truncate, format_number, format_percent, signed_number
from truerisk.core.tables import five_numbers
from truerisk.report.figure import Figure, FigureTable, LegendKey
from truerisk.report.svg import DRAWING_WIDTH, Drawing, PixelScale, make_row_drawing, shorten
from truerisk.results.interval import ResultWithInterval
from truerisk.results.results import RiskEstimate
from truerisk.results.sentences import WHOLE_SEARCH_LABEL, describe_honest_risk, format_setting

ROW_HEIGHT = 34
TOP_MARGIN = 14
LEFT_MARGIN = 118
MAX_LEARNERS = 12  # Maximum number of learners in the figure; its table has all learners.
# Maximum distance of a baseline from the risks, as a multiple of the range of the risks.
# A baseline further away is named in the text, but not drawn.
MAX_BASELINE_DISTANCE_IN_RANGES = 1.0


def draw_ladder(assessment: Assessment, max_learners: int | None = MAX_LEARNERS) -> Figure | None:
    """Draw a row for each learner with its apparent, selected and honest risk.

    The result is None if no learner has a risk.
    """
    learners_with_risk = {
        n: tuned_learner
        for n, tuned_learner in assessment.ranked_learners.items()
        if tuned_learner.risk.value is not None
    }
    drawn_learners = {
        name: learners_with_risk[name] for name in list(learners_with_risk)[:max_learners]
    }
    if not drawn_learners:
        return None
    choice_risk = (
        assessment.choice if assessment.choice and assessment.choice.value is not None else None
    )
    n_rows = len(drawn_learners) + (choice_risk is not None)
    values = _axis_values(drawn_learners.values(), choice_risk, assessment)
    # Most losses are never negative, so their axis does not extend below 0.
    # The axis of scores, and of a loss with negative values, may start at any number.
    has_free_axis_start = min(values) < 0 or assessment.scale.perfect is not None
    x_scale = PixelScale.from_values(
        values,
        LEFT_MARGIN,
        DRAWING_WIDTH - 14,
        floor_at=None if has_free_axis_start else -0.004 * max(values),
    )
    drawing = make_row_drawing(
        "Optimism ladder", _describe_ladder(assessment), x_scale, n_rows, ROW_HEIGHT, TOP_MARGIN
    )
    direction_text = "" if assessment.scale.perfect is not None else ", lower is better"
    drawing.bottom_axis(
        f"{assessment.scale.axis_label(shorten(assessment.named_scoring, 30))}{direction_text}"
    )
    baseline = assessment.baseline
    if baseline is not None and baseline in values:
        drawing.vertical_line(baseline, "baseline")
    for index, (name, learner) in enumerate(drawn_learners.items()):
        _draw_rung(drawing, escape_and_truncate(name, 60), learner, index + 0.5)
    if choice_risk is not None:
        drawing.row_label(len(drawn_learners) + 0.5, WHOLE_SEARCH_LABEL)
        tooltip = f"{WHOLE_SEARCH_LABEL}: honest {assessment.scale.noun}"
        _draw_honest_risk(drawing, choice_risk, len(drawn_learners) + 0.5, tooltip)
    scale, is_tuned = assessment.scale, assessment.tuned
    selected_label = (
        f"{assessment.selected_scale.selected_label.capitalize()}. " if is_tuned else ""
    )
    optimism_direction = "left to right" if scale.perfect is None else "right to left"
    return Figure(
        name="ladder",
        title="From the flattering number to the honest one",
        drawing=drawing,
        caption=(
            f"Apparent: the rows that were fitted, predicted again. {selected_label}Honest: "
            f"{describe_honest_risk(scale.noun, assessment.tested_by, is_tuned=is_tuned)}, with "
            "its "
            f"interval. The distance from {optimism_direction} is the optimism."
        ),
        table=_learners_table(assessment),
        keys=_legend_entries(assessment, drawn_learners.values(), baseline in values),
    )


def _axis_values(
    learners: Iterable[TunedLearner], choice_risk: RiskEstimate | None, assessment: Assessment
) -> list[float]:
    """Return all risks and ends of intervals that the axis of the optimism ladder has to show."""
    honest_risks = [learner.risk for learner in learners] + ([choice_risk] if choice_risk else [])
    all_values = [
        *(axis_value for estimate in honest_risks for axis_value in estimate.ends),
        *(value_or_none(learner.selected) for learner in learners if learner.optimism is not None),
        *(value_or_none(learner.apparent) for learner in learners),
    ]
    values = [value for value in all_values if value is not None]
    baseline, max_baseline_distance = (
        assessment.baseline,
        MAX_BASELINE_DISTANCE_IN_RANGES * (max(values) - min(values)),
    )
    if (
        baseline is not None
        and min(values) - max_baseline_distance <= baseline <= max(values) + max_baseline_distance
    ):
        values.append(baseline)  # A distant baseline would compress all other values.
    return values


def _draw_rung(drawing: Drawing, name: str, learner: TunedLearner, y: float) -> None:
    honest_estimate, apparent_value = learner.risk, value_or_none(learner.apparent)
    selected_value = None if learner.optimism is None else value_or_none(learner.selected)
    risk_noun = learner.risk.scale.noun
    drawing.row_label(y, name)
    risks = [
        value
        for value in (honest_estimate.value, selected_value, apparent_value)
        if value is not None
    ]
    drawing.segment(min(risks), y, max(risks), y, "way")
    _draw_honest_risk(drawing, honest_estimate, y, f"{name}: honest {risk_noun}")
    if selected_value is not None:
        tooltip = f"{name}: selected {risk_noun} {format_number(selected_value)}"
        drawing.point(selected_value, y, "hollow s1", tooltip, shape="diamond", size=3.8)
    if apparent_value is not None:
        tooltip = f"{name}: apparent {risk_noun} {format_number(apparent_value)}"
        drawing.point(apparent_value, y, "hollow muted", tooltip, size=3)


def _draw_honest_risk(
    drawing: Drawing, estimate: ResultWithInterval, y: float, tooltip: str
) -> None:
    if estimate.value is None:
        return
    tooltip += f" {format_number(estimate.value)}"
    tooltip += f", interval {estimate.interval}" if estimate.interval else ""
    drawing.point_with_interval(estimate.value, estimate.interval, y, tooltip, size=5.6)


def _describe_ladder(assessment: Assessment) -> str:
    best_learner = assessment.best_learner
    return (
        f"{assessment.scale.noun.capitalize()}s of {len(assessment.learners)} learners. The best, "
        f"{escape_and_truncate(assessment.best, 60)}: apparent "
        f"{format_number(value_or_none(best_learner.apparent))}, selected "
        f"{format_number(value_or_none(best_learner.selected))}, honest "
        f"{format_number(best_learner.risk.value)}. "
        "The table below has all numbers."
    )


def _legend_entries(
    document: Assessment, learners: Collection[TunedLearner], is_baseline_drawn: bool
) -> tuple[LegendKey, ...]:
    legend = []
    if any(learner.apparent for learner in learners):
        legend.append(LegendKey("hollow muted", "apparent"))
    if any(learner.optimism is not None for learner in learners):
        legend.append(LegendKey("hollow s1", "selected", "diamond"))
    level_text = format_percent(document.confidence_level)
    legend.append(LegendKey("s0", f"honest, with its {level_text} interval", "span"))
    if document.baseline is not None:
        baseline_text = (
            f"{escape_and_truncate(document.baseline_rule or '', 60)}: "
            f"{format_number(document.baseline)}"
        )
        legend.append(
            LegendKey(
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
            format_number(value_or_none(learner.apparent)),
            format_number(value_or_none(learner.selected)),
            format_number(learner.risk.value),
            str(learner.risk.interval or "none"),
            signed_number(learner.optimism, learner.risk.value),
        ]
        for name, learner in document.ranked_learners.items()
    ]
    if document.choice is not None:
        choice_risk = document.choice
        choice_value = format_number(choice_risk.value)
        rows.append(
            [WHOLE_SEARCH_LABEL, "–", "–", choice_value, str(choice_risk.interval or "none"), "–"]
        )
    return FigureTable.from_rows(
        ("learner", "apparent", "selected", "honest", "interval", "optimism"), rows
    )


def value_or_none(estimate: RiskEstimate | None) -> float | None:
    """Return the value of an estimate, or None if there is no estimate."""
    return None if estimate is None else estimate.value


BOX_ROW_HEIGHT, BOX_TOP_MARGIN = 38, 12


def draw_boxes(assessment: Assessment, max_learners: int | None = MAX_LEARNERS) -> Figure | None:
    """Draw a box plot for each learner that shows its risks in the single splits.

    The result is None if no learner was tested in random splits.
    """
    scale = assessment.scale
    finite_split_risks = {
        name: tuple(scale.value(value) for value in risks.tolist() if isfinite(value))
        for name, risks in assessment.monte_carlo.items()
    }
    risks = {name: values for name, values in finite_split_risks.items() if len(values) > 1}
    if not risks:
        return None
    learner_names = [name for name in assessment.ranking if name in risks]
    learner_names += [name for name in risks if name not in learner_names]
    drawn_names = learner_names[:max_learners]
    drawn_risks = [value for name in drawn_names for value in risks[name]]
    risk_noun = scale.noun
    has_free_axis_start = min(drawn_risks) < 0 or scale.perfect is not None
    title, descriptions = (
        f"{risk_noun.capitalize()}s of single splits",
        (_summary(name, risks[name]) for name in drawn_names),
    )
    x_scale = PixelScale.from_values(
        drawn_risks,
        LEFT_MARGIN,
        DRAWING_WIDTH - 14,
        floor_at=None if has_free_axis_start else -0.01,
    )
    drawing = make_row_drawing(
        title, "; ".join(descriptions), x_scale, len(drawn_names), BOX_ROW_HEIGHT, BOX_TOP_MARGIN
    )
    drawing.bottom_axis(f"{risk_noun} of one split ({shorten(assessment.named_scoring, 30)})")
    for i, name in enumerate(drawn_names):
        five_values = five_numbers(risks[name])
        drawing.row_label(i + 0.5, escape_and_truncate(name, 60))
        drawing.box(five_values, i + 0.5, 10, "s0", _summary(name, risks[name]))
        for outlier in sorted(
            {value for value in risks[name] if not five_values[0] <= value <= five_values[4]}
        ):
            tooltip = f"{escape_and_truncate(name, 60)}: {format_number(outlier)}"
            drawing.point(outlier, i + 0.5, "hollow s0", tooltip, size=2.5)
        mean = float(np.mean(risks[name]))
        drawing.point(
            mean, i + 0.5, "s1", f"{escape_and_truncate(name, 60)}: mean {format_number(mean)}"
        )
    n_splits = max(len(values) for values in risks.values())
    rows = []
    for name in learner_names:
        values = np.array(risks[name])
        quartiles = [format_number(float(q)) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])]
        rows.append(
            [
                escape_and_truncate(name, 60),
                str(len(values)),
                *quartiles,
                format_number(float(values.mean())),
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
        keys=(
            LegendKey("s0", "quartiles, median, whiskers", "box"),
            LegendKey("hollow s0", "beyond them"),
            LegendKey("s1", "mean"),
        ),
    )


def _summary(name: str, values: Sequence[float]) -> str:
    low, first_quartile, median, third_quartile, high = five_numbers(values)
    return (
        f"{escape_and_truncate(name, 60)}: median {format_number(median)}, quartiles "
        f"{format_number(first_quartile)} and "
        f"{format_number(third_quartile)}, whiskers {format_number(low)} and {format_number(high)}"
    )


BAR_ROW_HEIGHT, BAR_TOP_MARGIN = 30, 8


def draw_stability(
    assessment: Assessment, max_learners: int | None = MAX_LEARNERS
) -> Figure | None:
    """Draw a bar for each tuned learner that shows how often each setting was chosen.

    Each segment of a bar is a setting. The result is None if no learner was tuned.
    """
    tuned_learners = {
        name: tuned_learner
        for name, tuned_learner in assessment.ranked_learners.items()
        if len(tuned_learner.curve) > 1 and tuned_learner.stability.frequencies
    }
    if not tuned_learners:
        return None
    drawn_learners = {name: tuned_learners[name] for name in list(tuned_learners)[:max_learners]}
    title, x_scale = (
        "Stability of the chosen settings",
        PixelScale(0, 100, LEFT_MARGIN, DRAWING_WIDTH - 16),
    )
    descriptions = (
        f"{escape_and_truncate(n, 60)}: {drawn_learner.stability.agreement:.0%} agree"
        for n, drawn_learner in drawn_learners.items()
    )
    drawing = make_row_drawing(
        title, "; ".join(descriptions), x_scale, len(drawn_learners), BAR_ROW_HEIGHT, BAR_TOP_MARGIN
    )
    drawing.bottom_axis("outer splits that chose the setting, %")
    for i, (name, learner) in enumerate(drawn_learners.items()):
        drawing.row_label(i + 0.5, escape_and_truncate(name, 60))
        n_splits = sum(learner.stability.frequencies.values())
        segment_start = 0.0
        for candidate, count in _sort_chosen_settings(learner):
            percentage = 100 * count / n_splits
            css_class = "s0" if candidate == learner.curve.best else "other"
            tooltip = (
                f"{format_setting(learner.curve.candidates[candidate])}: {count} of {n_splits}"
            )
            drawing.bar(
                segment_start, segment_start + percentage, i + 0.2, i + 0.8, css_class, tooltip
            )
            segment_start += percentage
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
        keys=(
            LegendKey("s0", "the setting chosen on all rows", "cell"),
            LegendKey("other", "others", "cell"),
        ),
    )


def _sort_chosen_settings(learner: TunedLearner) -> list[tuple[int, int]]:
    """Sort the settings of a learner that outer splits chose, with the number of these splits.

    The setting chosen on all rows comes first, then the others from most to least often chosen.
    """
    split_counts, best_setting = learner.stability.frequencies, learner.curve.best
    return sorted(split_counts.items(), key=lambda pair: (pair[0] != best_setting, -pair[1]))


def _choices_table(tuned_learners: Mapping[str, TunedLearner]) -> FigureTable:
    rows = [
        [
            escape_and_truncate(name, 60),
            format_setting(learner.curve.candidates[candidate]),
            f"{count} of {learner.stability.n_splits}",
            "yes" if candidate == learner.curve.best else "",
        ]
        for name, learner in tuned_learners.items()
        for candidate, count in _sort_chosen_settings(learner)
    ]
    return FigureTable.from_rows(("learner", "setting", "outer splits", "chosen on all rows"), rows)
