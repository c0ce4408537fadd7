r"""For how long a series remembers, from its autocorrelations, and rather too long than too short.

An autoregression with coefficient r over a lag of L has, relative to frequency 0, the spectrum

.. math:: \frac{(1 - r)^2}{(1 - r)^2 + 2 r (1 - \cos L λ)} \approx \frac{1}{1 + ω λ^2}, \quad
   ω = \frac{L^2 r}{(1 - r)^2}

at low frequencies λ. If L is 1, its autocorrelations at all lags tell about the same ω; a season
tells of itself at its own lag alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Memory", "memory"]

FIRST = 5  # lags that count, whether they are surely correlated or not
ABOVE = 1.0  # standard errors that are added to autocorrelations
TIMES = 6.0  # as large as they tell ω is taken: less is known of it where large values last long
BY_CHANCE = 0.05  # lags of an independent series that are taken for dependence, on average
BEYOND = 1.5  # times the lag of the clearest season are looked at
LAGS = 4  # of n lags the first quarter is looked at
SEASONS = 3  # of the most lasting seasons
MOST = 0.999  # an autocorrelation
"""Calibrated by `python -m benchmarks.calibration.order` (docs/time.md)."""


@dataclass(frozen=True)
class Memory:
    """An upper bound of ω, and lag and coefficient of the seasons."""

    lasting: float
    seasons: tuple[tuple[int, float], ...] = ()

    @property
    def reach(self) -> float:
        """The largest √ω: after about so many steps a value is forgotten."""
        of_seasons = (lag * np.sqrt(r) / (1 - r) for lag, r in self.seasons)
        return float(max(np.sqrt(self.lasting), *of_seasons, 0.0))

    def spectra(self, frequencies: np.ndarray) -> np.ndarray:
        """Those of each part relative to frequency 0, a row for each; the lasting one first."""
        rows = [1 / (1 + self.lasting * frequencies**2)]
        for lag, r in self.seasons:
            rows.append((1 - r) ** 2 / ((1 - r) ** 2 + 2 * r * (1 - np.cos(lag * frequencies))))
        return np.array(rows)


def memory(series: np.ndarray) -> Memory:
    """What the series seems to remember at most.

    Lags count if they are among the first 5, or if the autocorrelation of the ranks, which no
    single large loss makes, is so many of Bartlett's standard errors above 0 that one in twenty
    independent series has such a lag. To each, one standard error and the bias (1 + 3 r)/n are
    added. Lags that are sure again after one that is not are seasons. Those far beyond the clearest
    one count no more: a fixed pattern comes back for ever, and is no dependence.

    >>> memory(np.random.default_rng(0).standard_normal(400)).seasons
    ()
    """
    n = len(series)
    n_lags = max(1, n // LAGS)
    lags = np.arange(1, n_lags + 1)
    by_rank = _autocorrelations(_ranks(series), n_lags)
    sure = _surely(by_rank * n / (n - lags), by_rank, n)
    unbroken = np.append(True, np.cumsum(~sure[1:]) == 0)
    unbroken[:FIRST] = True
    seasons = sure & ~unbroken
    sure[:FIRST] = True
    if seasons.any():
        clearest = lags[np.where(seasons, by_rank, -1).argmax()]
        seasons &= lags <= BEYOND * clearest
    r = _raised(_autocorrelations(series, n_lags) * n / (n - lags), n)
    omega = lags**2 * r / (1 - r) ** 2
    most = np.argsort(np.where(seasons, -omega, 1.0), kind="stable")[:SEASONS]
    return Memory(
        TIMES * float(omega[sure & unbroken].max()),
        tuple((int(lags[i]), float(r[i])) for i in most if seasons[i] and r[i] > 0),
    )


def _surely(r: np.ndarray, by_rank: np.ndarray, n: int) -> np.ndarray:
    """Whether each lag is correlated more than chance makes it."""
    from scipy.special import ndtri

    before = np.append(0.0, np.cumsum(by_rank**2)[:-1])
    above: np.ndarray = r > ndtri(1 - BY_CHANCE / len(r)) * np.sqrt((1 + 2 * before) / n)
    return above


def _raised(r: np.ndarray, n: int) -> np.ndarray:
    """Autocorrelations without their bias, and with standard errors above."""
    error = np.sqrt((1 - r**2).clip(0) / n)
    high: np.ndarray = (r + (1 + 3 * r.clip(0, 1)) / n + ABOVE * error).clip(0, MOST)
    return high


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
