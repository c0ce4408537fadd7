"""The conservative normal interval from means over disjoint halves."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.losses import Loss
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms.form import Evidence, IntervalForm, Sureness, clipped, is_none

__all__ = ["ConservativeZ"]


class ConservativeZ(IntervalForm):
    r"""Nadeau and Bengio's conservative Z from R pairs of disjoint halves.

    se² = 1/(2R) Σ_r (m_r − m'_r)² with m and m' the mean risks found in the halves of pair r.
    Halves share no row, so their difference is honest; it is that of n/2 rows, hence
    conservative. It needs no losses of single rows.
    """

    word: ClassVar[str] = "conservative-z"

    def check(self, data: Data, loss: Loss) -> None:
        return

    def of(self, evidence: Evidence) -> Sureness:
        if evidence.halves is None:
            raise self.lacks("means over halves of the rows", "use tr.methods.PairedHalves")
        error = float(np.sqrt((np.diff(evidence.halves, axis=1) ** 2).mean() / 2))
        if is_none(error, evidence.value):
            return None, None, ("all halves have the same risk: their spread is 0.",)
        from scipy.special import ndtri

        half = float(ndtri((1 + evidence.terms.confidence_level) / 2)) * error
        return error, clipped(evidence.value, half, self.word, evidence), ()
