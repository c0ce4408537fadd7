"""Calibration of held-out probabilities: the line, the curve, and how far they are from right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from truerisk.core.displays import displays
from truerisk.core.records import FINITE, Column, Points, Record, Share
from truerisk.core.registry import of_word
from truerisk.core.validation.measured import Measured, table_of

__all__ = ["CalibrationCurve", "SmoothCalibration"]


@dataclass(frozen=True, eq=False)
class CalibrationCurve(Record):
    """The smoothed share of events, or mean of y, at `predicted`, with a band point by point.

    `observed` is of held-out rows, `apparent` of the model and its own rows, `corrected` is the
    latter less its optimism (None without bootstrap samples). Rows in order of time have no band.
    """

    predicted: Points
    observed: Points
    low: Points | None
    high: Points | None
    apparent: Points | None
    corrected: Points | None
    confidence_level: Share = 0.95
    of_event: bool = True

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the curve with its band (needs matplotlib)."""
        return displays.load("calibration-curve")(self, ax=ax, **options)


@dataclass(frozen=True, eq=False)
class SmoothCalibration(Record):
    """Slope, intercept and distances (`measures`), the flexible `curve`, and the probabilities.

    `counts` are the weights of held-out rows in 20 equal bins of the probability between `edges`,
    those with the event and the others; of numbers, where `event` is None, those of all rows.
    Without a curve `missing` says why.
    """

    event: str | None
    measures: Mapping[str, Measured]
    curve: CalibrationCurve | None = field(repr=False)
    counts: Annotated[np.ndarray, Column(n_axes=2, least=1, numbers=FINITE)] = field(repr=False)
    edges: Annotated[np.ndarray, Column(numbers=FINITE)] = field(repr=False)
    missing: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def flaw(self) -> tuple[str, str] | None:
        """What makes it none, where it was read from a file."""
        n = self.counts.shape[1] + 1
        return None if len(self.edges) == n else ("edges", f"an array of {n} numbers")

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

    def __str__(self) -> str:
        return table_of(self.measures)
