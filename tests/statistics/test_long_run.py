"""The error of the mean of a series that depends on its past."""

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.special import stdtr, stdtrit

from truerisk.statistics.long_run import (
    MAX_MEMORY_RATIO,
    MAX_SEASON_RATIO,
    N_ALWAYS_USED_LAGS,
    SerialDependence,
    bound_serial_dependence,
    exceedance_by_n_weights,
    exceedance_probability,
    find_smallest_factor,
    long_run_std_error,
    mean_scaled_chi,
)


def autoregression(rng, n, rho, lag=1):
    """Unit innovations, after a start that is forgotten."""
    weights = np.zeros(lag + 1)
    weights[0], weights[lag] = 1.0, -rho
    return lfilter([1.0], weights, rng.standard_normal(n + 200 * lag))[200 * lag :]


def test_long_run_has_the_cosines_of_the_formula():
    """The squares of the lowest, by sums over the series, against the least of their spectra."""
    z = np.random.default_rng(0).standard_normal(200)
    found = long_run_std_error(z)
    t = np.arange(1, 201)
    squares = [
        (np.sqrt(2 / 200) * np.sum(z * np.cos(np.pi * j * (t - 0.5) / 200))) ** 2
        for j in range(1, found.n_cosines + 1)
    ]
    spectra = bound_serial_dependence(z).compute_spectra(
        np.pi * np.arange(1, found.n_cosines + 1) / 200
    )
    assert found.std_error == pytest.approx(np.sqrt(sum(squares) / spectra.sum(axis=1).min() / 200))


def test_factor_holds_every_way_to_remember():
    """Values with the spectra of the series miss in 5 % at most, and in one of them in 5 %."""
    rng = np.random.default_rng(5)
    found = long_run_std_error(autoregression(rng, 300, 0.6))
    least = found.spectra.sum(axis=1).min()
    z = rng.standard_normal((40_000, found.n_cosines + 1))
    missed = [
        np.mean(z[:, 0] ** 2 > found.critical_value(0.95) ** 2 * (z[:, 1:] ** 2 @ row) / least)
        for row in found.spectra
    ]
    assert max(missed) == pytest.approx(0.05, abs=0.004)


def test_p_value_at_the_factor_of_a_level_is_what_the_level_leaves():
    found = long_run_std_error(autoregression(np.random.default_rng(6), 300, 0.5))
    for level in (0.5, 0.95, 0.999):
        assert found.p_value(found.critical_value(level)) == pytest.approx(1 - level, rel=1e-5)
    assert found.p_value(-2.0) == found.p_value(2.0)


def test_factor_of_long_independent_series_is_nearly_that_of_t():
    """Up to what a short memory that none can exclude adds."""
    found = long_run_std_error(np.random.default_rng(7).standard_normal(20_000))
    q = found.n_cosines
    assert stdtrit(q, 0.975) <= found.critical_value(0.95) < 1.03 * stdtrit(q, 0.975)
    assert found.p_value(2.0) == pytest.approx(2 * stdtr(q, -2.0), rel=0.1)


@pytest.mark.parametrize(("rho", "lag"), [(0.0, 1), (0.5, 1), (0.9, 1), (0.5, 12)])
def test_long_run_error_is_that_of_the_mean(rho, lag):
    """On average: sd of the mean of n is 1/(1 - rho)/sqrt(n), whatever the lag."""
    rng, n = np.random.default_rng(1), 1500
    squares = [
        long_run_std_error(autoregression(rng, n, rho, lag)).std_error ** 2 for _ in range(60)
    ]
    assert np.mean(squares) == pytest.approx(1 / (1 - rho) ** 2 / n, rel=0.2)


def test_long_run_takes_fewer_cosines_where_dependence_lasts():
    """And gives no error of a series that does not come back; a constant has none."""
    rng = np.random.default_rng(2)
    counts = [
        np.median([long_run_std_error(autoregression(rng, 500, rho)).n_cosines for _ in range(20)])
        for rho in (0.0, 0.8, 0.9)
    ]
    assert counts[0] > counts[1] > counts[2]
    drift = np.cumsum(rng.standard_normal(500))
    assert long_run_std_error(drift) is None
    assert bound_serial_dependence(drift).memory_length > MAX_MEMORY_RATIO * 500
    assert long_run_std_error(np.ones(200)).std_error == 0


@pytest.mark.parametrize(("rho", "lag"), [(0.9, 1), (0.5, 12)])
def test_long_run_covers_the_mean_of_short_series_that_remember_long(rho, lag):
    """Of 150 values: the known mean lies outside in about 5 of 100, not in 20."""
    rng, missed, given = np.random.default_rng(8), 0, 0
    for _ in range(200):
        z = autoregression(rng, 150, rho, lag)
        found = long_run_std_error(z)
        if found is not None:
            given += 1
            missed += abs(z.mean()) > found.critical_value(0.95) * found.std_error
    assert given > 160
    assert missed / given < 0.09


