"""The part of a validation that speaks of calibration: of an event, or of numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from truerisk.api.assessing.out_of_fold import OVERLAP
from truerisk.api.validating.rating import Rating
from truerisk.core.validation.calibration_curve import CalibrationFit
from truerisk.core.validation.measured import Measured
from truerisk.core.validation.smooth_calibration import CalibrationCurve, SmoothCalibration

__all__ = ["calibration_of"]

N_BINS = 20
FEW_EVENTS = 200
FEW = (
    "{} rows of the rarer outcome: Van Calster et al. (2016) ask for {} before a curve is read in "
    "its details."
)
OF_ALL_ROWS = (
    "the intervals of slope and intercepts are of the model of all rows: they count that held-out "
    "rows are few, and how the models of pairs of folds differ; the band counts the former alone."
)


def calibration_of(rating: Rating, measures: Mapping[str, Measured]) -> SmoothCalibration:
    """Measures, curve with its band, and what was given in bins."""
    honest, event = rating.honest, rating.of_event
    notes = [] if not rating.sure else [OVERLAP if rating.jackknife is None else OF_ALL_ROWS]
    if event is not None:
        fewer = honest.n_rarer
        notes += [FEW.format(fewer, FEW_EVENTS)] if fewer < FEW_EVENTS else []
    edges, counts = _bins(rating)
    return SmoothCalibration(
        event=None if event is None else event.label,
        measures=rating.of_part(measures, "calibration"),
        curve=_curve(rating),
        counts=counts,
        edges=edges,
        missing=rating.why_no_curve,
        notes=tuple(notes),
    )


def _curve(rating: Rating) -> CalibrationCurve | None:
    if rating.why_no_curve is not None:
        return None
    fit, grid = CalibrationFit.of(rating.honest), rating.profile.grid
    band: tuple[np.ndarray | None, np.ndarray | None] = (None, None)
    if rating.sure:
        band = fit.band(grid, rating.honest.members, rating.level)
    apparent = rating.profile.curve(rating.optimism.apparent)
    corrected = rating.profile.curve(rating.optimism.corrected)
    return CalibrationCurve(
        predicted=grid,
        observed=fit.at(grid),
        low=band[0],
        high=band[1],
        apparent=apparent if np.isfinite(apparent).all() else None,
        corrected=corrected if np.isfinite(corrected).all() else None,
        confidence_level=rating.level,
        of_event=rating.of_event is not None,
    )


def _bins(rating: Rating) -> tuple[np.ndarray, np.ndarray]:
    """Edges of equal bins of what was given, and the weights of the rows of each outcome."""
    honest = rating.honest
    if rating.of_event is not None:
        edges = np.linspace(0, 1, N_BINS + 1)
        sides = [honest.came == 1, honest.came == 0]
    else:
        edges = np.linspace(honest.given.min(), honest.given.max(), N_BINS + 1)
        sides = [np.ones(honest.n_answers, dtype=bool)]
    counts = [
        np.histogram(honest.given[side], edges, weights=honest.weights[side])[0] for side in sides
    ]
    return edges, np.array(counts)
