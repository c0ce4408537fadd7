"""Targets of linear learners as numbers, and their numbers as the answers that were asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.answers import Response, code_type
from truerisk.core.table.data import Data

__all__ = ["TIE", "Coding"]

TIE = 1e-8  # scores nearer than this are a tie: its winner is for scikit-learn to say


@dataclass(frozen=True, eq=False)
class Coding:
    """Numbers as they are; classes as ±1, one column for two of them, else one per class.

    `present` are the codes of the classes that the fit sees (None: regression).
    """

    response: Response
    shape: tuple[int, ...]
    n_classes: int
    present: np.ndarray | None

    @classmethod
    def of(cls, data: Data, response: Response, seen: np.ndarray) -> Coding | None:
        """The coding of what a fit sees; None where that is one class only."""
        present = None if data.classes is None else np.unique(seen)
        if present is not None and len(present) == 1:
            return None
        return cls(response, data.y.shape[1:], data.n_classes, present)

    def numbers(self, y: np.ndarray) -> np.ndarray:
        """`(row, target)` from targets or class codes."""
        if self.present is None:
            return np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)
        columns = self.present[1:] if len(self.present) == 2 else self.present
        return np.where(y[:, None] == columns, 1.0, -1.0)

    def answers(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Answers from `(candidate, row, target)`, and which of them a tie leaves open."""
        open_ = np.zeros(numbers.shape[:2], dtype=bool)
        if self.present is None:
            return numbers.reshape(*numbers.shape[:2], *self.shape), open_
        if self.response == "score":
            return numbers[:, :, 0], open_
        if len(self.present) == 2:
            place, open_ = (numbers[:, :, 0] > 0).astype(int), np.abs(numbers[:, :, 0]) <= TIE
        else:
            place = numbers.argmax(axis=2)
            upper = np.partition(numbers, -2, axis=2)
            open_ = upper[:, :, -1] - upper[:, :, -2] <= TIE
        return self.present[place].astype(code_type(self.n_classes)), open_
