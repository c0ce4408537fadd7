"""Paired tests: their common base class, and the tests on splits, halves and errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from math import inf, isfinite
from typing import ClassVar

import numpy as np
from numpy.polynomial import Polynomial

from truerisk.comparison.pairing import PairedInput, PairedLosses
from truerisk.core.arguments import check_level, mention
from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.registry import Registry, parse_registry_table
from truerisk.results.comparison import Comparison, check_rope
from truerisk.results.interval import DEFAULT_ROPE, Interval, normal_quantile


@frozen
class PairedTestOptions:
    """Options of a test: half-width of the region of equivalence, and confidence level."""

    rope: float = DEFAULT_ROPE
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        check_rope(self.rope)
        check_level("confidence_level", self.confidence_level)


class PairedTest(ABC):
    """Base class of tests of the hypothesis that learners a and b have the same risk.

    A test compares paired losses, and raises an error if it is not justified for them.

    `input_kind` is its input: one difference per split, losses of rows that were tested once, the
    influence of each row on a cross-validated value, or differences in disjoint halves.
    """

    name: ClassVar[str]
    input_kind: ClassVar[PairedInput]

    @abstractmethod
    def compare(self, pairs: PairedLosses, tolerance: PairedTestOptions) -> Comparison:
        """Return the result of this test on the paired losses of two learners."""


registry = Registry(
    "test",
    parse_registry_table(
        "truerisk.comparison",
        """
    paired-cv  paired:PairedCV  rows paired, how much they move seen from pairs of folds
    nadeau-bengio  paired_tests:NadeauBengio  corrected resampled t of the split differences
    bayes  paired_tests:CorrelatedBayes  P(practically better, equivalent, worse), correlated t
    sharp  paired_tests:Sharp  repeated halves, which tell how they correlate
    mcnemar  paired_tests:McNemar  rows that one got wrong and the other right
    5x2  paired_tests:FiveByTwo  Dietterich's t of five times two folds
    """,
    ),
)


NO_SPREAD_NOTE = (
    "every split has the same difference: their spread is 0 and says nothing of the error."
)


class NadeauBengio(PairedTest):
    """Corrected resampled t test for the mean difference d of J splits.

    The statistic is t = mean d / √(s² (1/J + n_test/n_train)), with J − 1 degrees of freedom.

    The test was derived for random splits of equal sizes, and is used for K folds and their
    repetitions with their mean sizes. ρ = n_test/(n_train + n_test) is used as the correlation of
    two splits' differences, whose training sets overlap, and ρ/(1 − ρ) = n_test/n_train.
    """

    name = "nadeau-bengio"
    input_kind: ClassVar[PairedInput] = "splits"

    @override
    def compare(self, pairs: PairedLosses, tolerance: PairedTestOptions) -> Comparison:
        result = self._corrected_t_comparison(pairs, tolerance, "corrected-t")
        return replace(result, rope=None, better=None, equivalent=None, worse=None)

    def _corrected_t_comparison(
        self, pairs: PairedLosses, test_options: PairedTestOptions, interval: str, *assumed: str
    ) -> Comparison:
        """Test the mean difference of the splits, with an error that accounts for their overlap."""
        split_differences, size_ratio = pairs.require_splits()
        n_splits = len(split_differences)
        overlap_assumption = (
            f"differences of {n_splits} splits are normal and correlate by ρ = n_test/(n_train + "
            f"n_test) = {size_ratio / (1 + size_ratio):.3g}, since training sets overlap"
        )
        result = Comparison(
            self.name,
            float(split_differences.mean()),
            n_splits,
            pairs.loss,
            assumed=(overlap_assumption, *assumed),
        )
        std_error = float(split_differences.std(ddof=1) * np.sqrt(1 / n_splits + size_ratio))
        if std_error <= 1e-12 * pairs.loss_scale:
            return result.noting(NO_SPREAD_NOTE)
        return result.by_t(std_error, n_splits - 1, test_options, interval)


class CorrelatedBayes(NadeauBengio):
    """Posterior of the mean difference: Student t with J − 1 degrees and the corrected error.

    See Corani and Benavoli (2015); Benavoli, Corani, Demšar and Zaffalon (2017). With a flat prior
    on the mean and 1/σ on the spread it is centred at the mean difference with the scale of Nadeau
    and Bengio. `better` is P(a − b < −rope), `worse` P(a − b > rope).
    """

    name = "bayes"

    @override
    def compare(self, pairs: PairedLosses, tolerance: PairedTestOptions) -> Comparison:
        rope = tolerance.rope
        region_assumption = (
            f"risks within {rope:.15g} (in units of the loss) are practically the same"
        )
        prior_assumption = "flat prior of the mean difference"
        result = self._corrected_t_comparison(
            pairs, tolerance, "posterior", prior_assumption, region_assumption
        )
        return replace(result, rope=rope, statistic=None, p_value=None)


class McNemar(PairedTest):
    """McNemar's exact test for two learners a and b that predict the same rows.

    If a and b are equally good, a errs on Bin(m, ½) of m discordant rows.

    Discordant rows are those that only one of the two predicts correctly. The p-value is min(1, 2
    P(Bin(m, ½) ≤ min(n_a, n_b))). `details` has McNemar's (1947) chi-square with Edwards'
    continuity correction, (|n_a − n_b| − 1)²/m, as Dietterich (1998) prints it and R's
    `mcnemar.test` computes it, with its p-value.
    """

    name = "mcnemar"
    input_kind: ClassVar[PairedInput] = "rows"

    @override
    def compare(self, pairs: PairedLosses, tolerance: PairedTestOptions) -> Comparison:
        a, b = pairs.require_rows()
        if not np.isin([a, b], (0, 1)).all():
            raise Refusal(
                "McNemar's test counts errors: losses must be 0 or 1 "
                f"({mention('scoring', 'zero-one')})."
            )
        from scipy.special import bdtr, chdtrc

        n_only_a_wrong, n_only_b_wrong = (
            int(((a == 1) & (b == 0)).sum()),
            int(((b == 1) & (a == 0)).sum()),
        )
        n_discordant = n_only_a_wrong + n_only_b_wrong
        details: dict[str, float] = {
            "a alone wrong": n_only_a_wrong,
            "b alone wrong": n_only_b_wrong,
        }
        notes: tuple[str, ...] = ()
        p_value = None
        if n_discordant:
            p_value = min(
                1.0, 2 * float(bdtr(min(n_only_a_wrong, n_only_b_wrong), n_discordant, 0.5))
            )
            chi2 = max(abs(n_only_a_wrong - n_only_b_wrong) - 1, 0) ** 2 / n_discordant
            details |= {"chi-square, corrected": chi2, "its p-value": float(chdtrc(1, chi2))}
        else:
            notes = ("the two rules err on the same rows: nothing tells them apart.",)
        assumptions = ["rows are independent of each other"]
        if not pairs.is_one_model:
            assumptions.append(
                "the rules are taken as fixed: how they vary over training sets is not counted, "
                "which flatters the p-value after cross-validation"
            )
        return Comparison(
            test=self.name,
            difference=float((a - b).mean()),
            n_pairs=len(a),
            scoring=pairs.loss,
            p_value=p_value,
            details=details,
            assumed=tuple(assumptions),
            notes=notes,
        )


class FiveByTwo(PairedTest):
    """The 5x2 test: t = p₁⁽¹⁾ / √(⅕ Σ s_i²) with 5 degrees of freedom (Dietterich, 1998).

    p_i⁽¹⁾, p_i⁽²⁾ are the differences of the two folds of repetition i, s_i² their sum of squares
    about their mean. The numerator is the first fold alone; `details` has the F of Alpaydin (1999),
    Σ Σ p² / 2 Σ s² with (10, 5) degrees of freedom, which uses all ten differences and not their
    order.
    """

    name = "5x2"
    input_kind: ClassVar[PairedInput] = "splits"

    @override
    def compare(self, pairs: PairedLosses, tolerance: PairedTestOptions) -> Comparison:
        differences = _five_by_two_differences(pairs)
        variances = ((differences - differences.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        mean = float(differences.mean())
        assumptions = (
            "differences of the two folds of a repetition are independent and normal",
            "the t statistic is that of the first fold, so it depends on the order of the folds",
        )
        if variances.sum() <= (1e-12 * pairs.loss_scale) ** 2:
            return Comparison(
                self.name, mean, 10, pairs.loss, assumed=assumptions, notes=(NO_SPREAD_NOTE,)
            )
        from scipy.special import fdtrc, stdtr

        t_statistic = float(differences[0, 0] / np.sqrt(variances.mean()))
        f_statistic = float((differences**2).sum() / (2 * variances.sum()))
        return Comparison(
            test=self.name,
            difference=mean,
            n_pairs=10,
            scoring=pairs.loss,
            statistic=t_statistic,
            df=5,
            p_value=float(2 * stdtr(5, -abs(t_statistic))),
            details={"combined F": f_statistic, "its p-value": float(fdtrc(10, 5, f_statistic))},
            assumed=assumptions,
        )


def _five_by_two_differences(pairs: PairedLosses) -> np.ndarray:
    """Return the differences by repetition and fold, as an array (5, 2).

    Raise Refusal unless there are five repetitions of two halves.
    """
    split_differences, _ = pairs.require_splits()
    n_train, n_test = pairs.require_sizes()
    repetition_numbers = (
        np.repeat(np.arange(5), 2) if pairs.repetition_numbers is None else pairs.repetition_numbers
    )
    is_five_by_two = len(split_differences) == 10 and np.array_equal(
        repetition_numbers, np.repeat(np.arange(5), 2)
    )
    if (
        not is_five_by_two
        or (n_train[::2] != n_test[1::2]).any()
        or (n_test[::2] != n_train[1::2]).any()
    ):
        raise Refusal(
            "the 5x2 test is for five repetitions of twofold cross-validation, and these are "
            f"{len(split_differences)} splits of another kind: use {mention('cv', '5x2-fold')}, or "
            f"{mention('test', 'nadeau-bengio')}."
        )
    return split_differences.reshape(5, 2)


LARGEST_RHO = 0.499  # largest ρ, because the covariance is singular at ½
MAX_DOUBLINGS = 60
HALVES_ASSUMPTION = (
    "differences in halves are normal, independent within a repetition, and correlate alike "
    "between repetitions"
)
NO_HALVES_SPREAD_NOTE = "both halves have the same difference every time: their spread is 0."


@frozen
class HalfDifferences:
    """Mean and sums of squares of J differences in one half of the rows and J in the other half.

    The model has variance σ², no correlation within a repetition, and ρ between any two
    repetitions. The covariance matrix has three eigenvalues (times σ²): λ₁ = 1 + 2(J − 1)ρ for the
    mean, λ₂ = 1 − 2ρ, J − 1 times, for the sums of the halves about their mean, and 1, J times, for
    their differences.
    """

    n_repetitions: int
    mean: float
    squares_of_sums: float
    squares_of_differences: float

    @classmethod
    def from_array(cls, halves: np.ndarray) -> HalfDifferences:
        """Reduce an array of shape `(J, 2)`, the differences in both halves, to its sums."""
        sums, differences = halves.sum(axis=1), halves[:, 0] - halves[:, 1]
        squares_of_sums = float(((sums - sums.mean()) ** 2).sum() / 2)
        return cls(
            len(halves), float(halves.mean()), squares_of_sums, float((differences**2).sum() / 2)
        )

    def z_statistic(self, hypothetical_mean: float) -> float:
        """Return z of the score test of a hypothetical mean.

        It is the observed mean minus the hypothetical one, divided by the standard error that the
        former has if the latter is true.
        """
        mean_square = 2 * self.n_repetitions * (self.mean - hypothetical_mean) ** 2
        rho = self._estimate_rho(mean_square)
        mean_eigenvalue, sum_eigenvalue = 1 + 2 * (self.n_repetitions - 1) * rho, 1 - 2 * rho
        variance = (
            mean_square / mean_eigenvalue
            + self.squares_of_sums / sum_eigenvalue
            + self.squares_of_differences
        ) / (2 * self.n_repetitions)
        return float(
            (self.mean - hypothetical_mean)
            / np.sqrt(variance * mean_eigenvalue / (2 * self.n_repetitions))
        )

    def _estimate_rho(self, mean_square: float) -> float:
        """Return the maximum-likelihood estimate of ρ, with the best σ² for each ρ.

        The estimate is a limit of the range of ρ, or a root of a cubic polynomial.

        With q = Q₁/λ₁ + Q₂/λ₂ + Q₃, the deviance is 2J log q + log λ₁ + (J − 1) log λ₂, and its
        derivative times q λ₁² λ₂² is a polynomial.
        """
        j = self.n_repetitions
        mean_eigenvalue, sum_eigenvalue = Polynomial([1, 2 * (j - 1)]), Polynomial([1, -2])
        weighted_squares = (
            mean_square * sum_eigenvalue
            + self.squares_of_sums * mean_eigenvalue
            + self.squares_of_differences * mean_eigenvalue * sum_eigenvalue
        )
        deviance_slope = (
            2
            * j
            * (
                2 * self.squares_of_sums * mean_eigenvalue**2
                - 2 * (j - 1) * mean_square * sum_eigenvalue**2
            )
        )
        deviance_slope += 2 * (j - 1) * (sum_eigenvalue - mean_eigenvalue) * weighted_squares
        rho_candidates = np.clip(
            [0.0, LARGEST_RHO, *np.real(deviance_slope.roots())], 0.0, LARGEST_RHO
        )
        deviance = (
            2
            * j
            * np.log(
                weighted_squares(rho_candidates)
                / mean_eigenvalue(rho_candidates)
                / sum_eigenvalue(rho_candidates)
            )
        )
        deviance += np.log(mean_eigenvalue(rho_candidates)) + (j - 1) * np.log(
            sum_eigenvalue(rho_candidates)
        )
        return float(rho_candidates[np.argmin(deviance)])

    def interval_limit(self, step: float, critical_z: float) -> float:
        """Return one limit of the confidence interval, which may be infinite.

        It is the mean at which |z| reaches `critical_z`.

        The search starts at the observed mean, and its first step is `step`, which is negative for
        the lower limit.
        """
        from scipy.optimize import brentq

        def excess_over_critical_z(hypothetical_mean: float) -> float:
            return abs(self.z_statistic(hypothetical_mean)) - critical_z

        near_point = self.mean
        for _ in range(MAX_DOUBLINGS):
            far_point = self.mean + step
            if excess_over_critical_z(far_point) > 0:
                return float(
                    brentq(
                        excess_over_critical_z,
                        *sorted((near_point, far_point)),
                        xtol=1e-14,
                        rtol=8.9e-16,
                    )
                )
            near_point, step = far_point, 2 * step
        return inf if step > 0 else -inf


class Sharp(PairedTest):
    """The score test of the mean of repeated split-half differences (Zeng et al., 2026).

    See bioRxiv 2026.05.17.724301. Each repetition cuts the rows into two halves and cross-validates
    both learners inside each half, so the two differences of a repetition are independent; those of
    different repetitions share rows and correlate by ρ, which is estimated by maximum likelihood
    together with the variance under the hypothesis. The test is about learners that are trained on
    half of the rows.
    """

    name = "sharp"
    input_kind: ClassVar[PairedInput] = "halves"

    @override
    def compare(self, pairs: PairedLosses, tolerance: PairedTestOptions) -> Comparison:
        assert pairs.half_differences is not None  # `pair_losses` raises if there are none.
        halves = HalfDifferences.from_array(pairs.half_differences)
        result = Comparison(
            self.name,
            halves.mean,
            len(pairs.half_differences),
            pairs.loss,
            assumed=(
                HALVES_ASSUMPTION,
                "the difference is that of rules trained on half of the rows",
            ),
        )
        if halves.squares_of_differences <= (1e-12 * pairs.loss_scale) ** 2:
            return result.noting(NO_HALVES_SPREAD_NOTE)
        from scipy.special import ndtr

        z, critical_z = halves.z_statistic(0.0), normal_quantile(tolerance.confidence_level)
        first_step = float(np.sqrt(halves.squares_of_differences) / halves.n_repetitions)
        limits = (
            halves.interval_limit(-first_step, critical_z),
            halves.interval_limit(first_step, critical_z),
        )
        result = replace(result, statistic=z, p_value=float(2 * ndtr(-abs(z))))
        if not all(map(isfinite, limits)):
            return result.noting(
                "no difference is rejected at this level, however large: no interval."
            )
        return replace(result, interval=Interval(*limits, "sharp", tolerance.confidence_level))
