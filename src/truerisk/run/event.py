"""The event: one class against all others, so that answers about any classes speak of two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truerisk.core import present
from truerisk.core.answers import Answers, Response
from truerisk.core.positive import class_named
from truerisk.core.table.data import Data
from truerisk.core.validation.held_out import HeldOut

__all__ = ["Event"]

REST = "the rest"


@dataclass(frozen=True, eq=False)
class Event:
    """The class `code` of y; the formulas of two outcomes read it as the second of two classes.

    Of two classes these are the other one and the event, of several the rest and the event, whose
    probability is its own and that of the rest 1 less that.
    """

    code: int
    of: Data

    @classmethod
    def named(cls, positive: Any, data: Data) -> Event | None:
        """The class that a user names, else the second of two; None where there is no such."""
        if positive is None:
            return cls(1, data) if data.n_classes == 2 else None
        return cls(class_named(positive, data), data)

    @property
    def label(self) -> str:
        """What the event is called."""
        return str(present.plain(self.of.label(self.code)))

    def is_of(self, positive: Any) -> bool:
        """Whether it is this class that a result speaks of; None speaks of all alike."""
        usual = positive is None and self.usual
        return usual or positive == present.plain(self.of.label(self.code))

    @property
    def usual(self) -> bool:
        """Whether it is the second of two classes, as scores of one class take it."""
        return self.of.n_classes == 2 and self.code == 1

    @property
    def data(self) -> Data:
        """The rows with two outcomes."""
        if self.usual:
            return self.of
        return replace(self.of, classes=self._classes, codes=self._two(self.of.class_codes))

    @property
    def _classes(self) -> np.ndarray:
        two = self.of.n_classes == 2
        other = self.of.label(1 - self.code) if two else REST
        return np.array([other, self.of.label(self.code)], dtype=object)

    def answers(self, told: Answers) -> Answers:
        """Answers about all classes as those about two."""
        return replace(told, values=self.read(told.values, told.response), also=())

    def held(self, held: HeldOut) -> HeldOut:
        """Held-out answers in the same way."""
        if self.usual:
            return held
        answers, truth = self.read(held.answers, held.response), self._two(held.truth)
        return replace(held, answers=answers, truth=truth, classes=self._classes)

    def read(self, values: np.ndarray, response: Response) -> np.ndarray:
        """Values of answers; the last axis of probabilities are the classes."""
        if self.usual:
            return values
        if response == "probability":
            mine = values[..., self.code]
            return np.stack([1 - mine, mine], axis=-1)
        return self._two(values) if response == "label" else -values

    def _two(self, codes: np.ndarray) -> np.ndarray:
        return (codes == self.code).astype(codes.dtype)
