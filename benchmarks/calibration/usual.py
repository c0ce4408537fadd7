"""Intervals that others give of a cross-validated score, by hand from one drawing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.plan.answers import Answers
from truerisk.results.evaluation import Tested

__all__ = ["Said", "corrected_t", "cvauc", "influences"]

Said = list[float | None]  # value, low, high; None where there is no interval
Z, TAILS = 1.959963984540054, 0.975


def influences(tested: Tested, loss: Loss) -> Said:
    """The logit interval, or that of the logarithm, with the variance of independent rows."""
    value, error, upper = float(tested.value), tested.std_error, loss.upper
    if not error or not 0 < value < (upper or np.inf):
        return [value, None, None]
    if upper is None:
        return [value, *(float(value * np.exp(z * error / value)) for z in (-Z, Z))]
    share, error = value / upper, error / upper
    odds, half = np.log(share / (1 - share)), Z * error / (share * (1 - share))
    return [value, *(float(upper / (1 + np.exp(-end))) for end in (odds - half, odds + half))]


def corrected_t(tested: Tested, loss: Loss) -> Said:
    """Value ± t s √(1/K + 1/(K − 1)), s the standard deviation of the K risks (Nadeau, Bengio)."""
    from scipy.special import stdtrit

    assert tested.split_risks is not None
    risks, k = tested.split_risks, len(tested.split_risks)
    half = stdtrit(k - 1, TAILS) * risks.std(ddof=1) * np.sqrt(1 / k + 1 / (k - 1))
    return _cut(float(tested.value), float(half), loss.upper)


def cvauc(tested: Tested, answers: Answers, data: Data) -> Said:
    """As `ci.cvAUC` of R's package cvAUC: value ± z √(σ²/n), on the scale of the AUC itself.

    σ² is the mean over folds of the mean square of a row's influence, which is (the share of the
    fold's other class on the wrong side of it − the fold's loss) over the share of its own class
    among all rows (LeDell, Petersen and van der Laan, 2015).
    """
    rows, offsets = answers.plan.positions[0], answers.plan.test_offsets
    truth = data.codes_of(rows) == 1
    squares = []
    for first, end in pairwise(offsets):
        mine = truth[first:end]
        said = answers.values[0, first:end].astype(float)
        up, down = said[mine], said[~mine]
        wrong = (down > up[:, None]) + (down == up[:, None]) / 2
        of_up = (wrong.mean(axis=1) - wrong.mean()) / truth.mean()
        of_down = (wrong.mean(axis=0) - wrong.mean()) / (1 - truth.mean())
        squares.append(np.mean(np.r_[of_up, of_down] ** 2))
    return _cut(float(tested.value), float(Z * np.sqrt(np.mean(squares) / len(rows))), 1.0)


def _cut(value: float, half: float, upper: float | None) -> Said:
    """None without a spread; else within the values that the loss can take."""
    if not half > 0:
        return [value, None, None]
    return [value, max(value - half, 0.0), min(value + half, np.inf if upper is None else upper)]
