"""What a paired test is: pairs in, a comparison out; and the words for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from truerisk.api.comparing.pairing import Basis, Pairs
from truerisk.core.arguments import check_level
from truerisk.core.comparison import ROPE, Comparison, check_rope
from truerisk.core.registry import Line, Registry

__all__ = ["PairedTest", "Tolerance", "registry"]


@dataclass(frozen=True)
class Tolerance:
    """What a test is told besides the pairs: half the region of equivalence, and a level."""

    rope: float = ROPE
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        check_rope(self.rope)
        check_level("confidence_level", self.confidence_level)


class PairedTest(ABC):
    """A test of "a and b have the same risk" on paired losses; it refuses what it cannot justify.

    `works_on` says on what: one difference per split, losses of rows that were tested once, what
    each row does to a cross-validated value, or differences in disjoint halves.
    """

    word: ClassVar[str]
    works_on: ClassVar[Basis]

    @abstractmethod
    def of(self, pairs: Pairs, asked: Tolerance) -> Comparison:
        """What the pairs say."""


_ROOM = "truerisk.api.comparing"

registry = Registry(
    "test",
    {
        "paired-cv": Line(
            f"{_ROOM}.paired_cv:PairedCV",
            "rows paired, how much they move seen from pairs of folds",
        ),
        "nadeau-bengio": Line(
            f"{_ROOM}.nadeau_bengio:NadeauBengio", "corrected resampled t of the split differences"
        ),
        "bayes": Line(
            f"{_ROOM}.bayes:CorrelatedBayes",
            "P(practically better, equivalent, worse), correlated t",
        ),
        "sharp": Line(f"{_ROOM}.sharp:Sharp", "repeated halves, which tell how they correlate"),
        "mcnemar": Line(f"{_ROOM}.mcnemar:McNemar", "rows that one got wrong and the other right"),
        "5x2": Line(f"{_ROOM}.five_by_two:FiveByTwo", "Dietterich's t of five times two folds"),
    },
)
