"""The two-stage bootstrap: the .632+ estimate itself, made anew in each of many samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.published_intervals.form import Asked, Published, ask_copies
from benchmarks.published_intervals.formulas import Found, plus
from truerisk.contracts import Streams
from truerisk.data.data import Data
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan
from truerisk.splitting.samples import draw_samples

__all__ = ["TwoStage"]


@dataclass(frozen=True)
class TwoStage(Published):
    """Quantiles of .632+ over samples of all rows, each with inner samples of its own rows.

    Noma, Shinozaki, Iba, Teramukai and Furukawa (2021). An inner sample draws among the n places of
    the outer one, and is tested on the places that it missed: copies of a row that it drew may be
    among them, as in the code of Schulz-Kümpel et al.
    """

    outer: int = 200
    inner: int = 10

    @property
    def name(self) -> str:
        return f"two-stage ({self.outer}, {self.inner})"

    def plan(self, data: Data, streams: Streams) -> Plan:
        builder, rng = PlanBuilder(data.n_rows), streams.get("two-stage")
        self._ask_stage(builder, np.arange(data.n_rows), rng, 0)
        for sample, times in enumerate(draw_samples(data, self.outer, rng)):
            self._ask_stage(builder, np.repeat(np.arange(data.n_rows), times), rng, 1 + sample)
        return builder.build()

    def _ask_stage(
        self, builder: PlanBuilder, rows: np.ndarray, rng: np.random.Generator, stage: int
    ) -> None:
        """One .632+ estimate from the rows at these places."""
        n = int(rows.max()) + 1
        train = ALL if stage == 0 else builder.block(rows)
        ask_copies(builder, train, np.bincount(rows), part="apparent", repeat=stage)
        for _ in range(self.inner):
            drawn = rng.integers(len(rows), size=len(rows))
            missed = np.setdiff1d(np.arange(len(rows)), drawn)
            train, times = builder.block(rows[drawn]), np.bincount(rows[missed], minlength=n)
            ask_copies(builder, train, times, part="test", repeat=stage)

    def found(self, asked: Asked, level: float) -> Found:
        values = np.array([self._estimate(asked, stage) for stage in range(1 + self.outer)])
        low, high = np.nanquantile(values[1:], [(1 - level) / 2, (1 + level) / 2])
        return Found(float(values[0]), float(low), float(high))

    def _estimate(self, asked: Asked, stage: int) -> float:
        plan = asked.plan
        apparent, test = (
            questions[plan.repeat[questions] == stage]
            for questions in (plan.questions("apparent"), plan.questions("test"))
        )
        rows, losses = asked.of(test)
        times = np.bincount(rows)
        of_rows = np.bincount(rows, losses)[times > 0] / times[times > 0]
        return plus(float(of_rows.mean()), asked.mean(apparent), asked.gamma(apparent))
