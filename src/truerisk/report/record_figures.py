"""Draw the main figure of a result, for its page, for notebooks and for matplotlib axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.assessment.assessment import Assessment
from truerisk.auditing.outcome import Audit
from truerisk.comparison.many_comparison import ManyComparison
from truerisk.core.formats import escape_and_truncate, format_number, format_risk
from truerisk.diagnostics.permutations import PermutationTest
from truerisk.estimation.bayesian_error import RulePosterior
from truerisk.external.table_audit import TableAudit
from truerisk.planning.plan_sample import SamplePlan
from truerisk.report.audit_figures import draw_claim
from truerisk.report.curves import draw_heat_map, draw_risk_curves
from truerisk.report.figure import Figure, FigureTable, LegendKey, drop_none
from truerisk.report.ladder import draw_ladder
from truerisk.report.learning import draw_learning_figure
from truerisk.report.many_figures import draw_ranks
from truerisk.report.panels import LineSeries, draw_line_series, draw_panels, is_experiment_report
from truerisk.report.rates import ThresholdRates, draw_calibration
from truerisk.report.review_figures import draw_features, draw_forest, draw_instability
from truerisk.report.svg import (
    DRAWING_WIDTH,
    Drawing,
    PixelScale,
    make_row_drawing,
    series_css_class,
    shorten,
)
from truerisk.report.table_page import draw_differences
from truerisk.report.validation_figures import draw_calibration_curve, draw_net_benefit
from truerisk.results.calibration import Calibration
from truerisk.results.comparison import Comparison
from truerisk.results.curve_tables import whole_table
from truerisk.results.error_posterior import ErrorPosterior
from truerisk.results.interval import ReportedValue
from truerisk.results.learning_curve import LearningCurve
from truerisk.results.records import DisplayedResult
from truerisk.results.results import RiskCurve, RiskEstimate
from truerisk.results.roc import RocCurve
from truerisk.results.selection_bias import RiskMixture, SelectionBias
from truerisk.results.sentences import format_setting
from truerisk.validation.calibration import CalibrationCurve, SmoothCalibration
from truerisk.validation.discrimination import Discrimination, NetBenefit
from truerisk.validation.prediction_stability import PredictionStability
from truerisk.validation.stability import FeatureStability, ModelStability
from truerisk.validation.subgroups import Subgroups
from truerisk.validation.validation import Validation

N_BINS = 20
TAIL_PROBABILITY, BOUND_LEVEL, N_DENSITY_POINTS = 1e-3, 0.95, 120
BOX_PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)


def draw_figures(result: Any) -> tuple[Figure, ...]:
    """Return the figures of a result.

    Most classes have one figure, reports have several figures, and some classes have none.
    """
    if is_experiment_report(result):
        return draw_panels(result)
    return drop_none(draw_main_figure(result))


def draw_main_figure(result: Any) -> Figure | None:
    """Return the main figure of a result, or None if its class has no figure."""
    figure_functions = (
        FIGURE_FUNCTIONS[cls] for cls in type(result).__mro__ if cls in FIGURE_FUNCTIONS
    )
    return next((figure_function(result) for figure_function in figure_functions), None)


def _draw_curve(curve: RiskCurve) -> Figure | None:
    """Draw a risk curve with its band and the chosen setting.

    A grid of two or three parameters is drawn as heat maps. The result is None if there is only one
    candidate.
    """
    if len(curve) < 2 or not np.isfinite(curve.values).any():
        return None
    block = whole_table(curve)
    heat_map = draw_heat_map("the learner", curve, "curve")
    if heat_map is not None:
        return replace(heat_map, title=block.caption)
    risk_noun = curve.common.scale.noun.capitalize()
    chosen_setting_text = format_setting(curve.best_params)
    description = f"{risk_noun} of {len(curve)} settings; the ring is on {chosen_setting_text}."
    drawing = draw_risk_curves(
        f"{risk_noun} curve", description, {curve.common.method: curve}, banded_curve=curve
    )
    table = FigureTable.from_rows(block.head, block.rows)
    return None if drawing is None else Figure("curve", block.caption, drawing, description, table)


def draw_estimates(
    estimates: Mapping[str, RiskEstimate | Comparison],
    reference_lines: Mapping[str, float] | None = None,
) -> Figure | None:
    """Draw a row for each estimate with its interval, and vertical lines at `reference_lines`.

    The result is None if no estimate has a value. For differences a line at 0 is added.
    """
    first_estimate = next(iter(estimates.values()))
    reference_lines = dict(reference_lines or {})
    if isinstance(first_estimate, Comparison):
        name_a, name_b = (escape_and_truncate(name, 40) for name in first_estimate.names)
        perfect = None
        title, axis_label = f"{name_a} − {name_b}", f"difference of {first_estimate.scale.noun}s"
        reference_lines = {"": 0.0} | reference_lines
    else:
        perfect = first_estimate.scale.perfect
        title = first_estimate.scale.name_for(first_estimate.scoring)
        axis_label = first_estimate.scale.axis_label(shorten(first_estimate.scoring, 30))
    reported_values = {
        name: ReportedValue(reported_value.value, reported_value.interval)
        for name, reported_value in estimates.items()
    }
    rows = {
        name: (reported_value.value, reported_value)
        for name, reported_value in reported_values.items()
        if reported_value.value is not None
    }
    if not rows:
        return None
    axis_values = [
        *(axis_value for _, reported_value in rows.values() for axis_value in reported_value.ends),
        *reference_lines.values(),
    ]
    table_rows = [
        [name, format_risk(row_value), str(reported_value.interval or "none")]
        for name, (row_value, reported_value) in rows.items()
    ]
    tooltips = [f"{title}: {value}, interval {interval}" for _, value, interval in table_rows]
    x_scale = PixelScale.from_values(axis_values, 140, DRAWING_WIDTH - 14, ceiling_at=perfect)
    drawing = make_row_drawing(title, "; ".join(tooltips), x_scale, len(rows), 48, 14)
    drawing.bottom_axis(axis_label)
    css_classes = {
        name: series_css_class(i) if name else "baseline"
        for i, name in enumerate(reference_lines, 1)
    }
    for name, line_value in reference_lines.items():
        drawing.vertical_line(line_value, css_classes[name])
    for i, (name, (value, reported_value)) in enumerate(rows.items()):
        drawing.row_label(i + 0.5, name)
        drawing.point_with_interval(value, reported_value.interval, i + 0.5, tooltips[i], size=5.6)
    table = FigureTable.from_rows(("", "value", "interval"), table_rows)
    keys = tuple(LegendKey(css_classes[name], name, "line") for name in reference_lines if name)
    return Figure("value", title, drawing, drawing.description, table, keys)


def _draw_permutation_test(test: PermutationTest) -> Figure:
    """Draw a histogram of risks under permuted labels, and the observed risk as a line."""
    scale = test.scale
    permuted_risks, observed_risk = test.null, test.observed
    histogram_range = None
    # Values that differ only by rounding errors are drawn as one bar.
    if np.ptp(permuted_risks) <= 1e-9 * np.abs(permuted_risks).max():
        median = float(np.median(permuted_risks))
        half_width = 0.5 * max(1.0, abs(median))
        histogram_range = median - half_width, median + half_width
    counts, bin_edges = np.histogram(
        permuted_risks, min(N_BINS, test.n_permutations), histogram_range
    )
    description = (
        f"{escape_and_truncate(test.scoring, 40)} of {test.n_permutations} permutations "
        f"of {test.permuted}"
    )
    drawing = Drawing(
        title=f"{scale.noun.capitalize()}s with permuted labels",
        description=f"{description}; observed {format_risk(observed_risk)}",
        height=300,
        x=PixelScale.from_values([observed_risk, *bin_edges.tolist()], 52, DRAWING_WIDTH - 12),
        y=PixelScale(0, 1.05 * float(counts.max()), 256, 30),
    )
    drawing.left_axis("permutations", [n for n in drawing.y.ticks(5) if n.is_integer()])
    drawing.bottom_axis(f"{scale.noun} ({shorten(test.scoring, 30)})")
    rows = []
    for low, high, count in zip(bin_edges[:-1], bin_edges[1:], counts, strict=True):
        rows.append([format_risk(low, high), format_risk(high), str(count)])
        if count:
            tooltip = f"{format_risk(low, high)} to {format_risk(high)}: {count} permutations"
            drawing.bar(float(low), float(high), 0, float(count), "s5", tooltip)
    drawing.vertical_line(observed_risk, "honest")
    return Figure(
        name="permuted",
        title=drawing.title,
        drawing=drawing,
        caption=str(test).partition("\n")[0],
        table=FigureTable.from_rows(("from", "to", "permutations"), rows),
        keys=(
            LegendKey("honest", f"observed: {format_risk(observed_risk)}", "line"),
            LegendKey("s5", description, "cell"),
        ),
    )


def _draw_smooth_calibration(smooth_calibration: SmoothCalibration | None) -> Figure | None:
    """Draw a calibration curve, and bars below it that count the rows.

    The result is None if there is no curve.
    """
    if smooth_calibration is None or smooth_calibration.curve is None:
        return None
    return draw_calibration_curve(smooth_calibration.curve, smooth_calibration)


def draw_error_posterior(posterior: ErrorPosterior) -> Figure:
    """Draw the posterior density of a model's true error, given its errors on test rows."""
    lowest_rate, highest_rate = (
        posterior.quantile(TAIL_PROBABILITY),
        posterior.quantile(1 - TAIL_PROBABILITY),
    )
    error_rates = np.linspace(lowest_rate, highest_rate, N_DENSITY_POINTS).clip(1e-12, 1 - 1e-12)
    density = posterior.pdf(error_rates)
    return _draw_density(error_rates, density, posterior.mean, posterior.upper(BOUND_LEVEL))


