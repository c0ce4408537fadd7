"""Test sets of the training rows of a fit, each row predicted by a model made without that row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.plan.blocks import find_positions
from truerisk.plan.extra import Extra
from truerisk.plan.plan import Plan


@frozen(eq=False)
class OwnTrainingRows(Extra):
    """Request for test sets that each consist of the training rows of their own fit.

    `question` holds the numbers of these test sets in ascending order.
    """

    question: np.ndarray

    name: ClassVar[str]

    @override
    def select(self, questions: np.ndarray, fits: np.ndarray) -> Self | None:
        new_test_sets = find_positions(self.question, questions)
        return None if new_test_sets is None else type(self)(new_test_sets)

    @override
    def arrays(self) -> dict[str, np.ndarray]:
        return {self.name: self.question}

    @classmethod
    @override
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        return cls(arrays[cls.name].astype(np.int32))

    @override
    def shift_numbers(self, n_fits: int, n_questions: int) -> Self:
        return type(self)((self.question + n_questions).astype(np.int32))

    @override
    def join(self, others: Sequence[Self]) -> Self:
        return type(self)(
            np.concatenate([self.question, *(other_request.question for other_request in others)])
        )

    @override
    def is_row_left_out(self, fit: np.ndarray) -> np.ndarray:
        return np.isin(np.arange(len(fit)), self.question)

    @override
    def positions_in_test_set(self, plan: Plan, question: int) -> np.ndarray | None:
        if question not in self.question:
            return None
        train_rows, row_counts = plan.train_rows(int(plan.fit[question]))
        if not np.array_equal(train_rows, plan.test_rows(question)[0]):
            raise BadData(f"question {question} asks a fit about rows that are not its own.")
        row_positions = np.arange(len(train_rows))
        return row_positions if row_counts is None else np.repeat(row_positions, row_counts)


class OutOfBagRows(OwnTrainingRows):
    """Request to predict each row by the members of an ensemble that were fitted without it."""

    name = "out_of_bag"

    @property
    @override
    def needs(self) -> Mapping[str, str]:
        return {self.name: "it does not ask members of an ensemble one by one."}


class TakenOutRows(OwnTrainingRows):
    """Request to predict each row by the model from which the row is removed, to first order."""

    name = "taken_out"

    @property
    @override
    def needs(self) -> Mapping[str, str]:
        return {self.name: "it does not take single rows out of a fitted model."}

    @override
    def positions_in_test_set(self, plan: Plan, question: int) -> np.ndarray | None:
        row_positions = super().positions_in_test_set(plan, question)
        if row_positions is not None and len(row_positions) != len(plan.test_rows(question)[0]):
            raise Refusal(
                "a bootstrap sample holds copies of a row, which are not taken out one by one: use "
                "outer splits without copies, such as '10-fold'."
            )
        return row_positions
