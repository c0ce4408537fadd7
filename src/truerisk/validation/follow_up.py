"""Measures of a survival outcome over all follow-up: concordance, and the slope of a Cox model."""

from __future__ import annotations

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.validation.calibration_fits import LineFit
from truerisk.validation.honest import HonestRun, held_out_score
from truerisk.validation.measures import Measured, sandwich_measure
from truerisk.validation.outcomes import HeldOut, clip_probabilities

FOLLOW_UP_SCORES = ("concordance", "uno")
MAX_NEWTON_STEPS, STEP_TOLERANCE = 50, 1e-10
# The slope counts as infinite if the log hazards of two rows differ by more than this.
MAX_LOG_RATIO = 200


def follow_up_measures(
    run: HonestRun, held_out: HeldOut, clip: float | None, *, is_certain: bool
) -> dict[str, Measured]:
    """Return the measures of all follow-up, by name: Harrell's C, Uno's C and the Cox slope.

    Scores for which the model has no predictions are left out. `held_out` are probabilities of the
    event by a horizon, or linear predictors. The slope has an interval only if `is_certain`, for a
    finished model and independent rows.
    """
    measured = {name: held_out_score(run, name, None) for name in FOLLOW_UP_SCORES}
    measured = {name: score for name, score in measured.items() if score.honest is not None}
    return {**measured, "cox-slope": cox_slope(run, held_out, clip, is_certain=is_certain)}


def cox_slope(
    run: HonestRun, held_out: HeldOut, clip: float | None, *, is_certain: bool
) -> Measured:
    """Fit a Cox model to the linear predictor, which is log(−log(1 − p)) for probabilities p."""
    data, rows = run.problem.data, held_out.rows
    predictions = held_out.answers
    if held_out.response == "probability":
        probabilities = clip_probabilities(predictions[:, 1], clip)
        if ((probabilities <= 0) | (probabilities >= 1)).any():
            return Measured(
                "cox-slope",
                reason="some risks are exactly 0 or 1, and have no linear predictor: give "
                "clip=0.001, which replaces them by 0.001 and 0.999.",
            )
        predictions = np.log(-np.log1p(-probabilities))
    if np.ptp(predictions) <= 1e-12 * np.abs(predictions).max():
        return Measured("cox-slope", reason="all linear predictors are equal: there is no slope.")
    weights = data.weights(rows)
    clusters = np.unique(rows if data.groups is None else data.groups[rows], return_inverse=True)[1]
    row_weights = np.ones(len(rows)) if weights is None else weights
    fit = CoxFit.fit(data.y[rows], predictions, row_weights)
    if fit is None:
        return Measured(
            "cox-slope",
            reason="the slope of the Cox model is infinite: the predictions sort the events "
            "perfectly, or perfectly in reverse.",
        )
    slope = float(fit.coef[0])
    if not is_certain:
        return Measured("cox-slope", slope)
    std_error = float(np.sqrt(fit.covariance(clusters)[0, 0]))
    n_clusters = len(np.unique(clusters))
    degrees = np.inf if n_clusters == len(np.unique(rows)) else max(n_clusters - 1, 1)
    level = run.problem.confidence_level
    return sandwich_measure("cox-slope", slope, std_error, level, degrees)


@frozen(eq=False)
class CoxFit(LineFit):
    """Cox regression on one column, with Efron's treatment of tied events.

    The influences are the score residuals over the information, so that their sandwich covariance
    is that of Lin and Wei (1989).
    """

    @classmethod
    def fit(cls, y: np.ndarray, column: np.ndarray, weights: np.ndarray) -> CoxFit | None:
        """Fit the slope to outcomes (event, time); return None if it is infinite or not unique."""
        unit = float(np.ptp(column))  # The column is scaled, so that exponentials do not overflow.
        partial_likelihood = _PartialLikelihood.from_outcomes(y, column / unit, weights)
        slope = 0.0
        value, score, information = partial_likelihood.derivatives(slope)
        for _ in range(MAX_NEWTON_STEPS):
            if not (abs(slope) < MAX_LOG_RATIO and np.isfinite(score) and information > 0):
                return None
            step = score / information
            new_values = partial_likelihood.derivatives(slope + step)
            # Halve a step that overshoots the maximum.
            while not new_values[0] >= value - 1e-12 * abs(value):
                step /= 2
                if abs(step) < STEP_TOLERANCE:
                    break
                new_values = partial_likelihood.derivatives(slope + step)
            slope, (value, score, information) = slope + step, new_values
            if abs(step) < STEP_TOLERANCE:
                influences = partial_likelihood.score_residuals(slope) / information / unit
                return cls(np.array([slope / unit]), influences[:, None])
        return None


