"""Plots of curves: risks over settings, rows or time; coefficient paths, densities, studies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.core.errors import BadArgument, BadData
from truerisk.core.formats import clean, params_text
from truerisk.core.registry import check_known
from truerisk.report.curves import IN_ORDER, draw_lines, keys_of
from truerisk.report.figure import Key
from truerisk.report.learning import draw_learning
from truerisk.report.plots.marks import axes_of, axes_of_panels, on_axes
from truerisk.results.error_posterior import ErrorPosterior
from truerisk.results.learning_curve import FURTHEST, LearningCurve
from truerisk.results.results import RiskCurve

MOST_NAMED = 12  # maximum number of settings in grid order that label the axis
POINTS = 48  # number of points of a learning curve's law


def draw_curve(
    curve: RiskCurve,
    *,
    ax: Any = None,
    x: str | None = None,
    label: str | None = None,
    others: Mapping[str, RiskCurve] | Iterable[RiskCurve] = (),
) -> Any:
    """Draw the curve and return its axes.

    `x` names the parameter on the axis. By default it is the only parameter that varies, if its
    values are numbers (on a logarithmic axis if they span more than two decades), else the
    candidates in grid order. A single curve has a band of one standard error. `others` are curves
    of the same candidates that are drawn too, each with a ring at the one that it chooses, which
    the legend names. Curves in another loss than the first, such as an AIC, use the scale on the
    right; the heights on both scales cannot be compared.
    """
    named = dict(others) if isinstance(others, Mapping) else {c.common.method: c for c in others}
    curves = {label or curve.common.method: curve, **named}
    _check_alike(curve, curves)
    losses = list(dict.fromkeys(each.common.named_scoring for each in curves.values()))
    ax = axes_of(ax)
    side, n_drawn = ax, 0
    for loss in losses:
        side = ax if loss == losses[0] else ax.twinx()
        for _ in range(n_drawn):  # This continues the colour cycle.
            side.plot([], [])[0].remove()
        beside = "" if side is ax else " (right)"
        chosen = {
            f"{name} → {params_text(each.best_params)}{beside}": each
            for name, each in curves.items()
            if each.common.named_scoring == loss
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
    """Raise if curves have different candidates, or more than two losses."""
    for label, curve in curves.items():
        if [dict(c) for c in curve.candidates] != [dict(c) for c in first.candidates]:
            raise BadData(
                f"curve '{label}' has other candidates than the first: curves drawn together are "
                "of one grid."
            )
    losses = list(dict.fromkeys(curve.common.named_scoring for curve in curves.values()))
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

    `to` is the number of training rows up to which the law is extrapolated, by default twice the
    largest measured size; that part is dashed. Scores are drawn as scores.
    """
    last = float(curve.sizes[-1])
    end = 2 * last if to is None else float(to)
    if curve.law is not None and not last <= end <= FURTHEST * last:
        raise BadArgument(
            f"to={end:.15g}: the curve was measured up to {last:g} training rows, and is "
            f"extrapolated to {FURTHEST * last:g} at most."
        )
    grid = np.union1d(np.geomspace(curve.sizes[0], end, POINTS), [last])
    read = () if curve.law is None else tuple(curve.at(float(n)) for n in grid)
    figure = draw_learning(curve, read)
    if figure is None:
        raise BadData("no size has a risk to draw.")
    measured, *keys = figure.keys
    return on_axes(figure.drawing, (replace(measured, text=label or measured.text), *keys), ax)


def draw_over_time(course: Any, *, ax: Any = None, label: str | None = None) -> Any:
    """Draw the mean losses, or scores, of the periods over time, and return the axes.

    The dashed line is the trend, if it was tested.
    """
    ax = axes_of(ax)
    middles = course.starts + (course.ends - course.starts) / 2
    values = course.values
    (line,) = ax.plot(middles, values, "o-", markersize=4, linewidth=1.2, label=label)
    colour = line.get_color()
    ax.hlines(values, course.starts, course.ends, color=colour, linewidth=2.4)
    if course.low is not None and course.high is not None:
        ax.fill_between(middles, course.low, course.high, color=colour, alpha=0.18, linewidth=0)
    if course.p_value is not None:
        first, last = course.starts[0], course.ends[-1]
        centre, slope = np.average(values, weights=course.n_rows), course.slope
        ends = [centre - slope / 2, centre + slope / 2]
        ax.plot([first, last], ends, "--", linewidth=1.0, color=colour)
    if course.starts.dtype.kind == "M":
        from matplotlib import dates as untyped

        dates: Any = untyped
        places = dates.AutoDateLocator(minticks=3, maxticks=7)
        ax.xaxis.set_major_locator(places)
        ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(places))
    ax.set_xlabel("time")
    ax.set_ylabel(course.scale.axis(course.scoring))
    return ax


def draw_path(
    model: Any, *, ax: Any = None, names: Sequence[str] | None = None, n_named: int = 8
) -> Any:
    """Draw the coefficients of a fitted LogisticPath and return the axes.

    A vertical line marks the λ that the model uses for predictions. The `n_named` largest
    coefficients there are labelled with `names`, the columns of the frame, or x0, x1, ...
    Coefficients are in the units of X. Several classes have one panel each and return an array of
    axes; `ax` is then a sequence of the same length. Parts that did not converge are dotted.
    """
    classes = model.classes_ if len(model.classes_) > 2 else model.classes_[1:]
    paths = model.coef_path_.reshape(len(model.lambdas_), len(classes), -1)
    names = _names(model, names, paths.shape[2])
    panels = axes_of_panels(ax, len(classes))
    for place, (axes, label) in enumerate(zip(panels, classes, strict=True)):
        _draw(axes, model, paths[:, place])
        values = model.coef_[place]
        for column in np.argsort(-np.abs(values), kind="stable")[:n_named]:
            if values[column] != 0:
                axes.annotate(
                    names[column],
                    (model.lambda_, values[column]),
                    xytext=(3, 0),
                    textcoords="offset points",
                    fontsize="x-small",
                    va="center",
                )
        axes.set_title(f"score of class {label}", fontsize="medium")
    panels[0].set_ylabel("coefficient")
    return panels[0] if len(panels) == 1 else np.array(panels)


