r"""How much the mean of a series varies whose values depend on those before them.

The variance of a mean of n values is :math:`Ω/n`, with Ω their spectrum at frequency 0. Cosine
transforms at the B lowest frequencies,

.. math:: Λ_j = \sqrt{2/n} \sum_t z_t \cos(π j (t - 1/2)/n), \quad
   \hat{Ω} = \frac{1}{B} \sum_{j=1}^{B} Λ_j^2,

are nearly independent with variance Ω, if the spectrum is flat up to frequency B/2n; then the mean
over its standard error has the t distribution of B degrees of freedom (Lazarus, Lewis, Stock and
Watson, 2018). The B of a series is the largest one up to .4 n^(2/3) whose estimate lacks at most a
share of Ω, were the spectrum that of an autoregression as lasting as its autocorrelations tell;
the share is added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["FEWEST_COSINES", "FEWEST_TIMES", "LongRun", "long_run", "reach"]

FEWEST_TIMES = 100
FEWEST_COSINES = 6
LACKS = 0.15  # of Ω, at most
BY_CHANCE = 0.01  # lags of an independent series that are taken for dependence, on average
ABOVE = 1.5  # standard errors that are added to those that count, since too low ones mislead
BEYOND = 1.5  # times the lag of the clearest season are looked at
LAGS = 4  # of n lags the first quarter is looked at
"""Calibrated by `python -m benchmarks.calibration.order` (docs/time.md)."""


@dataclass(frozen=True)
class LongRun:
    """The standard error of a mean of `n` values, from so many cosines; 0 where there are none."""

    std_error: float
    n_cosines: int


def long_run(series: np.ndarray) -> LongRun:
    """The standard error of the mean of the series.

    >>> found = long_run(np.random.default_rng(0).standard_normal(400))
    >>> found.n_cosines, round(found.std_error, 3)
    (21, 0.046)
    """
    from scipy.fft import dct

    n = len(series)
    seen = _seen(n, reach(series))
    n_cosines = int(np.count_nonzero(seen >= 1 - LACKS))
    if n_cosines == 0:
        return LongRun(0.0, 0)
    parts = dct(series - series.mean(), type=2)[1 : n_cosines + 1] / np.sqrt(2 * n)
    variance = float((parts**2).mean()) / float(seen[n_cosines - 1])
    return LongRun(float(np.sqrt(variance / n)), n_cosines)


def reach(series: np.ndarray) -> float:
    r"""How lasting the dependence is: the largest :math:`L^2 r_L/(1 - r_L)^2` over lags L.

    An autoregression over a lag of L with coefficient r has the spectrum :math:`Ω/(1 + ω λ^2)` at
    low frequencies λ, with ω this number: for an autoregression of lag 1 all lags tell the same ω,
    and a season tells it at its own. Lag 1 always counts, others if the autocorrelation of the
    ranks, which no single large loss makes, is so many of Bartlett's standard errors above 0 that
    one in a hundred independent series has such a lag. To each, 1.5 standard errors and its bias
    (1 + 3 r)/n are added. Lags far beyond the clearest season count no more: a fixed pattern comes
    back for ever, and is no dependence.
    """
    from scipy.special import ndtri

    n = len(series)
    n_lags = max(1, n // LAGS)
    lags = np.arange(1, n_lags + 1)
    by_rank = _autocorrelations(_ranks(series), n_lags)
    errors = np.sqrt((1 + 2 * np.concatenate([[0.0], np.cumsum(by_rank**2)[:-1]])) / n)
    sure = by_rank * n / (n - lags) > ndtri(1 - BY_CHANCE / n_lags) * errors
    r = _autocorrelations(series, n_lags) * n / (n - lags)
    r = r + (1 + 3 * r.clip(0, 1)) / n + ABOVE * np.sqrt((1 - r**2).clip(0) / n)
    sure[0] = True
    seasons = sure & (np.cumsum(~sure) > 0)  # lags that are sure again after one that is not
    if seasons.any():
        sure &= lags <= BEYOND * lags[np.where(seasons, by_rank, -1).argmax()]
    r = np.where(sure, r.clip(0, 0.995), 0.0)
    return float((lags**2 * r / (1 - r) ** 2).max())


def _autocorrelations(series: np.ndarray, n_lags: int) -> np.ndarray:
    """Those of lag 1, 2, ...; 0 where all values are alike."""
    n = len(series)
    centred = series - series.mean()
    total = float(centred @ centred)
    if total == 0:
        return np.zeros(n_lags)
    spectrum = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    return np.fft.irfft(spectrum)[1 : n_lags + 1] / total


def _ranks(series: np.ndarray) -> np.ndarray:
    """Ranks from 1, equal values having the mean of theirs."""
    _, place, counts = np.unique(series, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place.ravel()]


def _seen(n: int, omega: float) -> np.ndarray:
    """The share of Ω that the first cosine sees, the first two on average, and so on."""
    places = np.arange(1, max(1, int(0.4 * n ** (2 / 3))) + 1)
    return np.cumsum(1 / (1 + omega * (np.pi * places / n) ** 2)) / places  # ever less
