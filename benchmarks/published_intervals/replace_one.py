"""Replace-one cross-validation: one half of the rows, with each of them exchanged in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.published_intervals.form import Asked, Published
from benchmarks.published_intervals.formulas import Found, replaced
from truerisk.contracts import Streams
from truerisk.data.data import Data
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan
from truerisk.splitting.folds import fold_numbers

__all__ = ["ReplaceOne", "repeated"]


@dataclass(frozen=True)
class ReplaceOne(Published):
    """K-fold risk of all rows; its variance from one half, each row exchanged for one of the other.

    Austern and Zhou (2020), Asymptotics of cross-validation. The half keeps its folds while one of
    its rows is exchanged, so that one test set and K − 1 training sets change.
    """

    k: int = 5
    repeats: int = 1

    @property
    def name(self) -> str:
        return f"replace-one ({self.repeats}x{self.k}-fold)"

    def plan(self, data: Data, streams: Streams) -> Plan:
        builder = PlanBuilder(data.n_rows)
        rng = streams.get("replace-one")
        for repeat, labels in enumerate(self._labels(data, rng)):
            for fold, block in enumerate(builder.partition(labels)):
                builder.ask((ALL, (block,)), (block, ()), repeat=repeat, fold=fold)
        drawn = rng.permutation(data.n_rows)[: data.n_rows // 2 * 2]
        half, spare = np.split(drawn, 2)
        for labels in self._labels(data.subset(np.sort(half)), rng):
            self._ask_half(builder, np.sort(half), spare, labels)
        return builder.build()

    def _labels(self, data: Data, rng: np.random.Generator) -> list[np.ndarray]:
        return fold_numbers(data, None, self.k, self.repeats, rng, stratify=False)

    def _ask_half(
        self, builder: PlanBuilder, half: np.ndarray, spare: np.ndarray, labels: np.ndarray
    ) -> None:
        """The folds of the half as repetition 0, and with its i-th row exchanged as 1 + i."""
        base = builder.block(half)
        folds = [builder.block(half[labels == fold]) for fold in range(self.k)]
        for fold in folds:
            builder.ask((base, (fold,)), (fold, ()), part="half", repeat=0)
        for i, new in enumerate(spare):
            rows = np.where(np.arange(len(half)) == i, new, half)
            whole = builder.block(rows)
            for place, fold in enumerate(folds):
                if place == labels[i]:  # the exchanged row is tested, and no fit saw it
                    test = builder.block(rows[labels == place])
                    builder.ask((base, (fold,)), (test, ()), part="half", repeat=1 + i)
                else:
                    builder.ask((whole, (fold,)), (fold, ()), part="half", repeat=1 + i)

    def found(self, asked: Asked, level: float) -> Found:
        plan = asked.plan
        halves = plan.questions("half")
        risks = [asked.mean(halves[plan.repeat[halves] == r]) for r in range(1 + plan.n_rows // 2)]
        return replaced(asked.mean(plan.questions("test")), risks[0], np.array(risks[1:]), level)


def repeated() -> ReplaceOne:
    """Five drawings of the folds."""
    return ReplaceOne(repeats=5)