def _draw(axes: Any, model: Any, path: np.ndarray) -> None:
    ever = path[:, (path != 0).any(axis=0)]
    axes.set_xscale("log")
    axes.invert_xaxis()
    for column, values in enumerate(ever.T):
        (line,) = axes.plot(model.lambdas_, values, linewidth=1.0)
        if not model.converged_.all():
            short = np.where(model.converged_, np.nan, values)
            axes.plot(model.lambdas_, short, ":", linewidth=2.5, color=line.get_color())
            line.set_label(f"_{column}")
    axes.axvline(model.lambda_, color="0.4", linewidth=0.8, linestyle="--")
    axes.axhline(0.0, color="0.7", linewidth=0.6)
    axes.set_xlabel("λ")


def _names(model: Any, names: Sequence[str] | None, n_columns: int) -> Sequence[str]:
    if names is None:
        names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(n_columns)])
    if len(names) != n_columns:
        raise BadData(f"there are {len(names)} names for {n_columns} columns.")
    return list(map(str, names))


# quantity -> its standard error in the summary, what the axis says
QUANTITIES: Mapping[str, tuple[str | None, str]] = {
    "bias": ("bias_error", "bias (estimate − truth)"),
    "rmse": (None, "root mean squared error"),
    "coverage": ("coverage_error", "coverage"),
    "seconds": (None, "seconds per estimate"),
}


def draw_study(results: Any, *, what: str = "bias", ax: Any = None) -> Any:
    """Draw one line per problem, learner and method, with ± 1 standard error; return the axes."""
    check_known("there is no", what, QUANTITIES)
    error, label = QUANTITIES[what]
    lines = _lines(results.cells, what, error)
    if not lines:
        raise BadData(f"the study has no {what} to draw: no cell has one.")
    ax = axes_of(ax)
    for name, points in lines.items():
        sizes, values, errors = (
            np.array(column, dtype=float) for column in zip(*points, strict=True)
        )
        order = np.argsort(sizes)
        bars = errors[order] if np.isfinite(errors).all() else None
        ax.errorbar(
            sizes[order], values[order], yerr=bars, fmt="o-", markersize=4, capsize=2, label=name
        )
    if what == "bias":
        ax.axhline(0.0, color="0.6", linewidth=0.8)
    ax.set_xlabel("rows")
    ax.set_ylabel(label)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _lines(cells: Any, what: str, error: str | None) -> dict[str, list[tuple[float, float, float]]]:
    """Return (size, value, error) by line name; names omit what all lines share."""
    parts = ("problem", "learner", "method")
    parts_that_differ = [part for part in parts if len({cell[part] for cell in cells}) > 1] or [
        "method"
    ]
    lines: dict[str, list[tuple[float, float, float]]] = {}
    for cell in cells:
        if cell[what] is not None:
            bar = np.nan if error is None or cell[error] is None else cell[error]
            name = ", ".join(str(cell[part]) for part in parts_that_differ)
            lines.setdefault(name, []).append((cell["size"], cell[what], bar))
    return lines


DENSITY_POINTS = 513
TAIL = 1e-4


def draw_posterior(
    posterior: ErrorPosterior,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, ErrorPosterior] | None = None,
    level: float = 0.95,
) -> Any:
    """Draw the density, its mean and its one-sided bound at `level`, and return the axes.

    `others` are drawn too, by name. The probability beyond the bound is shaded. The title says what
    the posterior is about if that is not a single rule.
    """
    ax = axes_of(ax)
    every = {label or _counts(posterior): posterior, **(others or {})}
    grid = _grid(every.values())
    for name, one in every.items():
        (line,) = ax.plot(grid, one.pdf(grid), linewidth=1.3, label=clean(name, 60))
        bound = one.upper(level)
        beyond = np.r_[bound, grid[grid > bound]]
        ax.fill_between(beyond, one.pdf(beyond), color=line.get_color(), alpha=0.25, linewidth=0)
        ax.plot(one.mean, one.pdf(one.mean), "o", markersize=4, color=line.get_color())
    ax.set_xlabel("error")
    ax.set_ylabel("posterior density")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize="small", title=f"shaded: beyond the {level:.0%} bound")
    labels = {one.of for one in every.values()} - {ErrorPosterior(0, 0).of}
    if labels:
        ax.set_title("\n".join(sorted(labels)), fontsize="small", wrap=True)
    return ax


def _grid(posteriors: Any) -> np.ndarray:
    """Return the errors at which densities are drawn, except 1e-4 of the probability per tail.

    An end at which a density is infinite is excluded.
    """
    low = min(posterior.quantile(TAIL) for posterior in posteriors)
    high = max(posterior.quantile(1 - TAIL) for posterior in posteriors)
    return np.clip(np.linspace(low, high, DENSITY_POINTS), TAIL**2, 1 - TAIL**2)


def _counts(posterior: ErrorPosterior) -> str:
    return f"{posterior.errors:g} errors in {posterior.n:g}"
