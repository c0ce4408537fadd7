"""Confidence interval for mean losses if losses depend on earlier losses."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.intervals.form import (
    MUELLER_WATSON_REFERENCE,
    NO_SPREAD,
    NO_UPPER_LIMIT_NOTE,
    OF_A_MEAN,
    IntervalForm,
    Needs,
    RowEvidence,
    Sureness,
    is_zero_error,
)
from truerisk.results.interval import Basis
from truerisk.statistics.long_run import MIN_TIMES, long_run_std_error

RETURNING_GROUPS_NOTE = (
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
        f"{MUELLER_WATSON_REFERENCE}"
    )
    caution: ClassVar[str] = (
        "take the losses for a stationary series; how much longer than it looks their memory is "
        "taken for was calibrated by simulated series (documentation of truerisk)"
    )

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        assert evidence.times is not None
        if evidence.groups is not None and _has_returning_groups(evidence.groups, evidence.times):
            return None, None, (RETURNING_GROUPS_NOTE.format(met=_cluster_noun(evidence.data)),)
        value = float(evidence.values[c])
        time_numbers = np.unique(evidence.times, return_inverse=True)[1].ravel()
        time_sums = np.bincount(time_numbers, evidence.weights * (evidence.losses[c] - value))
        n_times = len(time_sums)
        if n_times < MIN_TIMES:
            return None, None, (_too_few_times_note(n_times),)
        long_run_variance = long_run_std_error(time_sums)
        if long_run_variance is None:
            return None, None, (_long_dependence_note(n_times),)
        error = n_times * long_run_variance.std_error
        if is_zero_error(error, value):
            return None, None, (NO_SPREAD,)
        half_width = long_run_variance.critical_value(evidence.terms.confidence_level) * error
        interval = evidence.skewed(value, half_width, self.name)
        return (error, interval, ()) if interval else (None, None, (NO_UPPER_LIMIT_NOTE,))


def _cluster_noun(data: Data) -> str:
    """Return the name of the clusters in messages: groups, blocks, places or places and groups."""
    if data.block is None:
        return "groups"
    if data.places is None:
        return "blocks"
    return "places" if data.groups is None else "places and groups"


def _has_returning_groups(groups: np.ndarray, row_times: np.ndarray) -> bool:
    """Return True if rows of another group lie between two rows of a group in time.

    Groups that follow one another are time periods, whose rows may depend on each other like those
    of any period.
    """
    group_numbers = np.unique(groups, return_inverse=True)[1].ravel()
    row_order = np.lexsort((row_times, group_numbers))
    group_starts = np.flatnonzero(np.diff(group_numbers[row_order], prepend=-1))
    first_times, last_times = (
        row_times[row_order][group_starts],
        row_times[row_order][np.append(group_starts[1:], len(row_order)) - 1],
    )
    start_order = np.argsort(first_times, kind="stable")
    first_times, last_times = first_times[start_order], last_times[start_order]
    return bool((np.maximum.accumulate(last_times)[:-1] > first_times[1:]).any())


def _too_few_times_note(n_times: int) -> str:
    return (
        f"rows at {n_times} different times were tested, and with fewer than {MIN_TIMES} the "
        "autocorrelation of the losses cannot be estimated, so there is no standard error."
    )


def _long_dependence_note(n_times: int) -> str:
    return (
        f"the losses at {n_times} times depend on those before them for so long that it cannot be "
        "distinguished from a drift: no standard error is justified."
    )
