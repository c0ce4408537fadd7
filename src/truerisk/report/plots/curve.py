"""Matplotlib plots of curves: risks over settings, rows or time, paths, densities and studies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.core.errors import BadArgument, BadData
from truerisk.core.formats import escape_and_truncate, format_params
from truerisk.core.registry import check_known
from truerisk.report.curves import GRID_ORDER_LABEL, draw_risk_curves, make_legend_keys
from truerisk.report.figure import LegendKey
from truerisk.report.learning import draw_learning_figure
from truerisk.report.plots.marks import draw_on_axes, get_or_create_axes, get_or_create_panel_axes
from truerisk.results.error_posterior import ErrorPosterior
from truerisk.results.learning_curve import MAX_EXTRAPOLATION_FACTOR, LearningCurve
from truerisk.results.results import RiskCurve

# Maximum number of settings whose names are shown on an axis in grid order.
MAX_NAMED_SETTINGS = 12
N_LAW_POINTS = 48  # Number of points at which the power law of a learning curve is drawn.


def draw_curve(
    curve: RiskCurve,
    *,
    ax: Any = None,
    x: str | None = None,
    label: str | None = None,
    others: Mapping[str, RiskCurve] | Iterable[RiskCurve] = (),
) -> Any:
    """Draw a risk curve over the candidates and return its axes.

    `x` names the parameter on the axis. By default it is the only parameter that varies, if its
    values are numbers (on a logarithmic axis if they span more than two decades), else the
    candidates in grid order. A single curve has a band of one standard error. `others` are curves
    of the same candidates that are drawn too, each with a ring at the candidate that it chooses,
    which the legend names. Curves in another loss than the first, such as an AIC, use the scale on
    the right; the heights on both scales cannot be compared.
    """
    named_others = (
        dict(others)
        if isinstance(others, Mapping)
        else {other_curve.common.method: other_curve for other_curve in others}
    )
    curves = {label or curve.common.method: curve, **named_others}
    _check_comparable(curve, curves)
    losses = list(
        dict.fromkeys(drawn_curve.common.named_scoring for drawn_curve in curves.values())
    )
    ax = get_or_create_axes(ax)
    loss_axes, n_drawn_curves = ax, 0
    for loss in losses:
        loss_axes = ax if loss == losses[0] else ax.twinx()
        # Empty lines advance the colour cycle.
        # The second axes then do not repeat the colours of the first axes.
        for _ in range(n_drawn_curves):
            loss_axes.plot([], [])[0].remove()
        side_text = "" if loss_axes is ax else " (right)"
        loss_curves = {
            f"{name} → {format_params(drawn_curve.best_params)}{side_text}": drawn_curve
            for name, drawn_curve in curves.items()
            if drawn_curve.common.named_scoring == loss
        }
        drawing = draw_risk_curves(
            "", "", loss_curves, banded_curve=None if named_others else curve, x=x
        )
        if drawing is None:
            raise BadData(f"no candidate has a {loss} risk to draw.")
        band_keys = (
            [LegendKey("s0", "± 1 standard error", "band")] if (curve.std_errors > 0).any() else []
        )
        draw_on_axes(
            drawing,
            [*make_legend_keys(loss_curves), *([] if named_others else band_keys)],
            loss_axes,
            ax,
        )
        if (
            drawing.bottom
            and drawing.bottom.label == GRID_ORDER_LABEL
            and len(curve) <= MAX_NAMED_SETTINGS
        ):
            setting_names = [format_params(setting) for setting in curve.candidates]
            loss_axes.set_xticks(range(len(curve)), setting_names, rotation=45, ha="right")
        n_drawn_curves += len(loss_curves)
    return ax


def _check_comparable(first_curve: RiskCurve, curves: Mapping[str, RiskCurve]) -> None:
    """Raise BadData if curves have different candidates, or more than two losses."""
    for label, curve in curves.items():
        if [dict(setting) for setting in curve.candidates] != [
            dict(setting) for setting in first_curve.candidates
        ]:
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
    """Draw a learning curve and return its axes.

    `to` is the number of training rows up to which the power law is extrapolated, by default twice
    the largest measured size; the extrapolation is dashed. Scores are drawn as scores.
    """
    largest_size = float(curve.sizes[-1])
    extrapolation_end = 2 * largest_size if to is None else float(to)
    if (
        curve.law is not None
        and not largest_size <= extrapolation_end <= MAX_EXTRAPOLATION_FACTOR * largest_size
    ):
        raise BadArgument(
            f"to={extrapolation_end:.15g}: the curve was measured up to {largest_size:g} training "
            "rows, and "
            f"is extrapolated to {MAX_EXTRAPOLATION_FACTOR * largest_size:g} at most."
        )
    sizes = np.union1d(
        np.geomspace(curve.sizes[0], extrapolation_end, N_LAW_POINTS), [largest_size]
    )
    expected_risks = (
        () if curve.law is None else tuple(curve.at(float(train_size)) for train_size in sizes)
    )
    figure = draw_learning_figure(curve, expected_risks)
    if figure is None:
        raise BadData("no size has a risk to draw.")
    measured_key, *keys = figure.keys
    return draw_on_axes(
        figure.drawing, (replace(measured_key, text=label or measured_key.text), *keys), ax
    )


def draw_over_time(risk_over_time: Any, *, ax: Any = None, label: str | None = None) -> Any:
    """Draw the mean loss or score of each period over time, and return the axes.

    The dashed line is the trend, if it was tested.
    """
    ax = get_or_create_axes(ax)
    period_centers = risk_over_time.starts + (risk_over_time.ends - risk_over_time.starts) / 2
    values = risk_over_time.values
    (drawn_line,) = ax.plot(period_centers, values, "o-", markersize=4, linewidth=1.2, label=label)
    colour = drawn_line.get_color()
    ax.hlines(values, risk_over_time.starts, risk_over_time.ends, color=colour, linewidth=2.4)
    if risk_over_time.low is not None and risk_over_time.high is not None:
        ax.fill_between(
            period_centers,
            risk_over_time.low,
            risk_over_time.high,
            color=colour,
            alpha=0.18,
            linewidth=0,
        )
    if risk_over_time.p_value is not None:
        first_time, last_time = risk_over_time.starts[0], risk_over_time.ends[-1]
        mean_value, slope = np.average(values, weights=risk_over_time.n_rows), risk_over_time.slope
        trend_values = [mean_value - slope / 2, mean_value + slope / 2]
        ax.plot([first_time, last_time], trend_values, "--", linewidth=1.0, color=colour)
    if risk_over_time.starts.dtype.kind == "M":
        from matplotlib import dates as untyped

        dates: Any = untyped
        locator = dates.AutoDateLocator(minticks=3, maxticks=7)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    ax.set_xlabel("time")
    ax.set_ylabel(risk_over_time.scale.axis_label(risk_over_time.scoring))
    return ax


def draw_path(
    model: Any, *, ax: Any = None, names: Sequence[str] | None = None, n_named: int = 8
) -> Any:
    """Draw the coefficients of a fitted LogisticPath and return the axes.

    A vertical line marks the λ that the model uses for predictions. The `n_named` largest
    coefficients there are labelled with `names`, the columns of the frame, or x0, x1, ...
    Coefficients are in the units of X. Several classes have one panel each and return an array of
    axes; `ax` is then a sequence of the same length. Where a path did not converge, it is dotted.
    """
    classes = model.classes_ if len(model.classes_) > 2 else model.classes_[1:]
    paths = model.coef_path_.reshape(len(model.lambdas_), len(classes), -1)
    names = _check_feature_names(model, names, paths.shape[2])
    panel_axes = get_or_create_panel_axes(ax, len(classes))
    for class_index, (axes, label) in enumerate(zip(panel_axes, classes, strict=True)):
        _draw_coefficients(axes, model, paths[:, class_index])
        values = model.coef_[class_index]
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
    panel_axes[0].set_ylabel("coefficient")
    return panel_axes[0] if len(panel_axes) == 1 else np.array(panel_axes)


def _draw_coefficients(axes: Any, model: Any, path: np.ndarray) -> None:
    nonzero_paths = path[:, (path != 0).any(axis=0)]
    axes.set_xscale("log")
    axes.invert_xaxis()
    for column, values in enumerate(nonzero_paths.T):
        (drawn_line,) = axes.plot(model.lambdas_, values, linewidth=1.0)
        if not model.converged_.all():
            unconverged_values = np.where(model.converged_, np.nan, values)
            axes.plot(
                model.lambdas_, unconverged_values, ":", linewidth=2.5, color=drawn_line.get_color()
            )
            drawn_line.set_label(f"_{column}")
    axes.axvline(model.lambda_, color="0.4", linewidth=0.8, linestyle="--")
    axes.axhline(0.0, color="0.7", linewidth=0.6)
    axes.set_xlabel("λ")


def _check_feature_names(model: Any, names: Sequence[str] | None, n_columns: int) -> Sequence[str]:
    if names is None:
        names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(n_columns)])
    if len(names) != n_columns:
        raise BadData(f"there are {len(names)} names for {n_columns} columns.")
    return list(map(str, names))


# For each quantity: the key of its standard error in the summary, and its axis label.
STUDY_QUANTITIES: Mapping[str, tuple[str | None, str]] = {
    "bias": ("bias_error", "bias (estimate − truth)"),
    "rmse": (None, "root mean squared error"),
    "coverage": ("coverage_error", "coverage"),
    "seconds": (None, "seconds per estimate"),
}


def draw_study(results: Any, *, what: str = "bias", ax: Any = None) -> Any:
    """Draw a study as a line for each problem, learner and method, and return the axes.

    Standard errors are drawn if the study has them.
    """
    check_known("there is no", what, STUDY_QUANTITIES)
    error_key, label = STUDY_QUANTITIES[what]
    points_by_line = _points_by_line(results.cells, what, error_key)
    if not points_by_line:
        raise BadData(f"the study has no {what} to draw: no cell has one.")
    ax = get_or_create_axes(ax)
    for name, points in points_by_line.items():
        sizes, values, errors = (
            np.array(column, dtype=float) for column in zip(*points, strict=True)
        )
        size_order = np.argsort(sizes)
        error_bars = errors[size_order] if np.isfinite(errors).all() else None
        ax.errorbar(
            sizes[size_order],
            values[size_order],
            yerr=error_bars,
            fmt="o-",
            markersize=4,
            capsize=2,
            label=name,
        )
    if what == "bias":
        ax.axhline(0.0, color="0.6", linewidth=0.8)
    ax.set_xlabel("rows")
    ax.set_ylabel(label)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _points_by_line(
    cells: Any, quantity: str, error_key: str | None
) -> dict[str, list[tuple[float, float, float]]]:
    """Return the points (size, value, error) of each line by the name of the line.

    Parts that the names of all lines have in common are omitted from the names.
    """
    name_fields = ("problem", "learner", "method")
    differing_fields = [
        name_field for name_field in name_fields if len({cell[name_field] for cell in cells}) > 1
    ] or ["method"]
    points_by_line: dict[str, list[tuple[float, float, float]]] = {}
    for cell in cells:
        if cell[quantity] is not None:
            error_value = (
                np.nan if error_key is None or cell[error_key] is None else cell[error_key]
            )
            name = ", ".join(str(cell[name_field]) for name_field in differing_fields)
            points_by_line.setdefault(name, []).append((cell["size"], cell[quantity], error_value))
    return points_by_line


N_DENSITY_POINTS = 513
TAIL_PROBABILITY = 1e-4


def draw_posterior(
    posterior: ErrorPosterior,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, ErrorPosterior] | None = None,
    level: float = 0.95,
) -> Any:
    """Draw a posterior density with its mean and upper bound at `level`, and return the axes.

    `others` are further posteriors by name that are drawn too. The probability beyond the bound is
    shaded. The title says what the posterior is about if that is not a single rule.
    """
    ax = get_or_create_axes(ax)
    posteriors = {label or _counts_text(posterior): posterior, **(others or {})}
    error_rates = _error_rate_grid(posteriors.values())
    for name, drawn_posterior in posteriors.items():
        (drawn_line,) = ax.plot(
            error_rates,
            drawn_posterior.pdf(error_rates),
            linewidth=1.3,
            label=escape_and_truncate(name, 60),
        )
        bound = drawn_posterior.upper(level)
        tail_rates = np.r_[bound, error_rates[error_rates > bound]]
        ax.fill_between(
            tail_rates,
            drawn_posterior.pdf(tail_rates),
            color=drawn_line.get_color(),
            alpha=0.25,
            linewidth=0,
        )
        ax.plot(
            drawn_posterior.mean,
            drawn_posterior.pdf(drawn_posterior.mean),
            "o",
            markersize=4,
            color=drawn_line.get_color(),
        )
    ax.set_xlabel("error")
    ax.set_ylabel("posterior density")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize="small", title=f"shaded: beyond the {level:.0%} bound")
    labels = {drawn_posterior.of for drawn_posterior in posteriors.values()} - {
        ErrorPosterior(0, 0).of
    }
    if labels:
        ax.set_title("\n".join(sorted(labels)), fontsize="small", wrap=True)
    return ax


def _error_rate_grid(posteriors: Any) -> np.ndarray:
    """Return the error rates at which densities are drawn.

    They leave out a probability of 1e-4 in each tail. A rate of 0 or 1, at which a density may be
    infinite, is excluded.
    """
    low = min(posterior.quantile(TAIL_PROBABILITY) for posterior in posteriors)
    high = max(posterior.quantile(1 - TAIL_PROBABILITY) for posterior in posteriors)
    return np.clip(
        np.linspace(low, high, N_DENSITY_POINTS), TAIL_PROBABILITY**2, 1 - TAIL_PROBABILITY**2
    )


def _counts_text(posterior: ErrorPosterior) -> str:
    return f"{posterior.errors:g} errors in {posterior.n:g}"
