"""Pictures of the page on axes of matplotlib, with all that a page would leave out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from truerisk.core.errors import BadData
from truerisk.core.present import clean, number
from truerisk.core.statistics.calibration import Calibration
from truerisk.plots.marks import on_axes
from truerisk.report import boxes, calibration, ladder, review_figures, stability
from truerisk.report import validation_figures as validation
from truerisk.report.figure import Figure
from truerisk.validation.stability import FeatureStability

__all__ = [
    "draw_benefit",
    "draw_boxes",
    "draw_calibration",
    "draw_calibration_curve",
    "draw_features",
    "draw_forest",
    "draw_ladder",
    "draw_stability",
]

UNTUNED = "no learner was tuned: there is no setting whose stability could be drawn."


def _drawn(maker: Callable[..., Figure | None], lacking: str = "", **whole: Any) -> Any:
    """A maker of figures as one of axes; `lacking` is said where there is no figure."""

    def draw(record: Any, *, ax: Any = None, **options: Any) -> Any:
        figure = maker(record, **whole, **options)
        if figure is None:
            raise BadData(lacking)
        return on_axes(figure, ax)

    return draw


draw_ladder = _drawn(ladder.draw_ladder, "there is no risk to draw.", most=None)
draw_boxes = _drawn(boxes.draw_boxes, "there is no risk to draw.", most=None)
draw_stability = _drawn(stability.draw_stability, UNTUNED, most=None)
draw_forest = _drawn(review_figures.draw_forest, "no subgroup has a value to draw.", most=None)
draw_calibration_curve = _drawn(validation.draw_calibration_curve)
draw_benefit = _drawn(validation.draw_benefit)


def draw_features(found: FeatureStability, *, ax: Any = None) -> Any:
    """Draw how often the features were selected, and return the axes."""
    ax = on_axes(review_figures.draw_features(found), ax)
    if found.index is not None:
        ax.set_title(f"stability {number(found.index)} {found.interval}", fontsize="medium")
    return ax


def draw_calibration(
    found: Calibration,
    *,
    ax: Any = None,
    label: str | None = None,
    others: Mapping[str, Calibration] | None = None,
) -> Any:
    """Draw the bins with their intervals, and `others` by name, and return the axes."""
    for name, one in {label or found.event: found, **(others or {})}.items():
        said = f"{clean(name, 40)}: Brier {one.brier:.4f}"
        ax = on_axes(calibration.draw_calibration(one), ax, said)
    return ax
