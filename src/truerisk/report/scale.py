"""From values to places on a drawing, and the round numbers that an axis shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10


@dataclass(frozen=True)
class PixelScale:
    """Values from `low` to `high` on pixels from `start` to `end`; logarithmic where asked."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def around(
        cls,
        values: Sequence[float],
        start: float,
        end: float,
        *,
        log: bool = False,
        margin: float = 0.06,
        floor_at: float | None = None,
        ceiling: float | None = None,
    ) -> PixelScale:
        """A scale that shows all values with some air, not below `floor_at`."""
        low, high = min(values), max(values)
        if log:
            air = margin * (log10(high) - log10(low)) or 0.5
            return cls(10 ** (log10(low) - air), 10 ** (log10(high) + air), start, end, True)
        air = margin * (high - low) or 0.1 * max(abs(high), 1e-9)
        low, high = low - air, high + air
        if floor_at is not None:
            low = max(low, floor_at)
        if ceiling is not None:
            high = min(high, ceiling)
        return cls(low, high, start, end)

    def __call__(self, value: float) -> float:
        """The place of a value."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = log10(low), log10(high), log10(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, about: int = 5) -> list[float]:
        """Round values inside the scale."""
        if self.log:
            powers = range(ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9) + 1)
            step = max(1, ceil(len(powers) / max(about, 1)))
            if len(powers) >= 2:
                return [10.0**p for p in powers][::step]
        return round_ticks(self.low, self.high, about)


def round_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between low and high, about so many.

    >>> round_ticks(0.02, 0.41)
    [0.1, 0.2, 0.3, 0.4]
    """
    span = high - low
    if not span > 0:
        return [low]
    rough = span / max(about, 1)
    power = 10.0 ** floor(log10(rough))
    step = next((power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.999), 10 * power)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def tick_text(value: float) -> str:
    """A tick as it is written: no more digits than it needs.

    >>> [tick_text(v) for v in (0.1, 1e-05, 20.0, 1e6, 0.0)]
    ['0.1', '1e-5', '20', '1e6', '0']
    """
    text = f"{value:.4g}"
    if "e" in text:
        head, _, power = text.partition("e")
        text = f"{head}e{int(power)}"
    return text.replace("-", "−", 1) if text.startswith("-") else text
