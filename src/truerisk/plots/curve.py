"""Risk curves: risk against the candidates, the chosen one marked; several criteria together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from truerisk.core.errors import BadData
from truerisk.core.present import params_text
from truerisk.core.results import RiskCurve
from truerisk.plots.axes import axes_of
from truerisk.plots.marks import on_axes
from truerisk.report.curves import IN_ORDER, draw_lines, keys_of
from truerisk.report.figure import Key

__all__ = ["draw_curve"]

MOST_NAMED = 12  # settings in grid order that are written on the axis


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
    losses = list(dict.fromkeys(one.common.named_loss for one in curves.values()))
    ax = axes_of(ax)
    side, n_drawn = ax, 0
    for loss in losses:
        side = ax if loss == losses[0] else ax.twinx()
        for _ in range(n_drawn):  # the colours go on
            side.plot([], [])[0].remove()
        beside = "" if side is ax else " (right)"
        chosen = {
            f"{word} → {params_text(one.best_params)}{beside}": one
            for word, one in curves.items()
            if one.common.named_loss == loss
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
