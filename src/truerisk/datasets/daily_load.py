"""A load by the day: a week's pattern, the temperature, and a level that remembers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from truerisk.core.arguments import check_count, check_number, generator_of
from truerisk.datasets.bundle import Bundle
from truerisk.datasets.gaussian import Seed

__all__ = ["DailyLoadProblem", "make_daily_load"]

WEEK = np.array([0.8, 1.0, 1.0, 0.9, 0.6, -1.8, -2.5])
NAMES = ("day", "weekday", "temperature")


@dataclass(frozen=True)
class DailyLoadProblem:
    r"""y = week + temperature + level, one row a day.

    .. math:: y_t = w_{t \bmod 7} - 0.8\, x_t + u_t, \qquad
       u_t = ρ u_{t-1} + \sqrt{1 - ρ^2}\, e_t

    with e standard normal and x the standardised temperature, a year's wave with noise of its own.
    The columns of X are the number of the day, its weekday and the temperature. The level u is not
    among them: of a day far from those that were seen nobody knows it, and the least squared risk
    is its variance, 1. Of a day between two that were seen much is known.

    >>> problem = DailyLoadProblem(memory=0.5)
    >>> X, y = problem(14, random_state=0)
    >>> X.shape, problem.bayes_risk, str(problem.dates(14)[-1])
    ((14, 3), 1.0, '2024-01-14')
    """

    memory: float = 0.9

    def __post_init__(self) -> None:
        check_number("memory", self.memory, 0, 0.999, "a level remembers a share of 0 to .999")

    def __call__(
        self, n_samples: int = 730, *, random_state: Seed = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw so many days in their order: the columns of X, and the load."""
        check_count("n_samples", n_samples)
        rng = generator_of(random_state)
        day = np.arange(n_samples)
        wave = np.sqrt(2) * np.sin(2 * np.pi * (day - 110) / 365.25)
        temperature = 0.9 * wave + np.sqrt(1 - 0.9**2) * rng.standard_normal(n_samples)
        level = rng.standard_normal(n_samples)
        level[1:] *= np.sqrt(1 - self.memory**2)
        for t in range(1, n_samples):
            level[t] += self.memory * level[t - 1]
        X = np.column_stack([day, day % 7, temperature]).astype(np.float64)
        return X, WEEK[day % 7] - 0.8 * temperature + level

    def dates(self, n_samples: int = 730) -> NDArray[np.datetime64]:
        """The days, from Monday the first of January 2024 on."""
        return np.datetime64("2024-01-01", "D") + np.arange(n_samples)

    def bundle(self, n_samples: int = 730, *, random_state: Seed = 0) -> Bundle:
        """One draw, always the same by default, in the form of a data set."""
        X, y = self(n_samples, random_state=random_state)
        return Bundle(
            name="daily-load",
            X=X,
            y=y,
            feature_names=NAMES,
            task="regression",
            description=f"{n_samples} days drawn: a load by weekday and temperature, about a level "
            f"with a memory of {self.memory:g}",
            source="truerisk",
            class_names=(),
        )

    @property
    def bayes_risk(self) -> float:
        """The least squared risk on days far from those that were seen: the level's variance."""
        return 1.0


make_daily_load = DailyLoadProblem()
"""A load of two years by the day; the Bayes risk of days far ahead is 1."""
