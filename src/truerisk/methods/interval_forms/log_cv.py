"""A normal interval of the logarithm of a cross-validated risk."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.interval import Basis, Interval
from truerisk.methods.interval_forms.evidence import RowEvidence
from truerisk.methods.interval_forms.form import NO_SPREAD, IntervalForm, Needs, Sureness, is_none
from truerisk.methods.interval_forms.inflation import BENGIO, CALIBRATED, OF_INFLUENCES, enlarged

__all__ = ["LogCV"]


class LogCV(IntervalForm[RowEvidence]):
    r"""value · exp(± z se/value), for losses that are never negative and may be large.

    se² = 1.3 to 2.5 times the variance of a mean of independent rows (or groups), as `inflation.py`
    says; se/value is the error of log value to first order. Means of squared errors are skew to the
    right, and so is this interval. The largest errors are most often missing from a sample, so that
    its variance is too small: even a stable learner has the factor 1.3. With heavy tails and few
    rows it is still too short. The standard error beside it is the usual one, of independent rows.
    """

    word: ClassVar[str] = "log-cv"
    needs: ClassVar[Needs] = {**OF_INFLUENCES, Basis.NEVER_NEGATIVE: "use interval='wald'"}
    reference: ClassVar[str] = BENGIO
    caution: ClassVar[str] = CALIBRATED

    def of(self, evidence: RowEvidence, c: int) -> Sureness:
        spread = enlarged(evidence, c)
        value, error = float(evidence.values[c]), spread.variance**0.5
        if spread.units < 1 or is_none(error, value) or value <= 0:
            return None, None, (NO_SPREAD,)
        factor = float(np.exp(evidence.z * error / value))
        high, most = value * factor, evidence.loss.upper
        interval = Interval(
            value / factor,
            high if most is None else min(high, most),
            evidence.named(self.word),
            evidence.terms.confidence_level,
        )
        return spread.std_error, interval, spread.notes