def draw_error_tail(posterior: ErrorPosterior) -> Figure:
    """Draw the probability 1 − cdf that the true error exceeds a number, and four measures."""
    lowest_rate, highest_rate = (
        posterior.quantile(TAIL_PROBABILITY),
        posterior.quantile(1 - TAIL_PROBABILITY),
    )
    error_rates = np.linspace(lowest_rate, highest_rate, N_DENSITY_POINTS)
    measures = posterior.measures(BOUND_LEVEL)
    first_quartile, median, third_quartile = (posterior.quantile(p) for p in (0.25, 0.5, 0.75))
    bound_name = f"{100 * BOUND_LEVEL:g} % upper bound (ub)"
    marks = {
        "quartiles and median": (first_quartile, median, third_quartile),
        bound_name: (measures.ub,),
    }
    figure = draw_line_series(
        "Probability of a larger true error",
        ("true error", "probability, 1 − cdf"),
        LineSeries("", error_rates, posterior.mass_above(error_rates), "C0-"),
        *(
            LineSeries(name, np.array(values), posterior.mass_above(np.array(values)), style)
            for (name, values), style in zip(marks.items(), ("C0o", "C1s"), strict=True)
        ),
        limits=(0.0, 1.0),
    )
    rows = [
        ["errors", f"{posterior.errors:.15g} of {posterior.n:.15g} tested rows"],
        [bound_name, format_risk(measures.ub)],
        ["P(error > ½), worse than guessing (50 %)", f"{measures.above_half:.3g}"],
        ["median", format_risk(median)],
        ["quartiles", f"{format_risk(first_quartile)} and {format_risk(third_quartile)}"],
        ["E[error²] (q2)", format_risk(measures.q2)],
    ]
    return replace(
        figure,
        name="posterior",
        caption=f"Beta posterior of a flat prior: {', '.join(map(': '.join, rows))}. The errors "
        f"are those of {posterior.of}.",
        table=FigureTable.from_rows(("", "value"), rows),
    )


