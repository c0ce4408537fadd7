"""Standard errors, for one row, in the validation of a model of times to an event.

The linear predictor is normal, hazards are proportional and constant in time, and rows are censored
at a constant rate that does not depend on the linear predictor. Means over these distributions are
computed by quadrature, where Riley et al. (Statistics in Medicine 41:1280, 2022) simulate.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen

N_VALUES, MAX_DISTANCE_IN_SD = 241, 6.0  # nodes of the linear predictor
N_TIMES = 2001
LARGEST_SD = 8.0  # of the linear predictor


@frozen(eq=False)
class TimesToEvent:
    """Population of people with a normal linear predictor, an event rate and a censoring rate.

    `values` of the linear predictor have probabilities `weights`, and `hazards` of the event per
    person and unit of time. `censoring` is the rate of censoring, and `time_unit` is the mean
    follow-up.
    """

    values: np.ndarray
    weights: np.ndarray
    hazards: np.ndarray
    censoring: float
    time_unit: float

    @classmethod
    def from_sd(cls, sd: float, rate: float, follow_up: float) -> TimesToEvent:
        """Return the population with this event rate per unit of time and this mean follow-up."""
        nodes = np.linspace(-MAX_DISTANCE_IN_SD, MAX_DISTANCE_IN_SD, N_VALUES)
        weights = np.exp(-(nodes**2) / 2)
        weights /= weights.sum()
        values = sd * nodes
        censoring = 1 / follow_up - rate

        def excess_events(log_hazard: float) -> float:
            hazards = np.exp(log_hazard + values)
            return float(weights @ (hazards / (hazards + censoring)) - rate * follow_up)

        distance = values.max() + 50
        log_hazard = brentq(excess_events, math.log(rate) - distance, math.log(rate) + distance)
        return cls(values, weights, np.exp(log_hazard + values), censoring, follow_up)

    @classmethod
    def from_concordance(cls, concordance: float, rate: float, follow_up: float) -> TimesToEvent:
        """Return the population whose linear predictor has this concordance (Harrell's C)."""
        if cls.from_sd(LARGEST_SD, rate, follow_up).concordance < concordance:
            raise Refusal(
                f"no normal linear predictor has a concordance of {concordance:.15g} with this "
                "rate and follow-up: use a lower one."
            )

        def excess_concordance(sd: float) -> float:
            return cls.from_sd(sd, rate, follow_up).concordance - concordance

        return cls.from_sd(brentq(excess_concordance, 0.0, LARGEST_SD), rate, follow_up)

    @property
    def sd(self) -> float:
        """Standard deviation of the linear predictor."""
        return math.sqrt(float(self.weights @ self.values**2))

    def _earlier_event_shares(self) -> np.ndarray:
        """Return the probability that a row has its event while both rows of a pair are followed.

        Lines are values of this row, columns are values of the other row.
        """
        return self.hazards[:, None] / (self.hazards[:, None] + self.hazards + 2 * self.censoring)

    @property
    def concordance(self) -> float:
        """Share of comparable pairs in which the earlier event has the larger linear predictor."""
        pairs = self.weights[:, None] * self.weights * self._earlier_event_shares()
        return float((pairs * _compare_pairs(self.values)).sum() / pairs.sum())

    def risk_by(self, horizon: float) -> float:
        """Return the share of rows with the event by a horizon, without censoring."""
        return float(-self.weights @ np.expm1(-self.hazards * horizon))

    def log_ratio_std_error(self, horizon: float) -> float:
        """Return the standard error of log O/E by a horizon for one row, by Greenwood's formula."""
        times = np.linspace(0, horizon, N_TIMES)
        survival = np.exp(-np.outer(times, self.hazards)) * self.weights
        hazard = survival @ self.hazards / survival.sum(axis=1)
        followed = survival.sum(axis=1) * np.exp(-self.censoring * times)
        integral = _integrate(hazard / followed, times)
        risk = self.risk_by(horizon)
        return (1 - risk) * math.sqrt(integral) / risk

    @property
    def _times(self) -> np.ndarray:
        """Times from about 0 to far beyond the mean follow-up, evenly spaced on the log scale."""
        return self.time_unit * np.exp(np.linspace(-16, 14, N_TIMES))

    def slope_std_error(self) -> float:
        """Return the standard error of the slope of a Cox model for one row.

        The information is the mean, over the events, of the variance of the linear predictor among
        the rows at risk.
        """
        times = self._times
        rates = self.hazards + self.censoring
        events = self.weights * self.hazards * np.exp(-np.outer(times, rates))
        total = events.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = events @ self.values**2 - (events @ self.values) ** 2 / total
        information = _integrate(np.nan_to_num(variance) * times, np.log(times))
        return 1 / math.sqrt(information)

    def concordance_std_error(self) -> float:
        """Return the standard error of Harrell's C for one row, from the influence of a row."""
        concordance, order = self.concordance, _compare_pairs(self.values)
        times, rates = self._times, self.hazards + self.censoring
        followed = np.exp(-np.outer(rates, times))  # one line for each value of the other row
        later = ((order - concordance) * self.weights) @ followed
        earlier = ((1 - order - concordance) * self.weights * self.hazards / rates) @ (1 - followed)
        density = self.weights[:, None] * followed * times  # times, since steps are of log(time)
        squares = self.hazards[:, None] * (later + earlier) ** 2 + self.censoring * earlier**2
        variance = _integrate((density * squares).sum(axis=0), np.log(times))
        comparable = self.weights @ self._earlier_event_shares() @ self.weights
        return math.sqrt(variance) / float(comparable)


def _integrate(values: np.ndarray, points: np.ndarray) -> float:
    """Integrate by the trapezoid rule."""
    return float(np.diff(points) @ (values[1:] + values[:-1]) / 2)


def _compare_pairs(values: np.ndarray) -> np.ndarray:
    """Return 1 if the value of the line is larger than that of the column, ½ if equal, else 0."""
    return (1 + np.sign(values[:, None] - values)) / 2
