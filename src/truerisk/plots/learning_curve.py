"""A learning curve: measured risks with their intervals, the law and its band, carried on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.core.errors import BadArgument, BadData
from truerisk.core.learning_curve import FURTHEST, LearningCurve
from truerisk.plots.marks import on_axes
from truerisk.report.learning import draw_learning

__all__ = ["draw_learning_curve"]

POINTS = 48


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
            f"to={end:g}: the curve was measured up to {last:g} training rows, and is carried on "
            f"to {FURTHEST * last:g} at most."
        )
    grid = np.union1d(np.geomspace(curve.sizes[0], end, POINTS), [last])
    read = () if curve.law is None else tuple(curve.at(float(n)) for n in grid)
    figure = draw_learning(curve, read)
    if figure is None:
        raise BadData("no size has a risk to draw.")
    measured, *keys = figure.keys
    return on_axes(figure.drawing, (replace(measured, text=label or measured.text), *keys), ax)
