"""Outcomes and predictions of held-out rows, from which all measures of a validation follow.

`HeldOut` are the predictions of models that had not seen the rows, `Event` converts predictions for
any classes to those for one class against all others, and `Outcomes` is the input of formulas.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.core import plain_values
from truerisk.core.errors import BriefRepr
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.losses.loss import Loss, class_code
from truerisk.losses.loss_words import HORIZON_LOSS_NAMES
from truerisk.losses.row_losses import registry
from truerisk.plan.answers import Answers, Response
from truerisk.results.evaluation import RowPredictions
from truerisk.validation.calibration_fits import IDENTITY, LOGIT, Link


@frozen(eq=False)
class Outcomes:
    """Observed outcomes and predictions, with weight, member (group) and row of each prediction.

    `predictions` are probabilities of the event, or decision values. If `link` is the identity,
    `observed` are numbers and `predictions` their predicted values. Predictions with the same
    value in `clusters` depend on each other: they are for one row, or for the rows of one group.
    `rows` are the predicted rows. The `weights` are scaled to sum to the number of rows.
    """

    observed: np.ndarray
    predictions: np.ndarray
    weights: np.ndarray
    clusters: np.ndarray
    rows: np.ndarray
    link: Link = LOGIT

    @classmethod
    def from_predictions(
        cls,
        observed: np.ndarray,
        predictions: np.ndarray,
        weights: np.ndarray | None = None,
        members: np.ndarray | None = None,
        link: Link = LOGIT,
        rows: np.ndarray | None = None,
    ) -> Outcomes:
        """Collect predictions of positive weight; by default each is for another, ungrouped row."""
        row_weights = np.ones(len(observed)) if weights is None else weights
        rows = np.arange(len(observed)) if rows is None else rows
        members = rows if members is None else members
        has_weight = row_weights > 0
        members, rows = (
            np.unique(index_array[has_weight], return_inverse=True)[1]
            for index_array in (members, rows)
        )
        row_weights = row_weights[has_weight].astype(np.float64)
        row_weights *= (1 + rows.max(initial=-1)) / row_weights.sum()
        return cls(
            observed[has_weight].astype(np.float64),
            predictions[has_weight],
            row_weights,
            members,
            rows,
            link,
        )

    @classmethod
    def from_held_out(cls, held_out_predictions: HeldOut, clip: float | None) -> Outcomes:
        """Collect held-out predictions of one event, or of numeric y.

        The several predictions of a repeatedly tested row share the weight of that row.
        Probabilities are those of the second class.
        """
        predictions = (
            held_out_predictions.answers
            if held_out_predictions.answers.ndim == 1
            else held_out_predictions.answers[:, 1]
        )
        _, row_index, prediction_counts = np.unique(
            held_out_predictions.rows, return_inverse=True, return_counts=True
        )
        weights = (
            np.ones(len(predictions))
            if held_out_predictions.weights is None
            else held_out_predictions.weights
        )
        is_numeric = held_out_predictions.response == "value"
        return cls.from_predictions(
            held_out_predictions.truth if is_numeric else held_out_predictions.truth == 1,
            clip_probabilities(predictions, clip)
            if held_out_predictions.response == "probability"
            else predictions,
            weights / prediction_counts[row_index],
            held_out_predictions.rows
            if held_out_predictions.groups is None
            else held_out_predictions.groups,
            IDENTITY if is_numeric else LOGIT,
            held_out_predictions.rows,
        )

    @property
    def n(self) -> float:
        """Total weight of all rows."""
        return float(self.weights.sum())

    @property
    def n_predictions(self) -> int:
        """Number of predictions, of which a repeatedly tested row has several."""
        return len(self.observed)

    @cached_property
    def n_rows(self) -> int:
        """Number of predicted rows."""
        return len(np.unique(self.rows))

    @cached_property
    def n_events(self) -> int:
        """Number of rows with the event."""
        return len(np.unique(self.rows[self.observed == 1]))

    @property
    def n_rarer_rows(self) -> int:
        """Number of rows with the rarer outcome."""
        return min(self.n_events, self.n_rows - self.n_events)

    @property
    def has_one_class(self) -> bool:
        """True if the event occurred in all rows, or in no row."""
        return self.n_events in (0, self.n_rows)

    @cached_property
    def linear_predictions(self) -> np.ndarray:
        """Predictions on the scale of the link: log(p/(1 − p)) for probabilities."""
        return self.link.transform(self.predictions)

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of Student's t: groups − 1, and infinite for independent rows.

        The variance between G groups is estimated from G sums, so that the normal quantile is too
        small if there are few groups.
        """
        n_clusters = int(self.clusters.max(initial=0)) + 1
        return math.inf if n_clusters == self.n_rows else max(n_clusters - 1, 1)

    def mean(self, values: np.ndarray) -> float:
        """Return the weighted mean of values, one per prediction."""
        return float(self.weights @ values / self.n)

    def quantiles(self, values: np.ndarray, quantile_levels: Sequence[float]) -> np.ndarray:
        """Return weighted quantiles of values; equal weights give NumPy's linear quantiles."""
        ascending_order = np.argsort(values, kind="stable")
        weights = self.weights[ascending_order]
        weight_midpoints = np.cumsum(weights) - (weights + weights[0]) / 2
        return np.interp(
            np.asarray(quantile_levels) * weight_midpoints[-1],
            weight_midpoints,
            values[ascending_order],
        )