def draw_rule_posterior(rule_posterior: RulePosterior) -> Figure | None:
    """Draw the posterior density of the error of a rule.

    The result is None if the distribution is missing or has all its mass in one point.
    """
    distribution = rule_posterior.law
    if distribution is None or distribution.is_certain:
        return None
    bin_edges = np.linspace(
        distribution.quantile(TAIL_PROBABILITY),
        distribution.quantile(1 - TAIL_PROBABILITY),
        N_DENSITY_POINTS + 1,
    )
    density = np.diff([distribution.cdf(float(edge)) for edge in bin_edges]) / np.diff(bin_edges)
    bin_centers = (bin_edges[1:] + bin_edges[:-1]) / 2
    return _draw_density(
        bin_centers, density, rule_posterior.value, distribution.quantile(BOUND_LEVEL)
    )


def _draw_density(x: np.ndarray, density: np.ndarray, mean: float, bound: float) -> Figure:
    """Draw a density with vertical lines at its mean and at its upper bound."""
    marked_values = {
        f"mean {format_risk(mean)}": mean,
        f"{100 * BOUND_LEVEL:g} % bound {format_risk(bound)}": bound,
    }
    vertical_lines = (
        LineSeries(
            name,
            np.full(2, marked_value),
            np.array([0.0, np.interp(marked_value, x, density)]),
            style,
        )
        for (name, marked_value), style in zip(marked_values.items(), ("C1--", "k:"), strict=True)
    )
    density_line = LineSeries("density", x, density, "C0-")
    y_limits = 0.0, 1.05 * float(density.max())
    labels = "error", "density"
    return draw_line_series(
        "Posterior of the error", labels, density_line, *vertical_lines, limits=y_limits
    )


