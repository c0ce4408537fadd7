"""How often which setting won in the outer splits."""

from __future__ import annotations

from truerisk.report.document import Document, LearnerRecord
from truerisk.report.figure import Figure, FigureTable, Key, columns_of
from truerisk.report.scale import Scale
from truerisk.report.svg import WIDTH, Drawing

__all__ = ["draw_stability"]

ROW, TOP, LEFT, MOST = 30, 8, 118, 12


def draw_stability(document: Document) -> Figure | None:
    """One bar per tuned learner, a part for each setting that won; None where none was tuned."""
    tuned = [one for one in document.learners if len(one.curve.settings) > 1 and one.frequencies]
    if not tuned:
        return None
    shown = tuned[:MOST]
    bottom = TOP + ROW * len(shown)
    drawing = Drawing(
        title="Stability of the chosen settings",
        about="; ".join(f"{one.shown}: {one.agreement:.0%} agree" for one in shown),
        height=bottom + 42,
        x=Scale(0, 100, LEFT, WIDTH - 16),
        y=Scale(0, len(shown), TOP, bottom),
    )
    drawing.bottom_axis("outer splits that chose the setting, %")
    for i, learner in enumerate(shown):
        _bar(drawing, learner, i)
    return Figure(
        name="stability",
        title="Whether other rows would have chosen the same",
        drawing=drawing,
        caption=(
            "Each outer split tuned for itself. The filled part chose the setting that was chosen "
            "on all rows; each further part is another setting. Where few agree, the setting is "
            "arbitrary, and the honest risk counts that."
        ),
        table=_table(tuned),
        keys=(Key("s0", "the setting chosen on all rows", "cell"), Key("other", "others", "cell")),
    )


def _bar(drawing: Drawing, learner: LearnerRecord, row: int) -> None:
    name = columns_of(learner.shown, 16)
    drawing.text(LEFT - 10, drawing.y(row + 0.5) + 4, name, "name", anchor="end")
    total = sum(count for _, count in learner.frequencies)
    at = 0.0
    for setting, count in _ordered(learner):
        share = 100 * count / total
        look = "s0" if setting == learner.curve.best else "other"
        said = f"{learner.curve.said(setting)}: {count} of {total}"
        drawing.bar(at, at + share, row + 0.2, row + 0.8, look, said)
        at += share


def _ordered(learner: LearnerRecord) -> list[tuple[int, int]]:
    """The setting chosen on all rows first, then the most frequent."""
    return sorted(learner.frequencies, key=lambda pair: (pair[0] != learner.curve.best, -pair[1]))


def _table(tuned: list[LearnerRecord]) -> FigureTable:
    rows = [
        [
            learner.shown,
            learner.curve.said(setting),
            f"{count} of {learner.n_splits}",
            "yes" if setting == learner.curve.best else "",
        ]
        for learner in tuned
        for setting, count in _ordered(learner)
    ]
    return FigureTable.of(("learner", "setting", "outer splits", "chosen on all rows"), rows)
