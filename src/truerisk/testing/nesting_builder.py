"""Plans inside the train sets of a plan, question by question: what `nest` must equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truerisk.core.plan.builder import PlanBuilder, RowSet
from truerisk.core.plan.plan import ALL, Plan, RowSets

__all__ = ["NestingBuilder"]


class NestingBuilder(PlanBuilder):
    """A builder that also asks the questions of other plans, on rows of its own."""

    def embed(self, plan: Plan, rows: np.ndarray, inside: RowSet, *, part: str, unit: int) -> None:
        """All questions of a plan drawn on `rows`, asked within the set `inside` they came from.

        A train set "all but b" becomes "`inside` but b": no row leaves or enters, and the copies
        of a bootstrap sample stay together, since blocks hold distinct rows.
        """
        names = [
            self._add(np.asarray(rows)[plan.blocks[b]].astype(np.int32), plan.blocks.counts_of(b))
            for b in range(len(plan.blocks))
        ]
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

    def trained(self, question: int) -> RowSet:
        """The train set of the fit that answers a question asked so far."""
        return list(self._fits)[self._questions[question][0]][0]


def _translate(sets: RowSets, s: int, names: Sequence[int], inside: RowSet) -> RowSet:
    minus = tuple(names[int(block)] for block in sets.without(s))
    if int(sets.base[s]) == ALL:
        return inside[0], (*inside[1], *minus)
    return names[int(sets.base[s])], minus
