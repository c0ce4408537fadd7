"""Published intervals for held-out rows: the normal interval and the corrected resampled t."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.overrides import override
from truerisk.intervals.form import (
    NO_SPREAD,
    OF_A_MEAN,
    ONE_ROW_NOTE,
    IntervalForm,
    Needs,
    RowEvidence,
    Sureness,
    is_zero_error,
)
from truerisk.results.interval import Basis


class Wald(IntervalForm[RowEvidence]):
    r"""Normal interval from the losses of rows that were each tested once.

    se² = m/(m−1) · Σ_g (Σ_{i∈g} w_i (ℓ_i − value))² with Σ w = 1, over the m groups, or over the m
    rows if there are no groups. Bayle et al. (2020) show that it is valid for cross-validation of
    stable learners. It ignores that folds share training rows.
    """

    name: ClassVar[str] = "wald"
    needs: ClassVar[Needs] = {
        **OF_A_MEAN,
        Basis.ONCE: "use interval='corrected-t', or one repetition",
    }
    reference: ClassVar[str] = (
        "Bayle P, Bayle A, Janson L, Mackey L (2020). Cross-validation confidence intervals "
        "for test error. Advances in Neural Information Processing Systems 33."
    )

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        variances, n_units = evidence.variances
        if n_units < 2:
            return None, None, (ONE_ROW_NOTE,)
        value, error = float(evidence.values[c]), variances[c] ** 0.5
        if is_zero_error(error, value):
            return None, None, (NO_SPREAD,)
        return error, evidence.around(value, evidence.z * error, evidence.named(self.name)), ()


EQUAL_RISKS_NOTE = "every split has the same risk: their spread is 0 and says nothing."
NADEAU_BENGIO_REFERENCE = (
    "Nadeau C, Bengio Y (2003). Inference for the generalization error. Machine Learning "
    "52:239–281."
)


class CorrectedT(IntervalForm[RowEvidence]):
    r"""Corrected resampled t of Nadeau and Bengio (2003) over J splits.

    se² = s² (1/J + n_test/n_train), where s² is the variance of the split risks; t has J−1 degrees
    of freedom. The second term accounts for overlapping training sets. Groups stay in one split, so
    that the formula is the same for groups.
    """

    name: ClassVar[str] = "corrected-t"
    needs: ClassVar[Needs] = {**OF_A_MEAN, Basis.SPLITS: "use interval='wald'"}
    reference: ClassVar[str] = NADEAU_BENGIO_REFERENCE

    @override
    def compute(self, evidence: RowEvidence, c: int) -> Sureness:
        plan, value, risks = evidence.plan, float(evidence.values[c]), evidence.split_risks[c]
        n_splits = len(risks)
        if n_splits < 2:
            return None, None, ("one split has no spread: there is no standard error.",)
        test_train_ratio = float(plan.test_sizes.mean() / plan.train_sizes[plan.fit].mean())
        error = float(risks.std(ddof=1) * np.sqrt(1 / n_splits + test_train_ratio))
        if is_zero_error(error, value):
            return None, None, (EQUAL_RISKS_NOTE,)
        from scipy.special import stdtrit

        half_width = float(stdtrit(n_splits - 1, (1 + evidence.terms.confidence_level) / 2)) * error
        return error, evidence.around(value, half_width, self.name), ()
