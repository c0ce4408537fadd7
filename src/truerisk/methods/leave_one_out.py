"""Leave-one-out: every row is tested by the model fitted on all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truerisk.core.contracts import Streams, Target
from truerisk.core.errors import BadData, Refusal
from truerisk.core.losses import Loss
from truerisk.core.plan.partitions import leave_out
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data
from truerisk.methods.parts.averages import Average, Averaged

__all__ = ["LeaveOneOut"]


@dataclass(frozen=True)
class LeaveOneOut(Averaged):
    """CV with as many folds as rows: nearly unbiased, n fits, often of high variance.

    Losses that rate whole test sets (AUC, F1) are computed once over all n pooled answers.
    """

    word = "loo"
    target: ClassVar[Target] = "Err"
    bias = "almost none: each model sees all rows but one"

    def check(self, data: Data, loss: Loss) -> None:
        if data.groups is not None:
            raise Refusal(
                "method 'loo' would ignore the groups: rows of a group would train the model that "
                "tests another of its rows. Use 'K-fold' words, or "
                "method=LeaveOneGroupOut() of scikit-learn."
            )
        if data.n_rows < 2:
            raise BadData("leave-one-out of one row (n_samples=1) leaves nothing to train on.")

    def plan(self, data: Data, streams: Streams) -> Plan:
        return leave_out(data.n_rows, [np.arange(data.n_rows)])

    def average_of(self, loss: Loss) -> Average:
        return "fold" if loss.response == "scored" else "pooled"
