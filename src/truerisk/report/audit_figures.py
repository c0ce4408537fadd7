"""Figures of an audit: the claimed risk next to the honest risk, and all settings tried."""

from __future__ import annotations

import numpy as np

from truerisk.auditing.outcome import Audit, DeclaredOutcome
from truerisk.core.formats import format_number, format_percent
from truerisk.report.figure import Figure, FigureTable, LegendKey, evenly_spread_positions
from truerisk.report.svg import DRAWING_WIDTH, Drawing, PixelScale, make_row_drawing, shorten
from truerisk.results.interval import ResultWithInterval
from truerisk.results.results import RiskEstimate
from truerisk.results.sentences import format_setting

ROW_HEIGHT, TOP_MARGIN, LEFT_MARGIN = 40, 14, 92
HEIGHT, MARGIN = 300, 52
STYLES_BY_RISK = {
    "claimed": ("hollow s1", "diamond"),
    "rough": ("hollow muted", "square"),
    "choosing": ("hollow s0", "dot"),
}

HONEST_CAPTION = (
    "The vertical line is the claim. Where it crosses the honest interval, these rows do not "
    "refute it; its distance to the honest {} is the optimism."
)
ROUGH_CAPTION = (
    "The vertical line is the claim. The correction uses only the scores of the splits; it may be "
    "too large or too small, and has no interval."
)


def draw_claim(audit: Audit) -> Figure | None:
    """Draw one row for each of the claimed, roughly corrected and honest risks.

    Return None if only one of these risks is known.
    """
    named_risks: list[tuple[str, RiskEstimate | DeclaredOutcome | None]] = [
        ("claimed", audit.claimed),
        ("rough", audit.rough),
        ("choosing", audit.choosing),
    ]
    if not audit.is_rough:
        named_risks.append(("honest", audit.honest))
    known_risks = [
        (name, risk) for name, risk in named_risks if risk is not None and risk.value is not None
    ]
    if len(known_risks) < 2:
        return None
    is_rough, score_scale, risk_noun = audit.is_rough, audit.scale, audit.scale.noun
    description = "; ".join(_risk_text(name, risk, risk_noun) for name, risk in known_risks)
    x = PixelScale.from_values(
        [axis_value for _, risk in known_risks for axis_value in risk.ends],
        LEFT_MARGIN,
        DRAWING_WIDTH - 14,
    )
    drawing = make_row_drawing(
        f"The claim and the honest {risk_noun}",
        description,
        x,
        len(known_risks),
        ROW_HEIGHT,
        TOP_MARGIN,
    )
    direction_text = "" if score_scale.perfect is not None else ", lower is better"
    drawing.bottom_axis(
        f"{score_scale.axis_label(shorten(audit.claimed.named_scoring, 30))}{direction_text}"
    )
    drawing.vertical_line(audit.claimed.value, "baseline")
    for i, (name, risk) in enumerate(known_risks):
        _draw_rung(drawing, name, risk, i + 0.5, risk_noun)
    return Figure(
        name="claim",
        title=f"From the claim to the {'corrected' if is_rough else 'honest'} {risk_noun}",
        drawing=drawing,
        caption=ROUGH_CAPTION if is_rough else HONEST_CAPTION.format(risk_noun),
        table=FigureTable.from_rows(
            (risk_noun, "value", "interval"),
            [
                [name, format_number(risk.value), str(risk.interval or "none")]
                for name, risk in known_risks
            ],
        ),
        keys=tuple(_legend_entry(name, audit) for name, _ in known_risks),
    )


def _draw_rung(
    drawing: Drawing, name: str, risk: ResultWithInterval, y: float, risk_noun: str
) -> None:
    assert risk.value is not None
    drawing.row_label(y, name)
    css_class, marker = STYLES_BY_RISK.get(name, ("s0", "dot"))
    marker_size, tooltip = 5.6 if name == "honest" else 4, _risk_text(name, risk, risk_noun)
    drawing.point_with_interval(
        risk.value, risk.interval, y, tooltip, css_class, shape=marker, size=marker_size
    )


def _risk_text(name: str, risk: ResultWithInterval, risk_noun: str) -> str:
    text = f"{name} {risk_noun} {format_number(risk.value)}"
    return text if risk.interval is None else f"{text}, interval {risk.interval}"


