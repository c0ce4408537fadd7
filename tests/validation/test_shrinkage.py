"""Shrunken estimates are those of metafor; of few levels, or without noise, there are none."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.validation.many_levels import shrinkage


def test_it_is_metafors():
    """μ, τ and the predictions of R 4.2.2, metafor 3.8-1.

    y <- c(0.10,0.22,0.31,0.18,0.45); v <- c(0.004,0.01,0.02,0.003,0.03);
    f <- rma(y, v, method="REML", control=list(threshold=1e-12, maxiter=1000));
    c(f$b, sqrt(f$tau2)); blup(f)$pred
    """
    found = shrinkage(
        np.array([0.10, 0.22, 0.31, 0.18, 0.45]), np.array([0.004, 0.01, 0.02, 0.003, 0.03])
    )
    assert (found.mean, found.spread) == pytest.approx((0.1803229577552, 0.0140054587676), rel=1e-6)
    assert found.values == pytest.approx(
        [0.176568190094, 0.181086261917, 0.181582431520, 0.180303137335, 0.182074767910], rel=1e-8
    )


def test_it_maximises_the_restricted_likelihood():
    """No other spread on a grid has a larger restricted likelihood."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        noise = rng.uniform(0.01, 0.3, 6)
        y = rng.normal(0, 0.4, 6) + np.sqrt(noise) * rng.standard_normal(6)

        def likelihood(between: float, y: np.ndarray = y, noise: np.ndarray = noise) -> float:
            w = 1 / (noise + between)
            away = y - w @ y / w.sum()
            return float(np.log(w).sum() - np.log(w.sum()) - w @ away**2) / 2

        best = likelihood(shrinkage(y, noise).spread ** 2)
        assert best >= max(likelihood(t) for t in np.linspace(0, 2, 400)) - 1e-6


def test_levels_that_differ_by_noise_alone_become_one():
    """A spread of 0 draws all levels to the weighted mean."""
    found = shrinkage(np.array([0.20, 0.22, 0.19]), np.array([0.004, 0.01, 0.02]))
    assert found.spread == 0
    assert found.values == pytest.approx([0.20375] * 3)
    assert found.own_shares.tolist() == [0, 0, 0]


def test_the_same_noise_keeps_the_order():
    """Equal variances: all levels keep the same share of their distance from the mean."""
    y = np.array([0.1, 0.5, 0.9, 0.3])
    found = shrinkage(y, np.full(4, 0.01))
    assert found.values - found.mean == pytest.approx(found.own_shares[0] * (y - y.mean()))
    assert 0 < found.own_shares[0] < 1


@pytest.mark.parametrize(("y", "noise"), [([0.1, 0.2], [1, 1]), ([0.1, 0.2, 0.3], [1, 1, 0])])
def test_too_little_is_no_shrinkage(y, noise):
    """Two levels have no spread to estimate; a level without noise is not to be moved."""
    assert shrinkage(np.array(y), np.array(noise)) is None


def test_it_errs_less_than_the_levels_themselves():
    """Over 200 draws of 8 levels the squared error of shrunken values is the smaller."""
    rng = np.random.default_rng(0)
    truth = 0.3 + 0.05 * rng.standard_normal((200, 8))
    noise = np.full(8, 0.01)
    y = truth + 0.1 * rng.standard_normal(truth.shape)
    shrunken = np.array([shrinkage(line, noise).values for line in y])
    assert np.square(shrunken - truth).mean() < 0.5 * np.square(y - truth).mean()
