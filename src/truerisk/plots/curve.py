"""Risk curves: risk against the candidates, the chosen one marked; several criteria together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from truerisk.core.errors import BadData
from truerisk.core.present import params_text
from truerisk.core.results import RiskCurve
from truerisk.plots.axes import axes_of

__all__ = ["draw_curve", "draw_curves"]


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
    in grid order. With `others` the criteria are drawn together, as by `draw_curves`.
    """
    named = dict(others) if isinstance(others, Mapping) else {c.common.method: c for c in others}
    if named:
        return draw_curves({label or curve.common.method: curve, **named}, ax=ax, x=x)
    ax = axes_of(ax)
    name, places = _places(curve, x)
    errors = np.nan_to_num(curve.std_errors)
    order = np.argsort(places, kind="stable")
    lines = ax.errorbar(
        places[order],
        _heights(curve)[order],
        yerr=errors[order] if errors.any() else None,
        fmt="o-",
        markersize=4,
        linewidth=1.2,
        elinewidth=0.8,
        capsize=2,
        label=label or curve.common.method,
    )
    _ring(ax, curve, places, lines.lines[0].get_color())
    _name_chosen(ax, curve, places)
    _name_axes(ax, curve, name, places)
    bars = "" if np.isnan(curve.std_errors).all() else " ± 1 standard error"
    ax.set_title(f"{curve.common.method}{bars}", fontsize="medium")
    return ax


def draw_curves(curves: Mapping[str, RiskCurve], *, ax: Any = None, x: str | None = None) -> Any:
    """Draw several criteria of the same candidates together and return the axes.

    Each has its line, without error bars, and a ring at the candidate it chooses, which the legend
    names. Curves in another loss than the first, such as an AIC, are dashed and have their scale
    on the right; the heights of the two do not compare.
    """
    first = _alike(curves)
    ax = axes_of(ax)
    name, places = _places(first, x)
    order = np.argsort(places, kind="stable")
    lines = []
    for number, (label, curve) in enumerate(curves.items()):
        same = curve.common.named_loss == first.common.named_loss
        (line,) = (ax if same else _right(ax, curve)).plot(
            places[order],
            _heights(curve)[order],
            "-" if same else "--",
            marker="osD^vPX*"[number % 8],
            markersize=3.5,
            linewidth=1.2,
            color=f"C{number % 10}",
            label=f"{label} → {_chosen(curve, name)}",
        )
        _ring(line.axes, curve, places, line.get_color())
        lines.append(line)
    for axes in {line.axes for line in lines}:
        axes.margins(y=0.1)
    _name_axes(ax, first, name, places)
    title = {"title": "criterion → chosen", "title_fontsize": "small"}
    lines[-1].axes.legend(handles=lines, frameon=False, fontsize="small", **title)
    return ax


def _right(ax: Any, curve: RiskCurve) -> Any:
    """The axes on the right, made when first needed."""
    label = curve.common.scale.axis(curve.common.named_loss)
    for axes in ax.figure.axes:
        if axes is not ax and axes.get_ylabel() == label and axes.bbox.bounds == ax.bbox.bounds:
            return axes
    axes = ax.twinx()
    axes.set_ylabel(label)
    return axes


def _alike(curves: Mapping[str, RiskCurve]) -> RiskCurve:
    """The first curve; all must have its candidates, and there are two losses at most."""
    if not curves:
        raise BadData("there is no curve to draw.")
    first = next(iter(curves.values()))
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
    return first


def _chosen(curve: RiskCurve, name: str) -> str:
    """The chosen value on the axis, or the chosen setting."""
    found = [v for n, v in curve.best_params.items() if n.rpartition("__")[2] == name]
    return str(found[0]) if found else params_text(curve.best_params)


def _places(curve: RiskCurve, x: str | None) -> tuple[str, np.ndarray]:
    """Name of the axis and the place of each candidate on it."""
    if x is None:
        varying = [
            n for n in curve.candidates[0] if len({str(c.get(n)) for c in curve.candidates}) > 1
        ]
        x = varying[0] if len(varying) == 1 else None
    if x is not None:
        values = [params.get(x) for params in curve.candidates]
        if all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in values):
            return x.rpartition("__")[2], np.array(values, dtype=float)
    return "candidate", np.arange(len(curve), dtype=float)


def _heights(curve: RiskCurve) -> np.ndarray:
    """What is drawn of every candidate: scores as scores."""
    return np.array([curve.common.scale.value(float(risk)) for risk in curve.values])


def _ring(ax: Any, curve: RiskCurve, places: np.ndarray, colour: Any) -> None:
    place, value = places[curve.best], _heights(curve)[curve.best]
    ax.plot(place, value, "o", markersize=10, fillstyle="none", color=colour, zorder=5)


def _name_chosen(ax: Any, curve: RiskCurve, places: np.ndarray) -> None:
    ax.annotate(
        f"chosen: {params_text(curve.best_params)}",
        (places[curve.best], _heights(curve)[curve.best]),
        xytext=(0, -16),
        textcoords="offset points",
        ha="center",
        fontsize="small",
    )
    ax.margins(y=0.15)


def _name_axes(ax: Any, curve: RiskCurve, name: str, places: np.ndarray) -> None:
    spread = places.min() > 0 and places.max() / places.min() > 100
    if name != "candidate" and spread:
        ax.set_xscale("log")
    if name == "candidate" and len(curve) <= 12:
        ax.set_xticks(places, [params_text(p) for p in curve.candidates], rotation=45, ha="right")
    ax.set_xlabel(name)
    ax.set_ylabel(curve.common.scale.axis(curve.common.named_loss))
