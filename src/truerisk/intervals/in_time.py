"""The interval for losses that depend on earlier losses."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.intervals.form import (
    MUELLER_WATSON,
    NO_SPREAD,
    OF_A_MEAN,
    UNBOUNDED,
    IntervalForm,
    Needs,
    RowEvidence,
    Sureness,
    is_none,
)
from truerisk.results.interval import Basis
from truerisk.statistics.long_run import FEWEST_TIMES, long_run

OF_GROUPS = (
    "{met} are met again later, so that losses far apart in time depend on each other: no "
    "standard error is justified."
)


class HAC(IntervalForm[RowEvidence]):
    r"""Interval for the mean of a time series of losses, possibly correlated and heteroskedastic.

    The losses of each time are summed, :math:`z_t = \sum_{i \in t} w_i (ℓ_i - value)`. The standard
    error of :math:`\sum_t z_t` is computed from a few of its lowest cosine components, with a
    factor that is valid whether the losses are independent or as persistent as their
    autocorrelations allow (`statistics/long_run.py`). It is consistent under heteroskedasticity and
    autocorrelation, also among losses of one time, and treats the distinct times as equally spaced.
    The process must be stationary: there is no interval for fewer than 100 times, or if the
    dependence lasts so long that it cannot be distinguished from a drift. A seasonal pattern is
    recognised if at least four periods are in the series. Losses with bounds are transformed to the
    logit scale, other losses that are never negative to the scale of :math:`1/\sqrt{ℓ}`, because a
    few large losses tell little about their variance.

    The mean loss is that of the models that were fitted, for windows and horizons like these.
    """

    name: ClassVar[str] = "hac"
    needs: ClassVar[Needs] = {
        **OF_A_MEAN,
        Basis.TIMES: "use a word such as 'forward-5'",
    }
    reference: ClassVar[str] = (
        "Lazarus E, Lewis DJ, Stock JH, Watson MW (2018). HAR inference: recommendations for "
        "practice. Journal of Business & Economic Statistics 36:541–559. The idea of the factor: "
        f"{MUELLER_WATSON}"
    )
    caution: ClassVar[str] = (
        "take the losses for a stationary series; how much longer than it looks their memory is "
        "taken for was calibrated by simulated series (documentation of truerisk)"
    )

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        assert evidence.times is not None
        if evidence.groups is not None and _met_again(evidence.groups, evidence.times):
            return None, None, (OF_GROUPS.format(met=_units_of_splits(evidence.data)),)
        value = float(evidence.values[c])
        member = np.unique(evidence.times, return_inverse=True)[1].ravel()
        sums = np.bincount(member, evidence.weights * (evidence.losses[c] - value))
        n = len(sums)
        if n < FEWEST_TIMES:
            return None, None, (_too_few(n),)
        variance = long_run(sums)
        if variance is None:
            return None, None, (_lasting(n),)
        error = n * variance.std_error
        if is_none(error, value):
            return None, None, (NO_SPREAD,)
        half = variance.factor(evidence.terms.confidence_level) * error
        interval = evidence.skewed(value, half, self.name)
        return (error, interval, ()) if interval else (None, None, (UNBOUNDED,))


def _units_of_splits(data: Data) -> str:
    """Return what the rows of one cluster share, in the terms of the arguments given."""
    if data.block is None:
        return "groups"
    if data.places is None:
        return "blocks"
    return "places" if data.groups is None else "places and groups"


def _met_again(groups: np.ndarray, times: np.ndarray) -> bool:
    """Return True if rows of another group lie between two rows of a group in time.

    Groups that follow one another are time periods, whose rows may depend on each other like those
    of any period.
    """
    member = np.unique(groups, return_inverse=True)[1].ravel()
    order = np.lexsort((times, member))
    starts = np.flatnonzero(np.diff(member[order], prepend=-1))
    first, last = times[order][starts], times[order][np.append(starts[1:], len(order)) - 1]
    by_first = np.argsort(first, kind="stable")
    first, last = first[by_first], last[by_first]
    return bool((np.maximum.accumulate(last)[:-1] > first[1:]).any())


def _too_few(n: int) -> str:
    return (
        f"rows of {n} different times were tested: of fewer than {FEWEST_TIMES} it cannot be "
        "estimated how their losses depend on those before them, so no standard error is justified."
    )


def _lasting(n: int) -> str:
    return (
        f"the losses at {n} times depend on those before them for so long that it cannot be "
        "distinguished from a drift: no standard error is justified."
    )
