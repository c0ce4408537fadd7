"""The rules: the smallest risk, and the simplest candidate that is about as good as the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from truerisk.core.contracts import Rule
from truerisk.core.errors import Refusal, UnknownName
from truerisk.core.interval import tied


def smallest(values: np.ndarray) -> float:
    """The smallest risk of candidates that have one."""
    if np.isnan(values).all():
        raise Refusal("every candidate has a failed fit: there is nothing to choose from.")
    return float(np.nanmin(values))


@dataclass(frozen=True)
class Minimum(Rule):
    """The candidate with the smallest risk; of equal ones, the first in grid order.

    Risks that differ by less than 1e-12 (relative, so that no unit of y counts) are equal: the
    order in which fold risks were added must not choose. (GridSearchCV lets the last bit decide.)
    """

    word: ClassVar[str] = "min"
    ties: ClassVar[str] = "first in grid order"

    def choose(self, values: np.ndarray, std_errors: np.ndarray) -> int:
        least = smallest(values)
        return int(np.flatnonzero(tied(values, least))[0])


@dataclass(frozen=True)
class OneStandardError(Rule):
    """The simplest candidate with risk ≤ the smallest risk + its standard error.

    Only the user knows which settings are simple: the grid lists them from simple to complex
    (`simplest="first"`, the default) or the other way round (`"last"`). The standard error is that
    of the risk's own method, not the standard deviation of the folds.
    """

    simplest: Literal["first", "last"] = "first"

    word: ClassVar[str] = "1-se"
    ties: ClassVar[str] = "simplest in grid order"
    needs_std_errors: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.simplest not in ("first", "last"):
            raise UnknownName(f"simplest={self.simplest!r} is unknown; use 'first' or 'last'.")

    def choose(self, values: np.ndarray, std_errors: np.ndarray) -> int:
        best = Minimum().choose(values, std_errors)
        if np.isnan(std_errors[best]):
            if np.nanmin(values) == 0:
                return self._simplest(tied(values, 0.0))
            raise Refusal(
                "rule '1-se' needs a standard error and this method and loss give none; "
                "use rule='min', or a method with per-row losses such as '10-fold'. In the order "
                "of time these are 'forward-5' and 'purged-5' where the losses of 100 times or "
                "more tell how long they remember."
            )
        return self._simplest(tied(values, values[best] + std_errors[best]))

    def _simplest(self, good: np.ndarray) -> int:
        return int(np.flatnonzero(good)[0 if self.simplest == "first" else -1])
