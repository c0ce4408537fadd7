"""Scores of one class against the rest, and their means over all classes in turn."""

from __future__ import annotations

from copy import copy
from typing import Any, Literal, Self

from truerisk.core.errors import BadArgument, UnknownName
from truerisk.core.loss import Loss
from truerisk.core.positive import class_named
from truerisk.core.table.data import Data

__all__ = ["OfOneClass", "OverClasses"]

OverClasses = Literal["macro", "weighted"]


class OfOneClass(Loss):
    """A score that speaks of one class: `positive`, by default the greater of two labels.

    Of three classes and more it is the mean over all of them, each against the rest. `average`
    takes that mean of two classes, too: alike ("macro") or by their rows ("weighted").
    """

    def __init__(self, average: OverClasses | None = None, positive: Any = None) -> None:
        if average not in (None, "macro", "weighted"):
            raise UnknownName(f"average={average!r} is unknown; use 'macro', 'weighted' or None.")
        if average is not None and positive is not None:
            raise BadArgument(
                f"average='{average}' is a mean over all classes, and positive= names one of them: "
                "give one of the two."
            )
        self.over_classes, self.positive = average, positive
        if average is not None:
            self.word = f"{self.word}-{average}"

    def check(self, data: Data) -> None:
        super().check(data)
        if self.rated(data) is None:
            alike = "by its rows" if self.over_classes == "weighted" else "alike"
            self.notes = (f"mean over {data.n_classes} classes, each counting {alike}",)

    def rated(self, data: Data) -> int | None:
        if self.over_classes is None and self.positive is not None:
            return class_named(self.positive, data)
        return 1 if self.over_classes is None and data.n_classes == 2 else None

    def of_class(self, positive: Any) -> Self:
        if self.over_classes is not None or self.positive is not None:
            return self
        other = copy(self)
        other.positive = positive
        return other
