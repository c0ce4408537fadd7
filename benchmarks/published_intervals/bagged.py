"""Bootstrap samples of all rows: out of bag, .632+, and the location-shifted interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from benchmarks.published_intervals.form import Asked, Published
from benchmarks.published_intervals.formulas import Found, around, jackknife, plus, shifted
from truerisk.core.contracts import Streams
from truerisk.core.plan.plan import Plan
from truerisk.core.plan.samples import plan_of_samples, times_drawn
from truerisk.core.table.data import Data
from truerisk.resampling.samples import draw_samples

__all__ = ["LocationShifted", "OutOfBag", "Plus"]


@dataclass(frozen=True)
class Bagged(Published):
    """Fits on samples of n rows with replacement and on all rows, each asked about all rows."""

    replicates: int = 500
    name: ClassVar[str]

    @property
    def word(self) -> str:
        return f"{self.name} (B={self.replicates})"

    def plan(self, data: Data, streams: Streams) -> Plan:
        times = draw_samples(data, self.replicates, streams.get("bootstrap"))
        return plan_of_samples(times, missed=False, apparent=True)

    def found(self, asked: Asked, level: float) -> Found:
        samples, apparent = np.arange(self.replicates), np.array([self.replicates])
        times = times_drawn(asked.plan, samples)
        losses = asked.losses.reshape(len(samples) + 1, -1)[:-1]
        return self.interval(asked, times, losses, apparent, level)

    def interval(
        self,
        asked: Asked,
        times: np.ndarray,
        losses: np.ndarray,
        apparent: np.ndarray,
        level: float,
    ) -> Found:
        """From the times that samples hold rows, losses of all rows, and the fit on all."""
        raise NotImplementedError


@dataclass(frozen=True)
class OutOfBag(Bagged):
    """Err₁ ± z · its infinitesimal jackknife (Efron and Tibshirani, 1997)."""

    name = "out of bag"

    def interval(
        self,
        asked: Asked,
        times: np.ndarray,
        losses: np.ndarray,
        apparent: np.ndarray,
        level: float,
    ) -> Found:
        return around(*jackknife(times, losses), level)


@dataclass(frozen=True)
class Plus(Bagged):
    """The .632+ estimate with that standard error times .632+ / Err₁."""

    name = ".632+"

    def interval(
        self,
        asked: Asked,
        times: np.ndarray,
        losses: np.ndarray,
        apparent: np.ndarray,
        level: float,
    ) -> Found:
        out, error = jackknife(times, losses)
        value = plus(out, asked.mean(apparent), asked.gamma(apparent))
        return around(value, error * value / out if out else np.nan, level)


@dataclass(frozen=True)
class LocationShifted(Bagged):
    """Quantiles of the samples' apparent risks, moved by .632+ less the apparent risk."""

    replicates: int = 100
    name = "location-shifted"

    def interval(
        self,
        asked: Asked,
        times: np.ndarray,
        losses: np.ndarray,
        apparent: np.ndarray,
        level: float,
    ) -> Found:
        own = asked.mean(apparent)
        value = plus(jackknife(times, losses)[0], own, asked.gamma(apparent))
        of_samples = (times * losses).sum(axis=1) / times.sum(axis=1)
        return shifted(value, own, of_samples, level)
