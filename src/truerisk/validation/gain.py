r"""Simultaneous intervals of the net benefit that a model gains over treating all or nobody.

Deciding by the model differs from treating everybody only in the rows with p < t. With the share
:math:`q` of events among these rows, which are the share :math:`s` of all rows,

.. math::
    \text{NB}_\text{model} - \text{NB}_\text{everybody} = \frac{s (t - q)}{1 - t},

and with q and s of the rows with p ≥ t, :math:`\text{NB}_\text{model} - 0 = s (q - t)/(1 - t)`.
Each paired difference is positive exactly if the share q lies on the right side of t. So its
interval follows from those of Clopper and Pearson (1934) for q and for s: its ends are the extreme
values of the product, which errs on the wide side, and it lies above 0 exactly if the interval of q
excludes t. At the thresholds near 0 and 1 hardly any row is decided otherwise, often without any
event, and Wald's interval of the mean difference is far too short there.

All intervals hold together: each reaches as many standard errors as the largest of all
differences, by :func:`~truerisk.validation.many_levels.simultaneous_quantile`. Rows of one group
count as fewer rows, by the intraclass correlation of their events; unequal weights as Kish's
effective number of rows.

Clopper CJ, Pearson ES (1934). The use of confidence or fiducial limits illustrated in the case of
the binomial. Biometrika 26:404–413.
Kish L (1965). Survey Sampling. Wiley, New York.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.results.interval import normal_quantile
from truerisk.validation.calibration_fits import sum_by_cluster
from truerisk.validation.many_levels import simultaneous_quantile, single_interval_level
from truerisk.validation.outcomes import Outcomes

N_DRAWS = 1 << 13  # number of simulated maxima, which makes the confidence level exact to .0024


def gain_interval(
    outcomes: Outcomes, thresholds: np.ndarray, confidence_level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return simultaneous limits of the net benefit gained over treating everybody or nobody.

    The gain at t is the net benefit of the model less the larger one of treating everybody and of
    treating nobody. Where the model treats everybody, or nobody, the gain is not above 0, and
    neither is the lower limit.

    >>> rows = Outcomes.from_predictions(np.repeat([1, 0], 20), np.repeat([0.9, 0.1], 20))
    >>> low, high = gain_interval(rows, np.array([0.05, 0.5]), 0.95)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([-0.1, 0.19], [0.01, 0.68])
    """
    n_thresholds = len(thresholds)
    threshold_sides = [
        _ThresholdSide.from_outcomes(outcomes, threshold, is_below=is_below)
        for is_below in (True, False)
        for threshold in thresholds
    ]
    nonempty_sides = [
        side
        for i, side in enumerate(threshold_sides)
        if side.total_weight
        > 0
        < threshold_sides[(i + n_thresholds) % (2 * n_thresholds)].total_weight
    ]
    quantile = normal_quantile(confidence_level)
    if nonempty_sides:
        covariance = _gain_covariance(nonempty_sides, float(outcomes.weights @ outcomes.weights))
        quantile = simultaneous_quantile(covariance, confidence_level, N_DRAWS)
    n_clusters = int(outcomes.clusters.max()) + 1
    is_grouped = n_clusters < outcomes.n_rows
    single_confidence_level = single_interval_level(
        quantile, max(n_clusters, 2) if is_grouped else None
    )
    all_rows = _ThresholdSide.from_outcomes(outcomes, -np.inf, is_below=False)
    intraclass_correlation = _intraclass_correlation(outcomes)
    gain_limits = np.array(
        [
            side.gain_limits(all_rows, intraclass_correlation, single_confidence_level)
            for side in threshold_sides
        ]
    )
    low, high = np.minimum(gain_limits[:n_thresholds], gain_limits[n_thresholds:]).T
    return low, high


