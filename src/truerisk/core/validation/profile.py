"""All numbers of a validation at once, so that optimism is one subtraction for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from truerisk.core.errors import Refusal
from truerisk.core.validation.calibration_curve import CalibrationFit
from truerisk.core.validation.measures import OF_EVENTS, OF_RANKS, numbers_of
from truerisk.core.validation.net_benefit import net_benefits
from truerisk.core.validation.outcomes import Outcomes
from truerisk.core.validation.recalibration import Recalibration

__all__ = ["Optimism", "Profile"]

Fit = TypeVar("Fit", Recalibration, CalibrationFit)


@dataclass(frozen=True, eq=False)
class Profile:
    """What is computed of outcomes: measures, the curve at `grid`, net benefits at `thresholds`.

    `words` are the measures; of decision values there are those of ranks alone.
    """

    grid: np.ndarray
    thresholds: np.ndarray
    words: tuple[str, ...] = OF_EVENTS

    def of(self, outcomes: Outcomes) -> np.ndarray:
        """One line of numbers, NaN where one does not exist."""
        if self.words == OF_RANKS:
            return np.array(list(numbers_of(outcomes, self.words, None, None).values()))
        line, curve = _or_none(Recalibration, outcomes), _or_none(CalibrationFit, outcomes)
        measures = list(numbers_of(outcomes, self.words, line, curve).values())
        drawn = np.full(len(self.grid), np.nan) if curve is None else curve.at(self.grid)
        return np.concatenate([measures, drawn, net_benefits(outcomes, self.thresholds)[0]])

    def measures(self, numbers: np.ndarray) -> dict[str, float]:
        """The measures of such a line (or of several), by their words."""
        return dict(zip(self.words, numbers[..., : len(self.words)].T.tolist(), strict=True))

    def curve(self, numbers: np.ndarray) -> np.ndarray:
        """The curve at the grid."""
        start = len(self.words)
        return numbers[..., start : start + len(self.grid)]

    def net_benefit(self, numbers: np.ndarray) -> np.ndarray:
        """The net benefit at the thresholds."""
        return numbers[..., len(self.words) + len(self.grid) :]


def _or_none(kind: type[Fit], outcomes: Outcomes) -> Fit | None:
    try:
        return kind.of(outcomes)
    except Refusal:
        return None


@dataclass(frozen=True, eq=False)
class Optimism:
    r"""By how much a model looks better on its own rows (Efron, 1983; Harrell, 2015).

    A model fitted on bootstrap sample b is rated on the sample (training) and on all rows (test).
    `optimism = mean_b (training − test)`, and `corrected = apparent − optimism`. A sample in which
    a number does not exist, such as one of a single class, does not count for it: `n` of them do.
    """

    apparent: np.ndarray
    training: np.ndarray
    test: np.ndarray
    n: np.ndarray

    @classmethod
    def of(
        cls, apparent: np.ndarray, training: Sequence[np.ndarray], test: Sequence[np.ndarray]
    ) -> Optimism:
        """From the numbers of every sample."""
        none = np.empty((0, len(apparent)))
        own, other = (np.array(part) if len(part) else none for part in (training, test))
        exists = np.isfinite(own) & np.isfinite(other)
        n = exists.sum(axis=0)

        def mean(part: np.ndarray) -> np.ndarray:
            total = np.where(exists, part, 0).sum(axis=0)
            return np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)

        return cls(apparent, mean(own), mean(other), n)

    @property
    def corrected(self) -> np.ndarray:
        """Apparent − (training − test)."""
        return self.apparent - (self.training - self.test)
