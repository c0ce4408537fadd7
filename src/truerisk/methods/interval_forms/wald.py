"""The normal interval of a mean of losses."""

from __future__ import annotations

from typing import ClassVar

from truerisk.core.interval import Basis
from truerisk.methods.interval_forms.evidence import RowEvidence
from truerisk.methods.interval_forms.form import (
    NO_SPREAD,
    OF_A_MEAN,
    ONE_ROW,
    IntervalForm,
    Needs,
    Sureness,
    is_none,
)

__all__ = ["Wald"]


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
