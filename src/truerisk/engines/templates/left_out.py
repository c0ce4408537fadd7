"""Fits on all rows but one, asked about that row: which they are, and where their answers go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.plan.plan import Plan
from truerisk.engines.templates.deciding import respond, undecided
from truerisk.engines.templates.single_row import single_row_fits
from truerisk.engines.templates.task import Task

__all__ = ["LeftOut"]

NOWHERE = -1


@dataclass(frozen=True, eq=False)
class LeftOut:
    """`fits[j]` sees all rows but `rows[j]`."""

    fits: np.ndarray
    rows: np.ndarray

    @classmethod
    def of(cls, plan: Plan) -> LeftOut:
        """All such fits of a plan; those with a label replaced are none."""
        single, row = single_row_fits(plan)
        if plan.flips is not None:
            single[plan.flips.fit] = False
        fits = np.flatnonzero(single)
        return cls(fits, row[fits])

    def take(self, which: np.ndarray) -> LeftOut:
        return LeftOut(self.fits[which], self.rows[which])

    def asks(self, task: Task, place: int) -> np.ndarray:
        """In which of the fits the candidate at this place of the group is asked."""
        return task.asks(self.fits, place)

    def answer(self, task: Task, place: int, scores: np.ndarray, present: np.ndarray) -> None:
        """Answer each fit's questions from its row's scores; what rounding decides stays open."""
        plan, candidate = task.plan, int(task.group.candidates[place])
        answers = respond(scores, present, task.request, task.data.n_classes)
        here = np.full(plan.n_fits, NOWHERE)
        here[self.fits] = np.arange(len(self.fits))
        of_question = here[plan.fit]
        ours = np.flatnonzero(of_question != NOWHERE)
        task.values[task.line_of(candidate), plan.test_offsets[ours]] = answers[of_question[ours]]
        for fit in self.fits[undecided(scores, task.request)]:
            task.leave_open(fit, [candidate])
