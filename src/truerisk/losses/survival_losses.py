"""Losses of survival outcomes: the order of event times, and predictions at horizons.

Censored rows are compensated for by the other rows, weighted by the inverse probability of being
followed (Graf et al., 1999; Uno et al., 2011). This probability is estimated from all rows. Losses
of rows account for its variance; Uno's C and AUC treat it as known.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from truerisk.core.arguments import check_number
from truerisk.core.errors import Refusal
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.data.survival import uncensored_probability
from truerisk.losses.loss import SURVIVAL_TASKS, TIME_LIMITS_AND_HINT, Events, Loss, RowLoss
from truerisk.losses.rank_scores import AUC
from truerisk.plan.answers import Response

MAX_PAIRS = 2**22  # maximum number of pairs of rows that are processed at the same time
N_TRAPEZOID_STEPS = 50  # number of steps of the trapezoid rule


class Concordance(Loss):
    """1 − C: the share of comparable pairs in the wrong order, with ties counted half.

    A pair is comparable if one row had its event while the other was still followed without it. The
    prediction for the first row should be the larger one (Harrell). A row has the influence 2
    (weight of its wrong pairs − loss · weight of its pairs) W / weight of all pairs.
    """

    name, tasks = "concordance", SURVIVAL_TASKS
    response: Response = "value"
    per_row, upper, perfect, is_score = False, 1.0, 1.0, True
    tells_influences = True

    @property
    @override
    def one_scale(self) -> bool:
        return False  # The risks that two models predict may be on different scales.

    @override
    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        wrong_weight, pair_weight, row_weights = self._weigh_pairs(data, rows, answers, weights)
        return np.asarray(wrong_weight @ row_weights / (pair_weight @ row_weights))

    @override
    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        wrong_weight, pair_weight, row_weights = self._weigh_pairs(data, rows, answers, weights)
        influences: np.ndarray = (
            2
            * (wrong_weight - about[:, None] * pair_weight)
            * row_weights.sum()
            / (pair_weight @ row_weights)
        )
        return influences

    def counted_twice(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        """Return the variance of the loss of one pair of rows, divided by the number of pairs.

        Both rows of a pair include it in their influence.
        """
        row_weights, total_weight, square_sums = (
            _weights_or_ones(weights, rows),
            0.0,
            np.zeros(len(answers)),
        )
        for batch, pairs in self._comparable_pairs(data, rows):
            pair_weights = row_weights[batch, None] * pairs * row_weights
            total_weight += pair_weights.sum()
            for candidate, (predictions, mean) in enumerate(zip(answers, about, strict=True)):
                square_sums[candidate] += (
                    (pair_weights * (_wrong_order(predictions, batch) - mean)) ** 2
                ).sum()
        return square_sums / total_weight**2

    @override
    def events(self, data: Data) -> Events | None:
        return Events(int((data.y[:, 0] == 1).sum()), "events")

    def enlargement(self, data: Data, rows: np.ndarray) -> tuple[float, float]:
        """Return the factor that removes the bias of the variance, and degrees of freedom.

        The factor is (n − 1)²/((n − 2)(n − 3)) for n rows. The degrees of freedom of Student's t
        are the number of events minus 1.
        """
        n_events = data.y[rows, 0] @ (self._pair_weights(data, rows) > 0)
        n, events = max(len(rows), 4), max(float(n_events), 2.0)
        return (n - 1) ** 2 / ((n - 2) * (n - 3)), events - 1

    def _weigh_pairs(
        self, data: Data, rows: np.ndarray, risk_predictions: np.ndarray, weights: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return, for each row, the weight of its pairs in wrong order, and of all its pairs."""
        row_weights = _weights_or_ones(weights, rows)
        wrong_weight, pair_weight = np.zeros(risk_predictions.shape), np.zeros(len(rows))
        for batch, pairs in self._comparable_pairs(data, rows):
            pair_weight[batch] += pairs @ row_weights
            pair_weight += row_weights[batch] @ pairs
            for candidate_wrong_weight, predictions in zip(
                wrong_weight, risk_predictions, strict=True
            ):
                wrong_pairs = pairs * _wrong_order(predictions, batch)
                candidate_wrong_weight[batch] += wrong_pairs @ row_weights
                candidate_wrong_weight += row_weights[batch] @ wrong_pairs
        if not pair_weight.any():
            raise Refusal(
                f"loss '{self.name}' needs two rows of known order in every test set, and one of "
                f"{len(rows)} rows has none; use fewer folds."
            )
        return wrong_weight, pair_weight, row_weights

    def _comparable_pairs(
        self, data: Data, rows: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield batches of rows with an event, and the weights of their pairs with later rows."""
        (has_event, time), pair_weights = data.y[rows].T, self._pair_weights(data, rows)
        event_rows = np.flatnonzero(has_event == 1)
        for batch in np.array_split(event_rows, max(1, len(event_rows) * len(rows) // MAX_PAIRS)):
            is_later = (time > time[batch, None]) | ((time == time[batch, None]) & (has_event == 0))
            yield batch, is_later * pair_weights[batch, None]

    def _pair_weights(self, data: Data, rows: np.ndarray) -> np.ndarray:
        """Return, for each row, the weight of the pairs in which it has the earlier event."""
        return np.ones(len(rows))


class Uno(Concordance):
    """1 − Uno's C, in which each pair has weight 1/G²; G is the probability of no censoring.

    G is evaluated at the earlier event. Unlike Harrell's C it does not depend on the distribution
    of the censoring times before τ. It concerns the pairs whose first event is before τ, so that it
    does depend on τ itself: the time `until`, by default the last time at which a row is followed.
    """

    name = "uno"

    def __init__(self, until: float | None = None) -> None:
        if until is not None:
            check_number("until", until, *TIME_LIMITS_AND_HINT)
            self.name = f"uno-{until:.12g}"
        self.until = until

    @override
    def events(self, data: Data) -> Events | None:
        if self.until is None:
            return super().events(data)
        n_events = int(((data.y[:, 0] == 1) & (data.y[:, 1] < self.until)).sum())
        return Events(n_events, f"events before {self.until:g}")

    def _pair_weights(self, data: Data, rows: np.ndarray) -> np.ndarray:
        follow_up_probability = uncensored_probability(
            data.y, data.sample_weight, data.y[rows, 1], past=False
        )
        pair_weights = np.asarray(follow_up_probability**-2.0)
        return pair_weights if self.until is None else pair_weights * (data.y[rows, 1] < self.until)


class IntegratedBrier(RowLoss):
    """Brier score of the predicted survival probability, averaged over times up to `until`.

    The default `until` is the time at which a tenth of the rows are still followed. The integral is
    computed by the trapezoid rule in 50 steps.
    """

    name, tasks = "integrated-brier", SURVIVAL_TASKS
    response: Response = "probability"

    def __init__(self, until: float | None = None) -> None:
        if until is not None:
            check_number("until", until, *TIME_LIMITS_AND_HINT)
        self.until = until

    @override
    def check(self, data: Data) -> None:
        super().check(data)
        time, until = data.y[:, 1], self.until
        if until is None:
            # If all times are equal, `at_horizon` raises below.
            earlier_times = time[time < time.max()]
            until = float(
                np.quantile(earlier_times, 0.9, method="lower")
                if len(earlier_times)
                else time.max()
            )
        self.horizons = tuple(
            (np.arange(1, N_TRAPEZOID_STEPS + 1) * (until / N_TRAPEZOID_STEPS)).tolist()
        )
        data.at_horizon(until)  # This raises if no row is followed up to that time.

    @override
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        losses = np.zeros(answers.shape[:2])
        for horizon in self.horizons:
            # At time 0 no prediction is wrong, so the trapezoid rule has no first term.
            trapezoid_weight = 0.5 if horizon == self.horizons[-1] else 1.0
            losses += (
                trapezoid_weight
                / N_TRAPEZOID_STEPS
                * _adjusted_brier_losses(data, rows, answers, horizon)
            )
        return losses


class BrierAt(RowLoss):
    """Brier score of the probability of the event by a horizon, such as ``BrierAt(5)``."""

    tasks = SURVIVAL_TASKS
    response: Response = "probability"

    def __init__(self, horizon: float) -> None:
        check_number("horizon", horizon, *TIME_LIMITS_AND_HINT)
        self.horizons, self.name = (float(horizon),), f"brier-at-{horizon:.12g}"

    @override
    def check(self, data: Data) -> None:
        super().check(data)
        self.upper = float(_censoring_weights(data, self.horizons[0]).max())

    @override
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return _adjusted_brier_losses(data, rows, answers, *self.horizons)


class AUCAt(Loss):
    """1 − AUC of rows with the event by a horizon against rows followed beyond it."""

    tasks = SURVIVAL_TASKS
    response: Response = "probability"
    per_row, upper, perfect, is_score = False, 1.0, 1.0, True
    tells_influences = True

    def __init__(self, horizon: float) -> None:
        check_number("horizon", horizon, *TIME_LIMITS_AND_HINT)
        self.horizons, self.name = (float(horizon),), f"auc-at-{horizon:.12g}"
        self._auc = AUC()
        self._auc.name = self.name  # The name appears in error messages of the inner AUC.

    @override
    def check(self, data: Data) -> None:
        super().check(data)
        data.at_horizon(self.horizons[0])

    @override
    def events(self, data: Data) -> Events | None:
        (has_event, time), (horizon,) = data.y.T, self.horizons
        early_events = Events(
            int(((has_event == 1) & (time <= horizon)).sum()), f"events by {horizon:g}"
        )
        later_rows = Events(int((time > horizon).sum()), f"rows followed past {horizon:g}")
        return min(early_events, later_rows, key=lambda events: events.count)

    @override
    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        return self._auc.of_set(*self._as_two_classes(data, rows, answers, weights))

    @override
    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        auc_arguments = self._as_two_classes(data, rows, answers, weights)
        total_weight = len(rows) if weights is None else weights.sum()
        weight_ratio = (
            _censoring_weights(data, *self.horizons)[rows] * total_weight / auc_arguments[3].sum()
        )
        return self._auc.influences(*auc_arguments, about) * weight_ratio

    @override
    def counted_twice(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        return self._auc.counted_twice(*self._as_two_classes(data, rows, answers, weights), about)

    @override
    def enlargement(self, data: Data, rows: np.ndarray) -> tuple[float, float]:
        return self._auc.enlargement(data.at_horizon(self.horizons[0]), rows)

    def _as_two_classes(
        self,
        data: Data,
        rows: np.ndarray,
        interval_probabilities: np.ndarray,
        weights: np.ndarray | None,
    ) -> tuple[Data, np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows as two classes, the probability of the event, and the weights of rows."""
        (horizon,) = self.horizons
        event_probability, censoring_weights = (
            event_probability_by_horizon(data, interval_probabilities, horizon),
            _censoring_weights(data, horizon)[rows],
        )
        return (
            data.at_horizon(horizon),
            rows,
            event_probability,
            censoring_weights if weights is None else censoring_weights * weights,
        )


def event_probability_by_horizon(
    data: Data, interval_probabilities: np.ndarray, horizon: float
) -> np.ndarray:
    """Return the predicted probability of the event by one of the horizons.

    It is the sum of the probabilities of all intervals up to the horizon.
    """
    probability: np.ndarray = interval_probabilities[..., -1 - data.horizons.index(horizon) :].sum(
        axis=-1
    )
    return probability


def _censoring_weights(data: Data, horizon: float) -> np.ndarray:
    """Return the censoring weight of each row at a horizon, without its own sample weight."""
    weights_at_horizon, sample_weights = data.at_horizon(horizon).sample_weight, data.sample_weight
    assert weights_at_horizon is not None
    return (
        weights_at_horizon
        if sample_weights is None
        else np.divide(
            weights_at_horizon,
            sample_weights,
            out=np.zeros_like(weights_at_horizon),
            where=sample_weights > 0,
        )
    )


def _adjusted_brier_losses(
    data: Data, rows: np.ndarray, interval_probabilities: np.ndarray, horizon: float
) -> np.ndarray:
    """Return each row's squared error of the predicted event probability, times its weight.

    In addition, a censored row receives the mean loss of the rows followed beyond its time, and all
    rows at risk pay for it. The mean does not change, and the variance of the rows accounts for the
    estimation of the probability of being followed (Robins and Rotnitzky, 1992).
    """
    squared_errors = (
        event_probability_by_horizon(data, interval_probabilities, horizon)
        - data.at_horizon(horizon).codes_of(rows)
    ) ** 2
    losses: np.ndarray = squared_errors * _censoring_weights(data, horizon)[rows]
    (has_event, time), weights = data.y[rows].T, data.weights(rows)
    row_weights = np.ones(len(rows)) if weights is None else weights
    distinct_times, time_index = np.unique(time, return_inverse=True)
    event_weights, censored_weights = (
        np.bincount(time_index, row_weights * is_in_state, len(distinct_times))
        for is_in_state in (has_event, 1 - has_event)
    )
    weight_at_risk = np.cumsum((event_weights + censored_weights)[::-1])[::-1] - event_weights
    time_order = np.argsort(time)
    later_losses = np.cumsum((losses * row_weights)[:, time_order[::-1]], axis=1)[:, ::-1]
    later_losses = np.pad(later_losses, ((0, 0), (0, 1)))[
        :, np.searchsorted(time[time_order], distinct_times, side="right")
    ]
    mean_later_loss = np.divide(
        later_losses, weight_at_risk, out=np.zeros_like(later_losses), where=weight_at_risk > 0
    )
    subtraction_at_time = mean_later_loss * np.divide(
        censored_weights,
        weight_at_risk,
        out=np.zeros_like(censored_weights),
        where=weight_at_risk > 0,
    )
    subtraction_at_time[:, distinct_times > horizon] = 0.0
    censored_row_additions = mean_later_loss[:, time_index] * ((has_event == 0) & (time <= horizon))
    # If an event and a censoring have the same time, the event counts as the earlier one.
    at_risk_subtractions = np.cumsum(subtraction_at_time, axis=1)[
        :, time_index
    ] - subtraction_at_time[:, time_index] * (has_event == 1)
    adjusted_losses: np.ndarray = losses + censored_row_additions - at_risk_subtractions
    return adjusted_losses


def _weights_or_ones(weights: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
    return np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)


def _wrong_order(predictions: np.ndarray, earlier_rows: np.ndarray) -> np.ndarray:
    """Return 1 for each pair of rows in which the later row has the larger predicted risk.

    The result is 0 if it has the smaller one. Equal predictions give ½.
    """
    order_errors: np.ndarray = (1 + np.sign(predictions - predictions[earlier_rows, None])) / 2
    return order_errors