def draw_selection_bias(selection_bias: SelectionBias) -> Figure:
    """Draw a box plot with the mean for each distribution of risks of a selection bias."""
    boxes = {
        name: (mixture.mean, *_quantiles(mixture)) for name, mixture in selection_bias.parts.items()
    }
    x_scale = PixelScale.from_values(
        [value for box in boxes.values() for value in box], 140, DRAWING_WIDTH - 14
    )
    title = (
        f"Taking the smallest of {len(selection_bias.shares)} adds "
        f"{format_number(selection_bias.bias)}"
    )
    description = "; ".join(
        f"{name}: mean {mixture}" for name, mixture in selection_bias.parts.items()
    )
    drawing = make_row_drawing(title, description, x_scale, len(boxes), 40, 14)
    drawing.bottom_axis("risk")
    for i, (name, (mean, *quantiles)) in enumerate(boxes.items()):
        drawing.row_label(i + 0.5, name)
        drawing.box(quantiles, i + 0.5, 10, "s0")
        drawing.point(mean, i + 0.5, "s1", f"{name}: mean {format_number(mean)}", size=5)
    rows = [[name, *map(format_number, box)] for name, box in boxes.items()]
    table = FigureTable.from_rows(
        ("", "mean", *(f"{100 * probability:g} %" for probability in BOX_PROBABILITIES)), rows
    )
    keys = LegendKey("s0", "median, quartiles, 5 % and 95 %", "box"), LegendKey("s1", "mean")
    return Figure("selection", title, drawing, description, table, keys)


def _quantiles(mixture: RiskMixture) -> list[float]:
    value_order = np.argsort(mixture.values)
    cumulative_weights = np.cumsum(mixture.weights[value_order])
    return [
        float(mixture.values[value_order][cumulative_weights.searchsorted(probability - 1e-12)])
        for probability in BOX_PROBABILITIES
    ]


def draw_sample_plan(plan: SamplePlan) -> Figure | None:
    """Draw a sample plan's expected error and its bound over the number of tuning rows.

    For a plan that requests only a width, the expected posterior is drawn instead. The result is
    None if nothing can be tested.
    """
    if plan.n_test and plan.n_errors is not None and len(plan.splits) < 2:
        return draw_error_posterior(ErrorPosterior(plan.n_errors, plan.n_test, plan.prior))
    if len(plan.splits) < 2 or plan.best is None:
        return None
    tuning_sizes = np.array([split.n_tuning for split in plan.splits])
    best_label = f"least (ub): {plan.best.n_tuning} rows tune, {plan.best.n_test} test"
    plan_lines = (
        LineSeries(
            "error expected",
            tuning_sizes,
            np.array([sample_split.error for sample_split in plan.splits]),
            "C0-",
        ),
        LineSeries(
            "(ub), its bound",
            tuning_sizes,
            np.array([sample_split.ub for sample_split in plan.splits]),
            "C1-",
        ),
        LineSeries(best_label, np.array([plan.best.n_tuning]), np.array([plan.best.ub]), "ko"),
    )
    return draw_line_series(
        f"How {plan.n} rows are shared", ("rows that tune", "error"), *plan_lines
    )


FIGURE_FUNCTIONS: dict[type[DisplayedResult], Callable[[Any], Figure | None]] = {
    Assessment: draw_ladder,
    Audit: draw_claim,
    Calibration: draw_calibration,
    CalibrationCurve: draw_calibration_curve,
    Comparison: lambda comparison: draw_estimates({comparison.test: comparison}),
    Discrimination: lambda part: None if part.roc is None else draw_main_figure(part.roc),
    ErrorPosterior: draw_error_posterior,
    FeatureStability: lambda features: None if features.index is None else draw_features(features),
    LearningCurve: lambda curve: draw_learning_figure(curve, curve.expected, "the learner"),
    ManyComparison: draw_ranks,
    ModelStability: lambda part: (
        draw_main_figure(part.features) or draw_main_figure(part.predictions)
    ),
    NetBenefit: draw_net_benefit,
    PermutationTest: _draw_permutation_test,
    PredictionStability: draw_instability,
    RiskCurve: _draw_curve,
    RiskEstimate: lambda estimate: draw_estimates({estimate.method: estimate}),
    RocCurve: lambda curve: ThresholdRates(curve).draw_roc(),
    RulePosterior: draw_rule_posterior,
    SamplePlan: draw_sample_plan,
    SelectionBias: draw_selection_bias,
    SmoothCalibration: _draw_smooth_calibration,
    TableAudit: draw_differences,
    Subgroups: lambda subgroups: draw_forest(subgroups.risks[0]),
    Validation: lambda validation: _draw_smooth_calibration(validation.calibration),
}
