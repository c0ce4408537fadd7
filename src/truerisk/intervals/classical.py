"""Published intervals: of held-out rows, and of fits made for them.

Rows that were held out have a normal, a corrected t, a Beta posterior; fits without two folds, in
halves of the rows, or on bootstrap samples have errors of their own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from truerisk.intervals.evidence import (
    HalfEvidence,
    PairEvidence,
    RowEvidence,
    SampleEvidence,
)
from truerisk.intervals.form import (
    NO_SPREAD,
    OF_A_MEAN,
    OF_ROWS,
    ONE_ROW,
    IntervalForm,
    Needs,
    Sureness,
    is_none,
)
from truerisk.results.error_posterior import ErrorPosterior
from truerisk.results.interval import Basis


class Wald(IntervalForm[RowEvidence]):
    r"""Normal interval from the losses of rows that were each tested once.

    se² = m/(m−1) · Σ_g (Σ_{i∈g} w_i (ℓ_i − value))² with Σ w = 1, over the m groups, or over the m
    rows where there are none. Bayle et al. (2020) show it to be valid for cross-validation of
    stable learners; it ignores that folds share training rows.
    """

    word: ClassVar[str] = "wald"
    needs: ClassVar[Needs] = {
        **OF_A_MEAN,
        Basis.ONCE: "use interval='corrected-t', or one repetition",
    }
    reference: ClassVar[str] = (
        "Bayle P, Bayle A, Janson L, Mackey L (2020). Cross-validation confidence intervals "
        "for test error. Advances in Neural Information Processing Systems 33."
    )

    def of(self, evidence: RowEvidence, c: int) -> Sureness:
        variances, m = evidence.variances
        if m < 2:
            return None, None, (ONE_ROW,)
        value, error = float(evidence.values[c]), variances[c] ** 0.5
        if is_none(error, value):
            return None, None, (NO_SPREAD,)
        return error, evidence.around(value, evidence.z * error, evidence.named(self.word)), ()


SAME = "every split has the same risk: their spread is 0 and says nothing."
NADEAU_BENGIO = (
    "Nadeau C, Bengio Y (2003). Inference for the generalization error. Machine Learning "
    "52:239–281."
)


class CorrectedT(IntervalForm[RowEvidence]):
    r"""Corrected resampled t of Nadeau and Bengio (2003) over J splits.

    se² = s² (1/J + n_test/n_train) with s² the variance of the split risks; t with J−1 degrees of
    freedom. The second term pays for training sets that overlap. Groups stay in one split, so the
    form for groups is the same.
    """

    word: ClassVar[str] = "corrected-t"
    needs: ClassVar[Needs] = {**OF_A_MEAN, Basis.SPLITS: "use interval='wald'"}
    reference: ClassVar[str] = NADEAU_BENGIO

    def of(self, evidence: RowEvidence, c: int) -> Sureness:
        plan, value, risks = evidence.plan, float(evidence.values[c]), evidence.split_risks[c]
        j = len(risks)
        if j < 2:
            return None, None, ("one split has no spread: there is no standard error.",)
        ratio = float(plan.test_sizes.mean() / plan.train_sizes[plan.fit].mean())
        error = float(risks.std(ddof=1) * np.sqrt(1 / j + ratio))
        if is_none(error, value):
            return None, None, (SAME,)
        from scipy.special import stdtrit

        half = float(stdtrit(j - 1, (1 + evidence.terms.confidence_level) / 2)) * error
        return error, evidence.around(value, half, self.word), ()


SEVERAL_RULES = (
    "the rows of different splits were tested by different rules; their errors are counted as if "
    "one rule had made them."
)


class BetaPosterior(IntervalForm[RowEvidence]):
    r"""Equal-tailed interval of Beta(e + 1, n − e + 1), e errors in n rows that were tested once.

    Rows of a hold-out are independent tests of one rule, and the posterior is exact. Those of
    several folds are not, and a note says so. With groups the rows count for
    n/max(1, d), d the factor by which groups enlarge the variance of the mean (`beta-grouped`).
    """

    word: ClassVar[str] = "beta"
    needs: ClassVar[Needs] = {
        **OF_A_MEAN,
        Basis.ERROR_COUNT: "use scoring='zero-one', or interval='wald'",
        Basis.EQUAL_ROWS: "use interval='wald'",
        Basis.ONCE: "use interval='beta-ncv'",
    }
    reference: ClassVar[str] = (
        "Gelman A, Carlin JB, Stern HS, Dunson DB, Vehtari A, Rubin DB (2013). Bayesian data "
        "analysis, 3rd edition. CRC Press, chapter 2."
    )

    def of(self, evidence: RowEvidence, c: int) -> Sureness:
        value, groups = float(evidence.values[c]), evidence.groups
        plain, n = evidence.variance(c, None)
        effective, variance = float(n), plain
        if groups is not None:
            variance, _ = evidence.variance(c, groups)
            counted = float(len(np.unique(groups)))
            effective = n / max(1.0, variance / plain) if plain > 0 else counted
        posterior = ErrorPosterior(effective * value, effective)
        interval = posterior.interval(evidence.terms.confidence_level)
        several = (SEVERAL_RULES,) if len(evidence.split_risks[c]) > 1 else ()
        alone = (ONE_ROW,) if n < 2 else ()
        notes = several + alone + (() if variance > 0 else (NO_SPREAD,))
        return variance**0.5 or None, replace(interval, method=evidence.named(self.word)), notes


OF_PAIRS = {**OF_ROWS, Basis.PAIRS: "use cv='ncv', or a K-fold word such as '10-fold'"}
BATES = (
    "Bates S, Hastie T, Tibshirani R (2023). Cross-validation: what does it estimate and how well "
    "does it do it? Journal of the American Statistical Association."
)


class NestedNormal(IntervalForm[PairEvidence]):
    """Value ± z times the error that nested cross-validation finds (Bates et al., 2023)."""

    word: ClassVar[str] = "ncv"
    needs: ClassVar[Needs] = OF_PAIRS
    reference: ClassVar[str] = BATES

    def of(self, evidence: PairEvidence, c: int) -> Sureness:
        value, error = float(evidence.values[c]), evidence.pairs[c].std_error
        if is_none(error, value):
            return None, None, (NO_SPREAD,)
        return error, evidence.around(value, evidence.z * error, evidence.named(self.word)), ()


class NestedBeta(IntervalForm[PairEvidence]):
    r"""Quantiles of Beta(n_e m + ½, n_e (1 − m) + ½), for losses between 0 and a known bound.

    m is the value as a share of the bound and n_e = p (1 − p)/se² the size of a binomial sample as
    uncertain as nested cross-validation says, p the mean of its losses: for zero-one loss
    n/inflation². Where all losses are equal n_e is the number of rows. Unlike the normal interval
    it is never cut, is skew near the edges, and exists for no errors at all.
    """

    word: ClassVar[str] = "beta-ncv"
    needs: ClassVar[Needs] = {**OF_PAIRS, Basis.UPPER_BOUND: "use interval='ncv'"}
    reference: ClassVar[str] = BATES

    def of(self, evidence: PairEvidence, c: int) -> Sureness:
        pairs, value = evidence.pairs[c], float(evidence.values[c])
        name = evidence.named(self.word)
        if is_none(pairs.std_error, value):
            return None, evidence.beta(value, float(pairs.n), name), (NO_SPREAD,)
        low, span = evidence.bounds
        mean = (pairs.mean - low) / span
        size = mean * (1 - mean) * (span / pairs.std_error) ** 2
        return pairs.std_error, evidence.beta(value, size, name), ()


class ConservativeZ(IntervalForm[HalfEvidence]):
    r"""Nadeau and Bengio's conservative Z from R pairs of disjoint halves.

    se² = 1/(2R) Σ_r (m_r − m'_r)² with m and m' the mean risks found in the halves of pair r.
    Halves share no row, so their difference is honest; it is that of n/2 rows, hence
    conservative. It needs no losses of single rows.
    """

    word: ClassVar[str] = "conservative-z"
    needs: ClassVar[Needs] = {
        Basis.HALVES: "use tr.methods.PairedHalves, or a K-fold word such as '10-fold'"
    }
    reference: ClassVar[str] = NADEAU_BENGIO

    def of(self, evidence: HalfEvidence, c: int) -> Sureness:
        value = float(evidence.values[c])
        error = float(np.sqrt((np.diff(evidence.halves[c], axis=1) ** 2).mean() / 2))
        if is_none(error, value):
            return None, None, ("all halves have the same risk: their spread is 0.",)
        return error, evidence.around(value, evidence.z * error, self.word), ()


class Bootstrap632(IntervalForm[SampleEvidence]):
    r"""Value ± z · se(Err₁) · value/Err₁ (Efron and Tibshirani, 1997, §5).

    se(Err₁) is the infinitesimal jackknife of the leave-one-out bootstrap; that of .632 and .632+
    is taken as proportional to the value. It needs enough samples (about 5 n) and neither groups
    nor weights; where they do not suffice there is a note and no interval.
    """

    word: ClassVar[str] = "bootstrap-.632"
    needs: ClassVar[Needs] = {**OF_ROWS, Basis.SAMPLES: "use cv='.632+', '.632' or 'oob'"}
    reference: ClassVar[str] = (
        "Efron B, Tibshirani R (1997). Improvements on cross-validation: the .632+ bootstrap "
        "method. Journal of the American Statistical Association 92:548–560."
    )

    def of(self, evidence: SampleEvidence, c: int) -> Sureness:
        value, error, risk = float(evidence.values[c]), evidence.std_errors[c], evidence.risks[c]
        if error is None or risk <= 0:
            return None, None, ()  # the method says why
        scaled = error * value / risk
        return scaled, evidence.around(value, evidence.z * scaled, self.word), ()
