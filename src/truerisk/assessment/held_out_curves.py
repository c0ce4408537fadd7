"""ROC curve and calibration from rows that were used neither for tuning nor for fitting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from truerisk.assessment.out_of_fold import OutOfFoldPredictions
from truerisk.core import plain_values
from truerisk.estimation.problem import EstimationProblem
from truerisk.results.calibration import Calibration
from truerisk.results.roc import RocCurve
from truerisk.validation.discrimination import drop_roc_interval
from truerisk.validation.outcomes import Event


def roc_curve(predictions: OutOfFoldPredictions, problem: EstimationProblem) -> RocCurve | str:
    """Return the ROC curve of one class against the others, or a sentence why there is none.

    The class is the one that the user named, or by default the second of two classes.
    """
    event = Event.from_label(problem.positive, problem.data)
    if event is None:
        n_classes, label = problem.data.n_classes, problem.data.label(1)
        return (
            f"a ROC curve is of two classes, and y has {n_classes}: name the one that stands "
            f"against the others, such as positive={label!r}."
        )
    data, plan = event.data, predictions.answers.plan
    # Rows are out-of-fold if there are several test sets and no row is in two of them.
    is_in_folds = plan.n_questions > 1 and sum(plan.test_sizes) == len(predictions.rows)
    kind = "probabilities" if predictions.response == "probability" else "scores"
    truth, values = (
        data.codes_of(predictions.rows),
        event.convert_values(predictions.values, predictions.response),
    )
    if len(np.unique(truth)) < 2:
        return "the rows that were tested are of one class."
    curve = RocCurve.from_scores(
        truth,
        values if values.ndim == 1 else values[:, 1],
        weights=data.weights(predictions.rows),
        groups=None if data.clusters is None else data.clusters[predictions.rows],
        rows=predictions.rows,
        method=f"{'out-of-fold' if is_in_folds else 'held-out'} {kind}",
    )
    return drop_roc_interval(
        replace(curve, positive=plain_values.to_json_value(data.label(1))),
        is_pooled=predictions.response == "score",
    )


def calibration(held_out: OutOfFoldPredictions, problem: EstimationProblem) -> Calibration | None:
    """Return the calibration of the event's predicted probabilities; None without probabilities.

    The event is the named class, or the second of two. With several classes the calibration is that
    of the most probable class of each row.
    """
    data = problem.data
    if held_out.response != "probability":
        return None
    class_codes, event_class = (
        data.codes_of(held_out.rows),
        Event.from_label(problem.positive, data),
    )
    if event_class is not None:
        event, has_event, probabilities = (
            event_class.label,
            class_codes == event_class.code,
            held_out.values[:, event_class.code],
        )
    else:
        event = "the most probable class"
        has_event, probabilities = (
            held_out.values.argmax(axis=1) == class_codes,
            held_out.values.max(axis=1),
        )
    return Calibration.from_predictions(
        has_event,
        np.clip(probabilities, 0, 1),
        event=event,
        weights=data.weights(held_out.rows),
        dependent=data.clusters is not None or held_out.is_ordered,
        confidence_level=problem.confidence_level,
    )
