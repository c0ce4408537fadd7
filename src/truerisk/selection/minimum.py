"""The smallest risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truerisk.core.contracts import Rule
from truerisk.core.errors import Refusal
from truerisk.core.scale import tied

__all__ = ["Minimum", "smallest"]


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
