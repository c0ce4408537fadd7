"""The normal interval of the .632 bootstrap, from the infinitesimal jackknife out of bag."""

from __future__ import annotations

from typing import ClassVar

from truerisk.core.interval import Basis
from truerisk.methods.interval_forms.evidence import SampleEvidence
from truerisk.methods.interval_forms.form import OF_ROWS, IntervalForm, Needs, Sureness

__all__ = ["Bootstrap632"]


class Bootstrap632(IntervalForm[SampleEvidence]):
    r"""Value ± z · se(Err₁) · value/Err₁ (Efron and Tibshirani, 1997, §5).

    se(Err₁) is the infinitesimal jackknife of the leave-one-out bootstrap; that of .632 and .632+
    is taken as proportional to the value. It needs enough samples (about 5 n) and neither groups
    nor weights; where they do not suffice there is a note and no interval.
    """

    word: ClassVar[str] = "bootstrap-.632"
    needs: ClassVar[Needs] = {**OF_ROWS, Basis.SAMPLES: "use method='.632+', '.632' or 'oob'"}
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
