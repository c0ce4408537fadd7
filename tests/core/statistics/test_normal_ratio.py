"""The tail of a normal value over the root of a few squares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit

from truerisk.core.statistics.normal_ratio import (
    exceeds,
    exceeds_first,
    least_factor,
    mean_of_chi,
)


@pytest.mark.parametrize("q", [1, 2, 7, 40])
@pytest.mark.parametrize("factor", [0.5, 2.0, 6.0])
def test_equal_weights_are_students_t(q, factor):
    """P(z₀² > f²/q Σ z²) is the tail of t with q degrees of freedom on both sides."""
    found = exceeds(np.full(q, factor**2 / q))
    assert found == pytest.approx(2 * stdtr(q, -factor), rel=1e-4)


def test_unequal_weights_are_those_of_drawings():
    """And each row has its own."""
    weights = np.array([[3.0, 0.5, 0.1], [0.2, 0.2, 4.0]])
    z = np.random.default_rng(0).standard_normal((200_000, 4)) ** 2
    drawn = [(z[:, 0] > z[:, 1:] @ row).mean() for row in weights]
    assert exceeds(weights) == pytest.approx(np.array(drawn), abs=0.004)


def test_the_first_weights_are_taken_one_after_the_other():
    """As if each head were given alone."""
    weights = np.array([3.0, 0.5, 0.1])
    heads = [exceeds(weights[: q + 1]) for q in range(3)]
    np.testing.assert_allclose(exceeds_first(weights), heads)


def test_the_least_factor_is_the_quantile():
    """Of t, where all weights are equal."""
    for level in (0.5, 0.95, 0.9999):
        found = least_factor(lambda f: exceeds(np.full(5, f**2 / 5)), 1 - level)
        assert found == pytest.approx(stdtrit(5, (1 + level) / 2), rel=1e-4)


def test_the_mean_of_chi_is_that_of_drawings():
    """It tends to 1."""
    draws = np.sqrt((np.random.default_rng(1).standard_normal((100_000, 3)) ** 2).mean(axis=1))
    assert mean_of_chi(3) == pytest.approx(draws.mean(), abs=0.005)
    assert mean_of_chi(4000) == pytest.approx(1, abs=1e-4)
