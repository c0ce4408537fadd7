"""The figure that stands for a result: on its page, in a notebook, and on axes of matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from truerisk.assessment.assessment import Assessment
from truerisk.auditing.outcome import Audit
from truerisk.comparison.many_comparison import ManyComparison
from truerisk.core.present import clean, risk, setting_text
from truerisk.diagnostics.permutations import PermutationTest
from truerisk.estimation.bayesian_error import RulePosterior
from truerisk.planning.plan_sample import SamplePlan
from truerisk.report.audit_figures import draw_claim
from truerisk.report.curves import draw_lines
from truerisk.report.figure import Figure, FigureTable, Key, known
from truerisk.report.ladder import draw_ladder
from truerisk.report.learning import draw_learning
from truerisk.report.many_figures import draw_ranks
from truerisk.report.panels import draw_panels, is_report
from truerisk.report.posterior_figures import (
    draw_rule,
    draw_selection,
    draw_sharing,
    draw_tested,
)
from truerisk.report.rates import Rates, draw_calibration
from truerisk.report.review_figures import draw_features, draw_forest, draw_instability
from truerisk.report.svg import WIDTH, Drawing, PixelScale, columns_of, of_rows, series
from truerisk.report.validation_figures import draw_benefit, draw_calibration_curve
from truerisk.results.calibration import Calibration
from truerisk.results.comparison import Comparison
from truerisk.results.error_posterior import ErrorPosterior
from truerisk.results.interval import Reported
from truerisk.results.learning_curve import LearningCurve
from truerisk.results.records import Shown
from truerisk.results.results import RiskCurve, RiskEstimate
from truerisk.results.roc import RocCurve
from truerisk.results.selection_bias import SelectionBias
from truerisk.validation.calibration import CalibrationCurve, SmoothCalibration
from truerisk.validation.discrimination import Discrimination, NetBenefit
from truerisk.validation.prediction_stability import PredictionStability
from truerisk.validation.stability import FeatureStability, ModelStability
from truerisk.validation.subgroups import Subgroups
from truerisk.validation.validation import Validation

BINS = 20


def figures_of(result: Any) -> tuple[Figure, ...]:
    """The figures that stand for a result, one for most; none where it has none."""
    if is_report(result):
        return draw_panels(result)
    return known(figure_of(result))


def figure_of(result: Any) -> Figure | None:
    """The figure that stands for a result; None where it has none."""
    makers = (FIGURES[cls] for cls in type(result).__mro__ if cls in FIGURES)
    return next((maker(result) for maker in makers), None)


def _draw_curve(curve: RiskCurve) -> Figure | None:
    """A risk curve with its band and the chosen setting; None where there is no curve."""
    if len(curve) < 2 or not np.isfinite(curve.values).any():
        return None
    noun = curve.common.scale.noun.capitalize()
    chosen = setting_text(curve.best_params)
    about = f"{noun} of {len(curve)} settings; the ring is on {chosen}."
    drawing = draw_lines(f"{noun} curve", about, {curve.common.method: curve}, banded=curve)
    (block,) = curve.blocks()
    table = FigureTable.of(block.head, block.rows)
    return None if drawing is None else Figure("curve", block.caption, drawing, about, table)


def draw_estimates(
    estimates: Mapping[str, RiskEstimate | Comparison], beside: Mapping[str, float] | None = None
) -> Figure | None:
    """A row for each value with its interval, and upright lines `beside` them by name.

    None where none has a value. Differences stand beside none at all.
    """
    first = next(iter(estimates.values()))
    beside = dict(beside or {})
    if isinstance(first, Comparison):
        a, b = (clean(name, 40) for name in first.names)
        title, axis = f"{a} − {b}", f"difference of {first.scale.noun}s"
        beside = {"": 0.0} | beside
    else:
        title = first.scale.of(first.scoring)
        axis = first.scale.axis(columns_of(first.scoring, 30))
    own = {name: Reported(each.value, each.interval) for name, each in estimates.items()}
    rows = {name: (each.value, each) for name, each in own.items() if each.value is not None}
    if not rows:
        return None
    ends = [*(end for _, each in rows.values() for end in each.ends), *beside.values()]
    cells = [[name, risk(v), str(each.interval or "none")] for name, (v, each) in rows.items()]
    texts = [f"{title}: {value}, interval {interval}" for _, value, interval in cells]
    x = PixelScale.around(ends, 140, WIDTH - 14)
    drawing = of_rows(title, "; ".join(texts), x, len(rows), 48, 14)
    drawing.bottom_axis(axis)
    looks = {name: series(i) if name else "baseline" for i, name in enumerate(beside, 1)}
    for name, place in beside.items():
        drawing.upright(place, looks[name])
    for i, (name, (value, each)) in enumerate(rows.items()):
        drawing.row(i + 0.5, name)
        drawing.estimate(value, each.interval, i + 0.5, texts[i], size=5.6)
    table = FigureTable.of(("", "value", "interval"), cells)
    keys = tuple(Key(looks[name], name, "line") for name in beside if name)
    return Figure("value", title, drawing, drawing.about, table, keys)


def _draw_permuted(test: PermutationTest) -> Figure:
    """Risks, or scores, of permuted labels as bars, and the observed one as an upright line."""
    scale = test.scale
    null, observed = test.null, test.observed
    bounds = None
    if np.ptp(null) <= 1e-9 * np.abs(null).max():  # numbers apart by rounding stand in one bar
        middle = float(np.median(null))
        half = 0.5 * max(1.0, abs(middle))
        bounds = middle - half, middle + half
    counts, edges = np.histogram(null, min(BINS, test.n_permutations), bounds)
    about = f"{clean(test.scoring, 40)} of {test.n_permutations} permutations of {test.permuted}"
    drawing = Drawing(
        title=f"{scale.noun.capitalize()}s with permuted labels",
        about=f"{about}; observed {risk(observed)}",
        height=300,
        x=PixelScale.around([observed, *edges.tolist()], 52, WIDTH - 12),
        y=PixelScale(0, 1.05 * float(counts.max()), 256, 30),
    )
    drawing.left_axis("permutations")
    drawing.bottom_axis(f"{scale.noun} ({columns_of(test.scoring, 30)})")
    rows = []
    for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
        rows.append([risk(low, high), risk(high), str(count)])
        if count:
            tip = f"{risk(low, high)} to {risk(high)}: {count} permutations"
            drawing.bar(float(low), float(high), 0, float(count), "s5", tip)
    drawing.upright(observed, "honest")
    return Figure(
        name="permuted",
        title=drawing.title,
        drawing=drawing,
        caption=str(test).partition("\n")[0],
        table=FigureTable.of(("from", "to", "permutations"), rows),
        keys=(
            Key("honest", f"observed: {risk(observed)}", "line"),
            Key("s5", about, "cell"),
        ),
    )


def _draw_smooth(smooth: SmoothCalibration | None) -> Figure | None:
    """The calibration curve with the rows below; None where there is none."""
    if smooth is None or smooth.curve is None:
        return None
    return draw_calibration_curve(smooth.curve, smooth)


FIGURES: dict[type[Shown], Callable[[Any], Figure | None]] = {
    Assessment: draw_ladder,
    Audit: draw_claim,
    Calibration: draw_calibration,
    CalibrationCurve: draw_calibration_curve,
    Comparison: lambda comparison: draw_estimates({comparison.test: comparison}),
    Discrimination: lambda part: None if part.roc is None else figure_of(part.roc),
    ErrorPosterior: draw_tested,
    FeatureStability: draw_features,
    LearningCurve: lambda curve: draw_learning(curve, curve.expected, "the learner"),
    ManyComparison: draw_ranks,
    ModelStability: lambda part: figure_of(part.features) or figure_of(part.predictions),
    NetBenefit: draw_benefit,
    PermutationTest: _draw_permuted,
    PredictionStability: draw_instability,
    RiskCurve: _draw_curve,
    RiskEstimate: lambda estimate: draw_estimates({estimate.method: estimate}),
    RocCurve: lambda curve: Rates(curve).draw_roc(),
    RulePosterior: draw_rule,
    SamplePlan: draw_sharing,
    SelectionBias: draw_selection,
    SmoothCalibration: _draw_smooth,
    Subgroups: lambda subgroups: draw_forest(subgroups.risks[0]),
    Validation: lambda validation: _draw_smooth(validation.calibration),
}
