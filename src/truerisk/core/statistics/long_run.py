r"""How much the mean of a series varies whose values depend on those before them.

The variance of a mean of n values is :math:`Ω/n`, with Ω their spectrum at frequency 0. Cosine
transforms at the B lowest frequencies :math:`λ_j = π j / n`,

.. math:: Λ_j = \sqrt{2/n} \sum_t z_t \cos(λ_j (t - 1/2)),

are nearly independent with the spectrum at :math:`λ_j` as variance. Were that flat, the mean over
:math:`\sqrt{\sum_j Λ_j^2 / (n B)}` would have the t distribution of B degrees of freedom (Lazarus,
Lewis, Stock and Watson, 2018). It falls, the sooner the longer the series remembers. The factor of
the standard error is therefore the least that holds the mean at the level asked for, whether the
values are independent or as lasting as their autocorrelations allow (`memory.py`), and B the number
with the shortest interval of independent values, as Müller and Watson (2022) choose theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truerisk.core.statistics.memory import memory
from truerisk.core.statistics.normal_ratio import (
    exceeds,
    exceeds_first,
    least_factor,
    mean_of_chi,
)

__all__ = ["FEWEST_TIMES", "LongRun", "long_run"]

FEWEST_TIMES = 100
FURTHEST = 2.5  # lengths of the series: what remembers further is not told from a drift
MOST_COSINES = 100
STEPS = 64  # of the factors among which the number of cosines is chosen


@dataclass(frozen=True, eq=False)
class LongRun:
    r"""The standard error of a mean of `n` values.

    `spectra` has a row for each way in which the series may remember, and a column for each of the
    B cosines: their variances relative to Ω, at most. The error is
    :math:`\sqrt{\sum_j Λ_j^2 / (n \sum_j s_j)}`, s the least row.
    """

    std_error: float
    spectra: np.ndarray

    @property
    def n_cosines(self) -> int:
        return self.spectra.shape[1]

    def factor(self, level: float) -> float:
        """The interval value ± factor · std_error holds the mean at this level at least."""
        return least_factor(self._errs, 1 - level)

    def p_value(self, ratio: float) -> float:
        """How often a mean of 0 is at most so many standard errors away."""
        return float(self._errs(abs(ratio)).max())

    def _errs(self, factor: float) -> np.ndarray:
        least = self.spectra.sum(axis=1).min()
        return exceeds(factor**2 * self.spectra / least)


def long_run(series: np.ndarray) -> LongRun | None:
    """The standard error of the mean of the series; None where it remembers too far.

    >>> found = long_run(np.random.default_rng(0).standard_normal(400))
    >>> found.n_cosines, round(found.std_error, 3), round(found.factor(0.95), 2)
    (17, 0.038, 2.11)
    """
    from scipy.fft import dct

    n = len(series)
    told = memory(series)
    if told.reach > FURTHEST * n:
        return None
    most = min(max(2, int(0.4 * n ** (2 / 3))), MOST_COSINES)
    frequencies = np.pi * np.arange(1, most + 1) / n
    spectra = np.vstack([np.ones(most), told.spectra(frequencies)])
    spectra = spectra[:, : _n_cosines(spectra)]
    parts = dct(series - series.mean(), type=2)[1 : spectra.shape[1] + 1] / np.sqrt(2 * n)
    variance = float((parts**2).sum() / spectra.sum(axis=1).min())
    return LongRun(float(np.sqrt(variance / n)), spectra)


def _n_cosines(spectra: np.ndarray) -> int:
    """How many have the shortest 95 % interval of independent values."""
    from scipy.special import stdtrit

    alpha, counts = 0.05, np.arange(1, spectra.shape[1] + 1)
    flat = stdtrit(counts, 1 - alpha / 2) ** 2 / counts  # squared factors over the number
    steps = np.geomspace(flat[-1], flat[1] / spectra.min(), STEPS)
    squares = flat
    for row in np.unique(spectra[1:], axis=0):
        errs = np.log(exceeds_first(steps[:, None] * row))
        squares = np.maximum(squares, [_crossing(steps, column, alpha) for column in errs.T])
    lengths = np.sqrt(squares * counts) * [mean_of_chi(q) for q in counts]
    return int(lengths[1:].argmin()) + 2


def _crossing(steps: np.ndarray, errs: np.ndarray, alpha: float) -> float:
    """Where the logarithms, which fall along the steps, reach that of alpha."""
    return float(np.exp(np.interp(-np.log(alpha), -errs, np.log(steps))))
