"""The figures of an audit: from the claimed to the honest risk, and all settings tried."""

from __future__ import annotations

import numpy as np

from truerisk.auditing.outcome import Audit, DeclaredOutcome
from truerisk.core.formats import number, percent
from truerisk.report.figure import Figure, FigureTable, Key, thinned
from truerisk.report.svg import WIDTH, Drawing, PixelScale, columns_of, of_rows
from truerisk.results.interval import WithInterval
from truerisk.results.results import RiskEstimate
from truerisk.results.sentences import setting_text

ROW, TOP, LEFT = 40, 14, 92
HEIGHT, MARGIN = 300, 52
LOOKS = {
    "claimed": ("hollow s1", "diamond"),
    "rough": ("hollow muted", "square"),
    "choosing": ("hollow s0", "dot"),
}

HONEST = (
    "The vertical line is the claim. Where it crosses the honest interval, these rows do not "
    "refute it; its distance to the honest {} is the optimism."
)
ROUGH = (
    "The vertical line is the claim. The correction uses only the scores of the splits; it may be "
    "too large or too small, and has no interval."
)


def draw_claim(audit: Audit) -> Figure | None:
    """Draw one row each for the claimed, rough and honest risk.

    Return None without the last two.
    """
    rungs: list[tuple[str, RiskEstimate | DeclaredOutcome | None]] = [
        ("claimed", audit.claimed),
        ("rough", audit.rough),
        ("choosing", audit.choosing),
    ]
    if not audit.is_rough:
        rungs.append(("honest", audit.honest))
    shown = [(name, own) for name, own in rungs if own is not None and own.value is not None]
    if len(shown) < 2:
        return None
    rough, scale, noun = audit.is_rough, audit.scale, audit.scale.noun
    about = "; ".join(_label(name, own, noun) for name, own in shown)
    x = PixelScale.around([end for _, own in shown for end in own.ends], LEFT, WIDTH - 14)
    drawing = of_rows(f"The claim and the honest {noun}", about, x, len(shown), ROW, TOP)
    lower = "" if scale.perfect is not None else ", lower is better"
    drawing.bottom_axis(f"{scale.axis(columns_of(audit.claimed.scoring, 30))}{lower}")
    drawing.upright(audit.claimed.value, "baseline")
    for i, (name, own) in enumerate(shown):
        _rung(drawing, name, own, i + 0.5, noun)
    return Figure(
        name="claim",
        title=f"From the claim to the {'corrected' if rough else 'honest'} {noun}",
        drawing=drawing,
        caption=ROUGH if rough else HONEST.format(noun),
        table=FigureTable.from_rows(
            (noun, "value", "interval"),
            [[name, number(own.value), str(own.interval or "none")] for name, own in shown],
        ),
        keys=tuple(_key(name, audit) for name, _ in shown),
    )


def _rung(drawing: Drawing, name: str, own: WithInterval, y: float, noun: str) -> None:
    assert own.value is not None
    drawing.row(y, name)
    look, shape = LOOKS.get(name, ("s0", "dot"))
    size, tip = 5.6 if name == "honest" else 4, _label(name, own, noun)
    drawing.estimate(own.value, own.interval, y, tip, look, shape=shape, size=size)


def _label(name: str, own: WithInterval, noun: str) -> str:
    text = f"{name} {noun} {number(own.value)}"
    return text if own.interval is None else f"{text}, interval {own.interval}"


def _key(name: str, audit: Audit) -> Key:
    if name == "honest":
        ends = f", with its {percent(audit.confidence_level)} interval"
        has = audit.honest is not None and audit.honest.interval is not None
        return Key("s0", f"honest{ends if has else ''}", "span" if has else "point")
    look, shape = LOOKS[name]
    return Key(look, name, shape)


# ---------------------------------------------------------------- all settings


def draw_settings(audit: Audit) -> Figure | None:
    """Draw the measured risks of all settings, the best first; return None for fewer than three."""
    scale = audit.scale
    scores = [(risk, c) for c, risk in enumerate(audit.risks) if risk is not None]
    if len(scores) < 3:
        return None
    ordered = sorted(scores, key=lambda pair: (scale.gap(pair[0]), pair[1]))
    places, middle = thinned(len(ordered)), float(np.median([risk for risk, _ in ordered]))
    honest = None if audit.honest is None else audit.honest.value
    shown = [risk for risk, _ in ordered] + ([] if honest is None else [honest])
    drawing = Drawing(
        title="All settings that were tried",
        about=(
            f"{len(ordered)} measured {scale.noun}s from {number(ordered[0][0])} to "
            f"{number(ordered[-1][0])}, median {number(middle)}; chosen was "
            f"{setting_text(audit.claimed.params)} with {number(audit.claimed.value)}."
        ),
        height=HEIGHT,
        x=PixelScale.around([1, len(ordered)], MARGIN, WIDTH - 14, margin=0.03),
        y=PixelScale.around(shown, HEIGHT - MARGIN, 26),
    )
    drawing.left_axis(scale.axis(columns_of(audit.claimed.scoring, 30)))
    ticks = [place for place in drawing.x.ticks(6) if place >= 1]
    drawing.bottom_axis("settings, the best on the left", ticks)
    if honest is not None:
        drawing.level(honest, "baseline")
    within = set(audit.within_one_error)
    for place in places:
        risk, candidate = ordered[place]
        look = "s0" if candidate in within else "hollow muted"
        drawing.point(
            place + 1,
            risk,
            look,
            f"{setting_text(audit.settings[candidate])}: {number(risk)}",
            size=3,
        )
    for place, (risk, candidate) in enumerate(ordered):
        if candidate == audit.chosen:
            drawing.point(place + 1, risk, "ring s0", size=7)
    keys = [Key("s0", "within one standard error of the best")] if audit.within_one_error else []
    keys += [Key("hollow muted", "other settings"), Key("s0", "chosen", "ring")]
    if honest is not None:
        rough = "roughly corrected" if audit.is_rough else f"honest {audit.scale.noun}"
        keys.append(Key("baseline", f"{rough}: {number(honest)}", "line"))
    return Figure(
        name="settings",
        title="All settings that were tried",
        drawing=drawing,
        caption=(
            "The score that the search measured for each setting. The best one, on the left, owes "
            "part of its lead to luck; filled points are within one standard error of it."
        ),
        table=_table(audit, ordered),
        keys=tuple(keys),
    )


def _table(audit: Audit, ordered: list[tuple[float, int]]) -> FigureTable:
    within = set(audit.within_one_error)
    rows = [
        [
            setting_text(audit.settings[c]),
            number(risk),
            "yes" if c in within else "no",
            "yes" if c == audit.chosen else "no",
        ]
        for risk, c in ordered
    ]
    head = ("setting", audit.scale.noun, "within one standard error", "chosen")
    return FigureTable.from_rows(head, rows)
