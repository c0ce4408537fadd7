"""Calibration of held-out probabilities: the line, the curve, and how far they are from right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerisk.core import present
from truerisk.core.displays import displays
from truerisk.core.registry import of_word
from truerisk.core.validation.measured import Measured, table_of

__all__ = ["CalibrationCurve", "SmoothCalibration"]


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """The smoothed share of events, or mean of y, at `predicted`, with a band point by point.

    `observed` is of held-out rows, `apparent` of the model and its own rows, `corrected` is the
    latter less its optimism (None without bootstrap samples). Rows in order of time have no band.
    """

    predicted: np.ndarray
    observed: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None
    apparent: np.ndarray | None
    corrected: np.ndarray | None
    confidence_level: float = 0.95
    of_event: bool = True

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the curve with its band (needs matplotlib)."""
        return displays.load("calibration-curve")(self, ax=ax, **options)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: present.plain(value) for name, value in vars(self).items()}


@dataclass(frozen=True, eq=False)
class SmoothCalibration(present.Brief):
    """Slope, intercept and distances (`measures`), the flexible `curve`, and the probabilities.

    `counts` are the weights of held-out rows in 20 equal bins of the probability between `edges`,
    those with the event and the others; of numbers, where `event` is None, those of all rows.
    Without a curve `missing` says why.
    """

    event: str | None
    measures: Mapping[str, Measured]
    curve: CalibrationCurve | None = field(repr=False)
    counts: np.ndarray = field(repr=False)
    edges: np.ndarray = field(repr=False)
    missing: str | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, word: str) -> Measured:
        return of_word(word, self.measures)

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the curve with its band (needs matplotlib)."""
        from truerisk.core.errors import Refusal

        if self.curve is None:
            raise Refusal(f"there is no calibration curve: {self.missing}")
        return self.curve.plot(ax, **options)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "event": self.event,
            "measures": {word: one.to_dict() for word, one in self.measures.items()},
            "curve": None if self.curve is None else self.curve.to_dict(),
            "counts": present.plain(self.counts),
            "edges": present.plain(self.edges),
            "missing": self.missing,
            "notes": present.plain(self.notes),
        }

    def __str__(self) -> str:
        return table_of(self.measures)
