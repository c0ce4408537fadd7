"""Published intervals that need additional fits, and the evidence from these fits.

The additional fits are those without each pair of folds, those in disjoint halves of the rows, and
those on bootstrap samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from truerisk.core.arguments import mention
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.intervals.classical import NADEAU_BENGIO_REFERENCE
from truerisk.intervals.form import (
    NO_SPREAD,
    ROW_NEEDS,
    Evidence,
    IntervalForm,
    Needs,
    Sureness,
    is_zero_error,
)
from truerisk.results.interval import Basis


@frozen
class NestedCVError:
    """Standard error of the mean loss, as estimated by nested cross-validation.

    `std_error` lies between the `independent_std_error`, which is the standard error of independent
    rows, and √K times that error. `mean` is the mean loss outside each pair of folds. `n` is the
    number of test rows, or groups.
    """

    std_error: float
    independent_std_error: float
    mean: float
    n: int


@frozen(eq=False, kw_only=True)
class PairEvidence(Evidence):
    """Evidence from the fits that leave out each pair of folds, for every candidate."""

    nested_errors: Sequence[NestedCVError]


@frozen(eq=False, kw_only=True)
class HalfEvidence(Evidence):
    """Evidence from fits on disjoint halves of the rows: mean risks `half_risks[c, pair, side]`."""

    half_risks: np.ndarray


@frozen(eq=False, kw_only=True)
class SampleEvidence(Evidence):
    """Evidence from bootstrap samples: the risks of models on rows outside their own sample.

    `out_of_bag_risks` holds this risk, Err₁, of each candidate, and `std_errors` its standard error
    or None.
    """

    std_errors: Sequence[float | None]
    out_of_bag_risks: Sequence[float]


PAIR_NEEDS = {
    **ROW_NEEDS,
    Basis.PAIRS: f"use {mention('cv', 'ncv')}, or a K-fold word such as '10-fold'",
}
BATES_REFERENCE = (
    "Bates S, Hastie T, Tibshirani R (2023). Cross-validation: what does it estimate and how well "
    "does it do it? Journal of the American Statistical Association."
)


class NestedNormal(IntervalForm[PairEvidence]):
    """Interval value ± z · se with the standard error se from nested cross-validation.

    The standard error is that of Bates et al. (2023).
    """

    name: ClassVar[str] = "ncv"
    needs: ClassVar[Needs] = PAIR_NEEDS
    reference: ClassVar[str] = BATES_REFERENCE

    @override
    def compute(self, evidence: PairEvidence, c: int) -> Sureness:
        value, error = float(evidence.values[c]), evidence.nested_errors[c].std_error
        if is_zero_error(error, value):
            return None, None, (NO_SPREAD,)
        return error, evidence.around(value, evidence.z * error, evidence.named(self.name)), ()


class NestedBeta(IntervalForm[PairEvidence]):
    r"""Quantiles of Beta(n_e m + ½, n_e (1 − m) + ½), for losses between 0 and a known bound.

    m is the value as a share of the bound. n_e = p (1 − p)/se² is the size of a binomial sample
    that is as uncertain as nested cross-validation finds, where p is the mean of its losses; for
    zero-one loss it is n/inflation². If all losses are equal, n_e is the number of rows. Unlike the
    normal interval it is never cut, it is skewed near the bounds, and it exists if there are no
    errors at all.
    """

    name: ClassVar[str] = "beta-ncv"
    needs: ClassVar[Needs] = {**PAIR_NEEDS, Basis.UPPER_BOUND: "use interval='ncv'"}
    reference: ClassVar[str] = BATES_REFERENCE

    @override
    def compute(self, evidence: PairEvidence, c: int) -> Sureness:
        nested_errors, value = evidence.nested_errors[c], float(evidence.values[c])
        name = evidence.named(self.name)
        if is_zero_error(nested_errors.std_error, value):
            return None, evidence.beta(value, float(nested_errors.n), name), (NO_SPREAD,)
        smallest_loss, loss_range = evidence.bounds
        mean_loss_share = (nested_errors.mean - smallest_loss) / loss_range
        sample_size = (
            mean_loss_share * (1 - mean_loss_share) * (loss_range / nested_errors.std_error) ** 2
        )
        return nested_errors.std_error, evidence.beta(value, sample_size, name), ()


class ConservativeZ(IntervalForm[HalfEvidence]):
    r"""Conservative Z interval of Nadeau and Bengio from R pairs of disjoint halves of the rows.

    se² = 1/(2R) Σ_r (m_r − m'_r)² with m and m' the mean risks in the halves of pair r. Halves
    share no row, so that their difference is a valid measure of the variation. It is the variation
    for n/2 rows, and therefore conservative. The interval needs no losses of single rows.
    """

    name: ClassVar[str] = "conservative-z"
    needs: ClassVar[Needs] = {
        Basis.HALVES: "use tr.methods.PairedHalves, or a K-fold word such as '10-fold'"
    }
    reference: ClassVar[str] = NADEAU_BENGIO_REFERENCE

    @override
    def compute(self, evidence: HalfEvidence, c: int) -> Sureness:
        value = float(evidence.values[c])
        error = float(np.sqrt((np.diff(evidence.half_risks[c], axis=1) ** 2).mean() / 2))
        if is_zero_error(error, value):
            return None, None, ("all halves have the same risk: their spread is 0.",)
        return error, evidence.around(value, evidence.z * error, self.name), ()


class Bootstrap632(IntervalForm[SampleEvidence]):
    r"""Normal interval of a bootstrap estimate, by a scaled out-of-bag standard error.

    The interval is value ± z · se(Err₁) · value/Err₁ (Efron and Tibshirani, 1997, §5). Err₁ is the
    leave-one-out bootstrap risk, and se(Err₁) its infinitesimal jackknife. The standard error of
    .632 and .632+ is taken as proportional to the value. It needs enough samples (about 5 n) and
    neither groups nor weights; if they are not sufficient, there is a note and no interval.
    """

    name: ClassVar[str] = "bootstrap-.632"
    needs: ClassVar[Needs] = {
        **ROW_NEEDS,
        Basis.SAMPLES: f"use {mention('cv', '.632+')}, '.632' or 'oob'",
    }
    reference: ClassVar[str] = (
        "Efron B, Tibshirani R (1997). Improvements on cross-validation: the .632+ bootstrap "
        "method. Journal of the American Statistical Association 92:548–560."
    )

    @override
    def compute(self, evidence: SampleEvidence, c: int) -> Sureness:
        value, error, out_of_bag_risk = (
            float(evidence.values[c]),
            evidence.std_errors[c],
            evidence.out_of_bag_risks[c],
        )
        if error is None or out_of_bag_risk <= 0:
            return None, None, ()  # The method reports why there is no interval.
        scaled_error = error * value / out_of_bag_risk
        return scaled_error, evidence.around(value, evidence.z * scaled_error, self.name), ()
