"""An interval carries the name of the method that made it."""

from __future__ import annotations

from dataclasses import dataclass

from truerisk.core.present import risk

__all__ = ["Interval"]


@dataclass(frozen=True)
class Interval:
    """`low` to `high`, by `method`, at `confidence_level`."""

    low: float
    high: float
    method: str
    confidence_level: float = 0.95

    @property
    def width(self) -> float:
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"[{risk(self.low, self.high)}, {risk(self.high)}]"
