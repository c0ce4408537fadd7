"""What models answered about rows that they had not seen: what every part of a validation reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.answered_rows import AnsweredRows
from truerisk.core.answers import Response
from truerisk.core.present import Brief
from truerisk.core.table.data import Data

__all__ = ["HeldOut"]

BEST_FIRST: tuple[Response, ...] = ("probability", "score", "value", "label")


@dataclass(frozen=True, eq=False)
class HeldOut(Brief):
    """One entry per answer; a row that is tested in several repetitions has several.

    Row `rows[t]` was in test fold `fold[t]` of repetition `repetition[t]`; fit `fit[t]` of the plan
    answered. `answers[t]` is, by `response`, class probabilities in the order of `classes`, a
    decision value of the second class, a number, or a class code; `truth[t]` is the class code or
    the number that came. `weights` and `groups` are those of the rows, None where there are none.
    """

    rows: np.ndarray
    fold: np.ndarray
    repetition: np.ndarray
    fit: np.ndarray
    truth: np.ndarray
    answers: np.ndarray
    response: Response
    classes: np.ndarray | None = None
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None

    def __str__(self) -> str:
        folds = len(np.unique(self.fold))
        return f"{len(self.rows)} answers ({self.response}) about rows held out in {folds} folds"

    @classmethod
    def of(cls, answered: AnsweredRows, data: Data) -> HeldOut:
        """The richest answers of one line: probabilities, else decision values, numbers, labels."""
        told = {one.response: one for one in answered.told}
        response = next(one for one in BEST_FIRST if one in told)
        found, plan = told[response], told[response].plan
        question: np.ndarray = np.repeat(np.arange(plan.n_questions), plan.test_sizes)
        kept = np.flatnonzero(answered.unseen)
        rows, question = plan.positions[0][kept], question[kept]
        return cls(
            rows=rows,
            fold=plan.fold[question],
            repetition=plan.repeat[question],
            fit=plan.fit[question],
            truth=data.y[rows] if data.codes is None else data.codes[rows],
            answers=found.values[answered.candidate][kept],
            response=response,
            classes=data.classes,
            weights=data.weights(rows),
            groups=None if data.groups is None else data.groups[rows],
        )

    @property
    def n_classes(self) -> int:
        """How many classes there are, 0 for numbers."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def n_repetitions(self) -> int:
        """How often the folds were drawn."""
        return len(np.unique(self.repetition))
