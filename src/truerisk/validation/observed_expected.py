"""Ratio of the observed to the expected number of events, for all rows or a subgroup."""

from __future__ import annotations

import math

import numpy as np

from truerisk.data.data import Data
from truerisk.results.interval import Interval, t_quantile
from truerisk.validation.calibration_fits import sum_by_cluster
from truerisk.validation.measures import Measured
from truerisk.validation.outcomes import HeldOut, Outcomes, clip_probabilities

LOG_RATIO = "log-ratio"  # name of the interval


def observed_to_expected(
    held_out: HeldOut,
    outcomes: Outcomes,
    data: Data,
    horizon: float | None,
    *,
    clip: float | None,
    confidence_level: float | None,
) -> Measured:
    """Return O/E: the share of events over the mean predicted probability, of the same rows.

    At a horizon the share of events is the Kaplan-Meier estimate, and the mean is taken over all
    rows, including those censored before. The interval is computed for log O/E, with E as known.
    Let s be the share and n the number of rows. The variance of log O/E is (1 − s)/(n s), or
    Greenwood's variance of s divided by s² at a horizon. For rows in groups or with weights, the
    sandwich variance of s replaces both. There is no interval without a `confidence_level`.
    """
    has_weights = data.sample_weight is not None
    if horizon is None:
        share, expected = (
            outcomes.mean(outcomes.observed),
            outcomes.mean(outcomes.predictions),
        )
        variance = share * (1 - share) / outcomes.n
    else:
        weights = data.weights(held_out.rows)
        probabilities = clip_probabilities(held_out.answers[:, 1], clip)
        expected = float(np.average(probabilities, weights=weights))
        rows = np.unique(held_out.rows)
        share, variance = estimate_event_share(data.y[rows], data.weights(rows), horizon)
    if not expected > 0:
        return Measured("oe", reason="every predicted probability is 0: no event is expected.")
    ratio = share / expected
    if confidence_level is None or not 0 < share < 1:
        return Measured("oe", ratio)
    if has_weights or data.groups is not None:
        influences = outcomes.weights * (outcomes.observed - outcomes.mean(outcomes.observed))
        sums = sum_by_cluster(influences / outcomes.n, outcomes.clusters)
        variance = float(sums @ sums) * len(sums) / max(len(sums) - 1, 1)
    std_error = math.sqrt(variance) / share
    margin = math.exp(t_quantile(confidence_level, outcomes.degrees_of_freedom) * std_error)
    interval = Interval(ratio / margin, ratio * margin, LOG_RATIO, confidence_level)
    return Measured("oe", ratio, ratio * std_error, interval)


def estimate_event_share(
    y: np.ndarray, weights: np.ndarray | None, horizon: float
) -> tuple[float, float]:
    """Return the share of rows with the event by a horizon, and its variance.

    The share is 1 minus the Kaplan-Meier estimate. The variance is that of Greenwood (1926), which
    is valid for rows without weights.

    >>> y = np.array([[1, 1.0], [0, 2.0], [1, 3.0], [0, 4.0]])
    >>> [round(number, 4) for number in estimate_event_share(y, None, 3.5)]
    [0.625, 0.082]
    """
    row_weights = np.ones(len(y)) if weights is None else weights
    times, time_index = np.unique(y[:, 1], return_inverse=True)
    n_events = np.bincount(time_index, row_weights * y[:, 0])
    n_at_risk = np.cumsum(np.bincount(time_index, row_weights)[::-1])[::-1]
    counts = (n_events > 0) & (times <= horizon)
    d, n = n_events[counts], n_at_risk[counts]
    survival = float(np.prod(1 - d / n))
    if survival <= 0:
        return 1.0, 0.0
    return 1 - survival, survival**2 * float((d / (n * (n - d))).sum())
