"""What the values of a method rest on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist
from scipy.stats import t

from truerisk.intervals.components import (
    MOST_ALIKE,
    MOST_PLACES,
    distances_among,
    spatial_components,
)
from truerisk.intervals.form import variances_of_means

RNG = np.random.default_rng(0)


def test_the_variance_of_a_mean_is_the_textbook_one():
    """s²/n of rows, and s²/m of group means where groups are equal; for each line of losses."""
    losses = RNG.random((3, 12))
    weights, values = np.full(12, 1 / 12), losses.mean(axis=1)
    variances, m = variances_of_means(losses, weights, values, None)
    assert (variances.tolist(), m) == (pytest.approx(stats.sem(losses, axis=1) ** 2), 12)
    means = losses.reshape(3, 4, 3).mean(axis=2)
    variances, m = variances_of_means(losses, weights, values, np.arange(12) // 3)
    assert (variances.tolist(), m) == (pytest.approx(stats.sem(means, axis=1) ** 2), 4)


PLACES = np.random.default_rng(0).random((60, 2))


def rejected(range_: float, places: np.ndarray, n_draws: int = 4000) -> float:
    """How often the mean 0 of a Gaussian field lies outside."""
    found = spatial_components(places, 0.95)
    covariance = np.exp(-cdist(places, places) / range_) if range_ else np.eye(len(places))
    rng = np.random.default_rng(1)
    draws = rng.multivariate_normal(np.zeros(len(places)), covariance, n_draws, method="cholesky")
    means = draws.mean(axis=1)
    shares = (draws - means[:, None]) / draws.shape[1]
    errors = [found.std_error(one) for one in shares]
    return float((np.abs(means) > found.critical * np.array(errors)).mean())


def range_of(places: np.ndarray, alike: float) -> float:
    """The range at which two places have this correlation on the average."""
    distances, pairs = cdist(places, places), len(places) * (len(places) - 1)
    low, high = 1e-3, 10.0
    for _ in range(60):
        middle = (low * high) ** 0.5
        mean = (np.exp(-distances / middle).sum() - len(places)) / pairs
        low, high = (middle, high) if mean < alike else (low, middle)
    return high


@pytest.mark.parametrize("alike", [0.0, 0.02, MOST_ALIKE])
def test_fields_up_to_the_stated_correlation_are_covered(alike):
    """5 % miss at most; the sum of squares of t would miss far more of those that hang together."""
    range_ = range_of(PLACES, alike) if alike else 0.0
    assert rejected(range_, PLACES) < 0.05 + 0.012


def test_the_strongest_correlation_uses_the_level_up():
    """The factor is no larger than it must be: some correlation up to it misses in 5 %."""
    found = [rejected(range_of(PLACES, alike), PLACES) for alike in (0.03, 0.06, MOST_ALIKE)]
    assert max(found) > 0.035


def test_of_independent_values_t_is_not_far():
    """With q components the factor lies above the quantile of t with q degrees of freedom."""
    found = spatial_components(PLACES, 0.95)
    q = found.vectors.shape[1]
    assert t.ppf(0.975, q) < found.critical < 2 * t.ppf(0.975, q)


def test_neither_the_unit_nor_the_origin_nor_an_axis_counts():
    """Kilometres, a corner far away, a turned map: the same standard error."""
    shares = np.random.default_rng(2).normal(size=60) / 60
    turn = np.array([[np.cos(1), -np.sin(1)], [np.sin(1), np.cos(1)]])
    usual = spatial_components(PLACES, 0.95)
    for places in (PLACES * 1e6, PLACES + 1e6, PLACES @ turn):
        other = spatial_components(places, 0.95)
        assert other.critical == pytest.approx(usual.critical, rel=1e-5)
        assert other.std_error(shares) == pytest.approx(usual.std_error(shares), rel=1e-5)


def test_rows_at_one_place_are_added_up_and_many_places_gathered():
    """Twice each place is that place once; beyond 500 places cells stand for them."""
    shares = np.random.default_rng(3).normal(size=60) / 60
    twice = spatial_components(np.repeat(PLACES, 2, axis=0), 0.95)
    once = spatial_components(PLACES, 0.95)
    assert twice.std_error(np.repeat(shares / 2, 2)) == pytest.approx(once.std_error(shares))
    many = spatial_components(np.random.default_rng(4).random((3000, 2)), 0.95)
    assert len(many.vectors) <= MOST_PLACES
    assert len(many.member) == 3000


@pytest.mark.parametrize("level", [0.5, 0.999999])
def test_any_level_has_a_factor(level):
    """Wide where little may be missed, narrow where half may."""
    found = spatial_components(PLACES, level)
    assert (found.critical > 2) == (level > 0.9)


def test_two_places_have_no_spread():
    """Three have one component."""
    assert spatial_components(PLACES[:2], 0.95) is None
    assert spatial_components(PLACES[:3], 0.95).vectors.shape == (3, 1)


def test_distances_are_euclidean():
    """As SciPy has them."""
    np.testing.assert_allclose(distances_among(PLACES), cdist(PLACES, PLACES), atol=1e-12)
