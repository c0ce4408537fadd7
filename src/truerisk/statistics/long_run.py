r"""Variance of the mean of a series whose values depend on earlier ones.

The variance of a mean of n values is :math:`Ω/n`, with Ω their spectrum at frequency 0. Cosine
transforms at the B lowest frequencies :math:`λ_j = π j / n`,

.. math:: Λ_j = \sqrt{2/n} \sum_t z_t \cos(λ_j (t - 1/2)),

are nearly independent, with the spectrum at :math:`λ_j` as variance. If the spectrum were flat, the
mean over :math:`\sqrt{\sum_j Λ_j^2 / (n B)}` would have a t distribution with B degrees of freedom
(Lazarus, Lewis, Stock and Watson, 2018). It decreases, the earlier the longer the memory of the
series. The factor of the standard error is therefore the smallest one that covers the mean at the
requested level, whether the values are independent or as persistent as their autocorrelations allow
(`memory`). B is the number with the shortest interval for independent values, as chosen by Müller
and Watson (2022).

`exceeds` returns the probability that a squared normal value exceeds a weighted sum of squares of
others.

This is the error rate of a mean whose standard error consists of a few sums, each normal about 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, sqrt

import numpy as np

from truerisk.core.frozen import frozen

FIRST = 5  # number of lags that count even if they are not significantly correlated
ABOVE = 1.0  # number of standard errors that are added to autocorrelations
TIMES = 6.0  # Factor of ω, because it is known less precisely if large values persist.
BY_CHANCE = 0.05  # expected number of lags of an independent series that are taken for dependence
BEYOND = 1.5  # lags up to this multiple of the clearest season are examined
LAGS = 4  # one in this many lags, the shortest ones, is examined
SEASONS = 3  # maximum number of seasons, the most persistent ones
MOST = 0.999  # maximum of an autocorrelation
"""Calibrated by `python -m benchmarks.calibration.order` (docs/time-measured.md)."""


@frozen
class Memory:
    """An upper bound of ω, and lag and coefficient of the seasons."""

    lasting: float
    seasons: tuple[tuple[int, float], ...] = ()

    @property
    def reach(self) -> float:
        """The largest √ω: after about this many steps a value has no effect."""
        of_seasons = (lag * np.sqrt(r) / (1 - r) for lag, r in self.seasons)
        return float(max(np.sqrt(self.lasting), *of_seasons, 0.0))

    def spectra(self, frequencies: np.ndarray) -> np.ndarray:
        """Return the spectra of each part relative to frequency 0, the persistent one first."""
        rows = [1 / (1 + self.lasting * frequencies**2)]
        for lag, r in self.seasons:
            rows.append((1 - r) ** 2 / ((1 - r) ** 2 + 2 * r * (1 - np.cos(lag * frequencies))))
        return np.array(rows)


def memory(series: np.ndarray) -> Memory:
    """Return an upper bound on the dependence of the series.

    Lags count if they are among the first 5, or if they are significantly correlated. The latter
    uses the autocorrelation of the ranks, which no single large loss dominates, with a multiple of
    Bartlett's standard error such that one in twenty independent series has such a lag. One
    standard error and the bias (1 + 3 r)/n are added to each. Lags that are significant again after
    one that is not are seasons. Those far beyond the clearest one are ignored: a fixed pattern
    recurs forever, and is not dependence.

    >>> memory(np.random.default_rng(0).standard_normal(400)).seasons
    ()
    """
    n = len(series)
    n_lags = max(1, n // LAGS)
    lags = np.arange(1, n_lags + 1)
    # Ranks start at 1, and equal values have their mean rank.
    _, place, counts = np.unique(series, return_inverse=True, return_counts=True)
    by_rank = _autocorrelations((np.cumsum(counts) - (counts - 1) / 2)[place.ravel()], n_lags)
    significant = _surely(by_rank * n / (n - lags), by_rank, n)
    unbroken = np.append(True, np.cumsum(~significant[1:]) == 0)
    unbroken[:FIRST] = True
    seasons = significant & ~unbroken
    significant[:FIRST] = True
    if seasons.any():
        clearest = lags[np.where(seasons, by_rank, -1).argmax()]
        seasons &= lags <= BEYOND * clearest
    r = _raised(_autocorrelations(series, n_lags) * n / (n - lags), n)
    omega = lags**2 * r / (1 - r) ** 2
    most = np.argsort(np.where(seasons, -omega, 1.0), kind="stable")[:SEASONS]
    return Memory(
        TIMES * float(omega[significant & unbroken].max()),
        tuple((int(lags[i]), float(r[i])) for i in most if seasons[i] and r[i] > 0),
    )


def _surely(r: np.ndarray, by_rank: np.ndarray, n: int) -> np.ndarray:
    """Return a mask of lags whose correlation is larger than by chance."""
    from scipy.special import ndtri

    before = np.append(0.0, np.cumsum(by_rank**2)[:-1])
    above: np.ndarray = r > ndtri(1 - BY_CHANCE / len(r)) * np.sqrt((1 + 2 * before) / n)
    return above


def _raised(r: np.ndarray, n: int) -> np.ndarray:
    """Return autocorrelations without their bias, plus standard errors."""
    error = np.sqrt((1 - r**2).clip(0) / n)
    high: np.ndarray = (r + (1 + 3 * r.clip(0, 1)) / n + ABOVE * error).clip(0, MOST)
    return high


def _autocorrelations(series: np.ndarray, n_lags: int) -> np.ndarray:
    """Return the autocorrelations of lag 1, 2, ...; 0 if all values are equal."""
    n = len(series)
    centred = series - series.mean()
    total = float(centred @ centred)
    if total == 0:
        return np.zeros(n_lags)
    spectrum = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    return np.fft.irfft(spectrum)[1 : n_lags + 1] / total


FEWEST_TIMES = 100
# Multiple of the length of the series. Longer memory cannot be distinguished from a drift.
FURTHEST = 2.5
MOST_COSINES = 100
STEPS = 64  # number of factors that are tried to choose the number of cosines


@frozen(eq=False)
class LongRun:
    r"""The standard error of a mean of `n` values.

    `spectra` has a row for each possible kind of dependence, and a column for each of the B
    cosines, with upper bounds of their variances relative to Ω. The error is :math:`\sqrt{\sum_j
    Λ_j^2 / (n \sum_j s_j)}`, where s is the smallest row.
    """

    std_error: float
    spectra: np.ndarray

    @property
    def n_cosines(self) -> int:
        """Number of cosine transforms, the degrees of freedom of the standard error."""
        return self.spectra.shape[1]

    def factor(self, level: float) -> float:
        """Return the factor for which value ± factor · std_error covers the mean at this level."""
        return least_factor(self._errs, 1 - level)

    def p_value(self, ratio: float) -> float:
        """Return the probability that a mean of 0 is at least this many standard errors away."""
        return float(self._errs(abs(ratio)).max())

    def _errs(self, factor: float) -> np.ndarray:
        least = self.spectra.sum(axis=1).min()
        return exceeds(factor**2 * self.spectra / least)


def long_run(series: np.ndarray) -> LongRun | None:
    """Return the standard error of the mean of the series; None if its memory is too long.

    >>> found = long_run(np.random.default_rng(0).standard_normal(400))
    >>> found.n_cosines, round(found.std_error, 3), round(found.factor(0.95), 2)
    (17, 0.038, 2.11)
    """
    from scipy.fft import dct

    n = len(series)
    dependence = memory(series)
    if dependence.reach > FURTHEST * n:
        return None
    most = min(max(2, int(0.4 * n ** (2 / 3))), MOST_COSINES)
    frequencies = np.pi * np.arange(1, most + 1) / n
    spectra = np.vstack([np.ones(most), dependence.spectra(frequencies)])
    spectra = spectra[:, : _n_cosines(spectra)]
    parts = dct(series - series.mean(), type=2)[1 : spectra.shape[1] + 1] / np.sqrt(2 * n)
    variance = float((parts**2).sum() / spectra.sum(axis=1).min())
    return LongRun(float(np.sqrt(variance / n)), spectra)


def _n_cosines(spectra: np.ndarray) -> int:
    """Return the number of cosines that gives independent values the shortest 95 % interval."""
    from scipy.special import stdtrit

    alpha, counts = 0.05, np.arange(1, spectra.shape[1] + 1)
    flat = stdtrit(counts, 1 - alpha / 2) ** 2 / counts  # squared factors divided by the number
    steps = np.geomspace(flat[-1], flat[1] / spectra.min(), STEPS)
    squares = flat
    for row in np.unique(spectra[1:], axis=0):
        errs = np.log(exceeds_first(steps[:, None] * row))
        squares = np.maximum(squares, [_crossing(steps, column, alpha) for column in errs.T])
    lengths = np.sqrt(squares * counts) * [mean_of_chi(q) for q in counts]
    return int(lengths[1:].argmin()) + 2


def _crossing(steps: np.ndarray, errs: np.ndarray, alpha: float) -> float:
    """Find the first step at which the log p-value, which decreases, falls below log(alpha)."""
    return float(np.exp(np.interp(-np.log(alpha), -errs, np.log(steps))))


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_SINES = np.sin((_NODES + 1) * np.pi / 4) ** 2  # squared sines of angles from 0 to a quarter turn


def exceeds(weights: np.ndarray) -> np.ndarray:
    """Return P(z₀² > Σ_j w_j z_j²) of independent standard normal z, for each row of weights.

    >>> from scipy.special import stdtr
    >>> bool(np.isclose(exceeds(np.full(4, 2.5**2 / 4)), 2 * stdtr(4, -2.5)))
    True
    """
    return _tails(np.log1p(weights[..., None] / _SINES).sum(axis=-2))


def _tails(logarithms: np.ndarray) -> np.ndarray:
    """Return the same from Σ_j log(1 + w_j/sin² t), along the nodes t of the last axis.

    By Craig's form of the normal tail it is 2/π ∫₀^{π/2} Π_j (1 + w_j/sin² t)^{−1/2} dt.
    """
    shares: np.ndarray = np.exp(-logarithms / 2) @ _WEIGHTS / 2
    return shares


def exceeds_first(weights: np.ndarray) -> np.ndarray:
    """Return `exceeds` for the first weight, the first two, and so on, along the last axis."""
    return _tails(np.cumsum(np.log1p(weights[..., None] / _SINES), axis=-2))


def least_factor(errs: Callable[[float], np.ndarray], alpha: float) -> float:
    """Return the smallest factor f for which all `errs(f)`, which decrease, are at most `alpha`."""
    from scipy.optimize import brentq

    def too_often(log_factor: float) -> float:
        return float(np.log(errs(exp(log_factor)).max() / alpha))

    high = 1.0  # The search starts near the root, since far above it rounding matters.
    while too_often(high) > 0:
        high += 1
    return exp(brentq(too_often, -5, high, xtol=1e-9))


def mean_of_chi(q: int) -> float:
    """Return E √(χ²_q/q), to which the expected length of an interval of q sums is proportional."""
    return sqrt(2 / q) * exp(lgamma((q + 1) / 2) - lgamma(q / 2))
