"""What a paired test is: pairs in, a comparison out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from truerisk.api.comparing.pairing import Pairs
from truerisk.api.comparing.result import Comparison

__all__ = ["Asked", "PairedTest"]


@dataclass(frozen=True)
class Asked:
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
    def of(self, pairs: Pairs, asked: Asked) -> Comparison:
        """What the pairs say."""