@frozen
class _ThresholdSide:
    """Sums of weights of the rows on one side of a threshold t: p < t (`is_below`), or p ≥ t.

    Treating everybody adds the rows with p < t to those that the model treats, and treating nobody
    drops the rows with p ≥ t. `total_weight` and `event_weight` are sums of weights, `square_sum`
    the sum over predictions of squared weights. `row_square_sum` and `cluster_square_sum` square
    the sums of each row, and of each group.
    """

    threshold: float
    is_below: bool
    total_weight: float
    event_weight: float
    square_sum: float
    row_square_sum: float
    cluster_square_sum: float

    @classmethod
    def from_outcomes(
        cls, outcomes: Outcomes, threshold: float, *, is_below: bool
    ) -> _ThresholdSide:
        """Add up the weights of the rows on one side of a threshold."""
        is_on_side = (outcomes.predictions < threshold) == is_below
        weights = outcomes.weights[is_on_side]
        row_sums, cluster_sums = (
            np.bincount(row_or_cluster_codes[is_on_side], weights)
            for row_or_cluster_codes in (outcomes.rows, outcomes.clusters)
        )
        return cls(
            threshold=float(threshold),
            is_below=is_below,
            total_weight=float(weights.sum()),
            event_weight=float(weights @ outcomes.observed[is_on_side]),
            square_sum=float(weights @ weights),
            row_square_sum=float(row_sums @ row_sums),
            cluster_square_sum=float(cluster_sums @ cluster_sums),
        )

    def n_effective_rows(self, intraclass_correlation: float) -> float:
        """Return how many independent rows of equal weight would be equally informative."""
        pair_square_sum = max(self.cluster_square_sum - self.row_square_sum, 0.0)
        return self.total_weight**2 / (
            self.row_square_sum + intraclass_correlation * pair_square_sum
        )

    def gain_limits(
        self, all_rows: _ThresholdSide, intraclass_correlation: float, confidence_level: float
    ) -> tuple[float, float]:
        """Return the limits of the net benefit gained over treating all (`is_below`) or nobody."""
        threshold, low, high = self.threshold, 0.0, 1.0
        if self.total_weight > 0:
            n_rows = self.n_effective_rows(intraclass_correlation)
            low, high = _share_limits(
                self.event_weight / self.total_weight, n_rows, confidence_level
            )
        least_gain, largest_gain = (
            (threshold - high, threshold - low)
            if self.is_below
            else (low - threshold, high - threshold)
        )
        row_share = self.total_weight / all_rows.total_weight
        low_share, high_share = _share_limits(
            row_share, all_rows.n_effective_rows(intraclass_correlation), confidence_level
        )
        return (
            least_gain * (low_share if least_gain > 0 else high_share) / (1 - threshold),
            largest_gain * (high_share if largest_gain > 0 else low_share) / (1 - threshold),
        )


def _gain_covariance(
    threshold_sides: Sequence[_ThresholdSide], total_square_sum: float
) -> np.ndarray:
    """Return the covariance of the gains on these sides of thresholds, up to a constant factor.

    All events are taken to vary alike. Two lower sets of rows are nested, and so are
    two upper sets. If a lower and an upper set overlap, an event lowers one gain and raises the
    other.
    `total_square_sum` is the sum of all squared weights.
    """
    squares = np.array([threshold_side.square_sum for threshold_side in threshold_sides])
    is_below = np.array([threshold_side.is_below for threshold_side in threshold_sides])
    nested_squares = np.minimum.outer(squares, squares)
    overlap_squares = np.maximum(np.add.outer(squares, squares) - total_square_sum, 0)
    return np.where(np.equal.outer(is_below, is_below), nested_squares, -overlap_squares)


def _intraclass_correlation(outcomes: Outcomes) -> float:
    """Return the correlation of events within a group, from 0 to 1; 0 without groups."""
    event_rate = outcomes.mean(outcomes.observed)
    weighted_terms = np.stack(
        [outcomes.weights * (outcomes.observed - event_rate), outcomes.weights], axis=1
    )
    pair_sums = (sum_by_cluster(weighted_terms, outcomes.clusters) ** 2).sum(axis=0)
    pair_sums -= (sum_by_cluster(weighted_terms, outcomes.rows) ** 2).sum(axis=0)
    variance = pair_sums[1] * event_rate * (1 - event_rate)
    return float(np.clip(pair_sums[0] / variance, 0, 1)) if variance > 1e-9 * outcomes.n else 0.0


def _share_limits(share: float, n_rows: float, confidence_level: float) -> tuple[float, float]:
    """Return the limits of Clopper and Pearson's interval of a share among `n_rows` rows."""
    from scipy.special import betaincinv

    events = min(max(share, 0.0), 1.0) * n_rows
    non_events, tail_probability = n_rows - events, (1 - confidence_level) / 2
    low = float(betaincinv(events, non_events + 1, tail_probability)) if events > 0 else 0.0
    high = (
        float(betaincinv(events + 1, non_events, 1 - tail_probability)) if non_events > 0 else 1.0
    )
    return low, high
