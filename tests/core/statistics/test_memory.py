"""For how long a series remembers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from truerisk.core.statistics.long_run import BEYOND, FIRST, Memory, memory


def autoregression(rng, n, rho, lag=1):
    """Unit innovations, after a start that is forgotten."""
    weights = np.zeros(lag + 1)
    weights[0], weights[lag] = 1.0, -rho
    return lfilter([1.0], weights, rng.standard_normal(n + 200 * lag))[200 * lag :]


@pytest.mark.parametrize("rho", [0.5, 0.8, 0.9])
def test_what_an_autoregression_remembers_is_bounded(rho):
    """Its own ω = rho/(1 - rho)² lies below in nearly every series."""
    rng = np.random.default_rng(0)
    bounds = [memory(autoregression(rng, 300, rho)).lasting for _ in range(100)]
    assert np.mean(np.array(bounds) > rho / (1 - rho) ** 2) > 0.95


def test_a_season_is_seen_at_its_own_lag():
    """Lag 1 of a seasonal autoregression says nothing of it; noise has none, nearly always."""
    rng = np.random.default_rng(3)
    told = [memory(autoregression(rng, 400, 0.6, 12)) for _ in range(20)]
    assert all(12 in dict(one.seasons) for one in told)
    plain = [memory(rng.standard_normal(400)).seasons for _ in range(40)]
    assert sum(map(bool, plain)) < 8


def test_lags_far_beyond_the_clearest_season_do_not_count():
    """A pattern comes back at every multiple of its period."""
    z = np.random.default_rng(4).standard_normal(480)
    told = memory(z + 3 * np.tile(np.sin(2 * np.pi * np.arange(12) / 12), 40))
    assert told.seasons
    assert max(lag for lag, _ in told.seasons) <= BEYOND * 120
    assert min(lag for lag, _ in told.seasons) > FIRST


def test_the_spectra_are_those_of_autoregressions():
    """That of lag L is exact; the lasting one is it at low frequencies."""
    at = np.array([0.01, 0.2, 1.0])
    found = Memory(2.0, ((12, 0.5),)).spectra(at)
    power = 1 / np.abs(1 - 0.5 * np.exp(-12j * at)) ** 2
    np.testing.assert_allclose(found[1], power / 4)
    of_one = 1 / np.abs(1 - 0.5 * np.exp(-1j * at)) ** 2 / 4
    assert found[0][0] == pytest.approx(of_one[0], rel=1e-3)


def test_reach_is_the_longest_part():
    """In steps: √ω of what lasts, or of a season."""
    assert Memory(9.0).reach == 3
    assert Memory(9.0, ((12, 0.25),)).reach == pytest.approx(12 * 0.5 / 0.75)


def test_neither_unit_nor_level_counts():
    """Losses in other units remember as long; a constant no longer than noise may."""
    z = autoregression(np.random.default_rng(5), 200, 0.5)
    assert memory(1e6 * z + 3).lasting == pytest.approx(memory(z).lasting)
    assert memory(np.ones(200)).reach < 10
