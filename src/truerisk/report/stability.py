"""How often which setting won in the outer splits."""

from __future__ import annotations

from collections.abc import Mapping

from truerisk.api.assessing.assessment import Assessment
from truerisk.api.assessing.tuned_learner import TunedLearner
from truerisk.core.present import clean, setting_text
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.scale import PixelScale
from truerisk.report.svg import WIDTH, of_rows

ROW, TOP, LEFT, MOST = 30, 8, 118, 12


def draw_stability(document: Assessment, most: int | None = MOST) -> Figure | None:
    """One bar per tuned learner, a part for each setting that won; None where none was tuned."""
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
    drawing = of_rows(title, "; ".join(about), x, len(shown), ROW, TOP)
    drawing.bottom_axis("outer splits that chose the setting, %")
    for i, (name, learner) in enumerate(shown.items()):
        drawing.row(i + 0.5, clean(name, 60))
        total = sum(learner.stability.frequencies.values())
        at = 0.0
        for setting, count in _ordered(learner):
            share = 100 * count / total
            look = "s0" if setting == learner.curve.best else "other"
            said = f"{setting_text(learner.curve.candidates[setting])}: {count} of {total}"
            drawing.bar(at, at + share, i + 0.2, i + 0.8, look, said)
            at += share
    return Figure(
        name="stability",
        title="Whether other rows would have chosen the same",
        drawing=drawing,
        caption=(
            "Each outer split chose its own setting. The filled part is the share of splits that "
            "chose the setting of all rows; each further part is another setting. Where few agree, "
            "the setting is arbitrary, and the honest risk takes that into account."
        ),
        table=_table(tuned),
        keys=(Key("s0", "the setting chosen on all rows", "cell"), Key("other", "others", "cell")),
    )


def _ordered(learner: TunedLearner) -> list[tuple[int, int]]:
    """The setting chosen on all rows first, then the most frequent."""
    counts, best = learner.stability.frequencies, learner.curve.best
    return sorted(counts.items(), key=lambda pair: (pair[0] != best, -pair[1]))


def _table(tuned: Mapping[str, TunedLearner]) -> FigureTable:
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
    return FigureTable.of(("learner", "setting", "outer splits", "chosen on all rows"), rows)
