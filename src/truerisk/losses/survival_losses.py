"""Losses of survival outcomes: the order of rows, and curves or predictions at one horizon.

Censored rows are compensated for by the others, weighted by the inverse probability of being
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
from truerisk.data.survival import follow_up
from truerisk.losses.loss import ANY_TIME, IN_TIME, Events, Loss, RowLoss
from truerisk.losses.rank_scores import AUC
from truerisk.plan.answers import Response

CELLS = 2**22  # number of pairs that are processed at once
STEPS = 50  # number of steps of the trapezoid rule


class Concordance(Loss):
    """1 − C: the share of comparable pairs in the wrong order, with ties counted half.

    A pair is comparable if one row had its event while the other was still followed without it. The
    prediction for the first row should be the larger one (Harrell). A row has the influence 2
    (weight of its wrong pairs − loss · weight of its pairs) W / weight of all pairs.
    """

    name, tasks = "concordance", IN_TIME
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
        wrong, known, w = self._pairs(data, rows, answers, weights)
        return np.asarray(wrong @ w / (known @ w))

    @override
    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        wrong, known, w = self._pairs(data, rows, answers, weights)
        influences: np.ndarray = 2 * (wrong - about[:, None] * known) * w.sum() / (known @ w)
        return influences

    def counted_twice(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        """Return the variance of one pair over the number of pairs.

        Both rows of a pair include it in their influence.
        """
        w, weighed, twice = _or_ones(weights, rows), 0.0, np.zeros(len(answers))
        for some, pairs in self._known_pairs(data, rows):
            of_pairs = w[some, None] * pairs * w
            weighed += of_pairs.sum()
            for c, (predictions, mean) in enumerate(zip(answers, about, strict=True)):
                twice[c] += ((of_pairs * (_wrong(predictions, some) - mean)) ** 2).sum()
        return twice / weighed**2

    @override
    def events(self, data: Data) -> Events | None:
        return Events(int((data.y[:, 0] == 1).sum()), "events")

    def enlargement(self, data: Data, rows: np.ndarray) -> tuple[float, float]:
        """Return the factor (n − 1)²/((n − 2)(n − 3)), which removes the bias, and the degrees.

        The degrees of freedom of Student's t are the number of events minus 1.
        """
        n, events = max(len(rows), 4), max(float(data.y[rows, 0].sum()), 2.0)
        return (n - 1) ** 2 / ((n - 2) * (n - 3)), events - 1

    def _pairs(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return, for each row, the weight of its pairs in the wrong order and of all its pairs."""
        w = _or_ones(weights, rows)
        wrong, known = np.zeros(answers.shape), np.zeros(len(rows))
        for some, pairs in self._known_pairs(data, rows):
            known[some] += pairs @ w
            known += w[some] @ pairs
            for line, predictions in zip(wrong, answers, strict=True):
                ranked = pairs * _wrong(predictions, some)
                line[some] += ranked @ w
                line += w[some] @ ranked
        if not known.any():
            raise Refusal(
                f"loss '{self.name}' needs two rows of known order in every test set, and one of "
                f"{len(rows)} rows has none; use fewer folds."
            )
        return wrong, known, w

    def _known_pairs(self, data: Data, rows: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield some rows with an event, and the weights of their pairs with later rows."""
        (came, time), counts = data.y[rows].T, self._counts(data, rows)
        first = np.flatnonzero(came == 1)
        for some in np.array_split(first, max(1, len(first) * len(rows) // CELLS)):
            later = (time > time[some, None]) | ((time == time[some, None]) & (came == 0))
            yield some, later * counts[some, None]

    def _counts(self, data: Data, rows: np.ndarray) -> np.ndarray:
        """Return the weight of the pairs in which each row has the earlier event."""
        return np.ones(len(rows))


class Uno(Concordance):
    """1 − Uno's C: pairs have weight 1/G², where G is the probability of being followed.

    G is evaluated at the earlier event. Unlike Harrell's C it does not depend on the distribution
    of the censoring times before τ, the last time at which a row is followed. It concerns the pairs
    whose first event is before τ, so that it does depend on τ itself, that is, on the length of
    follow-up.
    """

    name = "uno"

    def _counts(self, data: Data, rows: np.ndarray) -> np.ndarray:
        followed = follow_up(data.y, data.sample_weight, data.y[rows, 1], past=False)
        return np.asarray(followed**-2.0)


class IntegratedBrier(RowLoss):
    """The Brier score of the predicted survival probability, averaged over times up to `until`.

    The default `until` is the time at which a tenth of the rows are still followed. The integral is
    computed by the trapezoid rule in 50 steps.
    """

    name, tasks = "integrated-brier", IN_TIME
    response: Response = "probability"

    def __init__(self, until: float | None = None) -> None:
        if until is not None:
            check_number("until", until, *ANY_TIME)
        self.until = until

    @override
    def check(self, data: Data) -> None:
        super().check(data)
        time, until = data.y[:, 1], self.until
        if until is None:
            before = time[time < time.max()]  # Equal times in all rows are refused below.
            until = float(np.quantile(before, 0.9, method="lower") if len(before) else time.max())
        self.horizons = tuple((np.arange(1, STEPS + 1) * (until / STEPS)).tolist())
        data.at_horizon(until)  # This raises if the time is after all rows.

    @override
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        losses = np.zeros(answers.shape[:2])
        for horizon in self.horizons:
            # At time 0 no prediction is wrong.
            share = 0.5 if horizon == self.horizons[-1] else 1.0
            losses += share / STEPS * _brier(data, rows, answers, horizon)
        return losses


class BrierAt(RowLoss):
    """The Brier score of the probability of the event by a horizon, such as ``BrierAt(5)``."""

    tasks = IN_TIME
    response: Response = "probability"

    def __init__(self, horizon: float) -> None:
        check_number("horizon", horizon, *ANY_TIME)
        self.horizons, self.name = (float(horizon),), f"brier-at-{horizon:.12g}"

    @override
    def check(self, data: Data) -> None:
        super().check(data)
        self.upper = float(_counts(data, self.horizons[0]).max())

    @override
    def of_rows(self, data: Data, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return _brier(data, rows, answers, *self.horizons)


class AUCAt(Loss):
    """1 − AUC of rows with the event by a horizon against rows followed beyond it."""

    tasks = IN_TIME
    response: Response = "probability"
    per_row, upper, perfect, is_score = False, 1.0, 1.0, True
    tells_influences = True

    def __init__(self, horizon: float) -> None:
        check_number("horizon", horizon, *ANY_TIME)
        self.horizons, self.name = (float(horizon),), f"auc-at-{horizon:.12g}"
        self._auc = AUC()
        self._auc.name = self.name  # The name appears in its error messages.

    @override
    def check(self, data: Data) -> None:
        super().check(data)
        data.at_horizon(self.horizons[0])

    @override
    def events(self, data: Data) -> Events | None:
        (came, time), (horizon,) = data.y.T, self.horizons
        by_then = Events(int(((came == 1) & (time <= horizon)).sum()), f"events by {horizon:g}")
        past = Events(int((time > horizon).sum()), f"rows followed past {horizon:g}")
        return min(by_then, past, key=lambda events: events.n)

    @override
    def of_set(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> np.ndarray:
        return self._auc.of_set(*self._two(data, rows, answers, weights))

    @override
    def influences(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        two = self._two(data, rows, answers, weights)
        of_all = len(rows) if weights is None else weights.sum()
        share = _counts(data, *self.horizons)[rows] * of_all / two[3].sum()
        return self._auc.influences(*two, about) * share

    @override
    def counted_twice(
        self,
        data: Data,
        rows: np.ndarray,
        answers: np.ndarray,
        weights: np.ndarray | None,
        about: np.ndarray,
    ) -> np.ndarray:
        return self._auc.counted_twice(*self._two(data, rows, answers, weights), about)

    @override
    def enlargement(self, data: Data, rows: np.ndarray) -> tuple[float, float]:
        return self._auc.enlargement(data.at_horizon(self.horizons[0]), rows)

    def _two(
        self, data: Data, rows: np.ndarray, answers: np.ndarray, weights: np.ndarray | None
    ) -> tuple[Data, np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows as two classes, the probability of the event, and the weights of rows."""
        (horizon,) = self.horizons
        came, counts = chance_by(data, answers, horizon), _counts(data, horizon)[rows]
        return data.at_horizon(horizon), rows, came, counts if weights is None else counts * weights


def chance_by(data: Data, answers: np.ndarray, horizon: float) -> np.ndarray:
    """Return the probability of the event by one of the horizons.

    It is the sum of the probabilities of all intervals up to the horizon.
    """
    by_then: np.ndarray = answers[..., -1 - data.horizons.index(horizon) :].sum(axis=-1)
    return by_then


def _counts(data: Data, horizon: float) -> np.ndarray:
    """Return the censoring weight of each row, without its own sample weight."""
    at, own = data.at_horizon(horizon).sample_weight, data.sample_weight
    assert at is not None
    return at if own is None else np.divide(at, own, out=np.zeros_like(at), where=own > 0)


def _brier(data: Data, rows: np.ndarray, answers: np.ndarray, horizon: float) -> np.ndarray:
    """Return each row's squared error of the predicted event probability, times its weight.

    In addition, a censored row receives the mean loss of the rows followed beyond it, and all rows
    at risk pay for it. The mean does not change, and the rows vary as it does given that the
    probability of being followed is estimated (Robins and Rotnitzky, 1992).
    """
    missed = (chance_by(data, answers, horizon) - data.at_horizon(horizon).codes_of(rows)) ** 2
    losses: np.ndarray = missed * _counts(data, horizon)[rows]
    (came, time), weights = data.y[rows].T, data.weights(rows)
    w = np.ones(len(rows)) if weights is None else weights
    times, place = np.unique(time, return_inverse=True)
    events, gone = (np.bincount(place, w * one, len(times)) for one in (came, 1 - came))
    exposed = np.cumsum((events + gone)[::-1])[::-1] - events
    order = np.argsort(time)
    later = np.cumsum((losses * w)[:, order[::-1]], axis=1)[:, ::-1]
    later = np.pad(later, ((0, 0), (0, 1)))[:, np.searchsorted(time[order], times, side="right")]
    mean = np.divide(later, exposed, out=np.zeros_like(later), where=exposed > 0)
    paid = mean * np.divide(gone, exposed, out=np.zeros_like(gone), where=exposed > 0)
    paid[:, times > horizon] = 0.0
    gets = mean[:, place] * ((came == 0) & (time <= horizon))
    # At equal times the event comes before censoring.
    pays = np.cumsum(paid, axis=1)[:, place] - paid[:, place] * (came == 1)
    carried: np.ndarray = losses + gets - pays
    return carried


def _or_ones(weights: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
    return np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)


def _wrong(predictions: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return 1 if a later row has a larger predicted risk than the first of its pair.

    ½ if they are equal.
    """
    larger: np.ndarray = (1 + np.sign(predictions - predictions[first, None])) / 2
    return larger
