"""Bootstrap samples of all rows: out of bag, .632+, and the location-shifted interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from benchmarks.published_intervals.form import Asked, Published
from benchmarks.published_intervals.formulas import Found, around, jackknife, plus, shifted
from truerisk.contracts import Streams
from truerisk.data.data import Data
from truerisk.plan.partitions import count_row_copies, plan_sample_fits
from truerisk.plan.plan import Plan
from truerisk.splitting.samples import draw_samples

__all__ = ["LocationShifted", "OutOfBag", "Plus"]


@dataclass(frozen=True, eq=False)
class Sampled:
    """The losses of all rows by fits on samples of them, and by the fit on all rows."""

    asked: Asked

    @cached_property
    def times(self) -> np.ndarray:
        """How often each sample holds each row."""
        return count_row_copies(self.asked.plan, np.arange(self.asked.plan.n_questions - 1))

    @property
    def losses(self) -> np.ndarray:
        """Those of the samples, `(n_samples, n_rows)`."""
        return self.asked.losses.reshape(len(self.times) + 1, -1)[:-1]

    @property
    def own(self) -> float:
        """The apparent risk."""
        return self.asked.mean(np.array([len(self.times)]))

    @cached_property
    def out(self) -> tuple[float, float]:
        """Err₁ and its standard error."""
        return jackknife(self.times, self.losses)

    def plus(self) -> float:
        """The .632+ estimate."""
        return plus(self.out[0], self.own, self.asked.gamma(np.array([len(self.times)])))


@dataclass(frozen=True)
class OutOfBag(Published):
    """Err₁ ± z · its infinitesimal jackknife (Efron and Tibshirani, 1997).

    Fits on samples of n rows drawn with replacement and on all rows, each asked about all rows.
    """

    replicates: int = 500
    label: ClassVar[str] = "out of bag"

    @property
    def name(self) -> str:
        return f"{self.label} (B={self.replicates})"

    def plan(self, data: Data, streams: Streams) -> Plan:
        times = draw_samples(data, self.replicates, streams.get("bootstrap"))
        return plan_sample_fits(times, tests_missed_rows=False, adds_apparent_fit=True)

    def found(self, asked: Asked, level: float) -> Found:
        return around(*Sampled(asked).out, level)


@dataclass(frozen=True)
class Plus(OutOfBag):
    """The .632+ estimate with that standard error times .632+ / Err₁."""

    name = ".632+"

    def found(self, asked: Asked, level: float) -> Found:
        sampled = Sampled(asked)
        (out, error), value = sampled.out, sampled.plus()
        return around(value, error * value / out if out else np.nan, level)


@dataclass(frozen=True)
class LocationShifted(OutOfBag):
    """Quantiles of the samples' apparent risks, moved by .632+ less the apparent risk."""

    replicates: int = 100
    name = "location-shifted"

    def found(self, asked: Asked, level: float) -> Found:
        sampled = Sampled(asked)
        of_samples = (sampled.times * sampled.losses).sum(axis=1) / sampled.times.sum(axis=1)
        return shifted(sampled.plus(), sampled.own, of_samples, level)
