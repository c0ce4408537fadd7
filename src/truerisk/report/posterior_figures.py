"""Posterior densities of an error, what a choice among risks adds, and how rows are shared."""

from __future__ import annotations

import numpy as np

from truerisk.core.present import number, risk
from truerisk.estimation.bayesian_error import RulePosterior
from truerisk.planning.plan_sample import SamplePlan
from truerisk.report.figure import Figure, FigureTable, Key
from truerisk.report.panels import Line, draw_series
from truerisk.report.svg import WIDTH, PixelScale, of_rows
from truerisk.results.error_posterior import ErrorPosterior
from truerisk.results.selection_bias import RiskMixture, SelectionBias

TAIL, LEVEL, POINTS = 1e-3, 0.95, 120
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def draw_tested(posterior: ErrorPosterior) -> Figure:
    """The density of an error after a test."""
    low, high = posterior.quantile(TAIL), posterior.quantile(1 - TAIL)
    grid = np.linspace(low, high, POINTS).clip(1e-12, 1 - 1e-12)
    density = posterior.pdf(grid)
    return _density(grid, density, posterior.mean, posterior.upper(LEVEL))


def draw_rule(found: RulePosterior) -> Figure | None:
    """The density of the error of a rule; None where no posterior is stated, or it is a point."""
    law = found.law
    if law is None or law.is_sure:
        return None
    edges = np.linspace(law.quantile(TAIL), law.quantile(1 - TAIL), POINTS + 1)
    density = np.diff([law.cdf(float(edge)) for edge in edges]) / np.diff(edges)
    middles = (edges[1:] + edges[:-1]) / 2
    return _density(middles, density, found.value, law.quantile(LEVEL))


def _density(x: np.ndarray, density: np.ndarray, mean: float, bound: float) -> Figure:
    """With upright lines at its mean and at the bound."""
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
    """What a choice reports, and of what: a box for each distribution, with its mean."""
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
    table = FigureTable.of(("", "mean", *(f"{100 * share:g} %" for share in SHARES)), rows)
    keys = Key("s0", "median, quartiles, 5 % and 95 %", "box"), Key("s1", "mean")
    return Figure("selection", title, drawing, about, table, keys)


def _quantiles(part: RiskMixture) -> list[float]:
    order = np.argsort(part.values)
    below = np.cumsum(part.weights[order])
    return [float(part.values[order][below.searchsorted(share - 1e-12)]) for share in SHARES]


def draw_sharing(plan: SamplePlan) -> Figure | None:
    """Expected error and bound along the rows that tune; of a width alone the posterior to expect.

    None where nothing can be tested.
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