def clip_probabilities(probabilities: np.ndarray, clip: float | None) -> np.ndarray:
    """Return probabilities between `clip` and 1 − `clip`, or unchanged if `clip` is None."""
    valid_probabilities = np.clip(probabilities, 0.0, 1.0)
    return valid_probabilities if clip is None else np.clip(valid_probabilities, clip, 1 - clip)


RESPONSES_BY_INFORMATION: tuple[Response, ...] = ("probability", "score", "value", "label")


@frozen(eq=False)
class HeldOut(BriefRepr):
    """Held-out predictions, one entry per prediction; repeatedly tested rows have several.

    Row `rows[t]` was in test fold `fold[t]` of repetition `repetition[t]`, and was predicted by fit
    `fit[t]` of the plan. `answers[t]` holds, depending on `response`, class probabilities in the
    order of `classes`, a decision value of the second class, a number, or a class code. `truth[t]`
    is the observed class code or number. `weights` and `groups` are those of the rows, or None.
    """

    rows: np.ndarray
    fold: np.ndarray
    repetition: np.ndarray
    fit: np.ndarray
    truth: np.ndarray
    answers: np.ndarray
    response: Response
    classes: np.ndarray | None = None
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None

    def __str__(self) -> str:
        n_folds = len(np.unique(self.fold))
        return f"{len(self.rows)} answers ({self.response}) about rows held out in {n_folds} folds"

    @classmethod
    def from_answers(cls, answered_rows: RowPredictions, data: Data) -> HeldOut:
        """Collect the most informative predictions: probabilities, scores, values or labels."""
        predictions_by_response = {
            predictions.response: predictions for predictions in answered_rows.answers
        }
        response = next(
            response_kind
            for response_kind in RESPONSES_BY_INFORMATION
            if response_kind in predictions_by_response
        )
        richest_predictions, plan = (
            predictions_by_response[response],
            predictions_by_response[response].plan,
        )
        test_set_of_prediction: np.ndarray = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
        unseen_indices = np.flatnonzero(answered_rows.is_unseen)
        rows, test_set_of_prediction = (
            plan.positions[0][unseen_indices],
            test_set_of_prediction[unseen_indices],
        )
        return cls(
            rows=rows,
            fold=plan.fold[test_set_of_prediction],
            repetition=plan.repeat[test_set_of_prediction],
            fit=plan.fit[test_set_of_prediction],
            truth=data.y[rows] if data.codes is None else data.codes[rows],
            answers=richest_predictions.values[answered_rows.candidate][unseen_indices],
            response=response,
            classes=data.classes,
            weights=data.weights(rows),
            groups=None if data.groups is None else data.groups[rows],
        )

    @property
    def n_classes(self) -> int:
        """Number of classes, 0 for numeric y."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def n_repetitions(self) -> int:
        """Number of repetitions of the folds."""
        return len(np.unique(self.repetition))


REST_LABEL = "the rest"


@frozen(eq=False)
class Event:
    """The class `code` of y, which formulas for two outcomes treat as the event.

    Two classes become the other class and the event. Several classes become all other classes
    together and the event; the former have 1 minus the event's probability. For a survival outcome
    the event is that it occurred by a horizon, the `horizon_index`-th one at which curves are
    predicted.
    """

    code: int
    full_data: Data
    horizon_index: int | None = None
    horizon: float | None = None

    @classmethod
    def from_label(cls, positive: Any, data: Data, horizon: float | None = None) -> Event | None:
        """Return the event that a user names, or the second of two classes; None without either."""
        if horizon is not None:
            return cls(1, data.at_horizon(horizon), data.horizons.index(horizon), float(horizon))
        if positive is None:
            return cls(1, data) if data.n_classes == 2 else None
        return cls(class_code(positive, data), data)

    @property
    def label(self) -> str:
        """Name of the event, as text."""
        return str(plain_values.to_json_value(self.full_data.label(self.code)))

    def matches_label(self, positive: Any) -> bool:
        """Return True if a result for the class `positive` is about this event.

        None stands for the second of two classes.
        """
        is_default_event = positive is None and self.is_default
        return is_default_event or positive == plain_values.to_json_value(
            self.full_data.label(self.code)
        )

    @property
    def is_default(self) -> bool:
        """True if the event is the second of two classes, which is the default."""
        return self.full_data.n_classes == 2 and self.code == 1

    def make_horizon_score(self, name: str) -> Loss | None:
        """Return the score of a survival outcome with this name at the horizon, or None.

        Its interval accounts for the variance of the censoring weights, which a score of two
        classes ignores.
        """
        loss_name = f"{name}-at"
        if self.horizon is None or loss_name not in HORIZON_LOSS_NAMES:
            return None
        loss: Loss = registry.load(loss_name)(self.horizon)
        return loss

    @property
    def label_order_notes(self) -> tuple[str, ...]:
        """Note that the event is the larger of two numeric labels, unless it is 1 or True."""
        dtype_kind, label = (
            np.asarray(self.full_data.classes).dtype.kind,
            self.full_data.label(self.code),
        )
        if dtype_kind not in "iuf" or label == 1:
            return ()
        smaller_label = plain_values.to_json_value(self.full_data.label(1 - self.code))
        note_text = (
            f"the event is {self.label}, the greater of {smaller_label} and {self.label}: where "
            f"it should be {smaller_label}, name it (positive={smaller_label}, at the command line "
            "--positive)."
        )
        return (note_text,)

    @property
    def data(self) -> Data:
        """Data in which y has two classes: the event, and everything else."""
        if self.is_default:
            return self.full_data
        return replace(
            self.full_data,
            classes=self._binary_classes,
            codes=self._binary_codes(self.full_data.class_codes),
        )

    @property
    def _binary_classes(self) -> np.ndarray:
        has_two_classes = self.full_data.n_classes == 2
        other_label = self.full_data.label(1 - self.code) if has_two_classes else REST_LABEL
        return np.array([other_label, self.full_data.label(self.code)], dtype=object)

    def answers(self, predictions: Answers) -> Answers:
        """Convert predictions for all classes to predictions for the event and its complement."""
        return replace(
            predictions,
            values=self.convert_values(predictions.values, predictions.response),
            also=(),
        )

    def convert_held_out(self, held_out_predictions: HeldOut) -> HeldOut:
        """Convert held-out predictions to those for the event and its complement."""
        if self.is_default and self.horizon_index is None:
            return held_out_predictions
        binary_predictions, truth = (
            self.convert_values(held_out_predictions.answers, held_out_predictions.response),
            self._binary_codes(held_out_predictions.truth),
        )
        return replace(
            held_out_predictions,
            answers=binary_predictions,
            truth=truth,
            classes=self._binary_classes,
        )

    def convert_values(self, values: np.ndarray, response: Response) -> np.ndarray:
        """Convert values predicted for all classes to the event; probabilities get two columns.

        The columns are the probabilities of the complement and of the event.
        """
        if self.horizon_index is not None and values.shape[-1] > 2:
            probability = values[..., -1 - self.horizon_index :].sum(axis=-1)
            return np.stack([1 - probability, probability], axis=-1)
        if self.is_default:
            return values
        if response == "probability":
            probability = values[..., self.code]
            return np.stack([1 - probability, probability], axis=-1)
        return self._binary_codes(values) if response == "label" else -values

    def _binary_codes(self, codes: np.ndarray) -> np.ndarray:
        return (codes == self.code).astype(codes.dtype)