SEASONS = np.random.default_rng(4).standard_normal(480)
PATTERN = 3 * np.tile(np.sin(2 * np.pi * np.arange(12) / 12), 40)


def test_long_run_takes_a_fixed_pattern_of_the_seasons_for_no_error():
    """The mean over whole seasons does not vary with it."""
    plain, found = long_run_std_error(SEASONS), long_run_std_error(SEASONS + PATTERN)
    half = found.critical_value(0.95) * found.std_error
    assert half < 3 * plain.critical_value(0.95) * plain.std_error


# ---------------- sums of weighted chi-squares


@pytest.mark.parametrize("q", [1, 2, 7, 40])
@pytest.mark.parametrize("factor", [0.5, 2.0, 6.0])
def test_exceeds_of_equal_weights_is_students_t(q, factor):
    """P(z₀² > f²/q Σ z²) is the tail of t with q degrees of freedom on both sides."""
    found = exceedance_probability(np.full(q, factor**2 / q))
    assert found == pytest.approx(2 * stdtr(q, -factor), rel=1e-4)


def test_exceeds_of_unequal_weights_is_that_of_drawings():
    """Each row has its own; the first weights are taken as if each head were given alone."""
    weights = np.array([[3.0, 0.5, 0.1], [0.2, 0.2, 4.0]])
    z = np.random.default_rng(0).standard_normal((200_000, 4)) ** 2
    drawn = [(z[:, 0] > z[:, 1:] @ row).mean() for row in weights]
    assert exceedance_probability(weights) == pytest.approx(np.array(drawn), abs=0.004)
    heads = [exceedance_probability(weights[0][: q + 1]) for q in range(3)]
    np.testing.assert_allclose(exceedance_by_n_weights(weights[0]), heads)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_least_factor_is_the_quantile(level):
    """Of t, where all weights are equal."""
    found = find_smallest_factor(lambda f: exceedance_probability(np.full(5, f**2 / 5)), 1 - level)
    assert found == pytest.approx(stdtrit(5, (1 + level) / 2), rel=1e-4)


def test_mean_of_chi_is_that_of_drawings():
    draws = np.sqrt((np.random.default_rng(1).standard_normal((100_000, 3)) ** 2).mean(axis=1))
    assert mean_scaled_chi(3) == pytest.approx(draws.mean(), abs=0.005)
    assert mean_scaled_chi(4000) == pytest.approx(1, abs=1e-4)


# ---------------- for how long a series remembers


@pytest.mark.parametrize("rho", [0.5, 0.8, 0.9])
def test_memory_bounds_what_an_autoregression_remembers(rho):
    """Its own ω = rho/(1 - rho)² lies below in nearly every series."""
    rng = np.random.default_rng(0)
    bounds = [
        bound_serial_dependence(autoregression(rng, 300, rho)).persistence for _ in range(100)
    ]
    assert np.mean(np.array(bounds) > rho / (1 - rho) ** 2) > 0.95


def test_memory_sees_a_season_at_its_own_lag():
    """Lag 1 of a seasonal autoregression says nothing of it; noise has none, nearly always.

    A pattern comes back at every multiple of its period: lags far beyond do not count.
    """
    rng = np.random.default_rng(3)
    told = [bound_serial_dependence(autoregression(rng, 400, 0.6, 12)) for _ in range(20)]
    assert all(12 in dict(one.seasons) for one in told)
    plain = [bound_serial_dependence(rng.standard_normal(400)).seasons for _ in range(40)]
    assert sum(map(bool, plain)) < 8
    seasons = [lag for lag, _ in bound_serial_dependence(SEASONS + PATTERN).seasons]
    assert N_ALWAYS_USED_LAGS < min(seasons) <= max(seasons) <= MAX_SEASON_RATIO * 120


def test_memory_has_the_spectra_of_autoregressions_and_the_reach_of_its_longest_part():
    """That of lag L is exact; the lasting one is it at low frequencies."""
    at = np.array([0.01, 0.2, 1.0])
    found = SerialDependence(2.0, ((12, 0.5),)).compute_spectra(at)
    power = 1 / np.abs(1 - 0.5 * np.exp(-12j * at)) ** 2
    np.testing.assert_allclose(found[1], power / 4)
    of_one = 1 / np.abs(1 - 0.5 * np.exp(-1j * at)) ** 2 / 4
    assert found[0][0] == pytest.approx(of_one[0], rel=1e-3)
    assert SerialDependence(9.0).memory_length == 3  # in steps: √ω of what lasts, or of a season
    assert SerialDependence(9.0, ((12, 0.25),)).memory_length == pytest.approx(12 * 0.5 / 0.75)


def test_memory_depends_on_neither_unit_nor_level():
    """Losses in other units remember as long; a constant no longer than noise may."""
    z = autoregression(np.random.default_rng(5), 200, 0.5)
    assert bound_serial_dependence(1e6 * z + 3).persistence == pytest.approx(
        bound_serial_dependence(z).persistence
    )
    assert bound_serial_dependence(np.ones(200)).memory_length < 10