def _legend_entry(name: str, audit: Audit) -> LegendKey:
    if name == "honest":
        interval_text = f", with its {format_percent(audit.confidence_level)} interval"
        has_interval = audit.honest is not None and audit.honest.interval is not None
        return LegendKey(
            "s0",
            f"honest{interval_text if has_interval else ''}",
            "span" if has_interval else "point",
        )
    css_class, marker = STYLES_BY_RISK[name]
    return LegendKey(css_class, name, marker)


# ---------------------------------------------------------------- risks of all settings


def draw_settings(audit: Audit) -> Figure | None:
    """Draw the measured risks of all settings, the best first.

    The result is None if fewer than three settings have a risk.
    """
    score_scale = audit.scale
    numbered_risks = [(risk, c) for c, risk in enumerate(audit.risks) if risk is not None]
    if len(numbered_risks) < 3:
        return None
    sorted_risks = sorted(
        numbered_risks, key=lambda pair: (score_scale.convert_difference(pair[0]), pair[1])
    )
    drawn_positions, median_risk = (
        evenly_spread_positions(len(sorted_risks)),
        float(np.median([risk for risk, _ in sorted_risks])),
    )
    honest_value = None if audit.honest is None else audit.honest.value
    axis_values = [risk for risk, _ in sorted_risks] + (
        [] if honest_value is None else [honest_value]
    )
    drawing = Drawing(
        title="All settings that were tried",
        description=(
            f"{len(sorted_risks)} measured {score_scale.noun}s from "
            f"{format_number(sorted_risks[0][0])} to "
            f"{format_number(sorted_risks[-1][0])}, median {format_number(median_risk)}; chosen "
            "was "
            f"{format_setting(audit.claimed.params)} with {format_number(audit.claimed.value)}."
        ),
        height=HEIGHT,
        x=PixelScale.from_values([1, len(sorted_risks)], MARGIN, DRAWING_WIDTH - 14, margin=0.03),
        y=PixelScale.from_values(axis_values, HEIGHT - MARGIN, 26),
    )
    drawing.left_axis(score_scale.axis_label(shorten(audit.claimed.named_scoring, 30)))
    ticks = [position for position in drawing.x.ticks(6) if position >= 1]
    drawing.bottom_axis("settings, the best on the left", ticks)
    if honest_value is not None:
        drawing.horizontal_line(honest_value, "baseline")
    near_best_candidates = set(audit.within_one_error)
    for position in drawn_positions:
        risk, candidate = sorted_risks[position]
        css_class = "s0" if candidate in near_best_candidates else "hollow muted"
        drawing.point(
            position + 1,
            risk,
            css_class,
            f"{format_setting(audit.settings[candidate])}: {format_number(risk)}",
            size=3,
        )
    for position, (risk, candidate) in enumerate(sorted_risks):
        if candidate == audit.chosen:
            drawing.point(position + 1, risk, "ring s0", size=7)
    legend_keys = (
        [LegendKey("s0", "within one standard error of the best")] if audit.within_one_error else []
    )
    legend_keys += [LegendKey("hollow muted", "other settings"), LegendKey("s0", "chosen", "ring")]
    if honest_value is not None:
        honest_text = "roughly corrected" if audit.is_rough else f"honest {audit.scale.noun}"
        legend_keys.append(
            LegendKey("baseline", f"{honest_text}: {format_number(honest_value)}", "line")
        )
    return Figure(
        name="settings",
        title="All settings that were tried",
        drawing=drawing,
        caption=(
            "The score that the search measured for each setting. The best one, on the left, owes "
            "part of its lead to luck; filled points are within one standard error of it."
        ),
        table=_settings_table(audit, sorted_risks),
        keys=tuple(legend_keys),
    )


def _settings_table(audit: Audit, sorted_risks: list[tuple[float, int]]) -> FigureTable:
    near_best_candidates = set(audit.within_one_error)
    rows = [
        [
            format_setting(audit.settings[candidate]),
            format_number(risk),
            "yes" if candidate in near_best_candidates else "no",
            "yes" if candidate == audit.chosen else "no",
        ]
        for risk, candidate in sorted_risks
    ]
    header = ("setting", audit.scale.noun, "within one standard error", "chosen")
    return FigureTable.from_rows(header, rows)
