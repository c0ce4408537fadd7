"""Calibrated intervals: cross-validated risks vary more than means of independent losses.

Folds share training rows, so that the mean of n out-of-fold losses has a larger variance than s²/n.
No unbiased estimate of it exists (Bengio and Grandvalet, 2004). In the simulations of `python -m
benchmarks.calibration` it is 1 to 3 times as large, and larger for learners that depend more on the
rows they were trained on. A single drawing of the folds does not show this dependence; the factor
`ONCE` then serves all learners. Fits without a further fold do show it (`instability_of_pairs`),
and so do several drawings (`instabilities`), as the *instability* u. The relation between u and the
factor is calibrated, not derived: a learner may predict the same for these rows whatever the folds,
and be equally wrong on all of them.

With a larger K, fewer rows are exchanged between two drawings, and the number of predictions that
change decreases about as the square root. Hence u √K hardly depends on K.

With repetitions, s² is the variance of the rows' *mean* losses. The variation within a row from one
drawing of the folds to the next is averaged out of both the value and s².
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
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
from truerisk.results.evaluation import FOLD_VARIANCE_FACTOR, LeftTwoOut
from truerisk.results.interval import Basis, Interval

ONCE = FOLD_VARIANCE_FACTOR  # Variance factor for a single drawing of the folds.
# Variance factor of learners with instability 0, unless the loss counts errors.
STABLE_LEARNER_FACTOR = 1.3
LOW_END_FACTOR = 1.15
"""Factor on the standard error at an interval's low end, for row losses of probabilities.

