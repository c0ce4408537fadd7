"""A risk curve: risk with error bars against the candidates, the chosen one marked."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.errors import MissingExtra
from truerisk.core.present import params_text
from truerisk.core.results import RiskCurve

__all__ = ["draw_curve"]


def draw_curve(
    curve: RiskCurve, *, ax: Any = None, x: str | None = None, label: str | None = None
) -> Any:
    """Draw the curve and return its axes.

    `x` names the parameter on the axis; by default the one parameter that varies, if its values
    are numbers (on a logarithmic axis where they span more than two decades), else the candidates
    in grid order.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("a plot needs matplotlib: pip install 'truerisk[plot]'.") from None
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    name, places = _places(curve, x)
    errors = np.nan_to_num(curve.std_errors)
    order = np.argsort(places, kind="stable")
    lines = ax.errorbar(
        places[order],
        curve.values[order],
        yerr=errors[order] if errors.any() else None,
        fmt="o-",
        markersize=4,
        linewidth=1.2,
        elinewidth=0.8,
        capsize=2,
        label=label or curve.common.method,
    )
    _mark_chosen(ax, curve, places, lines.lines[0].get_color())
    _name_axes(ax, curve, name, places)
    return ax


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


def _mark_chosen(ax: Any, curve: RiskCurve, places: np.ndarray, colour: Any) -> None:
    place, value = places[curve.best], curve.values[curve.best]
    ax.plot(place, value, "o", markersize=10, fillstyle="none", color=colour, zorder=5)
    ax.annotate(
        f"chosen: {params_text(curve.best_params)}",
        (place, value),
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
    ax.set_ylabel(f"risk ({curve.common.loss})")
    bars = "" if np.isnan(curve.std_errors).all() else " ± 1 standard error"
    ax.set_title(f"{curve.common.method}{bars}", fontsize="medium")
