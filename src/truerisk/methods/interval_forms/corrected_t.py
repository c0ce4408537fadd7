"""The corrected resampled t interval."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.methods.interval_forms.form import Evidence, IntervalForm, Sureness, clipped, is_none

__all__ = ["CorrectedT"]

SAME = "every split has the same risk: their spread is 0 and says nothing."


class CorrectedT(IntervalForm):
    r"""Corrected resampled t of Nadeau and Bengio (2003) over J splits.

    se² = s² (1/J + n_test/n_train) with s² the variance of the split risks; t with J−1 degrees of
    freedom. The second term pays for training sets that overlap. Groups stay in one split, so the
    form for groups is the same.
    """

    word: ClassVar[str] = "corrected-t"

    def of(self, evidence: Evidence) -> Sureness:
        plan = evidence.plan
        if evidence.split_risks is None or plan is None:
            raise self.lacks("risks of single splits", "use interval='wald'")
        j = len(evidence.split_risks)
        if j < 2:
            return None, None, ("one split has no spread: there is no standard error.",)
        ratio = float(plan.test_sizes.mean() / plan.train_sizes[plan.fit].mean())
        error = float(evidence.split_risks.std(ddof=1) * np.sqrt(1 / j + ratio))
        if is_none(error, evidence.value):
            return None, None, (SAME,)
        from scipy.special import stdtrit

        half = float(stdtrit(j - 1, (1 + evidence.terms.confidence_level) / 2)) * error
        return error, clipped(evidence.value, half, self.word, evidence), ()
