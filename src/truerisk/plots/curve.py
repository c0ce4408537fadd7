"""A risk against something: the candidates, the number of training rows, or time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.core.errors import BadArgument, BadData
from truerisk.core.learning_curve import FURTHEST, LearningCurve
from truerisk.core.present import params_text
from truerisk.core.results import RiskCurve
from truerisk.plots.marks import axes_of, on_axes
from truerisk.report.curves import IN_ORDER, draw_lines, keys_of
from truerisk.report.figure import Key
from truerisk.report.learning import draw_learning

MOST_NAMED = 12  # settings in grid order that are written on the axis
POINTS = 48  # of the law of a learning curve


def draw_curve(
    curve: RiskCurve,
    *,
    ax: Any = None,
    x: str | None = None,
    label: str | None = None,
    others: Mapping[str, RiskCurve] | Iterable[RiskCurve] = (),
) -> Any:
    """Draw the curve and return its axes.

    `x` names the parameter on the axis; by default the one parameter that varies, if its values
    are numbers (on a logarithmic axis where they span more than two decades), else the candidates
    in grid order. Alone it has a band of a standard error. `others` are drawn along, of the same
    candidates, each with a ring at the one that it chooses, which the legend names. Curves in
    another loss than the first, such as an AIC, have their scale on the right; the heights of the
    two do not compare.
    """
    named = dict(others) if isinstance(others, Mapping) else {c.common.method: c for c in others}
    curves = {label or curve.common.method: curve, **named}
    _check_alike(curve, curves)
    losses = list(dict.fromkeys(each.common.named_loss for each in curves.values()))
    ax = axes_of(ax)
    side, n_drawn = ax, 0
    for loss in losses:
        side = ax if loss == losses[0] else ax.twinx()
        for _ in range(n_drawn):  # the colours go on
            side.plot([], [])[0].remove()
        beside = "" if side is ax else " (right)"
        chosen = {
            f"{word} → {params_text(each.best_params)}{beside}": each
            for word, each in curves.items()
            if each.common.named_loss == loss
        }
        drawing = draw_lines("", "", chosen, banded=None if named else curve, x=x)
        if drawing is None:
            raise BadData(f"no candidate has a {loss} risk to draw.")
        band = [Key("s0", "± 1 standard error", "band")] if (curve.std_errors > 0).any() else []
        on_axes(drawing, [*keys_of(chosen), *([] if named else band)], side, ax)
        if drawing.bottom and drawing.bottom.label == IN_ORDER and len(curve) <= MOST_NAMED:
            names = [params_text(setting) for setting in curve.candidates]
            side.set_xticks(range(len(curve)), names, rotation=45, ha="right")
        n_drawn += len(chosen)
    return ax


def _check_alike(first: RiskCurve, curves: Mapping[str, RiskCurve]) -> None:
    """All have the candidates of the first, and there are two losses at most."""
    for label, curve in curves.items():
        if [dict(c) for c in curve.candidates] != [dict(c) for c in first.candidates]:
            raise BadData(
                f"curve '{label}' has other candidates than the first: curves drawn together are "
                "of one grid."
            )
    losses = list(dict.fromkeys(curve.common.named_loss for curve in curves.values()))
    if len(losses) > 2:
        raise BadData(
            f"the curves are in {len(losses)} losses ({', '.join(losses)}), and a plot has two "
            "sides: draw some of them apart."
        )


def draw_learning_curve(
    curve: LearningCurve,
    *,
    ax: Any = None,
    label: str | None = None,
    to: float | None = None,
) -> Any:
    """Draw the curve and return its axes.

    `to` is the number of training rows up to which the law is carried on, by default twice the
    largest that was measured; that part is dashed. A score is drawn as a score.
    """
    last = float(curve.sizes[-1])
    end = 2 * last if to is None else float(to)
    if curve.law is not None and not last <= end <= FURTHEST * last:
        raise BadArgument(
            f"to={end:g}: the curve was measured up to {last:g} training rows, and is extrapolated "
            f"to {FURTHEST * last:g} at most."
        )
    grid = np.union1d(np.geomspace(curve.sizes[0], end, POINTS), [last])
    read = () if curve.law is None else tuple(curve.at(float(n)) for n in grid)
    figure = draw_learning(curve, read)
    if figure is None:
        raise BadData("no size has a risk to draw.")
    measured, *keys = figure.keys
    return on_axes(figure.drawing, (replace(measured, text=label or measured.text), *keys), ax)


def draw_over_time(course: Any, *, ax: Any = None, label: str | None = None) -> Any:
    """Draw the mean losses, or scores, of the stretches over their times, and return the axes.

    The line, dashed, is the trend where there is a test for it.
    """
    ax = axes_of(ax)
    middles = course.starts + (course.ends - course.starts) / 2
    scale = course.scale
    values = scale.value(course.values)
    (line,) = ax.plot(middles, values, "o-", markersize=4, linewidth=1.2, label=label)
    colour = line.get_color()
    ax.hlines(values, course.starts, course.ends, color=colour, linewidth=2.4)
    if course.low is not None and course.high is not None:
        band = scale.value(course.low), scale.value(course.high)
        ax.fill_between(middles, *band, color=colour, alpha=0.18, linewidth=0)
    if course.p_value is not None:
        first, last = course.starts[0], course.ends[-1]
        centre, slope = np.average(values, weights=course.n_rows), scale.gap(course.slope)
        ends = [centre - slope / 2, centre + slope / 2]
        ax.plot([first, last], ends, "--", linewidth=1.0, color=colour)
    if course.starts.dtype.kind == "M":
        _write_dates(ax)
    ax.set_xlabel("time")
    ax.set_ylabel(scale.axis(course.loss))
    return ax


def _write_dates(ax: Any) -> None:
    """Few and short, so that they never meet."""
    from matplotlib import dates as untyped

    dates: Any = untyped
    places = dates.AutoDateLocator(minticks=3, maxticks=7)
    ax.xaxis.set_major_locator(places)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(places))
