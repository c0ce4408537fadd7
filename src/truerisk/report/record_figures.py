"""The main figure of a result: on its page, in a notebook, and on matplotlib axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from truerisk.assessment.assessment import Assessment
from truerisk.auditing.outcome import Audit
from truerisk.comparison.many_comparison import ManyComparison
from truerisk.core.formats import clean, number, risk
from truerisk.diagnostics.permutations import PermutationTest
from truerisk.estimation.bayesian_error import RulePosterior
from truerisk.planning.plan_sample import SamplePlan
from truerisk.report.audit_figures import draw_claim
from truerisk.report.curves import draw_lines
from truerisk.report.figure import Figure, FigureTable, Key, known
from truerisk.report.ladder import draw_ladder
from truerisk.report.learning import draw_learning
from truerisk.report.many_figures import draw_ranks
from truerisk.report.panels import Line, draw_panels, draw_series, is_report
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
from truerisk.results.selection_bias import RiskMixture, SelectionBias
from truerisk.results.sentences import setting_text
from truerisk.validation.calibration import CalibrationCurve, SmoothCalibration
from truerisk.validation.discrimination import Discrimination, NetBenefit
from truerisk.validation.prediction_stability import PredictionStability
from truerisk.validation.stability import FeatureStability, ModelStability
from truerisk.validation.subgroups import Subgroups
from truerisk.validation.validation import Validation

BINS = 20
TAIL, LEVEL, POINTS = 1e-3, 0.95, 120
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def figures_of(result: Any) -> tuple[Figure, ...]:
    """Return the figures of a result: one for most results, none for some."""
    if is_report(result):
        return draw_panels(result)
    return known(figure_of(result))


def figure_of(result: Any) -> Figure | None:
    """Return the main figure of a result, or None."""
    makers = (FIGURES[cls] for cls in type(result).__mro__ if cls in FIGURES)
    return next((maker(result) for maker in makers), None)


def _draw_curve(curve: RiskCurve) -> Figure | None:
    """Draw a risk curve with its band and the chosen setting; return None without a curve."""
    if len(curve) < 2 or not np.isfinite(curve.values).any():
        return None
    noun = curve.common.scale.noun.capitalize()
    chosen = setting_text(curve.best_params)
    about = f"{noun} of {len(curve)} settings; the ring is on {chosen}."
    drawing = draw_lines(f"{noun} curve", about, {curve.common.method: curve}, banded=curve)
    (block,) = curve.blocks()
    table = FigureTable.from_rows(block.head, block.rows)
    return None if drawing is None else Figure("curve", block.caption, drawing, about, table)


def draw_estimates(
    estimates: Mapping[str, RiskEstimate | Comparison],
    beside: Mapping[str, float] | None = None,
) -> Figure | None:
    """Draw a row for each value with its interval, and named vertical lines `beside` them.

    The result is None if no estimate has a value. For differences a line at 0 is added.
    """
    first = next(iter(estimates.values()))
    beside = dict(beside or {})
    if isinstance(first, Comparison):
        a, b = (clean(name, 40) for name in first.names)
        title, axis = f"{a} − {b}", f"difference of {first.scale.noun}s"
        beside = {"": 0.0} | beside
    else:
        title = first.scale.name_for(first.scoring)
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
    table = FigureTable.from_rows(("", "value", "interval"), cells)
    keys = tuple(Key(looks[name], name, "line") for name in beside if name)
    return Figure("value", title, drawing, drawing.about, table, keys)


def _draw_permuted(test: PermutationTest) -> Figure:
    """Draw risks (or scores) of permuted labels as bars, and the observed one as a line."""
    scale = test.scale
    null, observed = test.null, test.observed
    bounds = None
    # Numbers that differ only by rounding belong to one bar.
    if np.ptp(null) <= 1e-9 * np.abs(null).max():
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
        table=FigureTable.from_rows(("from", "to", "permutations"), rows),
        keys=(
            Key("honest", f"observed: {risk(observed)}", "line"),
            Key("s5", about, "cell"),
        ),
    )


def _draw_smooth(smooth: SmoothCalibration | None) -> Figure | None:
    """Draw the calibration curve with the rows below; return None if there is no curve."""
    if smooth is None or smooth.curve is None:
        return None
    return draw_calibration_curve(smooth.curve, smooth)


def draw_tested(posterior: ErrorPosterior) -> Figure:
    """Draw the density of an error after a test."""
    low, high = posterior.quantile(TAIL), posterior.quantile(1 - TAIL)
    grid = np.linspace(low, high, POINTS).clip(1e-12, 1 - 1e-12)
    density = posterior.pdf(grid)
    return _density(grid, density, posterior.mean, posterior.upper(LEVEL))


def draw_rule(found: RulePosterior) -> Figure | None:
    """Draw the density of a rule's error; return None without a posterior, or if it is a point."""
    law = found.law
    if law is None or law.is_certain:
        return None
    edges = np.linspace(law.quantile(TAIL), law.quantile(1 - TAIL), POINTS + 1)
    density = np.diff([law.cdf(float(edge)) for edge in edges]) / np.diff(edges)
    middles = (edges[1:] + edges[:-1]) / 2
    return _density(middles, density, found.value, law.quantile(LEVEL))


