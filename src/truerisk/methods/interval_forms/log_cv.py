"""A normal interval of the logarithm of a cross-validated risk."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.interval import Interval
from truerisk.core.losses import Loss
from truerisk.core.table.data import Data
from truerisk.methods.interval_forms.form import (
    NO_SPREAD,
    Evidence,
    IntervalForm,
    Sureness,
    is_none,
)
from truerisk.methods.interval_forms.inflation import enlarged

__all__ = ["STABLE", "LogCV"]

STABLE = 1.3


class LogCV(IntervalForm):
    r"""value · exp(± z se/value), for losses that are never negative and may be large.

    se² = 1.3 to 2 times the variance of a mean of independent rows (or groups), as `inflation.py`
    says; se/value is the error of log value to first order. Means of squared errors are skew to the
    right, and so is this interval. The largest errors are most often missing from a sample, so that
    its variance is too small: even a stable learner has the factor 1.3. With heavy tails and few
    rows it is still too short. The standard error beside it is the usual one, of independent rows.
    """

    word: ClassVar[str] = "log-cv"
    needs_instability: ClassVar[bool] = True

    def check(self, data: Data, loss: Loss) -> None:
        super().check(data, loss)
        if loss.lower != 0:
            raise Refusal(
                f"interval 'log-cv' is for losses that are never negative, and '{loss.word}' may "
                "be: use interval='wald'."
            )

    def of(self, evidence: Evidence) -> Sureness:
        spread = enlarged(evidence, self, STABLE)
        value, level = evidence.value, evidence.terms.confidence_level
        error = spread.variance**0.5
        if spread.units < 1 or is_none(error, value) or value <= 0:
            return None, None, (NO_SPREAD,)
        from scipy.special import ndtri

        factor = float(np.exp(ndtri((1 + level) / 2) * error / value))
        name = self.word if evidence.groups is None else f"{self.word}-grouped"
        high = value * factor
        if evidence.loss.upper is not None:
            high = min(high, evidence.loss.upper)
        return spread.std_error, Interval(value / factor, high, name, level), spread.notes
