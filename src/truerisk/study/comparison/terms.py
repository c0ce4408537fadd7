"""What a comparison over many data sets is told besides its table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from truerisk.core.arguments import check_level, shown
from truerisk.core.comparison import ROPE, check_rope
from truerisk.core.errors import BadArgument, UnknownName
from truerisk.core.registry import closest

__all__ = ["Terms"]

WORDS = {
    "better": {"lower": "risks and losses", "higher": "accuracy, AUC and other scores"},
    "missing": {
        "leave-out": "a data set on which a method has no value takes part in nothing",
        "last": "a method without a value ranks last; differences are of data sets with both",
    },
    "pairwise": {
        "wilcoxon": "signed-rank tests, which look at two methods alone",
        "ranks": "differences of average ranks, which depend on all methods (Demšar 2006)",
    },
}


@dataclass(frozen=True)
class Terms:
    """`better` is "lower" or "higher"; `control` is the method that all others are held against."""

    better: str = "lower"
    missing: str = "leave-out"
    pairwise: str = "wilcoxon"
    control: str | None = None
    rope: float = ROPE
    confidence_level: float = 0.95
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, words in WORDS.items():
            _known(name, getattr(self, name), words)
        check_rope(self.rope)
        check_level("confidence_level", self.confidence_level)
        seed: Any = self.random_state
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise BadArgument(f"random_state={shown(seed)}: use an integer of at least 0.")

    @property
    def alpha(self) -> float:
        """The level of the tests."""
        return 1 - self.confidence_level

    @property
    def sign(self) -> int:
        """What turns values so that lower is better."""
        return 1 if self.better == "lower" else -1


def _known(name: str, given: Any, words: dict[str, str]) -> None:
    if not isinstance(given, str) or given not in words:
        near = closest(given, words) if isinstance(given, str) else None
        known = "; ".join(f"{word!r}: {said}" for word, said in words.items())
        raise UnknownName(f"{name}={shown(given)}{near or '.'} Known: {known}.")
