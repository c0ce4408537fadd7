"""Calibrated intervals: cross-validated risks vary more than means of independent losses.

Folds share training rows, so that the mean of n out-of-fold losses has a larger variance than s²/n.
No unbiased estimate of it exists (Bengio and Grandvalet, 2004). In the simulations of `python -m
benchmarks.calibration` it is 1 to 3 times as large, and larger for learners that depend more on the
rows they were trained on. A single drawing of the folds does not show this dependence; the factor
`SINGLE_DRAW_VARIANCE_FACTOR` then serves all learners. Fits without a further fold do show it
(`leave_two_out_instability`), and so do several drawings (`repeated_cv_instability`), as the
*instability* u. The relation between u and the factor is calibrated, not derived: a learner may
predict the same for these rows whatever the folds, and be equally wrong on all of them.

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
    is_zero_error,
    variances_of_means,
)
from truerisk.results.evaluation import FOLD_VARIANCE_FACTOR, LeftTwoOut
from truerisk.results.interval import Basis, Interval

SINGLE_DRAW_VARIANCE_FACTOR = (
    FOLD_VARIANCE_FACTOR  # Variance factor for a single drawing of the folds.
)
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
# A model trained on all rows may have a smaller risk than the models of the folds. The limits
# refer to this expected decrease, as a share of half the width of the interval.
# A decrease below SMALL_RISK_DECREASE gives no note, one above LARGE_RISK_DECREASE a warning.
SMALL_RISK_DECREASE, LARGE_RISK_DECREASE = 0.1, 0.4

FOLD_NEEDS = {**OF_A_MEAN, Basis.EQUALLY_OFTEN: "use a K-fold word such as '10-fold'"}
INFLUENCE_NEEDS: Needs = {
    Basis.INFLUENCES: OF_A_MEAN[Basis.ROW_LOSSES],
    **{basis: remedy for basis, remedy in FOLD_NEEDS.items() if basis is not Basis.ROW_LOSSES},
}
BENGIO_GRANDVALET_REFERENCE = (
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
    """Variance factor that depends on the instability u of a learner and on the number K of folds.

    The factor is `stable` − `offset` + `slope` · u · √(K/10). It is never smaller than `stable`,
    the factor of a learner with instability 0, and never larger than `max_factor`.
    """

    slope: float
    max_factor: float
    offset: float = 0.0

    def variance_factor(self, instability: float, k: float, stable: float = 1.0) -> float:
        """Return the factor that multiplies the variance of a mean of independent rows."""
        factor = stable - self.offset + self.slope * instability * math.sqrt(k / 10)
        return min(self.max_factor, max(stable, factor))


# Variance factor if the instability u is measured by repeated drawings of the folds.
REPEATED_CV_FACTOR = InstabilityFactor(5.0, 2.0)
# Variance factor if u is measured by models whose training sets lack a second fold as well.
LEAVE_TWO_OUT_FACTOR = InstabilityFactor(6.0 * math.sqrt(2), 2.5, 0.4)


@frozen
class EnlargedVariance:
    """Variance of a cross-validated mean loss, enlarged because folds share training rows.

    `std_error` is the usual standard error of independent rows or groups. The interval is based on
    `variance`. `n_effective_units` is the number of test rows, or groups, divided by the factor of
    cross-validation. `notes` tell what several drawings of the folds showed about it.
    `degrees_of_freedom` are the degrees of freedom of Student's t, if few events or few groups
    determine the variance. The low end of an interval is `low_end_factor` times as many standard
    errors from the value as the high end. `pooled_value` is the value of all predictions as one
    test set, if the mean is biased on small test sets.
    """

    variance: float
    std_error: float
    n_effective_units: float
    notes: tuple[str, ...] = ()
    degrees_of_freedom: float = math.inf
    low_end_factor: float = 1.0
    pooled_value: float | None = None


def enlarge_variance(evidence: RowEvidence, candidate: int) -> EnlargedVariance:
    """Return the variance of a candidate's mean loss, enlarged by a factor.

    Without the factor it is the variance of a mean of independent rows or groups. The factor
    accounts for training rows that folds share.
    """
    plan, loss, (row_variance, n_units) = (
        evidence.plan,
        evidence.loss,
        evidence.variance(candidate, evidence.groups),
    )
    if is_zero_error(row_variance**0.5, float(evidence.values[candidate])):
        row_variance = 0.0
    std_error = row_variance**0.5
    # A finished model needs no factor of cross-validation: its test rows are independent.
    if not plan.train_sizes.any():
        # `enlargement` corrects the variance for few rows. No correction is known for few groups.
        if evidence.groups is not None:
            return EnlargedVariance(
                row_variance, std_error, n_units, degrees_of_freedom=max(n_units - 1, 1)
            )
        factor, degrees_of_freedom = loss.enlargement(
            evidence.data, evidence.rows[evidence.weights > 0]
        )
        return EnlargedVariance(
            factor * row_variance, std_error, n_units, degrees_of_freedom=degrees_of_freedom
        )
    notes: tuple[str, ...] = ()
    factor = SINGLE_DRAW_VARIANCE_FACTOR
    if evidence.repeatedly or evidence.left_two_out is not None:
        factor, notes = _variance_factor(evidence, candidate, row_variance)
    return EnlargedVariance(
        factor * row_variance,
        std_error,
        n_units / factor,
        notes,
        low_end_factor=LOW_END_FACTOR if loss.per_row and loss.response == "probability" else 1.0,
        pooled_value=None if evidence.pooled is None else float(evidence.pooled[candidate]),
    )


def _variance_factor(
    evidence: RowEvidence, candidate: int, row_variance: float
) -> tuple[float, tuple[str, ...]]:
    """Return the variance factor for the measured instability of the learner, and notes.

    The instability is measured by additional fits or repeated drawings of the folds.
    """
    # If all losses are equal, the instability is unknown.
    instabilities = evidence.instability if row_variance > 0 else None
    k = float(evidence.plan.n_rows / evidence.plan.test_sizes.mean())
    factor = SINGLE_DRAW_VARIANCE_FACTOR
    reason = "the models differ too little to measure how much"
    if instabilities is not None:
        instability, stable_factor = (
            float(instabilities[candidate]),
            1.0 if evidence.loss.binary else STABLE_LEARNER_FACTOR,
        )
        factor = (
            REPEATED_CV_FACTOR if evidence.repeatedly else LEAVE_TWO_OUT_FACTOR
        ).variance_factor(instability, k, stable_factor)
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


def _end_distances(half_width: float, estimated_bias: float) -> tuple[float, float]:
    """Return the distances from the value to both ends of the interval.

    A bias of the value enlarges one of the distances. On the side of the bias the distance is
    √(`half_width`² + `estimated_bias`²), on the other side `half_width`. A score such as F1 is a
    ratio, whose mean over small test sets is biased. All predictions together form a test set that
    is large enough for the bias to be small. The gap between their value and the mean, on the scale
    of the interval, estimates the bias as if it were one standard error.
    """
    return math.hypot(half_width, min(estimated_bias, 0.0)), math.hypot(
        half_width, max(estimated_bias, 0.0)
    )


def _learning_note(
    evidence: RowEvidence,
    left_two_out: LeftTwoOut,
    candidate: int,
    k: float,
    interval_std_error: float,
) -> tuple[str, ...]:
    """Return a note if a model trained on all rows is noticeably better than the value suggests.

    Fits without two folds have a mean loss that is larger by d than the loss of fits without one.
    The power law through both sizes predicts the loss with all rows. d is a mean over rows, which
    give its error: d ± 2 standard errors give the ends of the predicted fall. If a value is too
    large by .4 of half a 95 % interval, the interval covers in 88 %.
    """
    if interval_std_error <= 0:
        return ()
    value, lower_bound, loss_scale = (
        float(evidence.values[candidate]),
        evidence.loss.lower or 0.0,
        evidence.loss.scale,
    )
    losses, weights = left_two_out.mean_loss_by_row(candidate, evidence.rows), evidence.weights
    loss_changes, loss_without_two = losses - evidence.losses[candidate], float(losses @ weights)
    mean_change = np.array([loss_without_two - value])
    variances, _ = variances_of_means(loss_changes[None], weights, mean_change, evidence.groups)
    change_margin, half_width = 2 * float(variances[0]) ** 0.5, evidence.z * interval_std_error
    if not loss_without_two - value > change_margin:
        return ()
    power = math.log(1 - 1 / k) / math.log(1 - 1 / (k - 1))
    loss_ratios = (value - lower_bound) / (
        loss_without_two - lower_bound + np.array([-change_margin, 0.0, change_margin])
    )
    smallest_decrease, risk_decrease, largest_decrease = (value - lower_bound) * (
        1 - loss_ratios**power
    )
    if risk_decrease < SMALL_RISK_DECREASE * half_width:
        return ()
    names = ("risk", "lower") if loss_scale.perfect is None else ("score", "higher")
    improvement_note = (
        f"the models tested here saw {1 - 1 / k:.0%} of the rows. A model that is trained on all "
        f"rows should have a {names[0]} about {risk_decrease:.2g} {names[1]} "
        f"({smallest_decrease:.2g} to "
        f"{largest_decrease:.2g}): models trained on {1 - 2 / k:.0%} of the rows have "
        f"{loss_scale.value(loss_without_two):.3g}, and those tested here "
        f"{loss_scale.value(value):.3g}."
    )
    if risk_decrease > LARGE_RISK_DECREASE * half_width:
        remedy = "more folds"
        if evidence.loss.per_row:
            remedy = "interval='ncv' of tr.estimate_risk, tr.assess or HonestSearchCV"
        improvement_note += (
            " Where learning is so steep, the interval covers less often than it states. Use "
            f"{remedy}, or a learner that needs fewer rows."
        )
    return (improvement_note,)


class BetaCV(IntervalForm[RowEvidence]):
    r"""Quantiles of Beta(n_e m + ½, n_e (1 − m) + ½), for losses between 0 and a known bound.

    m is the value as a share of the bound. n_e = m (1 − m)/V is the size of a binomial sample with
    V = c times the variance of a mean of independent rows (or groups). The factor c is computed by
    `enlarge_variance`: 1.8 for one drawing of the folds, 1 to 2.5 if fits without a further fold
    were made, 1 to 2 for several drawings, and 1 for a finished model. For zero-one loss and one
    drawing n_e is (n − 1)/1.8. If no row, or every row, is wrong, the rows (or groups) are counted:
    n_e = n/1.8. For losses of probabilities the low end uses a V that is 1.15² times as large (see
    `LOW_END_FACTOR`). The reported standard error is the usual one, of independent rows.
    """

    name: ClassVar[str] = "beta-cv"
    needs: ClassVar[Needs] = {**FOLD_NEEDS, Basis.UPPER_BOUND: "use interval='log-cv'"}
    reference: ClassVar[str] = BENGIO_GRANDVALET_REFERENCE
    caution: ClassVar[str] = CALIBRATION_CAUTION

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        variance, value = enlarge_variance(evidence, c), float(evidence.values[c])
        lowest_loss, loss_range = evidence.bounds
        value_share = float(np.clip((value - lowest_loss) / loss_range, 0, 1))
        has_equal_losses = variance.std_error == 0
        if variance.n_effective_units < 1 or (has_equal_losses and 0 < value_share < 1):
            return None, None, (NO_SPREAD,)
        name = evidence.named(self.name)
        if has_equal_losses:
            return None, evidence.beta(value, variance.n_effective_units, name), (NO_SPREAD,)
        sample_size = value_share * (1 - value_share) * loss_range**2 / variance.variance
        if variance.degrees_of_freedom < math.inf:
            sample_size *= (evidence.z / evidence.reach(variance.degrees_of_freedom)) ** 2
        interval = evidence.beta(value, sample_size, name)
        if variance.low_end_factor != 1:
            lowest_loss = evidence.beta(value, sample_size / variance.low_end_factor**2, name).low
            interval = replace(interval, low=lowest_loss)
        return variance.std_error, interval, variance.notes


class LogCV(IntervalForm[RowEvidence]):
    r"""Interval value · exp(± z se/value), for losses that are never negative and may be large.

    se² is 1.3 to 2.5 times the variance of a mean of independent rows (or groups), computed by
    `enlarge_variance`; se/value is the error of log value to first order. Means of squared errors
    are skewed to the right, and so is this interval. The largest errors are often missing from a
    sample, so that its variance is too small: even a stable learner has the factor 1.3. With heavy
    tails and few rows the interval is still too short. For log loss the low end uses 1.15 z (see
    `LOW_END_FACTOR`). If R² is a mean over folds, one end is farther away, as in `LogitCV`. The
    reported standard error is the usual one, of independent rows.
    """

    name: ClassVar[str] = "log-cv"
    needs: ClassVar[Needs] = {**INFLUENCE_NEEDS, Basis.NEVER_NEGATIVE: "use interval='wald'"}
    reference: ClassVar[str] = BENGIO_GRANDVALET_REFERENCE
    caution: ClassVar[str] = CALIBRATION_CAUTION

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        variance = enlarge_variance(evidence, c)
        value, error = float(evidence.values[c]), variance.variance**0.5
        if variance.n_effective_units < 1 or is_zero_error(error, value) or value <= 0:
            return None, None, (NO_SPREAD,)
        quantile = evidence.reach(variance.degrees_of_freedom)
        estimated_bias = (
            0.0 if variance.pooled_value is None else float(np.log(variance.pooled_value / value))
        )
        low_distance, high_distance = _end_distances(
            quantile * error / value, quantile * estimated_bias
        )
        upper_limit, upper_bound = value * float(np.exp(high_distance)), evidence.loss.upper
        interval = Interval(
            value * float(np.exp(-variance.low_end_factor * low_distance)),
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
    score + φ, and c is computed by `enlarge_variance`. For a correlation, with bounds -1 and 1, the
    interval is Fisher's z. m is kept half a row away from 0 and 1. se is at least the effect of a
    different answer to one row, because there is no spread if none of a few positive rows is found.
    The reported standard error is the usual one, of independent rows.

    The mean over folds of F1, average precision and other scores with `is_biased_on_small_sets` is
    biased. Let d be the logit of the value of all answers as one test set minus the logit of the
    mean; it estimates the bias. The end of the interval on the side of that value is z √(s² + d²)
    away from logit m, where s = se/(m (1 − m)).
    """

    name: ClassVar[str] = "logit-cv"
    needs: ClassVar[Needs] = {**INFLUENCE_NEEDS, Basis.UPPER_BOUND: "use interval='log-cv'"}
    reference: ClassVar[str] = (
        "LeDell E, Petersen M, van der Laan M (2015). Computationally efficient confidence "
        "intervals for cross-validated area under the ROC curve estimates. Electronic Journal of "
        "Statistics 9:1583–1607."
    )
    caution: ClassVar[str] = CALIBRATION_CAUTION

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        variance, value = enlarge_variance(evidence, c), float(evidence.values[c])
        lowest_loss, loss_range = evidence.bounds
        if variance.n_effective_units < 1:
            return None, None, (NO_SPREAD,)
        one_row_share = 1.0 / len(evidence.rows)
        if evidence.one_row is not None:
            one_row_share = max(one_row_share, float(evidence.one_row[c]) / loss_range)
        share_limits = one_row_share / 2, 1 - one_row_share / 2
        value_share = float(np.clip((value - lowest_loss) / loss_range, *share_limits))
        # This is the binomial standard error of the value as a share, for 1/one_row_share
        # predictions.
        binomial_std_error = (value_share * (1 - value_share) * one_row_share) ** 0.5
        error = max(variance.variance**0.5 / loss_range, min(one_row_share, binomial_std_error))
        logit, estimated_bias = np.log(value_share / (1 - value_share)), 0.0
        if variance.pooled_value is not None:
            pooled_share = float(
                np.clip((variance.pooled_value - lowest_loss) / loss_range, *share_limits)
            )
            estimated_bias = np.log(pooled_share / (1 - pooled_share)) - logit
        quantile = evidence.reach(variance.degrees_of_freedom)
        low_distance, high_distance = _end_distances(
            quantile * error / (value_share * (1 - value_share)), quantile * estimated_bias
        )
        limits = lowest_loss + loss_range / (
            1 + np.exp(-np.array([logit - low_distance, logit + high_distance]))
        )
        interval = Interval(
            # The interval must contain the value, because even a perfect score may be the true one.
            min(float(limits[0]), value),
            max(float(limits[1]), value),
            evidence.named(self.name),
            evidence.terms.confidence_level,
        )
        if variance.std_error == 0:
            return None, interval, (NO_SPREAD,)
        return variance.std_error, interval, variance.notes
