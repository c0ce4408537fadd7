"""By how much cross-validation of a tuned learner varies more than a mean of independent losses.

Folds share training rows, so the mean of n out-of-fold losses has a larger variance than s²/n. No
unbiased estimate of it exists (Bengio and Grandvalet, 2004). Over the battery of
`python -m benchmarks.calibration` it is 1 to 3 times as large, and the more so the more a learner
depends on which rows it was trained on. One drawing of the folds does not show that: `ONCE` serves
all learners. Fits without a further fold do (`instability_of_pairs`), and so do several drawings
(`instabilities`), as the *instability* u. It is calibration, not theory, that leads from u to the
factor: a learner may say the same of these rows whatever the folds, and be wrong alike on all of
them.

A larger K exchanges fewer rows between two drawings, and the answers that change for it are fewer
about as the square root: u √K hardly depends on K.

With repetitions s² is the variance of the rows' *mean* losses. What changes from one drawing of the
folds to the next, within a row, is averaged out of the value and of s² alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from truerisk.intervals.form import (
    NO_SPREAD,
    OF_A_MEAN,
    IntervalForm,
    Needs,
    RowEvidence,
    Sureness,
    is_none,
    variances_of_means,
)
from truerisk.results.evaluation import FOLDS, Shaken
from truerisk.results.interval import Basis, Interval

ONCE = FOLDS  # one drawing of the folds, and nothing else
STABLE = 1.3  # learners whose instability is 0, unless errors are counted
BELOW = 1.15
"""Times as many standard errors to low ends of losses of probabilities by row, as Brier and log.

