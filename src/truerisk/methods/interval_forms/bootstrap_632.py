"""The normal interval of the .632 bootstrap, from the infinitesimal jackknife out of bag."""

from __future__ import annotations

from typing import ClassVar

from truerisk.methods.interval_forms.form import Evidence, IntervalForm, Sureness, clipped

__all__ = ["Bootstrap632"]


class Bootstrap632(IntervalForm):
    r"""Value ± z · se(Err₁) · value/Err₁ (Efron and Tibshirani, 1997, §5).

    se(Err₁) is the infinitesimal jackknife of the leave-one-out bootstrap; that of .632 and .632+
    is taken as proportional to the value. It needs enough samples (about 5 n) and neither groups
    nor weights; where they do not suffice there is a note and no interval.
    """

    word: ClassVar[str] = "bootstrap-.632"

    def of(self, evidence: Evidence) -> Sureness:
        if evidence.out_of_bag is None:
            raise self.lacks("bootstrap samples", "use method='.632+', '.632' or 'oob'")
        error, risk = evidence.out_of_bag
        if error is None or risk <= 0:
            return None, None, ()  # the method says why
        from scipy.special import ndtri

        scaled = error * evidence.value / risk
        half = float(ndtri((1 + evidence.terms.confidence_level) / 2)) * scaled
        return scaled, clipped(evidence.value, half, self.word, evidence), ()
