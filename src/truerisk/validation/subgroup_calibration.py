"""Calibration in every subgroup: O/E, calibration in the large and slope of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.validation.calibration import CalibrationLine
from truerisk.validation.calibration_fits import IDENTITY
from truerisk.validation.follow_up import cox_slope
from truerisk.validation.honest import HonestRun
from truerisk.validation.measures import Measured, sandwich_measure
from truerisk.validation.observed_expected import observed_to_expected
from truerisk.validation.outcomes import Event, HeldOut, Outcomes
from truerisk.validation.subgroups import (
    MIN_LEVEL_ROWS,
    ColumnLevels,
    LevelCalibration,
    Subgroup,
)


def level_calibrations(
    run: HonestRun,
    held_out: HeldOut,
    event: Event | None,
    clip: float | None,
    columns: Sequence[ColumnLevels],
) -> tuple[LevelCalibration, ...]:
    """Return the calibration of each level, with intervals for a finished model.

    `held_out` are probabilities of the event, numeric predictions, or linear predictors of a
    survival outcome.
    """
    data = run.problem.data
    held_out = held_out if event is None else event.convert_held_out(held_out)
    is_certain = run.has_finished_model and not data.dependent
    level = run.problem.confidence_level if is_certain else None
    calibrations = []
    for column in columns:
        for code, name in enumerate(column.names):
            is_member = column.codes[held_out.rows] == code
            rows = len(np.unique(held_out.rows[is_member]))
            subgroup = Subgroup(column.column, name, rows)
            if rows < MIN_LEVEL_ROWS:
                rows_text = "1 row" if rows == 1 else f"{rows} rows"
                reason = f"{rows_text}: at least {MIN_LEVEL_ROWS} are needed."
                calibrations.append(LevelCalibration(subgroup, {}, reason))
                continue
            calibrations.append(
                _measure_calibration(
                    subgroup, _select(held_out, is_member), run, event, clip, level
                )
            )
    return tuple(calibrations)


def _select(held_out: HeldOut, is_member: np.ndarray) -> HeldOut:
    """Return the held-out predictions of some rows."""
    row_fields: dict[str, Any] = {
        name: values[is_member]
        for name in ("rows", "fold", "repetition", "fit", "truth", "answers", "weights", "groups")
        if (values := getattr(held_out, name)) is not None
    }
    return replace(held_out, **row_fields)


def _measure_calibration(
    subgroup: Subgroup,
    held_out: HeldOut,
    run: HonestRun,
    event: Event | None,
    clip: float | None,
    level: float | None,
) -> LevelCalibration:
    """Return the calibration of a level, whose held-out predictions are given."""
    measures: dict[str, Measured] = {}
    data = run.problem.data
    is_in_time, reason = data.task == "survival", None
    if is_in_time:
        measures["cox-slope"] = cox_slope(run, held_out, clip, is_certain=level is not None)
        reason = measures["cox-slope"].reason
    if is_in_time and event is None:
        n_events = int(held_out.truth[np.unique(held_out.rows, return_index=True)[1]].sum())
        return LevelCalibration(replace(subgroup, n_events=n_events), measures, reason)
    outcomes = Outcomes.from_held_out(held_out, clip)
    if outcomes.link is not IDENTITY:
        subgroup = replace(subgroup, n_events=outcomes.n_events)
        measures["oe"] = observed_to_expected(
            held_out,
            outcomes,
            data,
            None if event is None else event.horizon,
            clip=clip,
            confidence_level=level,
        )
        if outcomes.n_rarer_rows < MIN_LEVEL_ROWS:
            reason = (
                f"{outcomes.n_rarer_rows} rows of the rarer outcome: a calibration line needs at "
                f"least {MIN_LEVEL_ROWS} rows of each outcome."
            )
            return LevelCalibration(subgroup, measures, reason)
    try:
        line = CalibrationLine.from_outcomes(outcomes)
    except Refusal as refusal:
        return LevelCalibration(subgroup, measures, str(refusal))
    values, std_errors = line.measures(), line.std_errors(outcomes.clusters)
    for name in ("in-the-large", "slope", "intercept"):
        measures[name] = Measured(name, values[name])
        if level is not None:
            measures[name] = sandwich_measure(
                name, values[name], std_errors[name], level, outcomes.degrees_of_freedom
            )
    return LevelCalibration(subgroup, measures, reason)
