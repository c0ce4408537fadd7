"""The normal interval of nested cross-validation."""

from __future__ import annotations

from typing import ClassVar

from truerisk.methods.interval_forms.form import (
    NO_SPREAD,
    Evidence,
    IntervalForm,
    Sureness,
    clipped,
    is_none,
)

__all__ = ["PAIRS", "NestedNormal"]

PAIRS = "fits without each two folds", "use method='ncv', or a K-fold method"


class NestedNormal(IntervalForm):
    """Value ± z times the error that nested cross-validation finds (Bates et al., 2023)."""

    word: ClassVar[str] = "ncv"

    def of(self, evidence: Evidence) -> Sureness:
        if evidence.pairs is None:
            raise self.lacks(*PAIRS)
        error = evidence.pairs.std_error
        if is_none(error, evidence.value):
            return None, None, (NO_SPREAD,)
        from scipy.special import ndtri

        half = float(ndtri((1 + evidence.terms.confidence_level) / 2)) * error
        name = self.word if evidence.groups is None else f"{self.word}-grouped"
        return error, clipped(evidence.value, half, name, evidence), ()
