"""What a paired test is: pairs in, a comparison out; and the words for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from truerisk.api.comparing.pairing import Pairs
from truerisk.api.comparing.result import Comparison
from truerisk.core.registry import Line, Registry

__all__ = [
    "PairedTest",
    "Tolerance",
    "registry",
]


@dataclass(frozen=True)
class Tolerance:
    """What a test is told besides the pairs: half the region of equivalence, and a level."""

    rope: float = 0.01
    confidence_level: float = 0.95


class PairedTest(ABC):
    """A test of "a and b have the same risk" on paired losses; it refuses what it cannot justify.

    `per_split` says that it works on one difference per split, else on rows tested once.
    """

    word: ClassVar[str]
    per_split: ClassVar[bool]

    @abstractmethod
    def of(self, pairs: Pairs, asked: Tolerance) -> Comparison:
        """What the pairs say."""


_ROOM = "truerisk.api.comparing"

registry = Registry(
    "test",
    {
        "nadeau-bengio": Line(
            f"{_ROOM}.nadeau_bengio:NadeauBengio", "corrected resampled t of the split differences"
        ),
        "bayes": Line(
            f"{_ROOM}.bayes:CorrelatedBayes",
            "P(practically better, equivalent, worse), correlated t",
        ),
        "mcnemar": Line(f"{_ROOM}.mcnemar:McNemar", "rows that one got wrong and the other right"),
        "5x2": Line(f"{_ROOM}.five_by_two:FiveByTwo", "Dietterich's t of five times two folds"),
    },
)