Such losses are Brier and log loss. The values of tuned models are more often too high than too low
for such a risk: models trained on a part of the rows are worse, and a training set on which tuning
fails raises the value by more than a good training set lowers it. The factor was chosen on
simulations of a program that no longer exists, and is evaluated on others (`python -m
benchmarks.calibration.two_sides`). The high end was not moved closer, because a few confident wrong
predictions, which a sample may lack, make it too low for some learners.
"""
# Falls of the risk that are expected with all training rows, as shares of half the interval.
# There is no note for a fall below SMALL_FALL, and a warning above STEEP_FALL.
SMALL_FALL, STEEP_FALL = 0.1, 0.4

OF_FOLDS = {**OF_A_MEAN, Basis.EQUALLY_OFTEN: "use a K-fold word such as '10-fold'"}
OF_INFLUENCES: Needs = {
    Basis.INFLUENCES: OF_A_MEAN[Basis.ROW_LOSSES],
    **{basis: remedy for basis, remedy in OF_FOLDS.items() if basis is not Basis.ROW_LOSSES},
}
BENGIO_GRANDVALET = (
    "Bengio Y, Grandvalet Y (2004). No unbiased estimator of the variance of K-fold "
    "cross-validation. Journal of Machine Learning Research 5:1089–1105."
)
CALIBRATION_CAUTION = (
    "multiply the variance of independent losses by 1.8 because training sets overlap, or by 1.0 "
    "to 2.5 if fits without a further fold, or several drawings of the folds, show how much the "
    "losses depend on the training set; the factors were calibrated by simulation (documentation "
    "of truerisk)"
)


@frozen
class InstabilityFactor:
    """Variance factor stable − `delay` + slope u √(K/10) for the instability u and K folds.

    It is never smaller than `stable`, the factor of a learner with instability 0, and never larger
    than `max_factor`.
    """

    slope: float
    max_factor: float
    delay: float = 0.0

    def factor(self, instability: float, k: float, stable: float = 1.0) -> float:
        """Return the factor that multiplies the variance of a mean of independent rows."""
        factor = stable - self.delay + self.slope * instability * math.sqrt(k / 10)
        return min(self.max_factor, max(stable, factor))


# Variance factor for an instability u from several drawings of the folds.
DRAWINGS_FACTOR = InstabilityFactor(5.0, 2.0)
# Variance factor for an instability u from models without a further fold.
PAIRS_FACTOR = InstabilityFactor(6.0 * math.sqrt(2), 2.5, 0.4)


@frozen
class EnlargedVariance:
    """Variance of a cross-validated mean loss, enlarged because folds share training rows.

    `std_error` is the usual standard error of independent rows or groups. The interval is based on
    `variance`. `units` is the number of test rows, or groups, divided by the factor of
    cross-validation. `notes` tell what several drawings of the folds showed about it. `degrees` are
    the degrees of freedom of Student's t, if few events or few groups determine the variance. The
    low end of an interval is `below` times as many standard errors from the value as the high end.
    `pooled` is the value of all predictions as one test set, if the mean is biased on small test
    sets.
    """

    variance: float
    std_error: float
    units: float
    notes: tuple[str, ...] = ()
    degrees: float = math.inf
    below: float = 1.0
    pooled: float | None = None


def enlarged(evidence: RowEvidence, candidate: int) -> EnlargedVariance:
    """Return a candidate's variance of a mean of independent rows or groups, times a factor.

    The factor accounts for training rows that folds share.
    """
    plan, loss, (row_variance, n_units) = (
        evidence.plan,
        evidence.loss,
        evidence.variance(candidate, evidence.groups),
    )
    if is_none(row_variance**0.5, float(evidence.values[candidate])):
        row_variance = 0.0
    std_error = row_variance**0.5
    # A finished model needs no factor of cross-validation: its test rows are independent.
    if not plan.train_sizes.any():
        # For few groups the enlargement of the variance is unknown; it is known for few rows.
        if evidence.groups is not None:
            return EnlargedVariance(row_variance, std_error, n_units, degrees=max(n_units - 1, 1))
        factor, degrees = loss.enlargement(evidence.data, evidence.rows[evidence.weights > 0])
        return EnlargedVariance(factor * row_variance, std_error, n_units, degrees=degrees)
    notes: tuple[str, ...] = ()
    factor = ONCE
    if evidence.repeatedly or evidence.left_two_out is not None:
        factor, notes = _variance_factor(evidence, candidate, row_variance)
    return EnlargedVariance(
        factor * row_variance,
        std_error,
        n_units / factor,
        notes,
        below=LOW_END_FACTOR if loss.per_row and loss.response == "probability" else 1.0,
        pooled=None if evidence.pooled is None else float(evidence.pooled[candidate]),
    )


def _variance_factor(
    evidence: RowEvidence, candidate: int, row_variance: float
) -> tuple[float, tuple[str, ...]]:
    """Return the variance factor that additional fits or drawings of the folds show, and notes."""
    # If all losses are equal, the instability is unknown.
    instabilities = evidence.instability if row_variance > 0 else None
    k = float(evidence.plan.n_rows / evidence.plan.test_sizes.mean())
    factor = ONCE
    reason = "the models differ too little to measure how much"
    if instabilities is not None:
        instability, stable = (
            float(instabilities[candidate]),
            1.0 if evidence.loss.binary else STABLE_LEARNER_FACTOR,
        )
        factor = (DRAWINGS_FACTOR if evidence.repeatedly else PAIRS_FACTOR).factor(
            instability, k, stable
        )
        reason = f"the instability of the losses is {instability:.2g}; 0 is none, 0.5 is large"
    factor_note = (
        f"the interval is widened (variance × {factor:.2g}) because folds share training rows "
        f"({reason})."
    )
    if evidence.left_two_out is None:
        return factor, (factor_note,)
    return factor, (
        factor_note,
        *_learning_note(
            evidence, evidence.left_two_out, candidate, k, (factor * row_variance) ** 0.5
        ),
    )


def _end_distances(half_width: float, bias_gap: float) -> tuple[float, float]:
    """Return the distances from the value to the interval's ends, one of them larger by a bias.

    On the side of the bias the distance is √(`half_width`² + `bias_gap`²), on the other side
    `half_width`. A score such as F1 is a ratio, whose mean over small test sets is biased. All
    predictions together form a test set that is large enough for the bias to be small. The gap
    between their value and the mean, on the scale of the interval, estimates the bias as if it were
    one standard error.
    """
    return math.hypot(half_width, min(bias_gap, 0.0)), math.hypot(half_width, max(bias_gap, 0.0))


def _learning_note(
    evidence: RowEvidence, left_two_out: LeftTwoOut, candidate: int, k: float, interval_error: float
) -> tuple[str, ...]:
    """Return a note if a model trained on all rows is noticeably better than the value suggests.

    Fits without two folds have a mean loss that is larger by d than the loss of fits without one.
    The power law through both sizes predicts the loss with all rows. d is a mean over rows, which
    give its error: d ± 2 standard errors give the ends of the predicted fall. If a value is too
    large by .4 of half a 95 % interval, the interval covers in 88 %.
    """
    if interval_error <= 0:
        return ()
    value, lower_bound, scale = (
        float(evidence.values[candidate]),
        evidence.loss.lower or 0.0,
        evidence.loss.scale,
    )
    losses, weights = left_two_out.by_row(candidate, evidence.rows), evidence.weights
    loss_changes, loss_without_two = losses - evidence.losses[candidate], float(losses @ weights)
    mean_change = np.array([loss_without_two - value])
    variances, _ = variances_of_means(loss_changes[None], weights, mean_change, evidence.groups)
    change_error, half_width = 2 * float(variances[0]) ** 0.5, evidence.z * interval_error
    if not loss_without_two - value > change_error:
        return ()
    power = math.log(1 - 1 / k) / math.log(1 - 1 / (k - 1))
    ratios = (value - lower_bound) / (
        loss_without_two - lower_bound + np.array([-change_error, 0.0, change_error])
    )
    smallest_fall, fall, largest_fall = (value - lower_bound) * (1 - ratios**power)
    if fall < SMALL_FALL * half_width:
        return ()
    names = ("risk", "lower") if scale.perfect is None else ("score", "higher")
    rise_note = (
        f"the models tested here saw {1 - 1 / k:.0%} of the rows. A model that is trained on all "
        f"rows should have a {names[0]} about {fall:.2g} {names[1]} ({smallest_fall:.2g} to "
        f"{largest_fall:.2g}): models trained on {1 - 2 / k:.0%} of the rows have "
        f"{scale.value(loss_without_two):.3g}, and those tested here {scale.value(value):.3g}."
    )
    if fall > STEEP_FALL * half_width:
        remedy = "more folds"
        if evidence.loss.per_row:
            remedy = "interval='ncv' of tr.estimate_risk, tr.assess or HonestSearchCV"
        rise_note += (
            " Where learning is so steep, the interval covers less often than it states. Use "
            f"{remedy}, or a learner that needs fewer rows."
        )
    return (rise_note,)


class BetaCV(IntervalForm[RowEvidence]):
    r"""Quantiles of Beta(n_e m + ½, n_e (1 − m) + ½), for losses between 0 and a known bound.

    m is the value as a share of the bound. n_e = m (1 − m)/V is the size of a binomial sample with
    V = c times the variance of a mean of independent rows (or groups). The factor c is computed by
    `enlarged`: 1.8 for one drawing of the folds, 1 to 2.5 if fits without a further fold were made,
    1 to 2 for several drawings, and 1 for a finished model. For zero-one loss and one drawing n_e
    is (n − 1)/1.8. If no row, or every row, is wrong, the rows (or groups) are counted: n_e =
    n/1.8. For losses of probabilities the low end uses a V that is 1.15² times as large (see
    `LOW_END_FACTOR`). The reported standard error is the usual one, of independent rows.
    """

    name: ClassVar[str] = "beta-cv"
    needs: ClassVar[Needs] = {**OF_FOLDS, Basis.UPPER_BOUND: "use interval='log-cv'"}
    reference: ClassVar[str] = BENGIO_GRANDVALET
    caution: ClassVar[str] = CALIBRATION_CAUTION

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        variance, value = enlarged(evidence, c), float(evidence.values[c])
        lowest_loss, span = evidence.bounds
        share = float(np.clip((value - lowest_loss) / span, 0, 1))
        are_equal_losses = variance.std_error == 0
        if variance.units < 1 or (are_equal_losses and 0 < share < 1):
            return None, None, (NO_SPREAD,)
        name = evidence.named(self.name)
        if are_equal_losses:
            return None, evidence.beta(value, variance.units, name), (NO_SPREAD,)
        sample_size = share * (1 - share) * span**2 / variance.variance
        if variance.degrees < math.inf:
            sample_size *= (evidence.z / evidence.reach(variance.degrees)) ** 2
        interval = evidence.beta(value, sample_size, name)
        if variance.below != 1:
            lowest_loss = evidence.beta(value, sample_size / variance.below**2, name).low
            interval = replace(interval, low=lowest_loss)
        return variance.std_error, interval, variance.notes


class LogCV(IntervalForm[RowEvidence]):
    r"""Interval value · exp(± z se/value), for losses that are never negative and may be large.

    se² is 1.3 to 2.5 times the variance of a mean of independent rows (or groups), computed by
    `enlarged`; se/value is the error of log value to first order. Means of squared errors are
    skewed to the right, and so is this interval. The largest errors are often missing from a
    sample, so that its variance is too small: even a stable learner has the factor 1.3. With heavy
    tails and few rows the interval is still too short. For log loss the low end uses 1.15 z (see
    `LOW_END_FACTOR`). If R² is a mean over folds, one end is farther away, as in `LogitCV`. The
    reported standard error is the usual one, of independent rows.
    """

    name: ClassVar[str] = "log-cv"
    needs: ClassVar[Needs] = {**OF_INFLUENCES, Basis.NEVER_NEGATIVE: "use interval='wald'"}
    reference: ClassVar[str] = BENGIO_GRANDVALET
    caution: ClassVar[str] = CALIBRATION_CAUTION

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        variance = enlarged(evidence, c)
        value, error = float(evidence.values[c]), variance.variance**0.5
        if variance.units < 1 or is_none(error, value) or value <= 0:
            return None, None, (NO_SPREAD,)
        quantile = evidence.reach(variance.degrees)
        bias_gap = 0.0 if variance.pooled is None else float(np.log(variance.pooled / value))
        low_distance, high_distance = _end_distances(quantile * error / value, quantile * bias_gap)
        upper_limit, upper_bound = value * float(np.exp(high_distance)), evidence.loss.upper
        interval = Interval(
            value * float(np.exp(-variance.below * low_distance)),
            upper_limit if upper_bound is None else min(upper_limit, upper_bound),
            evidence.named(self.name),
            evidence.terms.confidence_level,
        )
        return variance.std_error, interval, variance.notes


class LogitCV(IntervalForm[RowEvidence]):
    r"""Interval logit⁻¹(logit m ± z se/(m (1 − m))), where m is the value as a share of the bound.

    This interval is for scores that rate whole test sets; the effect of a row on the value is its
    influence φ. The value is the mean over folds, or the value of all answers together if that was
    requested. se² = c V, where V is the variance of a mean of independent rows with the losses
    score + φ, and c is computed by `enlarged`. For a correlation, with bounds -1 and 1, the
    interval is Fisher's z. m is kept half a row away from 0 and 1. se is at least the effect of a
    different answer to one row, because there is no spread if none of a few positive rows is found.
    The reported standard error is the usual one, of independent rows.

    The mean over folds of F1, average precision and other scores with `is_biased_on_small_sets` is
    biased. Let d be the logit of the value of all answers as one test set minus the logit of the
    mean; it estimates the bias. The end of the interval on the side of that value is z √(s² + d²)
    away from logit m, where s = se/(m (1 − m)).
    """

    name: ClassVar[str] = "logit-cv"
    needs: ClassVar[Needs] = {**OF_INFLUENCES, Basis.UPPER_BOUND: "use interval='log-cv'"}
    reference: ClassVar[str] = (
        "LeDell E, Petersen M, van der Laan M (2015). Computationally efficient confidence "
        "intervals for cross-validated area under the ROC curve estimates. Electronic Journal of "
        "Statistics 9:1583–1607."
    )
    caution: ClassVar[str] = CALIBRATION_CAUTION

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        variance, value = enlarged(evidence, c), float(evidence.values[c])
        lowest_loss, span = evidence.bounds
        if variance.units < 1:
            return None, None, (NO_SPREAD,)
        smallest_share = 1.0 / len(evidence.rows)
        if evidence.one_row is not None:
            smallest_share = max(smallest_share, float(evidence.one_row[c]) / span)
        share_limits = smallest_share / 2, 1 - smallest_share / 2
        share = float(np.clip((value - lowest_loss) / span, *share_limits))
        # This is the binomial standard error of the share in 1/smallest_share predictions.
        few_rows_error = (share * (1 - share) * smallest_share) ** 0.5
        error = max(variance.variance**0.5 / span, min(smallest_share, few_rows_error))
        logit, bias_gap = np.log(share / (1 - share)), 0.0
        if variance.pooled is not None:
            pooled_share = float(np.clip((variance.pooled - lowest_loss) / span, *share_limits))
            bias_gap = np.log(pooled_share / (1 - pooled_share)) - logit
        quantile = evidence.reach(variance.degrees)
        low_distance, high_distance = _end_distances(
            quantile * error / (share * (1 - share)), quantile * bias_gap
        )
        limits = lowest_loss + span / (
            1 + np.exp(-np.array([logit - low_distance, logit + high_distance]))
        )
        interval = Interval(
            # The interval contains the value, because a perfect score may always be the true one.
            min(float(limits[0]), value),
            max(float(limits[1]), value),
            evidence.named(self.name),
            evidence.terms.confidence_level,
        )
        if variance.std_error == 0:
            return None, interval, (NO_SPREAD,)
        return variance.std_error, interval, variance.notes
