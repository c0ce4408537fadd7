"""The corrected resampled t interval."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.interval import Basis
from truerisk.methods.interval_forms.evidence import RowEvidence
from truerisk.methods.interval_forms.form import OF_A_MEAN, IntervalForm, Needs, Sureness, is_none

__all__ = ["NADEAU_BENGIO", "CorrectedT"]

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
