"""Numbers of training rows of each class on which an answer rests, for some questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.plan.blocks import ALL, Blocks, RowSets, places_among, spread
from truerisk.plan.extra import ExtraAnswers, Gathered
from truerisk.plan.extras.flips import Flips
from truerisk.plan.plan import Plan


@frozen(eq=False)
class Counted(Flips):
    """Questions `counted` (ascending) about these numbers; some fits get changed labels as well."""

    counted: np.ndarray

    @property
    @override
    def needs(self) -> Mapping[str, str]:
        lacking = "it does not say how many training rows an answer rests on."
        return {**super().needs, "counted": lacking}

    @override
    def select(self, questions: np.ndarray, fits: np.ndarray) -> Flips:
        flips = Flips(self.fit, self.row, self.code).select(questions, fits)
        counted = places_among(self.counted, questions)
        if counted is None:
            return flips
        return Counted(flips.fit, flips.row, flips.code, counted)

    @override
    def arrays(self) -> dict[str, np.ndarray]:
        return {**super().arrays(), "counted": self.counted}

    @classmethod
    @override
    def read(cls, arrays: Mapping[str, np.ndarray]) -> Counted:
        flips = Flips.read(arrays)
        return Counted(flips.fit, flips.row, flips.code, arrays["counted"].astype(np.int32))

    @override
    def after(self, n_fits: int, n_questions: int) -> Any:
        flips = super().after(n_fits, n_questions)
        counted = (self.counted + n_questions).astype(np.int32)
        return Counted(flips.fit, flips.row, flips.code, counted)

    @override
    def joined(self, others: Sequence[Any]) -> Any:
        flips = super().joined(others)
        every = np.concatenate([self.counted, *(one.counted for one in others)])
        return Counted(flips.fit, flips.row, flips.code, every)

    @override
    def gather(self, plan: Plan, n_candidates: int, n_classes: int) -> GatheredCounts:
        shape = n_candidates, int(counted_offsets(plan)[-1]), n_classes
        return GatheredCounts(plan, np.full(shape, np.nan))


@frozen(eq=False)
class Counts(ExtraAnswers):
    """Training rows of each class; `values[c, t]` is for position t of the counted questions."""

    values: np.ndarray

    @override
    def select(self, plan: Plan, questions: np.ndarray) -> Counts | None:
        counted = questions_counted(plan)
        mine = np.searchsorted(counted, questions[np.isin(questions, counted)])
        if not len(mine):
            return None
        return Counts(self.values[:, spread(counted_offsets(plan), mine)[1]])

    @override
    def joined(self, others: Sequence[tuple[int, Any]]) -> Counts:
        return Counts(np.concatenate([self.values, *(one.values for _, one in others)]))


@frozen(eq=False)
class GatheredCounts(Gathered):
    """Collects the counts of a plan as they arrive."""

    plan: Plan
    values: np.ndarray

    @cached_property
    def offsets(self) -> np.ndarray:
        """Start of the counts of each counted question in the flat list of all counts."""
        return counted_offsets(self.plan)

    @cached_property
    def counted_questions(self) -> np.ndarray:
        """The counted questions."""
        return questions_counted(self.plan)

    @cached_property
    def fits(self) -> frozenset[int]:
        """The fits that answer a counted question."""
        return frozenset(self.plan.fit[self.counted_questions].tolist())

    @override
    def place(self, fit: int, line: int, facts: Mapping[str, Any]) -> None:
        mine = self.counted_questions[self.plan.fit[self.counted_questions] == fit]
        for question, counts in zip(mine, facts["counts"], strict=True):
            self.count(int(question), line, counts)

    def count(self, question: int, lines: Any, counts: np.ndarray) -> None:
        """Store the numbers of training rows of each class for a question, if it is counted."""
        for at in np.flatnonzero(self.counted_questions == question):
            self.values[lines, slice(*self.offsets[at : at + 2])] = counts

    @override
    def finished(self) -> Counts:
        return Counts(self.values)


def questions_counted(plan: Plan) -> np.ndarray:
    """Return the questions of a plan, ascending, for which training rows are counted."""
    extra = Counted.from_holder(plan)
    return np.empty(0, dtype=np.int32) if extra is None else extra.counted


def counted_offsets(plan: Plan) -> np.ndarray:
    """Return the start of the counts of each counted question in the flat list of all counts."""
    sizes = plan.test_sizes[questions_counted(plan)]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def flip_each(codes: np.ndarray) -> Plan:
    """Plan one fit with all labels as they are, and one fit per row with the row's label changed.

    The first fit is asked about all rows, with counts. Fit i + 1 gets the label `codes[i]` for row
    i and is asked about row i.

    >>> plan = flip_each(np.array([1, 0, 0]))
    >>> plan.extra.row.tolist(), plan.extra.code.tolist(), plan.extra.counted.tolist()
    ([0, 1, 2], [1, 0, 0], [0])
    """
    n = len(codes)
    rows, fits = np.arange(n, dtype=np.int32), np.arange(n + 1, dtype=np.int32)
    no_minus = np.empty(0, np.int32), np.zeros(n + 2, np.int64)
    shown = np.asarray(codes).astype(np.int32)
    return Plan.from_folds(
        n_rows=n,
        blocks=Blocks(np.concatenate([rows, rows]), np.append(np.arange(n + 1), 2 * n)),
        train=RowSets(np.full(n + 1, ALL, np.int32), *no_minus),
        test=RowSets(np.append(np.int32(n), rows).astype(np.int32), *no_minus),
        fit=fits,
        part=(fits > 0).astype(np.int8),
        fold=np.maximum(fits - 1, 0).astype(np.int32),
        parts=("apparent", "swap"),
        extra=Counted(fits[1:], rows, shown, np.zeros(1, np.int32)),
    )
