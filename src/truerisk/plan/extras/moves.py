"""Random points near rows, which models predict instead of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.plan.extra import Extra


@frozen(eq=False)
class Moves(Extra):
    """Request to predict random points near rows, instead of the rows themselves.

    Test set `question[j]` (ascending) has points that are drawn with `seed[j]`. Row i is shifted by
    Gaussian noise with standard deviation `row_scale[i] * column_scale[k]` in column k. All
    candidates predict the same points.
    """

    question: np.ndarray
    seed: np.ndarray
    row_scale: np.ndarray
    column_scale: np.ndarray

    @property
    @override
    def needs(self) -> Mapping[str, str]:
        return {"moves": "it answers about rows of X, and not about points around them."}

    def row_shifts(self, test_set: int, rows: np.ndarray) -> np.ndarray | None:
        """Return the shift of each row in a test set, or None if the rows are not shifted."""
        seed_positions = np.flatnonzero(self.question == test_set)
        if not len(seed_positions):
            return None
        noise = np.random.default_rng(int(self.seed[seed_positions[0]])).standard_normal(
            (len(self.row_scale), len(self.column_scale))
        )
        return noise[rows] * self.row_scale[rows, None] * self.column_scale

    @override
    def moved_points(self, X: Any, question: int, rows: np.ndarray) -> Any:
        shifts = self.row_shifts(question, rows)
        return X if shifts is None else X + shifts

    @override
    def select(self, questions: np.ndarray, fits: np.ndarray) -> Moves | None:
        new_test_sets = np.flatnonzero(np.isin(questions, self.question)).astype(np.int32)
        if not len(new_test_sets):
            return None
        seed_positions = np.searchsorted(self.question, questions[new_test_sets])
        return Moves(new_test_sets, self.seed[seed_positions], self.row_scale, self.column_scale)

    @override
    def arrays(self) -> dict[str, np.ndarray]:
        return {f"moves.{name}": getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    @override
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Moves:
        test_sets, *other_arrays = (arrays[f"moves.{name}"] for name in cls.__dataclass_fields__)
        return cls(test_sets.astype(np.int32), *other_arrays)

    @override
    def shift_numbers(self, n_fits: int, n_questions: int) -> Moves:
        test_sets = (self.question + n_questions).astype(np.int32)
        return Moves(test_sets, self.seed, self.row_scale, self.column_scale)

    @override
    def join(self, others: Sequence[Moves]) -> Moves:
        all_moves = [self, *others]
        test_sets = np.concatenate([moves.question for moves in all_moves])
        seeds = np.concatenate([moves.seed for moves in all_moves])
        return Moves(test_sets, seeds, self.row_scale, self.column_scale)

    @override
    def map_to_rows(self, rows: np.ndarray) -> Moves:
        raise Refusal(
            "points drawn around rows are not drawn inside outer splits: choose inside by a method "
            "that holds rows out, such as '10-fold'."
        )
