"""The conservative normal interval from means over disjoint halves."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.interval import Basis
from truerisk.methods.interval_forms.corrected_t import NADEAU_BENGIO
from truerisk.methods.interval_forms.evidence import HalfEvidence
from truerisk.methods.interval_forms.form import IntervalForm, Needs, Sureness, is_none

__all__ = ["ConservativeZ"]


class ConservativeZ(IntervalForm[HalfEvidence]):
    r"""Nadeau and Bengio's conservative Z from R pairs of disjoint halves.

    se² = 1/(2R) Σ_r (m_r − m'_r)² with m and m' the mean risks found in the halves of pair r.
    Halves share no row, so their difference is honest; it is that of n/2 rows, hence
    conservative. It needs no losses of single rows.
    """

    word: ClassVar[str] = "conservative-z"
    needs: ClassVar[Needs] = {
        Basis.HALVES: "use tr.methods.PairedHalves, or a K-fold word such as '10-fold'"
    }
    reference: ClassVar[str] = NADEAU_BENGIO

    def of(self, evidence: HalfEvidence, c: int) -> Sureness:
        value = float(evidence.values[c])
        error = float(np.sqrt((np.diff(evidence.halves[c], axis=1) ** 2).mean() / 2))
        if is_none(error, value):
            return None, None, ("all halves have the same risk: their spread is 0.",)
        return error, evidence.around(value, evidence.z * error, self.word), ()
