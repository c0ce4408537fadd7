"""The error of the mean of a series that depends on its past."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from truerisk.core.statistics.long_run import FEWEST_COSINES, long_run, reach


def autoregression(rng, n, rho, lag=1):
    """Unit innovations, after a start that is forgotten."""
    weights = np.zeros(lag + 1)
    weights[0], weights[lag] = 1.0, -rho
    return lfilter([1.0], weights, rng.standard_normal(n + 200 * lag))[200 * lag :]


def test_the_cosines_are_those_of_the_formula():
    """The mean of the squares of the lowest, by sums over the series, and what they lack of Ω."""
    z = np.random.default_rng(0).standard_normal(200)
    found = long_run(z)
    t = np.arange(1, 201)
    parts = [
        np.sqrt(2 / 200) * np.sum(z * np.cos(np.pi * j * (t - 0.5) / 200))
        for j in range(1, found.n_cosines + 1)
    ]
    assert found.n_cosines == int(0.4 * 200 ** (2 / 3))
    places = np.pi * np.arange(1, found.n_cosines + 1) / 200
    seen = np.mean(1 / (1 + reach(z) * places**2))
    assert found.std_error == pytest.approx(np.sqrt(np.mean(np.square(parts)) / seen / 200))


@pytest.mark.parametrize(("rho", "lag"), [(0.0, 1), (0.5, 1), (0.9, 1), (0.5, 12)])
def test_the_error_is_that_of_the_mean(rho, lag):
    """On average: sd of the mean of n is 1/(1 - rho)/sqrt(n), whatever the lag."""
    rng, n = np.random.default_rng(1), 3000
    squares = [long_run(autoregression(rng, n, rho, lag)).std_error ** 2 for _ in range(60)]
    assert np.mean(squares) == pytest.approx(1 / (1 - rho) ** 2 / n, rel=0.2)


def test_lasting_dependence_leaves_fewer_cosines():
    """And none of a series that hardly forgets, which has no interval then."""
    rng = np.random.default_rng(2)
    counts = [
        np.median([long_run(autoregression(rng, 500, rho)).n_cosines for _ in range(20)])
        for rho in (0.0, 0.8, 0.9, 0.98)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] < FEWEST_COSINES <= counts[1]


def test_a_season_is_seen_at_its_own_lag():
    """Lag 1 of a seasonal autoregression says nothing of it."""
    rng = np.random.default_rng(3)
    of_season = [reach(autoregression(rng, 400, 0.6, 12)) for _ in range(20)]
    plain = [reach(autoregression(rng, 400, 0.0)) for _ in range(20)]
    assert np.median(of_season) > 100 * np.median(plain)


def test_a_fixed_pattern_of_the_seasons_is_no_error():
    """The mean over whole seasons does not vary with it."""
    z = np.random.default_rng(4).standard_normal(480)
    pattern = 3 * np.tile(np.sin(2 * np.pi * np.arange(12) / 12), 40)
    assert long_run(z + pattern).std_error < 1.5 * long_run(z).std_error


def test_a_constant_series_has_no_error():
    """Nor a reach."""
    assert reach(np.ones(200)) < 1
    assert long_run(np.ones(200)).std_error == 0