def _density(x: np.ndarray, density: np.ndarray, mean: float, bound: float) -> Figure:
    """Draw a density with vertical lines at its mean and at the bound."""
    of = {f"mean {risk(mean)}": mean, f"{100 * LEVEL:g} % bound {risk(bound)}": bound}
    marks = (
        Line(name, np.full(2, at), np.array([0.0, np.interp(at, x, density)]), style)
        for (name, at), style in zip(of.items(), ("C1--", "k:"), strict=True)
    )
    line = Line("density", x, density, "C0-")
    limits = 0.0, 1.05 * float(density.max())
    labels = "error", "density"
    return draw_series("Posterior of the error", labels, line, *marks, limits=limits)


def draw_selection(why: SelectionBias) -> Figure:
    """Draw a box with its mean for each distribution of a selection."""
    boxes = {name: (part.mean, *_quantiles(part)) for name, part in why.parts.items()}
    x = PixelScale.around([value for box in boxes.values() for value in box], 140, WIDTH - 14)
    title = f"Taking the smallest of {len(why.shares)} adds {number(why.bias)}"
    about = "; ".join(f"{name}: mean {part}" for name, part in why.parts.items())
    drawing = of_rows(title, about, x, len(boxes), 40, 14)
    drawing.bottom_axis("risk")
    for i, (name, (mean, *five)) in enumerate(boxes.items()):
        drawing.row(i + 0.5, name)
        drawing.box(five, i + 0.5, 10, "s0")
        drawing.point(mean, i + 0.5, "s1", f"{name}: mean {number(mean)}", size=5)
    rows = [[name, *map(number, box)] for name, box in boxes.items()]
    table = FigureTable.from_rows(("", "mean", *(f"{100 * share:g} %" for share in SHARES)), rows)
    keys = Key("s0", "median, quartiles, 5 % and 95 %", "box"), Key("s1", "mean")
    return Figure("selection", title, drawing, about, table, keys)


def _quantiles(part: RiskMixture) -> list[float]:
    order = np.argsort(part.values)
    below = np.cumsum(part.weights[order])
    return [float(part.values[order][below.searchsorted(share - 1e-12)]) for share in SHARES]


def draw_sharing(plan: SamplePlan) -> Figure | None:
    """Draw expected error and bound over the number of tuning rows, or the expected posterior.

    The posterior is drawn for plans of a width only. The result is None if nothing can be tested.
    """
    if plan.n_test and plan.n_errors is not None and len(plan.splits) < 2:
        return draw_tested(ErrorPosterior(plan.n_errors, plan.n_test, plan.prior))
    if len(plan.splits) < 2 or plan.best is None:
        return None
    sizes = np.array([split.n_tuning for split in plan.splits])
    best = f"least (ub): {plan.best.n_tuning} rows tune, {plan.best.n_test} test"
    lines = (
        Line("error expected", sizes, np.array([s.error for s in plan.splits]), "C0-"),
        Line("(ub), its bound", sizes, np.array([s.ub for s in plan.splits]), "C1-"),
        Line(best, np.array([plan.best.n_tuning]), np.array([plan.best.ub]), "ko"),
    )
    return draw_series(f"How {plan.n} rows are shared", ("rows that tune", "error"), *lines)


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
