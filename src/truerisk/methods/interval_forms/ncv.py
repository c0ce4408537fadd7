"""The normal interval of nested cross-validation."""

from __future__ import annotations

from typing import ClassVar

from truerisk.core.interval import Basis
from truerisk.methods.interval_forms.evidence import PairEvidence
from truerisk.methods.interval_forms.form import (
    NO_SPREAD,
    OF_ROWS,
    IntervalForm,
    Needs,
    Sureness,
    is_none,
)

__all__ = ["BATES", "OF_PAIRS", "NestedNormal"]

OF_PAIRS = {**OF_ROWS, Basis.PAIRS: "use method='ncv', or a K-fold word such as '10-fold'"}
BATES = (
    "Bates S, Hastie T, Tibshirani R (2023). Cross-validation: what does it estimate and how well "
    "does it do it? Journal of the American Statistical Association."
)


class NestedNormal(IntervalForm[PairEvidence]):
    """Value ± z times the error that nested cross-validation finds (Bates et al., 2023)."""

    word: ClassVar[str] = "ncv"
    needs: ClassVar[Needs] = OF_PAIRS
    reference: ClassVar[str] = BATES

    def of(self, evidence: PairEvidence, c: int) -> Sureness:
        value, error = float(evidence.values[c]), evidence.pairs[c].std_error
        if is_none(error, value):
            return None, None, (NO_SPREAD,)
        return error, evidence.around(value, evidence.z * error, evidence.named(self.word)), ()
