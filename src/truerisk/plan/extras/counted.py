"""Requests for the numbers of training rows of each class on which a prediction is based."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.plan.blocks import ALL, Blocks, RowSets, positions_of_numbers, select_lists
from truerisk.plan.extra import ExtraAnswers, Gathered
from truerisk.plan.extras.flips import Flips
from truerisk.plan.plan import Plan


@frozen(eq=False)
class Counted(Flips):
    """Request for class counts in the test sets `counted` (ascending), with changed labels.

    The labels that some fits get in place of the rows' own labels are held as in `Flips`.
    """

    counted: np.ndarray

    @property
    @override
    def needs(self) -> Mapping[str, str]:
        refusal_reason = "it does not say how many training rows an answer rests on."
        return {**super().needs, "counted": refusal_reason}

    @override
    def select(self, questions: np.ndarray, fits: np.ndarray) -> Flips:
        label_flips = Flips(self.fit, self.row, self.code).select(questions, fits)
        counted_test_sets = positions_of_numbers(self.counted, questions)
        if counted_test_sets is None:
            return label_flips
        return Counted(label_flips.fit, label_flips.row, label_flips.code, counted_test_sets)

    @override
    def arrays(self) -> dict[str, np.ndarray]:
        return {**super().arrays(), "counted": self.counted}

    @classmethod
    @override
    def read(cls, arrays: Mapping[str, np.ndarray]) -> Counted:
        label_flips = Flips.read(arrays)
        return Counted(
            label_flips.fit, label_flips.row, label_flips.code, arrays["counted"].astype(np.int32)
        )

    @override
    def shifted(self, n_fits: int, n_questions: int) -> Any:
        label_flips = super().shifted(n_fits, n_questions)
        counted_test_sets = (self.counted + n_questions).astype(np.int32)
        return Counted(label_flips.fit, label_flips.row, label_flips.code, counted_test_sets)

    @override
    def joined(self, others: Sequence[Any]) -> Any:
        label_flips = super().joined(others)
        counted_test_sets = np.concatenate(
            [self.counted, *(other_request.counted for other_request in others)]
        )
        return Counted(label_flips.fit, label_flips.row, label_flips.code, counted_test_sets)

    @override
    def gather(self, plan: Plan, n_candidates: int, n_classes: int) -> GatheredCounts:
        shape = n_candidates, int(counted_offsets(plan)[-1]), n_classes
        return GatheredCounts(plan, np.full(shape, np.nan))


@frozen(eq=False)
class Counts(ExtraAnswers):
    """Numbers of training rows of each class on which predictions are based.

    `values[c, t]` belongs to candidate c and position t of the test sets with counts.
    """

    values: np.ndarray

    @override
    def select(self, plan: Plan, questions: np.ndarray) -> Counts | None:
        counted_test_sets = questions_counted(plan)
        count_positions = np.searchsorted(
            counted_test_sets, questions[np.isin(questions, counted_test_sets)]
        )
        if not len(count_positions):
            return None
        return Counts(self.values[:, select_lists(counted_offsets(plan), count_positions)[1]])

    @override
    def joined(self, others: Sequence[tuple[int, Any]]) -> Counts:
        return Counts(np.concatenate([self.values, *(counts.values for _, counts in others)]))


@frozen(eq=False)
class GatheredCounts(Gathered):
    """Collector of the class counts of a plan, fit by fit."""

    plan: Plan
    values: np.ndarray

    @cached_property
    def offsets(self) -> np.ndarray:
        """Start of the counts of each test set with counts in the flat list of all counts."""
        return counted_offsets(self.plan)

    @cached_property
    def counted_questions(self) -> np.ndarray:
        """Numbers of the test sets for which counts are requested."""
        return questions_counted(self.plan)

    @cached_property
    def fits(self) -> frozenset[int]:
        """Numbers of the fits that have a test set with counts."""
        return frozenset(self.plan.fit[self.counted_questions].tolist())

    @override
    def place(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        fit_test_sets = self.counted_questions[self.plan.fit[self.counted_questions] == fit]
        for test_set, counts in zip(fit_test_sets, facts["counts"], strict=True):
            self.count(int(test_set), line, counts)

    def count(self, test_set: int, value_rows: Any, counts: np.ndarray) -> None:
        """Store the numbers of training rows of each class for a test set, if it requests them."""
        for count_position in np.flatnonzero(self.counted_questions == test_set):
            self.values[value_rows, slice(*self.offsets[count_position : count_position + 2])] = (
                counts
            )

    @override
    def finished(self) -> Counts:
        return Counts(self.values)


def questions_counted(plan: Plan) -> np.ndarray:
    """Return the numbers, ascending, of the test sets of a plan for which counts are requested."""
    count_request = Counted.from_holder(plan)
    return np.empty(0, dtype=np.int32) if count_request is None else count_request.counted


def counted_offsets(plan: Plan) -> np.ndarray:
    """Return the start of each test set's counts in the flat list of all requested counts."""
    test_sizes = plan.test_sizes[questions_counted(plan)]
    return np.concatenate([[0], np.cumsum(test_sizes)]).astype(np.int64)


def flip_each(codes: np.ndarray) -> Plan:
    """Plan one fit with all labels unchanged, and one fit per row with the row's label changed.

    The first fit is tested on all rows, with counts. Fit i + 1 gets the label `codes[i]` for row i
    and is tested on row i.
    """
    n = len(codes)
    rows, fits = np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int32)
    no_removed_blocks = np.empty(0, np.int32), np.zeros(n + 2, np.int64)
    new_codes = np.asarray(codes).astype(np.int32)
    return Plan.from_folds(
        n_rows=n,
        blocks=Blocks(np.concatenate([rows, rows]), np.append(np.arange(n + 1), 2 * n)),
        train=RowSets(np.full(n + 1, ALL, np.int32), *no_removed_blocks),
        test=RowSets(np.append(np.int32(n), rows).astype(np.int32), *no_removed_blocks),
        fit=fits,
        part=(fits > 0).astype(np.int8),
        fold=np.maximum(fits - 1, 0).astype(np.int32),
        parts=("apparent", "swap"),
        extra=Counted(fits[1:], rows, new_codes, np.zeros(1, np.int32)),
    )
