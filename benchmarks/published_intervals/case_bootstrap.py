"""Bootstrap case cross-validation: leave-one-case-out within each of many bootstrap samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.published_intervals.form import Asked, Published
from benchmarks.published_intervals.formulas import Found, case_percentiles
from truerisk.contracts import Streams
from truerisk.data.data import Data
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan
from truerisk.splitting.samples import draw_samples

__all__ = ["CaseBootstrap"]


@dataclass(frozen=True)
class CaseBootstrap(Published):
    """Percentiles of the leave-one-case-out risks of bootstrap samples.

    Jiang, Varma and Simon (2008), Calculating confidence intervals for prediction error in
    microarray classification using resampling. All copies of a case are left out together, and it
    counts as often as it was drawn.
    """

    replicates: int = 100

    @property
    def name(self) -> str:
        return f"bccv (B={self.replicates})"

    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        cases = [builder.block(np.array([row])) for row in range(data.n_rows)]
        for sample, times in enumerate(draw_samples(data, self.replicates, streams.get("bccv"))):
            base = builder.block(np.repeat(np.arange(data.n_rows), times))
            for row in np.repeat(np.arange(data.n_rows), times):
                builder.ask((base, (cases[row],)), (cases[row], ()), repeat=sample)
        return builder.build()

    def found(self, asked: Asked, level: float) -> Found:
        sample = asked.plan.repeat  # every question asks about one row
        risks = np.bincount(sample, asked.losses) / np.bincount(sample)
        return case_percentiles(risks, level)
