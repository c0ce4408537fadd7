"""Plans inside the train sets of a plan, question by question: what `nest` must equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truerisk.core.plan.builder import PlanBuilder, RowSet
from truerisk.core.plan.plan import ALL, Plan, RowSets

__all__ = ["NestingBuilder"]


class NestingBuilder(PlanBuilder):
    """A builder that also asks the questions of other plans, on rows of its own."""

    def __init__(self, n_rows: int) -> None:
        super().__init__(n_rows)
        self._trained: list[RowSet] = []

    def ask(self, train: RowSet, test: RowSet, **given: Any) -> None:
        """As every builder does, and what was trained on is remembered."""
        self._trained.append(train)
        super().ask(train, test, **given)

    def trained(self, question: int) -> RowSet:
        """The train set of the fit that answers a question asked so far."""
        return self._trained[question]

    def embed(self, plan: Plan, rows: np.ndarray, inside: RowSet, *, part: str, unit: int) -> None:
        """All questions of a plan drawn on `rows`, asked within the set `inside` they came from.

        A train set "all but b" becomes "`inside` but b": no row leaves or enters, and the copies
        of a bootstrap sample stay together, since blocks hold distinct rows.
        """
        names = []
        for b in range(len(plan.blocks)):
            counts = plan.blocks.counts_of(b)
            mine = np.asarray(rows)[plan.blocks[b]]
            names.append(self.block(np.repeat(mine, 1 if counts is None else counts)))
        for q in range(plan.n_questions):
            fit = int(plan.fit[q])
            flipped, codes = plan.flips_of(fit)
            self.ask(
                _translate(plan.train, fit, names, inside),
                _translate(plan.test, q, names, inside),
                part=part,
                repeat=int(plan.repeat[q]),
                fold=int(plan.fold[q]),
                unit=unit,
                flips=[(int(rows[r]), int(c)) for r, c in zip(flipped, codes, strict=True)],
            )


def _translate(sets: RowSets, s: int, names: Sequence[int], inside: RowSet) -> RowSet:
    minus = tuple(names[int(block)] for block in sets.without(s))
    if int(sets.base[s]) == ALL:
        return inside[0], (*inside[1], *minus)
    return names[int(sets.base[s])], minus
