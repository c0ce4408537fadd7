"""5 × 2 cross-validation: five cuts into halves, of which one fold gives the value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.published_intervals.form import Asked, Published
from benchmarks.published_intervals.formulas import Found, five_by_two
from truerisk.contracts import Streams
from truerisk.data.data import Data
from truerisk.plan.builder import plan_leave_one_fold_out
from truerisk.plan.plan import Plan
from truerisk.splitting.folds import fold_numbers

__all__ = ["FiveByTwo"]


@dataclass(frozen=True)
class FiveByTwo(Published):
    """The risk of the first fold ± t₅ · the root mean variance of the folds' risks.

    Dietterich (1998), Approximate statistical tests for comparing supervised classification
    learning algorithms. Neural Computation 10:1895–1923.
    """

    name = "5x2"

    def plan(self, data: Data, streams: Streams) -> Plan:
        rng = streams.get("5x2")
        return plan_leave_one_fold_out(
            data.n_rows, fold_numbers(data, None, 2, 5, rng, stratify=False)
        )

    def found(self, asked: Asked, level: float) -> Found:
        risks = np.array([asked.mean(np.array([question])) for question in range(10)])
        return five_by_two(risks.reshape(5, 2), level)
