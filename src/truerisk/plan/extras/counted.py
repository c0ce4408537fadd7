"""Requests for the numbers of training rows of each class on which a prediction is based."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.plan.blocks import ALL, Blocks, RowSets, find_positions, select_lists
from truerisk.plan.extra import ExtraAnswers, ExtraCollector
from truerisk.plan.extras.flips import Flips
from truerisk.plan.plan import Plan


@frozen(eq=False)
class Counted(Flips):
    """Request for the class counts of some test sets, in a plan whose fits may change labels.

    `counted_test_sets` holds the numbers of these test sets, in ascending order. The labels that
    some fits get in place of the rows' own labels are held as in `Flips`.
    """

    counted_test_sets: np.ndarray

    @property
    @override
    def needs(self) -> Mapping[str, str]:
        refusal_reason = "it does not say how many training rows an answer rests on."
        return {**super().needs, "counted": refusal_reason}

    @override
    def select(self, questions: np.ndarray, fits: np.ndarray) -> Flips:
        label_flips = Flips(self.fit, self.row, self.code).select(questions, fits)
        counted_test_sets = find_positions(self.counted_test_sets, questions)
        if counted_test_sets is None:
            return label_flips
        return Counted(label_flips.fit, label_flips.row, label_flips.code, counted_test_sets)

    @override
    def arrays(self) -> dict[str, np.ndarray]:
        return {**super().arrays(), "counted": self.counted_test_sets}

    @classmethod
    @override
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Counted:
        label_flips = Flips.from_arrays(arrays)
        return Counted(
            label_flips.fit, label_flips.row, label_flips.code, arrays["counted"].astype(np.int32)
        )

    @override
    def shift_numbers(self, n_fits: int, n_questions: int) -> Any:
        label_flips = super().shift_numbers(n_fits, n_questions)
        counted_test_sets = (self.counted_test_sets + n_questions).astype(np.int32)
        return Counted(label_flips.fit, label_flips.row, label_flips.code, counted_test_sets)

    @override
    def join(self, others: Sequence[Any]) -> Any:
        label_flips = super().join(others)
        counted_test_sets = np.concatenate(
            [self.counted_test_sets, *(other_request.counted_test_sets for other_request in others)]
        )
        return Counted(label_flips.fit, label_flips.row, label_flips.code, counted_test_sets)

    @override
    def make_collector(self, plan: Plan, n_candidates: int, n_classes: int) -> CountCollector:
        shape = n_candidates, int(counted_offsets(plan)[-1]), n_classes
        return CountCollector(plan, np.full(shape, np.nan))


@frozen(eq=False)
class ClassCounts(ExtraAnswers):
    """Numbers of training rows of each class on which predictions are based.

    `values[c, t]` belongs to candidate c and position t of the test sets with counts.
    """

    values: np.ndarray

    @override
    def select(self, plan: Plan, questions: np.ndarray) -> ClassCounts | None:
        counted_test_sets = find_counted_test_sets(plan)
        count_positions = np.searchsorted(
            counted_test_sets, questions[np.isin(questions, counted_test_sets)]
        )
        if not len(count_positions):
            return None
        return ClassCounts(self.values[:, select_lists(counted_offsets(plan), count_positions)[1]])

    @override
    def join(self, others: Sequence[tuple[int, Any]]) -> ClassCounts:
        return ClassCounts(np.concatenate([self.values, *(counts.values for _, counts in others)]))


@frozen(eq=False)
class CountCollector(ExtraCollector):
    """Collector of the class counts of a plan, fit by fit."""

    plan: Plan
    values: np.ndarray

    @cached_property
    def offsets(self) -> np.ndarray:
        """Offset of each counted test set's counts in the flat list of all counts."""
        return counted_offsets(self.plan)

    @cached_property
    def counted_test_sets(self) -> np.ndarray:
        """Numbers of the test sets for which counts are requested."""
        return find_counted_test_sets(self.plan)

    @cached_property
    def fits(self) -> frozenset[int]:
        """Numbers of the fits that have a test set with counts."""
        return frozenset(self.plan.fit[self.counted_test_sets].tolist())

    @override
    def store_results(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        fit_test_sets = self.counted_test_sets[self.plan.fit[self.counted_test_sets] == fit]
        for test_set, counts in zip(fit_test_sets, facts["counts"], strict=True):
            self.store_counts(int(test_set), line, counts)

    def store_counts(self, test_set: int, value_rows: Any, counts: np.ndarray) -> None:
        """Store the numbers of training rows of each class for a test set, if it requests them."""
        for count_position in np.flatnonzero(self.counted_test_sets == test_set):
            self.values[value_rows, slice(*self.offsets[count_position : count_position + 2])] = (
                counts
            )

    @override
    def to_answers(self) -> ClassCounts:
        return ClassCounts(self.values)


def find_counted_test_sets(plan: Plan) -> np.ndarray:
    """Return, in ascending order, the numbers of the test sets whose counts a plan requests."""
    count_request = Counted.from_holder(plan)
    return np.empty(0, dtype=np.int32) if count_request is None else count_request.counted_test_sets


def counted_offsets(plan: Plan) -> np.ndarray:
    """Return the offset of each counted test set's counts in the flat list of all counts."""
    test_sizes = plan.test_sizes[find_counted_test_sets(plan)]
    return np.concatenate([[0], np.cumsum(test_sizes)]).astype(np.int64)


def plan_label_flips(codes: np.ndarray) -> Plan:
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
