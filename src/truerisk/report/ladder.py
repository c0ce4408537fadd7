"""The optimism ladder: apparent risk, the risk that tuning minimised, and the honest one."""

from __future__ import annotations

from truerisk.core.present import clean, number, signed
from truerisk.report.document import Document, LearnerRecord
from truerisk.report.estimates import Estimate
from truerisk.report.figure import Figure, FigureTable, Key, columns_of
from truerisk.report.scale import Scale
from truerisk.report.svg import WIDTH, Drawing

__all__ = ["draw_ladder", "interval_text", "signed_text"]

ROW = 34
TOP = 14
LEFT = 118
MOST = 12  # learners drawn; the table has all
FAR = 1.0  # a baseline further out than so many widths of the rest is named, not drawn
CHOICE = "whole search"


def draw_ladder(document: Document) -> Figure | None:
    """One rung per learner, from left (flattering) to right (honest); None without any risk."""
    shown = [one for one in document.learners if one.honest.value is not None][:MOST]
    if not shown:
        return None
    choice = document.choice if document.choice and document.choice.value is not None else None
    n_rows = len(shown) + (choice is not None)
    bottom = TOP + n_rows * ROW
    values = _values(shown, choice, document)
    drawing = Drawing(
        title="Optimism ladder",
        about=_about(document),
        height=bottom + 42,
        x=Scale.around(values, LEFT, WIDTH - 14, floor_at=_floor(values)),
        y=Scale(0, n_rows, TOP, bottom),
    )
    drawing.bottom_axis(f"risk ({columns_of(document.loss, 30)}), lower is better")
    if document.baseline is not None and document.baseline in values:
        drawing.upright(document.baseline, "baseline")
    for i, learner in enumerate(shown):
        _rung(drawing, learner, i + 0.5)
    if choice is not None:
        _label(drawing, CHOICE, len(shown) + 0.5)
        _honest(drawing, choice, len(shown) + 0.5, f"{CHOICE}: honest risk {number(choice.value)}")
    return Figure(
        name="ladder",
        title="From the flattering number to the honest one",
        drawing=drawing,
        caption=_caption(tuned=document.tuned),
        table=_table(document),
        keys=_keys(document, shown, document.baseline in values),
    )


def _caption(*, tuned: bool) -> str:
    selected = "Selected: the score that tuning minimised, as an error. " if tuned else ""
    return (
        f"Apparent: the rows that were fitted, predicted again. {selected}Honest: risk on rows "
        f"without part in fitting{' or tuning' if tuned else ''}, with its interval. The way from "
        "left to right is optimism."
    )


def _values(shown: list[LearnerRecord], choice: Estimate | None, document: Document) -> list[float]:
    """All that the axis must show."""
    honest = [one.honest for one in shown] + ([choice] if choice else [])
    estimates = [
        *honest,
        *(one.selected for one in shown if one.selected and _comparable(one)),
        *(one.apparent for one in shown if one.apparent),
    ]
    ends = [end for e in honest if e.interval for end in (e.interval.low, e.interval.high)]
    values = [v for v in (*(e.value for e in estimates), *ends) if v is not None]
    baseline = document.baseline
    if baseline is not None and baseline <= max(values) + FAR * (max(values) - min(values)):
        values.append(baseline)  # further away it would press all others into a corner
    return values


def _floor(values: list[float]) -> float | None:
    """Most losses are never negative; where one is, the axis goes below 0 too."""
    return None if min(values) < 0 else -0.004 * max(values)


def _comparable(learner: LearnerRecord) -> bool:
    return learner.optimism is not None


def _rung(drawing: Drawing, learner: LearnerRecord, y: float) -> None:
    honest, selected = learner.honest, learner.minimised
    _label(drawing, learner.shown, y)
    steps = [honest.value]
    if _comparable(learner):
        steps.append(selected)
    if learner.apparent and learner.apparent.value is not None:
        steps.append(learner.apparent.value)
    known = [v for v in steps if v is not None]
    drawing.slope(min(known), y, max(known), y, "way")
    _honest(drawing, honest, y, f"{learner.shown}: honest risk {number(honest.value)}")
    if _comparable(learner) and selected is not None:
        said = f"{learner.shown}: selected risk {number(selected)}"
        drawing.point(selected, y, "hollow s1", said, shape="diamond", size=3.8)
    if learner.apparent and learner.apparent.value is not None:
        said = f"{learner.shown}: apparent risk {number(learner.apparent.value)}"
        drawing.point(learner.apparent.value, y, "hollow muted", said, size=3)


def _honest(drawing: Drawing, estimate: Estimate, y: float, said: str) -> None:
    if estimate.value is None:
        return
    if estimate.interval:
        drawing.span(estimate.interval.low, estimate.interval.high, y, "s0")
        said += f", interval {estimate.interval}"
    drawing.point(estimate.value, y, "s0", said, size=5.6)


def _label(drawing: Drawing, name: str, y: float) -> None:
    drawing.text(LEFT - 10, drawing.y(y) + 4, columns_of(name, 16), "name", anchor="end")


def _about(document: Document) -> str:
    best = document.best
    return (
        f"Risks of {len(document.learners)} learners. The best, {best.shown}: apparent "
        f"{number(best.apparent.value if best.apparent else None)}, selected "
        f"{number(best.minimised)}, honest {number(best.honest.value)}. "
        "The table below has all numbers."
    )


def _keys(document: Document, shown: list[LearnerRecord], near: bool) -> tuple[Key, ...]:
    keys = []
    if any(one.apparent for one in shown):
        keys.append(Key("hollow muted", "apparent"))
    if any(_comparable(one) for one in shown):
        keys.append(Key("hollow s1", "selected", "diamond"))
    level = f"{100 * document.level:g} %"
    keys.append(Key("s0", f"honest, with its {level} interval", "span"))
    if document.baseline is not None:
        said = f"{clean(document.baseline_rule, 60)}: {number(document.baseline)}"
        keys.append(Key("baseline", said if near else f"{said}, beyond the axis", "line"))
    return tuple(keys)


def _table(document: Document) -> FigureTable:
    rows = [
        [
            one.shown,
            number(one.apparent.value if one.apparent else None),
            number(one.minimised),
            number(one.honest.value),
            interval_text(one.honest),
            signed_text(one.optimism, one.honest.value),
        ]
        for one in document.learners
    ]
    if document.choice is not None:
        choice = document.choice
        rows.append([CHOICE, "–", "–", number(choice.value), interval_text(choice), "–"])
    return FigureTable.of(
        ("learner", "apparent", "selected", "honest", "interval", "optimism"), rows
    )


def interval_text(estimate: Estimate) -> str:
    """The interval, or the word none."""
    return "none" if estimate.interval is None else str(estimate.interval)


def signed_text(value: float | None, beside: float | None) -> str:
    """A difference with its sign, to the precision of the risk it stands beside."""
    return "–" if value is None else signed(value, beside)
