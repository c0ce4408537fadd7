r"""Simultaneous intervals of what a model gains over treating everybody and treating nobody.

Deciding by the model differs from treating everybody only in the rows with p < t. With the share
:math:`q` of events among these rows, which are the share :math:`s` of all rows,

.. math::
    \text{NB}_\text{model} - \text{NB}_\text{everybody} = \frac{s (t - q)}{1 - t},

and with those of the rows with p ≥ t, :math:`\text{NB}_\text{model} - 0 = s (q - t)/(1 - t)`.
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
from truerisk.validation.calibration_fits import sums_by_member
from truerisk.validation.many_levels import level_of_each, simultaneous_quantile
from truerisk.validation.outcomes import Outcomes

DRAWS = 1 << 13  # of the largest difference; the level of the quantile is then exact to .0024


def gain_interval(
    outcomes: Outcomes, thresholds: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of simultaneous intervals of the gain over the better simple policy.

    The gain at t is the net benefit of the model less the larger one of treating everybody and of
    treating nobody. Where the model treats everybody, or nobody, it is not above 0, and neither is
    the lower end.

    >>> rows = Outcomes.from_predictions(np.repeat([1, 0], 20), np.repeat([0.9, 0.1], 20))
    >>> low, high = gain_interval(rows, np.array([0.05, 0.5]), 0.95)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([-0.1, 0.19], [0.01, 0.68])
    """
    m = len(thresholds)
    sides = [
        _Side.from_outcomes(outcomes, t, is_below=side)
        for side in (True, False)
        for t in thresholds
    ]
    decided = [s for i, s in enumerate(sides) if s.total > 0 < sides[(i + m) % (2 * m)].total]
    reach = normal_quantile(level)
    if decided:
        covariance = _covariance(decided, float(outcomes.weights @ outcomes.weights))
        reach = simultaneous_quantile(covariance, level, DRAWS)
    n_members = int(outcomes.members.max()) + 1
    is_grouped = n_members < outcomes.n_rows
    each = level_of_each(reach, max(n_members, 2) if is_grouped else None)
    whole = _Side.from_outcomes(outcomes, -np.inf, is_below=False)
    correlation = _intraclass_correlation(outcomes)
    ends = np.array([side.gain_ends(whole, correlation, each) for side in sides])
    low, high = np.minimum(ends[:m], ends[m:]).T
    return low, high


@frozen
class _Side:
    """Rows with p < t, which everybody's treatment adds, or with p ≥ t, which nobody's drops.

    `total` and `events` are sums of weights, `squares` the sum over answers of squared weights.
    `row_squares` and `member_squares` square the sums of each row, and of each group.
    """

    threshold: float
    is_below: bool
    total: float
    events: float
    squares: float
    row_squares: float
    member_squares: float

    @classmethod
    def from_outcomes(cls, outcomes: Outcomes, threshold: float, *, is_below: bool) -> _Side:
        """Add up the weights of one side of a threshold."""
        rows = (outcomes.predictions < threshold) == is_below
        weights = outcomes.weights[rows]
        by_row, by_member = (
            np.bincount(of[rows], weights) for of in (outcomes.rows, outcomes.members)
        )
        return cls(
            threshold=float(threshold),
            is_below=is_below,
            total=float(weights.sum()),
            events=float(weights @ outcomes.observed[rows]),
            squares=float(weights @ weights),
            row_squares=float(by_row @ by_row),
            member_squares=float(by_member @ by_member),
        )

    def effective_rows(self, correlation: float) -> float:
        """Return how many independent rows of equal weight these are worth."""
        between = max(self.member_squares - self.row_squares, 0.0)
        return self.total**2 / (self.row_squares + correlation * between)

    def gain_ends(self, whole: _Side, correlation: float, level: float) -> tuple[float, float]:
        """Return the ends of the paired difference's interval."""
        t, low, high = self.threshold, 0.0, 1.0
        if self.total > 0:
            n_rows = self.effective_rows(correlation)
            low, high = _share_ends(self.events / self.total, n_rows, level)
        least, most = (t - high, t - low) if self.is_below else (low - t, high - t)
        share = self.total / whole.total
        few, many = _share_ends(share, whole.effective_rows(correlation), level)
        return (
            least * (few if least > 0 else many) / (1 - t),
            most * (many if most > 0 else few) / (1 - t),
        )


def _covariance(sides: Sequence[_Side], total: float) -> np.ndarray:
    """Return the covariance of the differences, up to a factor, where all events vary alike.

    Of two lower, or two upper, sets of rows one holds the other. Where a lower and an upper set
    overlap, an event speaks against one difference and for the other. `total` is the sum of all
    squared weights.
    """
    squares = np.array([side.squares for side in sides])
    is_below = np.array([side.is_below for side in sides])
    nested = np.minimum.outer(squares, squares)
    overlap = np.maximum(np.add.outer(squares, squares) - total, 0)
    return np.where(np.equal.outer(is_below, is_below), nested, -overlap)


def _intraclass_correlation(outcomes: Outcomes) -> float:
    """Return the correlation of events within a group, from 0 to 1; 0 without groups."""
    rate = outcomes.mean(outcomes.observed)
    residuals = np.stack([outcomes.weights * (outcomes.observed - rate), outcomes.weights], axis=1)
    pairs = (sums_by_member(residuals, outcomes.members) ** 2).sum(axis=0)
    pairs -= (sums_by_member(residuals, outcomes.rows) ** 2).sum(axis=0)
    variance = pairs[1] * rate * (1 - rate)
    return float(np.clip(pairs[0] / variance, 0, 1)) if variance > 1e-9 * outcomes.n else 0.0


def _share_ends(share: float, n_rows: float, level: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval of a share, for this number of rows."""
    from scipy.special import betaincinv

    events = min(max(share, 0.0), 1.0) * n_rows
    others, tail = n_rows - events, (1 - level) / 2
    low = float(betaincinv(events, others + 1, tail)) if events > 0 else 0.0
    high = float(betaincinv(events + 1, others, 1 - tail)) if others > 0 else 1.0
    return low, high
