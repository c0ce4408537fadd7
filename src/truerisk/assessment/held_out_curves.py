"""ROC curve and calibration from rows that were used neither for tuning nor for fitting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from truerisk.assessment.out_of_fold import OutOfFold
from truerisk.core import plain_values
from truerisk.estimation.problem import Problem
from truerisk.results.calibration import Calibration
from truerisk.results.roc import RocCurve
from truerisk.validation.discrimination import without_interval
from truerisk.validation.outcomes import Event


def roc_of(held_out: OutOfFold, problem: Problem) -> RocCurve | str:
    """Return the ROC curve of the named class, else the second of two, or why there is none."""
    event = Event.named(problem.positive, problem.data)
    if event is None:
        n, label = problem.data.n_classes, problem.data.label(1)
        return (
            f"a ROC curve is of two classes, and y has {n}: name the one that stands against the "
            f"others, such as positive={label!r}."
        )
    data = event.data
    truth, values = data.codes_of(held_out.rows), event.read(held_out.values, held_out.response)
    if len(np.unique(truth)) < 2:
        return "the rows that were tested are of one class."
    curve = RocCurve.from_scores(
        truth,
        values if values.ndim == 1 else values[:, 1],
        weights=data.weights(held_out.rows),
        groups=None if data.clusters is None else data.clusters[held_out.rows],
        rows=held_out.rows,
        method=f"out-of-fold {'probabilities' if held_out.response == 'probability' else 'scores'}",
    )
    return without_interval(
        replace(curve, positive=plain_values.plain(data.label(1))),
        pooled=held_out.response == "score",
    )


def calibration_of(rows: OutOfFold, problem: Problem) -> Calibration | None:
    """Return the calibration of the named class, else of the second of two, else of predictions.

    In the last case it is that of the predicted class of each row.
    """
    data = problem.data
    if rows.response != "probability":
        return None
    codes, kind = data.codes_of(rows.rows), Event.named(problem.positive, data)
    if kind is not None:
        event, came, p = kind.label, codes == kind.code, rows.values[:, kind.code]
    else:
        event = "the most probable class"
        came, p = rows.values.argmax(axis=1) == codes, rows.values.max(axis=1)
    return Calibration.from_predictions(
        came,
        np.clip(p, 0, 1),
        event=event,
        weights=data.weights(rows.rows),
        dependent=data.clusters is not None or rows.ordered,
        confidence_level=problem.confidence_level,
    )
