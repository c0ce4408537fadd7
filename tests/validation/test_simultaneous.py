"""How far intervals reach that hold together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from truerisk.validation.many_levels import level_of_each, simultaneous_quantile


@pytest.mark.parametrize("m", [2, 5, 40])
def test_independent_estimates_need_sidaks_level(m):
    """(1 + .95^(1/m))/2 is the quantile's probability, up to the simulation's noise."""
    expected = norm.ppf((1 + 0.95 ** (1 / m)) / 2)
    assert expected - 0.03 < simultaneous_quantile(np.eye(m), 0.95) <= expected


def test_equal_estimates_need_no_correction():
    """Perfect correlation, also negative, is one estimate."""
    one = np.outer([1, -1, 2], [1, -1, 2.0])
    assert simultaneous_quantile(one, 0.9) == pytest.approx(norm.ppf(0.95), abs=0.02)


def test_it_covers_correlated_estimates():
    """Fresh draws lie within the quantile as often as asked, and a smaller one is too small."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 3))
    covariance = root @ root.T + 0.2 * np.eye(6)
    c = simultaneous_quantile(covariance, 0.95)
    z = rng.multivariate_normal(np.zeros(6), covariance, 40_000) / np.sqrt(np.diag(covariance))
    assert (np.abs(z).max(axis=1) <= c).mean() == pytest.approx(0.95, abs=0.006)
    assert (np.abs(z).max(axis=1) <= norm.ppf(0.975)).mean() < 0.9


def test_the_scale_of_an_estimate_does_not_count():
    """Correlations alone do, and the same covariance has the same quantile again."""
    covariance = np.array([[1, 0.6, 0], [0.6, 1, 0.2], [0, 0.2, 1]])
    scale = np.array([1, 100, 1e-3])
    found = simultaneous_quantile(covariance * np.outer(scale, scale), 0.95)
    assert found == pytest.approx(simultaneous_quantile(covariance, 0.95))


def test_a_level_is_that_of_its_quantile():
    """One estimate alone has the level that was asked for."""
    assert level_of_each(simultaneous_quantile(np.eye(1), 0.8)) == pytest.approx(0.8)
