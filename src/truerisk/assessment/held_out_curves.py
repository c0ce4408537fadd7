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


def roc_curve(held_out: OutOfFold, problem: Problem) -> RocCurve | str:
    """Return the ROC curve of the named class, or of the second of two; or why there is none."""
    event = Event.from_label(problem.positive, problem.data)
    if event is None:
        n_classes, label = problem.data.n_classes, problem.data.label(1)
        return (
            f"a ROC curve is of two classes, and y has {n_classes}: name the one that stands "
            f"against the others, such as positive={label!r}."
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
        replace(curve, positive=plain_values.to_plain(data.label(1))),
        is_pooled=held_out.response == "score",
    )


def calibration(held_out: OutOfFold, problem: Problem) -> Calibration | None:
    """Return the calibration of the event's predicted probabilities; None without probabilities.

    The event is the named class, or the second of two. With several classes the calibration is that
    of the most probable class of each row.
    """
    data = problem.data
    if held_out.response != "probability":
        return None
    codes, event_class = data.codes_of(held_out.rows), Event.from_label(problem.positive, data)
    if event_class is not None:
        event, has_event, probabilities = (
            event_class.label,
            codes == event_class.code,
            held_out.values[:, event_class.code],
        )
    else:
        event = "the most probable class"
        has_event, probabilities = (
            held_out.values.argmax(axis=1) == codes,
            held_out.values.max(axis=1),
        )
    return Calibration.from_predictions(
        has_event,
        np.clip(probabilities, 0, 1),
        event=event,
        weights=data.weights(held_out.rows),
        dependent=data.clusters is not None or held_out.ordered,
        confidence_level=problem.confidence_level,
    )