@frozen(eq=False)
class _PartialLikelihood:
    """Efron's partial likelihood of one column.

    The rows are sorted by time, the latest first. Each event has a risk set of its own: from that
    of event k = 0, 1, …, d − 1 of d events at the same time, the share k/d of the weight of these
    d events is removed.
    """

    n_rows: int
    order: np.ndarray
    column: np.ndarray
    weights: np.ndarray
    is_event: np.ndarray
    time_index: np.ndarray
    removed_share: np.ndarray
    event_weights: np.ndarray

    @classmethod
    def from_outcomes(
        cls, y: np.ndarray, column: np.ndarray, weights: np.ndarray
    ) -> _PartialLikelihood:
        """Sort the rows, and number the events of each time."""
        order = np.argsort(-y[:, 1], kind="stable")
        order = order[weights[order] > 0]
        is_event = y[order, 0] == 1
        time_index = np.unique(-y[order, 1], return_inverse=True)[1]
        n_tied = np.bincount(time_index, is_event)
        numbers = np.cumsum(is_event) - 1
        first_number = np.concatenate([[0], np.cumsum(n_tied)[:-1]])
        events = np.flatnonzero(is_event)
        times = time_index[events]
        weight_sums = np.bincount(time_index, weights[order] * is_event)
        return cls(
            n_rows=len(y),
            order=order,
            column=(column - np.average(column, weights=weights))[order],
            weights=weights[order],
            is_event=is_event,
            time_index=time_index,
            removed_share=(numbers[events] - first_number[times]) / n_tied[times],
            event_weights=weight_sums[times] / n_tied[times],
        )

    def _risk_sets(self, slope: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Return risk scores, and weight, mean and mean square of the column in each risk set."""
        exponents = slope * self.column
        scores = self.weights * np.exp(exponents - exponents.max())
        times = self.time_index[self.is_event]
        last_rows = np.searchsorted(self.time_index, np.arange(self.time_index[-1] + 1), "right")
        sums = []
        for power in (0, 1, 2):
            terms = scores * self.column**power
            at_risk = np.cumsum(terms)[last_rows - 1][times]
            tied = np.bincount(self.time_index, terms * self.is_event)[times]
            sums.append(at_risk - self.removed_share * tied)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.array(sums[1:]) / sums[0]
        return scores, sums[0], means, float(exponents.max())

    def derivatives(self, slope: float) -> tuple[float, float, float]:
        """Return the log-likelihood, its derivative, and its negative second derivative."""
        _, totals, (means, squares), shift = self._risk_sets(slope)
        weights, events = self.event_weights, self.column[self.is_event]
        own_weights = self.weights[self.is_event]
        with np.errstate(divide="ignore", invalid="ignore"):
            value = own_weights @ (slope * events) - weights @ (np.log(totals) + shift)
        score = own_weights @ events - weights @ means
        return float(value), float(score), float(weights @ (squares - means**2))

    def score_residuals(self, slope: float) -> np.ndarray:
        """Return the weighted score residual of each row, in the order of the rows as given."""
        scores, totals, (means, _), _ = self._risk_sets(slope)
        times, n_times = self.time_index[self.is_event], int(self.time_index[-1]) + 1
        hazards = self.event_weights / totals
        n_tied = np.bincount(times, minlength=n_times)

        def cumulate(steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Return sums up to each row's time, and the parts from which its event is excluded."""
            by_time = np.bincount(times, steps, n_times)
            removed = np.bincount(times, steps * self.removed_share, n_times)
            up_to = np.cumsum(by_time[::-1])[::-1][self.time_index]
            return up_to, removed[self.time_index] * self.is_event

        hazard, excluded_hazard = cumulate(hazards)
        mean_hazard, excluded_mean_hazard = cumulate(hazards * means)
        mean_of_time = np.divide(
            np.bincount(times, means, n_times), n_tied, out=np.zeros(n_times), where=n_tied > 0
        )
        residuals = self.weights * self.is_event * (self.column - mean_of_time[self.time_index])
        residuals -= scores * (
            self.column * (hazard - excluded_hazard) - (mean_hazard - excluded_mean_hazard)
        )
        unsorted = np.zeros(self.n_rows)
        unsorted[self.order] = residuals
        return unsorted
