"""Intervals of losses that depend on those before them, or on those beside them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.data.data import Data
from truerisk.intervals.calibrated import ONCE
from truerisk.intervals.evidence import RowEvidence
from truerisk.intervals.form import (
    NO_SPREAD,
    OF_A_MEAN,
    UNBOUNDED,
    IntervalForm,
    Needs,
    Sureness,
    is_none,
)
from truerisk.results.interval import Basis
from truerisk.statistics.long_run import FEWEST_TIMES, long_run

MUELLER_WATSON = (
    "Müller UK, Watson MW (2022). Spatial correlation robust inference. Econometrica 90:2901–2935."
)
OF_GROUPS = (
    "{met} are met again later, so that losses far apart in time depend on each other: no "
    "standard error is justified."
)


class HAC(IntervalForm[RowEvidence]):
    r"""A mean of losses in the order of time, which may be correlated and of unequal variance.

    The losses of each time are added up, :math:`z_t = \sum_{i \in t} w_i (ℓ_i - value)`, and the
    standard error is that of :math:`\sum_t z_t` from a few of its lowest cosines, with a factor
    that holds whether the losses are independent or as lasting as their autocorrelations allow
    (`statistics/long_run.py`). It is heteroskedasticity and autocorrelation consistent, of
    losses of one time as well, and counts the distinct times as equally far apart. The process must
    stay what it is: of fewer than 100 times, or losses that remember for longer than can be told
    from a drift, there is no interval. A season is seen if it fits four times into the series.
    Losses with bounds have it on the logit scale, others that are never negative on that of
    :math:`1/\sqrt{ℓ}`, since few large losses say little of their variance.

    The mean loss is that of models that were fitted; it is of windows and horizons like these.
    """

    word: ClassVar[str] = "hac"
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

    def of(self, evidence: RowEvidence, c: int) -> Sureness:
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
        interval = evidence.skewed(value, half, self.word)
        return (error, interval, ()) if interval else (None, None, (UNBOUNDED,))


def _units_of_splits(data: Data) -> str:
    """What rows of one cluster share, in the words of what was given."""
    if data.block is None:
        return "groups"
    if data.places is None:
        return "blocks"
    return "places" if data.groups is None else "places and groups"


def _met_again(groups: np.ndarray, times: np.ndarray) -> bool:
    """Whether rows of another group lie between two of a group in time.

    Groups that follow one another are stretches of time, whose rows may depend on each other as
    those of any stretch.
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


LEAST_PLACES = 20
LEAST_BLOCKS = 6
SPREAD = (
    "rows of one group lie at several places: how such rows depend on each other does not show in "
    "where they lie, so no standard error is justified."
)
APART = (
    "the interval treats the blocks of block= as independent, as labels do not say which are "
    "neighbours. Where neighbouring blocks are alike it is too short: give coordinates."
)


class Spatial(IntervalForm[RowEvidence]):
    r"""Few weighted means of the losses over the region say how much their mean varies.

    Of coordinates, :math:`se^2 = n/q \sum_j (\sum_i v_{ji} φ_i)^2` with :math:`φ_i = w_i (ℓ_i -
    value)`, the q weights :math:`v_j` those in which values of exponential correlation vary most
    (`intervals/evidence.py`), and the factor of se is such that a Gaussian process
    whose values have a mean correlation of up to .15 is covered (Müller and Watson, 2022). Of
    labels,
    :math:`se^2 = 1.8 · m/(m−1) \sum_b (\sum_{i∈b} φ_i)^2` over m blocks, which must be independent,
    and t with m − 1 degrees of freedom; 1.8 pays for folds that share training rows, as in
    `beta-cv`. Losses with a bound are taken on the logit scale, others that are never negative on
    that of :math:`1/\sqrt{ℓ}`. The interval is of the mean risk over fields like this one, observed
    at places like these.
    """

    word: ClassVar[str] = "spatial"
    needs: ClassVar[Needs] = {
        Basis.INFLUENCES: OF_A_MEAN[Basis.ROW_LOSSES],
        Basis.MEAN: OF_A_MEAN[Basis.MEAN],
        Basis.PLACES: "give coordinates, or the labels of blocks, by block=",
    }
    reference: ClassVar[str] = MUELLER_WATSON
    caution: ClassVar[str] = (
        "stand a mean correlation of .15 between the losses of two places, which was calibrated by "
        "simulated fields (documentation of truerisk)"
    )

    def of(self, evidence: RowEvidence, c: int) -> Sureness:
        value = float(evidence.values[c])
        shares = evidence.weights * (evidence.losses[c] - value)
        of = self._of_labels if evidence.data.places is None else self._of_places
        spread = of(evidence, shares)
        if isinstance(spread, str):
            return None, None, (spread,)
        error, factor = spread
        if is_none(error, value):
            return None, None, (NO_SPREAD,)
        interval = evidence.skewed(value, factor * error, self.word)
        if interval is None:
            return None, None, (UNBOUNDED,)
        return error, interval, (APART,) if evidence.data.places is None else ()

    def _of_places(self, evidence: RowEvidence, shares: np.ndarray) -> tuple[float, float] | str:
        """The standard error of the mean over places and its factor, or why there is none."""
        components = evidence.components
        n_places = 0 if components is None else len(components.vectors)
        if components is None or n_places < LEAST_PLACES:
            return (
                f"{n_places} places are too few to estimate how losses are correlated in space: an "
                f"interval needs {LEAST_PLACES}."
            )
        if _lie_apart(evidence):
            return SPREAD
        return components.std_error(shares), components.critical

    def _of_labels(self, evidence: RowEvidence, shares: np.ndarray) -> tuple[float, float] | str:
        """The same of blocks that are independent of each other."""
        from scipy.special import stdtrit

        assert evidence.groups is not None
        sums = np.bincount(np.unique(evidence.groups, return_inverse=True)[1].ravel(), shares)
        m = len(sums)
        if m < LEAST_BLOCKS:
            return f"{m} blocks are too few for an interval of their mean: it needs {LEAST_BLOCKS}."
        error = float(np.sqrt(ONCE * m / (m - 1) * (sums**2).sum()))
        return error, float(stdtrit(m - 1, (1 + evidence.terms.confidence_level) / 2))


def _lie_apart(evidence: RowEvidence) -> bool:
    """Whether some group has rows at more than one place."""
    groups, places = evidence.data.groups, evidence.data.places
    if groups is None or places is None:
        return False
    member = np.unique(groups[evidence.rows], return_inverse=True)[1].ravel()
    both = np.column_stack([member, places[evidence.rows]])
    return len(np.unique(both, axis=0)) > len(np.unique(member))