The values of tuned models miss such a risk more often from above than from below: models of a part
of the rows are worse, and a training set on which tuning goes wrong raises the value by more than a
good one lowers it. It was chosen on the drawings of a program that is not kept and is judged on
others (`python -m benchmarks.calibration.two_sides`). The high end was not moved nearer, since a
few sure and wrong answers, which a sample may lack, make it too low for some learners.
"""
SMALL, STEEP = 0.1, 0.4  # falls of the risk, of the interval's half: not worth a word; a warning

OF_FOLDS = {**OF_A_MEAN, Basis.EQUALLY_OFTEN: "use a K-fold word such as '10-fold'"}
OF_INFLUENCES: Needs = {
    Basis.INFLUENCES: OF_A_MEAN[Basis.ROW_LOSSES],
    **{basis: remedy for basis, remedy in OF_FOLDS.items() if basis is not Basis.ROW_LOSSES},
}
BENGIO = (
    "Bengio Y, Grandvalet Y (2004). No unbiased estimator of the variance of K-fold "
    "cross-validation. Journal of Machine Learning Research 5:1089–1105."
)
CALIBRATED = (
    "take the variance of a cross-validated risk as a multiple of that of independent losses, "
    "calibrated by simulation: 1.8, or 1 to 2.5 where fits without a further fold, or several "
    "drawings of the folds, show how the losses change with them (documentation of truerisk)"
)


@dataclass(frozen=True)
class Law:
    """From the instability u to the factor: stable − `delay` + slope u √(K/10), K folds.

    It is never below `stable`, the factor of a learner whose instability is 0, nor above `most`.

    >>> DRAWINGS.factor(0.0, 10), DRAWINGS.factor(0.1, 10), DRAWINGS.factor(0.5, 10)
    (1.0, 1.5, 2.0)
    >>> PAIRS.factor(0.05, 5), round(PAIRS.factor(0.2, 5), 3), PAIRS.factor(0.9, 5)
    (1.0, 1.8, 2.5)
    """

    slope: float
    most: float
    delay: float = 0.0

    def factor(self, instability: float, k: float, stable: float = 1.0) -> float:
        """By how much the variance of independent rows is enlarged."""
        grown = stable - self.delay + self.slope * instability * math.sqrt(k / 10)
        return min(self.most, max(stable, grown))


DRAWINGS = Law(5.0, 2.0)  # u of several drawings of the folds
PAIRS = Law(6.0 * math.sqrt(2), 2.5, 0.4)  # u of models without a further fold


@dataclass(frozen=True)
class Enlarged:
    """The variance of a cross-validated mean; `std_error` is the usual one, of independent units.

    The interval rests on `variance`. `units` are the rows, or groups, that were tested, divided by
    the factor that cross-validation has; `notes` say what several drawings of the folds told of it.
    `degrees` are those of Student's t, where few events or few groups say what the variance is. The
    low end of an interval lies `below` times as many standard errors from the value as the high
    end. `pooled` is the value of all answers as one test set, where the mean is biased on small
    ones.
    """

    variance: float
    std_error: float
    units: float
    notes: tuple[str, ...] = ()
    degrees: float = math.inf
    below: float = 1.0
    pooled: float | None = None


def enlarged(evidence: RowEvidence, c: int) -> Enlarged:
    """The variance of a mean of independent rows or groups, times the factor, for candidate c."""
    plan, loss, (plain, units) = evidence.plan, evidence.loss, evidence.variance(c, evidence.groups)
    if is_none(plain**0.5, float(evidence.values[c])):
        plain = 0.0
    error = plain**0.5
    if not plan.train_sizes.any():  # a finished model: its rows are independent tests of one rule
        if evidence.groups is not None:  # what few rows ask for is not known of few groups
            return Enlarged(plain, error, units, degrees=max(units - 1, 1))
        more, degrees = loss.enlargement(evidence.data, evidence.rows[evidence.weights > 0])
        return Enlarged(more * plain, error, units, degrees=degrees)
    notes: tuple[str, ...] = ()
    more = ONCE
    if evidence.repeatedly or evidence.shaken is not None:
        more, notes = _factor(evidence, c, plain)
    return Enlarged(
        more * plain,
        error,
        units / more,
        notes,
        below=BELOW if loss.per_row and loss.response == "probability" else 1.0,
        pooled=None if evidence.pooled is None else float(evidence.pooled[c]),
    )


def _factor(evidence: RowEvidence, c: int, plain: float) -> tuple[float, tuple[str, ...]]:
    """Return the factor that further fits or drawings of the folds show, and notes on them."""
    known = evidence.instability if plain > 0 else None  # equal losses tell nothing
    k = float(evidence.plan.n_rows / evidence.plan.test_sizes.mean())
    more = ONCE
    why = "models or losses hardly differ, so that nothing shows how training rows change them"
    if known is not None:
        u, stable = float(known[c]), 1.0 if evidence.loss.binary else STABLE
        more = (DRAWINGS if evidence.repeatedly else PAIRS).factor(u, k, stable)
        why = f"losses change with the training rows (instability {u:.2g})"
    note = f"{why}: the interval rests on {more:.2g} times the variance of independent rows."
    if evidence.shaken is None:
        return more, (note,)
    return more, (note, *_note_of_all_rows(evidence, evidence.shaken, c, k, (more * plain) ** 0.5))


def _moves(half: float, gap: float) -> tuple[float, float]:
    """Return how far the ends lie below and above: √(half² + gap²) on the side of the gap.

    A score such as F1 is a ratio, whose mean over small test sets is biased. Together all answers
    are a test set so large that the bias is small. The gap between the value that they have and the
    mean, on the scale of the interval, estimates the bias as if it were one standard error.
    """
    return math.hypot(half, min(gap, 0.0)), math.hypot(half, max(gap, 0.0))


def _note_of_all_rows(
    evidence: RowEvidence, shaken: Shaken, c: int, k: float, error: float
) -> tuple[str, ...]:
    """Say by how much a model of all rows is better than is said, where that is more than noise.

    Fits without two folds cost d more than those without one. The power law through both sizes says
    what all rows cost. d is a mean over rows, which tell its error: d ± 2 standard errors give the
    ends of the fall. A value that is too large by .4 of the half of a 95 % interval lets that cover
    in 88 %.
    """
    if error <= 0:
        return ()
    value, low, scale = float(evidence.values[c]), evidence.loss.lower or 0.0, evidence.loss.scale
    losses, weights = shaken.by_row(c, evidence.rows), evidence.weights
    moved, more = losses - evidence.losses[c], float(losses @ weights)
    d = np.array([more - value])
    variances, _ = variances_of_means(moved[None], weights, d, evidence.groups)
    noise, half = 2 * float(variances[0]) ** 0.5, evidence.z * error
    if not more - value > noise:
        return ()
    power = math.log(1 - 1 / k) / math.log(1 - 1 / (k - 1))
    ratios = (value - low) / (more - low + np.array([-noise, 0.0, noise]))
    least, fall, most = (value - low) * (1 - ratios**power)
    if fall < SMALL * half:
        return ()
    names = ("risk", "less") if scale.perfect is None else ("score", "more")
    note = (
        f"each model saw {1 - 1 / k:.0%} of the rows. With all of them the {names[0]} will be "
        f"about {fall:.2g} {names[1]} ({least:.2g} to {most:.2g}): models of {1 - 2 / k:.0%} have "
        f"{scale.value(more):.3g} where these have {scale.value(value):.3g}."
    )
    if fall > STEEP * half:
        remedy = "more folds"
        if evidence.loss.per_row:
            remedy = "interval='ncv' of tr.estimate_risk, tr.assess or HonestSearchCV"
        note += (
            " Where learning is so steep, the interval covers less often than it states. Use "
            f"{remedy}, or a learner that needs fewer rows."
        )
    return (note,)


class BetaCV(IntervalForm[RowEvidence]):
    r"""Quantiles of Beta(n_e m + ½, n_e (1 − m) + ½), for losses between 0 and a known bound.

    m is the value as a share of the bound, n_e = m (1 − m)/V the size of a binomial sample with
    V = c times the variance of a mean of independent rows (or groups), c as `enlarged` says:
    1.8 for one drawing of the folds, 1 to 2.5 where fits without a further fold were made, 1 to 2
    for several drawings, 1 of a finished model. For zero-one loss and one drawing n_e is
    (n − 1)/1.8. Where no row, or every row, is wrong, the rows (or groups) are counted: n_e =
    n/1.8. For losses of probabilities the low end has V 1.15² times as large, as `BELOW` says. The
    standard error beside it is the usual one, of independent rows.
    """

    word: ClassVar[str] = "beta-cv"
    needs: ClassVar[Needs] = {**OF_FOLDS, Basis.UPPER_BOUND: "use interval='log-cv'"}
    reference: ClassVar[str] = BENGIO
    caution: ClassVar[str] = CALIBRATED

    def of(self, evidence: RowEvidence, c: int) -> Sureness:
        spread, value = enlarged(evidence, c), float(evidence.values[c])
        low, span = evidence.bounds
        share = float(np.clip((value - low) / span, 0, 1))
        alike = spread.std_error == 0
        if spread.units < 1 or (alike and 0 < share < 1):
            return None, None, (NO_SPREAD,)
        name = evidence.named(self.word)
        if alike:
            return None, evidence.beta(value, spread.units, name), (NO_SPREAD,)
        size = share * (1 - share) * span**2 / spread.variance
        if spread.degrees < math.inf:
            size *= (evidence.z / evidence.reach(spread.degrees)) ** 2
        interval = evidence.beta(value, size, name)
        if spread.below != 1:
            low = evidence.beta(value, size / spread.below**2, name).low
            interval = replace(interval, low=low)
        return spread.std_error, interval, spread.notes


class LogCV(IntervalForm[RowEvidence]):
    r"""value · exp(± z se/value), for losses that are never negative and may be large.

    se² = 1.3 to 2.5 times the variance of a mean of independent rows (or groups), as `enlarged`
    says; se/value is the error of log value to first order. Means of squared errors are skew to the
    right, and so is this interval. The largest errors are most often missing from a sample, so that
    its variance is too small: even a stable learner has the factor 1.3. With heavy tails and few
    rows it is still too short. For log loss the low end has 1.15 z, as `BELOW` says. Where R² is a
    mean over folds, one end lies farther, as in `LogitCV`. The standard error beside it is the
    usual one, of independent rows.
    """

    word: ClassVar[str] = "log-cv"
    needs: ClassVar[Needs] = {**OF_INFLUENCES, Basis.NEVER_NEGATIVE: "use interval='wald'"}
    reference: ClassVar[str] = BENGIO
    caution: ClassVar[str] = CALIBRATED

    def of(self, evidence: RowEvidence, c: int) -> Sureness:
        spread = enlarged(evidence, c)
        value, error = float(evidence.values[c]), spread.variance**0.5
        if spread.units < 1 or is_none(error, value) or value <= 0:
            return None, None, (NO_SPREAD,)
        reach = evidence.reach(spread.degrees)
        gap = 0.0 if spread.pooled is None else float(np.log(spread.pooled / value))
        below, above = _moves(reach * error / value, reach * gap)
        high, most = value * float(np.exp(above)), evidence.loss.upper
        interval = Interval(
            value * float(np.exp(-spread.below * below)),
            high if most is None else min(high, most),
            evidence.named(self.word),
            evidence.terms.confidence_level,
        )
        return spread.std_error, interval, spread.notes


class LogitCV(IntervalForm[RowEvidence]):
    r"""logit⁻¹(logit m ± z se/(m (1 − m))), m the value as a share of the bound.

    For scores that rate whole test sets: each row does to the value what its influence φ says. The
    value is the mean over folds, or of all answers where that is asked for. se² = c V, V the
    variance of a mean of independent rows with the losses score + φ, c as `enlarged` says. With the
    bounds -1 and 1 of a correlation it is Fisher's z. m is kept half a row away from 0 and 1, and
    se is not below what another answer to one row does: where none of a few positive rows is found,
    these show no spread. The standard error beside it is the usual one, of independent rows.

    The mean over folds of F1, average precision and other scores with `is_biased_on_small_sets` is
    biased. d, the logit of the value of all answers as one test set minus that of the mean,
    estimates the bias. The end of the interval on the side of that value lies z √(s² + d²) from
    logit m, s = se/(m (1 − m)).
    """

    word: ClassVar[str] = "logit-cv"
    needs: ClassVar[Needs] = {**OF_INFLUENCES, Basis.UPPER_BOUND: "use interval='log-cv'"}
    reference: ClassVar[str] = (
        "LeDell E, Petersen M, van der Laan M (2015). Computationally efficient confidence "
        "intervals for cross-validated area under the ROC curve estimates. Electronic Journal of "
        "Statistics 9:1583–1607."
    )
    caution: ClassVar[str] = CALIBRATED

    def of(self, evidence: RowEvidence, c: int) -> Sureness:
        spread, value = enlarged(evidence, c), float(evidence.values[c])
        low, span = evidence.bounds
        if spread.units < 1:
            return None, None, (NO_SPREAD,)
        least = 1.0 / len(evidence.rows)
        if evidence.one_row is not None:
            least = max(least, float(evidence.one_row[c]) / span)
        ends_at = least / 2, 1 - least / 2
        share = float(np.clip((value - low) / span, *ends_at))
        of_so_few = (share * (1 - share) * least) ** 0.5  # as of 1/least answers, of which none
        error = max(spread.variance**0.5 / span, min(least, of_so_few))
        logit, gap = np.log(share / (1 - share)), 0.0
        if spread.pooled is not None:
            pooled = float(np.clip((spread.pooled - low) / span, *ends_at))
            gap = np.log(pooled / (1 - pooled)) - logit
        reach = evidence.reach(spread.degrees)
        below, above = _moves(reach * error / (share * (1 - share)), reach * gap)
        ends = low + span / (1 + np.exp(-np.array([logit - below, logit + above])))
        interval = Interval(
            min(float(ends[0]), value),  # nobody can say that a perfect score is not perfect
            max(float(ends[1]), value),
            evidence.named(self.word),
            evidence.terms.confidence_level,
        )
        if spread.std_error == 0:
            return None, interval, (NO_SPREAD,)
        return spread.std_error, interval, spread.notes
