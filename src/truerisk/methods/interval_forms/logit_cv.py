"""A normal interval of the logit of a cross-validated risk that rates whole test sets."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.interval import Basis, Interval
from truerisk.methods.interval_forms.evidence import RowEvidence
from truerisk.methods.interval_forms.form import NO_SPREAD, IntervalForm, Needs, Sureness
from truerisk.methods.interval_forms.inflation import CALIBRATED, OF_INFLUENCES, enlarged

__all__ = ["LogitCV"]


class LogitCV(IntervalForm[RowEvidence]):
    r"""logit⁻¹(logit m ± z se/(m (1 − m))), m the value as a share of the bound.

    For scores that rate whole test sets: each row does to the value what its influence φ says. AUC
    and average precision are means over folds, scores of labels are of all answers at once. se² =
    c V, V the variance of a mean of independent rows with the losses score + φ, c as `inflation.py`
    says. With the bounds -1 and 1 of a correlation it is Fisher's z. m is kept half a row away from
    0 and 1, and se is not below what another answer to one row does: where none of a few positive
    rows is found, these show no spread. The standard error beside it is the usual one, of
    independent rows.
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
        share = float(np.clip((value - low) / span, least / 2, 1 - least / 2))
        of_so_few = (share * (1 - share) * least) ** 0.5  # as of 1/least answers, of which none
        error = max(spread.variance**0.5 / span, min(least, of_so_few))
        logit = np.log(share / (1 - share))
        half = evidence.z * error / (share * (1 - share))
        ends = low + span / (1 + np.exp(-np.array([logit - half, logit + half])))
        interval = Interval(
            min(float(ends[0]), value),  # nobody can say that a perfect score is not perfect
            max(float(ends[1]), value),
            evidence.named(self.word),
            evidence.terms.confidence_level,
        )
        if spread.plain == 0:
            return None, interval, (NO_SPREAD,)
        return spread.std_error, interval, spread.notes
