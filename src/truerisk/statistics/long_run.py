r"""Standard error of the mean of a time series whose values are autocorrelated.

The variance of a mean of n values is :math:`Ω/n`, where the long-run variance Ω is the spectrum of
the series at frequency 0. Cosine transforms of the values z_t at the B lowest frequencies
:math:`λ_j = π j / n`,

.. math:: Λ_j = \sqrt{2/n} \sum_t z_t \cos(λ_j (t - 1/2)),

are nearly independent, with the spectrum at :math:`λ_j` as variance. If the spectrum were flat, the
mean divided by :math:`\sqrt{\sum_j Λ_j^2 / (n B)}` would have a t distribution with B degrees of
freedom (Lazarus, Lewis, Stock and Watson, 2018). The spectrum decreases with frequency, and at
lower frequencies if the series has a longer memory. The standard error is therefore multiplied by
the smallest factor for which the interval covers the mean at the requested level, whether the
values are independent or as persistent as their autocorrelations allow (`bound_serial_dependence`).
The number B of cosines is the one that gives the shortest interval for independent values, as
chosen by Müller and Watson (2022).

`exceedance_probability` returns the probability that a squared normal variable exceeds a weighted
sum of squares of other normal variables. This is the error rate of an interval for a mean whose
standard error is computed from a few sums, each normal with mean 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, sqrt

import numpy as np

from truerisk.core.frozen import frozen

N_ALWAYS_USED_LAGS = (
    5  # The first N_ALWAYS_USED_LAGS lags are used even if their correlations are not significant.
)
# Number of standard errors that are added to each autocorrelation for an upper bound.
N_ADDED_STD_ERRORS = 1.0
# The persistence ω is multiplied by this, because ω is imprecise if large values persist.
PERSISTENCE_FACTOR = 6.0
# Average number of lags that are significant by chance if the series is independent.
SIGNIFICANT_LAGS_BY_CHANCE = 0.05
MAX_SEASON_RATIO = (
    # Seasons are ignored if they exceed this multiple of the length of the most significant one.
    1.5
)
LAG_DIVISOR = 4  # Lags up to the length of the series divided by LAG_DIVISOR are examined.
MAX_SEASONS = 3  # At most MAX_SEASONS seasons are used, the most persistent seasons first.
MAX_AUTOCORRELATION = 0.999  # Autocorrelations are limited to the maximum MAX_AUTOCORRELATION.
"""Calibrated by `python -m benchmarks.calibration.order` (docs/time-measured.md)."""


@frozen
class SerialDependence:
    """Upper bound on the serial dependence of a time series.

    It holds the persistence ω, and for each season its lag and autocorrelation.
    """

    persistence: float
    seasons: tuple[tuple[int, float], ...] = ()

    @property
    def memory_length(self) -> float:
        """Number of time steps after which a value of the series has no more effect.

        It is the largest √ω, where ω is the persistence of the series or of a season.
        """
        season_lengths = (
            lag * np.sqrt(autocorrelation) / (1 - autocorrelation)
            for lag, autocorrelation in self.seasons
        )
        return float(max(np.sqrt(self.persistence), *season_lengths, 0.0))

    def compute_spectra(self, frequencies: np.ndarray) -> np.ndarray:
        """Return the spectra of the persistent component and of each season.

        They are divided by their values at frequency 0.
        """
        spectrum_rows = [1 / (1 + self.persistence * frequencies**2)]
        for lag, autocorrelation in self.seasons:
            spectrum_rows.append(
                (1 - autocorrelation) ** 2
                / (
                    (1 - autocorrelation) ** 2
                    + 2 * autocorrelation * (1 - np.cos(lag * frequencies))
                )
            )
        return np.array(spectrum_rows)


def bound_serial_dependence(series: np.ndarray) -> SerialDependence:
    """Return an upper bound on the serial dependence of a time series.

    A lag is used if it is among the first 5, or if its autocorrelation is significant. The test of
    significance uses the autocorrelation of the ranks, which no single large loss dominates, with
    so large a multiple of Bartlett's standard error that one in twenty independent series has a
    significant lag. One standard error and the bias (1 + 3 r)/n are added to each autocorrelation
    r. A lag that is significant after an insignificant lag is a season. Seasons far longer than the
    most significant season are ignored: a fixed pattern recurs forever, and is not dependence.

    >>> bound_serial_dependence(np.random.default_rng(0).standard_normal(400)).seasons
    ()
    """
    n_values = len(series)
    n_lags = max(1, n_values // LAG_DIVISOR)
    lags = np.arange(1, n_lags + 1)
    # Ranks start at 1, and equal values share their mean rank.
    _, rank_index, tie_counts = np.unique(series, return_inverse=True, return_counts=True)
    rank_autocorrelations = _autocorrelations(
        (np.cumsum(tie_counts) - (tie_counts - 1) / 2)[rank_index.ravel()], n_lags
    )
    is_significant = _is_significant(
        rank_autocorrelations * n_values / (n_values - lags), rank_autocorrelations, n_values
    )
    is_before_first_gap = np.append(True, np.cumsum(~is_significant[1:]) == 0)
    is_before_first_gap[:N_ALWAYS_USED_LAGS] = True
    is_season = is_significant & ~is_before_first_gap
    is_significant[:N_ALWAYS_USED_LAGS] = True
    if is_season.any():
        clearest_lag = lags[np.where(is_season, rank_autocorrelations, -1).argmax()]
        is_season &= lags <= MAX_SEASON_RATIO * clearest_lag
    autocorrelation_bounds = _upper_bounds(
        _autocorrelations(series, n_lags) * n_values / (n_values - lags), n_values
    )
    omega = lags**2 * autocorrelation_bounds / (1 - autocorrelation_bounds) ** 2
    most_persistent_lags = np.argsort(np.where(is_season, -omega, 1.0), kind="stable")[:MAX_SEASONS]
    return SerialDependence(
        PERSISTENCE_FACTOR * float(omega[is_significant & is_before_first_gap].max()),
        tuple(
            (int(lags[i]), float(autocorrelation_bounds[i]))
            for i in most_persistent_lags
            if is_season[i] and autocorrelation_bounds[i] > 0
        ),
    )


def _is_significant(
    autocorrelations: np.ndarray, rank_autocorrelations: np.ndarray, n_values: int
) -> np.ndarray:
    """Return a mask of lags with an autocorrelation larger than expected by chance."""
    from scipy.special import ndtri

    earlier_squares = np.append(0.0, np.cumsum(rank_autocorrelations**2)[:-1])
    is_significant: np.ndarray = autocorrelations > ndtri(
        1 - SIGNIFICANT_LAGS_BY_CHANCE / len(autocorrelations)
    ) * np.sqrt((1 + 2 * earlier_squares) / n_values)
    return is_significant


def _upper_bounds(autocorrelations: np.ndarray, n_values: int) -> np.ndarray:
    """Return upper bounds on autocorrelations.

    A bound is the bias-corrected autocorrelation plus a standard error.
    """
    std_errors = np.sqrt((1 - autocorrelations**2).clip(0) / n_values)
    upper_bounds: np.ndarray = (
        autocorrelations
        + (1 + 3 * autocorrelations.clip(0, 1)) / n_values
        + N_ADDED_STD_ERRORS * std_errors
    ).clip(0, MAX_AUTOCORRELATION)
    return upper_bounds


def _autocorrelations(series: np.ndarray, n_lags: int) -> np.ndarray:
    """Return the autocorrelations at lags 1, 2, ...; they are 0 if all values are equal."""
    n_values = len(series)
    centred_series = series - series.mean()
    sum_of_squares = float(centred_series @ centred_series)
    if sum_of_squares == 0:
        return np.zeros(n_lags)
    spectrum = np.abs(np.fft.rfft(centred_series, 2 * n_values)) ** 2
    return np.fft.irfft(spectrum)[1 : n_lags + 1] / sum_of_squares


MIN_TIMES = 100
# Maximum memory of a series, as a multiple of its length.
# A longer memory cannot be distinguished from a drift.
MAX_MEMORY_RATIO = 2.5
MAX_COSINES = 100
N_TRIED_FACTORS = 64  # N_TRIED_FACTORS factors are tried to choose the number of cosines.


@frozen(eq=False)
class LongRunStdError:
    r"""Standard error of the mean of an autocorrelated series of `n` values.

    `spectra` has a row for each possible kind of dependence, and a column for each of the B
    cosines. Its elements are upper bounds on the variances of the cosine transforms relative to Ω.
    The standard error is :math:`\sqrt{\sum_j Λ_j^2 / (n \sum_j s_j)}`, where s is the row of
    `spectra` with the smallest sum.
    """

    std_error: float
    spectra: np.ndarray

    @property
    def n_cosines(self) -> int:
        """Number of cosine transforms, the degrees of freedom of the standard error."""
        return self.spectra.shape[1]

    def critical_value(self, confidence_level: float) -> float:
        """Return the factor f for which mean ± f · std_error has the given confidence level."""
        return find_smallest_factor(self._error_rates, 1 - confidence_level)

    def p_value(self, ratio: float) -> float:
        """Return the two-sided p-value of a mean that is `ratio` standard errors away from 0."""
        return float(self._error_rates(abs(ratio)).max())

    def _error_rates(self, factor: float) -> np.ndarray:
        smallest_sum = self.spectra.sum(axis=1).min()
        return exceedance_probability(factor**2 * self.spectra / smallest_sum)


def long_run_std_error(series: np.ndarray) -> LongRunStdError | None:
    """Return the standard error of the mean of a time series, or None if its memory is too long.

    >>> found = long_run_std_error(np.random.default_rng(0).standard_normal(400))
    >>> found.n_cosines, round(found.std_error, 3), round(found.critical_value(0.95), 2)
    (17, 0.038, 2.11)
    """
    from scipy.fft import dct

    n_values = len(series)
    dependence = bound_serial_dependence(series)
    if dependence.memory_length > MAX_MEMORY_RATIO * n_values:
        return None
    max_cosines = min(max(2, int(0.4 * n_values ** (2 / 3))), MAX_COSINES)
    frequencies = np.pi * np.arange(1, max_cosines + 1) / n_values
    spectra = np.vstack([np.ones(max_cosines), dependence.compute_spectra(frequencies)])
    spectra = spectra[:, : _choose_n_cosines(spectra)]
    cosine_transforms = dct(series - series.mean(), type=2)[1 : spectra.shape[1] + 1] / np.sqrt(
        2 * n_values
    )
    variance = float((cosine_transforms**2).sum() / spectra.sum(axis=1).min())
    return LongRunStdError(float(np.sqrt(variance / n_values)), spectra)


def _choose_n_cosines(spectra: np.ndarray) -> int:
    """Return the number of cosines at which the 95 % interval of independent values is shortest."""
    from scipy.special import stdtrit

    alpha, cosine_counts = 0.05, np.arange(1, spectra.shape[1] + 1)
    # If the spectrum is flat, the critical value is a t quantile.
    # The factors are squared t quantiles divided by the number of cosines.
    flat_spectrum_factors = stdtrit(cosine_counts, 1 - alpha / 2) ** 2 / cosine_counts
    squared_factors = np.geomspace(
        flat_spectrum_factors[-1], flat_spectrum_factors[1] / spectra.min(), N_TRIED_FACTORS
    )
    needed_factors = flat_spectrum_factors
    for spectrum in np.unique(spectra[1:], axis=0):
        log_p_values = np.log(exceedance_by_n_weights(squared_factors[:, None] * spectrum))
        needed_factors = np.maximum(
            needed_factors,
            [
                _factor_at_error_rate(squared_factors, log_p_column, alpha)
                for log_p_column in log_p_values.T
            ],
        )
    interval_lengths = np.sqrt(needed_factors * cosine_counts) * [
        mean_scaled_chi(df) for df in cosine_counts
    ]
    return int(interval_lengths[1:].argmin()) + 2


def _factor_at_error_rate(
    squared_factors: np.ndarray, log_p_values: np.ndarray, error_rate: float
) -> float:
    """Return the squared factor at which the decreasing log p-value reaches log(alpha)."""
    return float(np.exp(np.interp(-np.log(error_rate), -log_p_values, np.log(squared_factors))))


_QUADRATURE_NODES, _QUADRATURE_WEIGHTS = np.polynomial.legendre.leggauss(24)
_SQUARED_SINES = (
    np.sin((_QUADRATURE_NODES + 1) * np.pi / 4) ** 2
)  # Values of sin² t at the quadrature nodes t between 0 and π/2.


def exceedance_probability(weights: np.ndarray) -> np.ndarray:
    """Return P(z₀² > Σ_j w_j z_j²) for independent standard normal z and each row of weights w.

    >>> from scipy.special import stdtr
    >>> bool(np.isclose(exceedance_probability(np.full(4, 2.5**2 / 4)), 2 * stdtr(4, -2.5)))
    True
    """
    return _tail_probabilities(np.log1p(weights[..., None] / _SQUARED_SINES).sum(axis=-2))


def _tail_probabilities(log_sums: np.ndarray) -> np.ndarray:
    """Return P(z₀² > Σ_j w_j z_j²), given Σ_j log(1 + w_j/sin² t) at nodes t on the last axis.

    By Craig's form of the normal tail, the probability for independent standard normal z and
    weights w is 2/π ∫₀^{π/2} Π_j (1 + w_j/sin² t)^{−1/2} dt.
    """
    probabilities: np.ndarray = np.exp(-log_sums / 2) @ _QUADRATURE_WEIGHTS / 2
    return probabilities


def exceedance_by_n_weights(weights: np.ndarray) -> np.ndarray:
    """Return `exceedance_probability` of the first weight, of the first two weights, and so on."""
    return _tail_probabilities(np.cumsum(np.log1p(weights[..., None] / _SQUARED_SINES), axis=-2))


def find_smallest_factor(error_rates: Callable[[float], np.ndarray], alpha: float) -> float:
    """Return the smallest factor f at which all decreasing `error_rates(f)` are at most `alpha`."""
    from scipy.optimize import brentq

    def log_excess(log_factor: float) -> float:
        return float(np.log(error_rates(exp(log_factor)).max() / alpha))

    # Start the search near the root, because rounding errors matter far above the root.
    upper_log_factor = 1.0
    while log_excess(upper_log_factor) > 0:
        upper_log_factor += 1
    return exp(brentq(log_excess, -5, upper_log_factor, xtol=1e-9))


def mean_scaled_chi(df: int) -> float:
    """Return E √(χ²_q/q), to which the mean length of an interval from q sums is proportional."""
    return sqrt(2 / df) * exp(lgamma((df + 1) / 2) - lgamma(df / 2))
