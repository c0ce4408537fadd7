"""What the methods of the paper share: losses of rows in, one interval of their own out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from benchmarks.published_intervals.formulas import Found
from truerisk.contracts import Method, Terms
from truerisk.data.data import Data
from truerisk.exceptions import Refusal
from truerisk.losses.loss import Loss, RowLoss
from truerisk.methods.parts.averages import failure_notes, row_losses
from truerisk.methods.parts.bootstrap_answers import no_information
from truerisk.plan.answers import Answers
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested
from truerisk.results.interval import Interval

__all__ = ["Asked", "Published", "ask_copies"]


@dataclass(frozen=True, eq=False)
class Asked:
    """The answers of one candidate: `losses` of all that was asked, question after question."""

    plan: Plan
    data: Data
    loss: RowLoss
    answers: np.ndarray
    losses: np.ndarray

    def of(self, questions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows and losses of these questions, copies as often as they were asked."""
        places = self._places(questions)
        return self.plan.positions[0][places], self.losses[places]

    def mean(self, questions: np.ndarray) -> float:
        """The mean loss of these questions."""
        return float(self.of(questions)[1].mean())

    def gamma(self, questions: np.ndarray) -> float:
        """What the answers to these questions cost where they have nothing to do with y."""
        places = self._places(questions)
        rows = self.plan.positions[0][places]
        return float(no_information(self.loss, self.data, rows, self.answers[None, places])[0])

    def _places(self, questions: np.ndarray) -> np.ndarray:
        starts = self.plan.test_offsets
        return np.concatenate([np.arange(starts[q], starts[q + 1]) for q in questions])


class Published(Method):
    """A method with a normal or percentile interval of its own, for losses of single rows."""

    target: ClassVar[Target] = "Err"
    bias = "as published"

    @abstractmethod
    def found(self, asked: Asked, level: float) -> Found:
        """Value and interval of one candidate."""

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> Sequence[Tested]:
        if not isinstance(loss, RowLoss):
            raise Refusal(f"method '{self.name}' needs losses of single rows.")
        losses = row_losses(answers, data, loss)
        return [self._tested(answers, data, loss, terms, losses, c) for c in range(len(losses))]

    def _tested(
        self, answers: Answers, data: Data, loss: RowLoss, terms: Terms, losses: np.ndarray, c: int
    ) -> Tested:
        if not answers.answered[c].all():
            return Tested(np.nan, notes=failure_notes(answers, c))
        level = terms.confidence_level
        asked = Asked(answers.plan, data, loss, answers.values[c], losses[c])
        value, low, high = self.found(asked, level)
        fine = np.isfinite([low, high]).all()
        return Tested(value, None, Interval(low, high, self.name, level) if fine else None)


def ask_copies(
    builder: PlanBuilder, train: int, times: np.ndarray, *, part: str, repeat: int, fold: int = 0
) -> None:
    """Ask the fit on a block about each row `times` times: once of all rows, again of copies."""
    for copy in range(int(times.max())):
        test = builder.block(np.flatnonzero(times > copy))
        builder.ask((train, ()), (test, ()), part=part, repeat=repeat, fold=fold)
