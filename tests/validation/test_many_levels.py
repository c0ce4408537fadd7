"""Shrunken estimates are those of metafor; of few levels, or without noise, there are none."""

import numpy as np
import pytest
from scipy.stats import norm

from truerisk.validation.many_levels import (
    StableScale,
    shrink_to_mean,
    simultaneous_quantile,
    single_interval_level,
)


def test_shrinkage_is_metafors():
    """μ, τ and the predictions of R 4.2.2, metafor 3.8-1.

    y <- c(0.10,0.22,0.31,0.18,0.45); v <- c(0.004,0.01,0.02,0.003,0.03);
    f <- rma(y, v, method="REML", control=list(threshold=1e-12, maxiter=1000));
    c(f$b, sqrt(f$tau2)); blup(f)$pred
    """
    found = shrink_to_mean(
        np.array([0.10, 0.22, 0.31, 0.18, 0.45]), np.array([0.004, 0.01, 0.02, 0.003, 0.03])
    )
    assert (found.mean, found.between_level_std) == pytest.approx(
        (0.1803229577552, 0.0140054587676), rel=1e-6
    )
    assert found.values == pytest.approx(
        [0.176568190094, 0.181086261917, 0.181582431520, 0.180303137335, 0.182074767910], rel=1e-8
    )


def test_shrinkage_maximises_the_restricted_likelihood():
    rng = np.random.default_rng(3)
    for _ in range(20):
        noise = rng.uniform(0.01, 0.3, 6)
        y = rng.normal(0, 0.4, 6) + np.sqrt(noise) * rng.standard_normal(6)

        def likelihood(between: float, y: np.ndarray = y, noise: np.ndarray = noise) -> float:
            w = 1 / (noise + between)
            away = y - w @ y / w.sum()
            return float(np.log(w).sum() - np.log(w.sum()) - w @ away**2) / 2

        best = likelihood(shrink_to_mean(y, noise).between_level_std ** 2)
        assert best >= max(likelihood(t) for t in np.linspace(0, 2, 400)) - 1e-6


def test_shrinkage_of_equal_noise_and_of_noise_alone():
    """A spread of 0 draws all levels to the weighted mean; equal variances keep the order.

    Two levels have no spread to estimate; a level without noise is not to be moved.
    """
    found = shrink_to_mean(np.array([0.20, 0.22, 0.19]), np.array([0.004, 0.01, 0.02]))
    assert found.between_level_std == 0
    assert found.values == pytest.approx([0.20375] * 3)
    assert found.own_weights.tolist() == [0, 0, 0]
    y = np.array([0.1, 0.5, 0.9, 0.3])
    found = shrink_to_mean(y, np.full(4, 0.01))
    assert found.values - found.mean == pytest.approx(found.own_weights[0] * (y - y.mean()))
    assert 0 < found.own_weights[0] < 1
    assert shrink_to_mean(y[:2], np.ones(2)) is None
    assert shrink_to_mean(y[:3], np.array([1.0, 1.0, 0.0])) is None


def test_shrinkage_errs_less_than_the_levels_themselves():
    """Over 200 draws of 8 levels the squared error of shrunken values is the smaller."""
    rng = np.random.default_rng(0)
    truth = 0.3 + 0.05 * rng.standard_normal((200, 8))
    noise = np.full(8, 0.01)
    y = truth + 0.1 * rng.standard_normal(truth.shape)
    shrunken = np.array([shrink_to_mean(line, noise).values for line in y])
    assert np.square(shrunken - truth).mean() < 0.5 * np.square(y - truth).mean()


# ---------------- How far intervals reach that hold together


@pytest.mark.parametrize("m", [2, 5, 40])
def test_simultaneous_quantile_of_independent_estimates_is_sidaks(m):
    """(1 + .95^(1/m))/2 is the quantile's probability, up to the simulation's noise."""
    expected = norm.ppf((1 + 0.95 ** (1 / m)) / 2)
    assert expected - 0.03 < simultaneous_quantile(np.eye(m), 0.95) <= expected


def test_simultaneous_quantile_of_equal_estimates_is_that_of_one():
    """Perfect correlation, also negative; correlations alone count; one has its own level."""
    one = np.outer([1, -1, 2], [1, -1, 2.0])
    assert simultaneous_quantile(one, 0.9) == pytest.approx(norm.ppf(0.95), abs=0.02)
    covariance = np.array([[1, 0.6, 0], [0.6, 1, 0.2], [0, 0.2, 1]])
    scale = np.array([1, 100, 1e-3])
    found = simultaneous_quantile(covariance * np.outer(scale, scale), 0.95)
    assert found == pytest.approx(simultaneous_quantile(covariance, 0.95))
    assert single_interval_level(simultaneous_quantile(np.eye(1), 0.8)) == pytest.approx(0.8)


def test_simultaneous_quantile_covers_correlated_estimates():
    """Fresh draws lie within the quantile as often as asked, and a smaller one is too small."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 3))
    covariance = root @ root.T + 0.2 * np.eye(6)
    c = simultaneous_quantile(covariance, 0.95)
    z = rng.multivariate_normal(np.zeros(6), covariance, 40_000) / np.sqrt(np.diag(covariance))
    assert (np.abs(z).max(axis=1) <= c).mean() == pytest.approx(0.95, abs=0.006)
    assert (np.abs(z).max(axis=1) <= norm.ppf(0.975)).mean() < 0.9


# The scale on which risks are drawn together: there and back, its slope, and equal noise


SCALES = [
    StableScale(0.0, 1.0),
    StableScale(0.0, 2.0),
    StableScale(-0.5, 1.0),
    StableScale(0.0, 2.0, is_logit=True),
    StableScale(0.0, None),
    StableScale(None, None),
]


@pytest.mark.parametrize("scale", SCALES)
def test_stable_scale_goes_there_and_back(scale):
    """Risks stay what they are; the slope is the derivative, by differences, of many rows."""
    values, step = np.array([0.02, 0.3, 0.97]), 1e-6
    assert scale.inverse_transform(scale.transform(values)) == pytest.approx(values)
    values = np.array([0.1, 0.4, 0.8])
    by_differences = (scale.transform(values + step) - scale.transform(values)) / step
    assert scale.derivative(values, np.full(3, 1e9)) == pytest.approx(by_differences, rel=1e-4)


def test_stable_scale_has_the_noise_of_the_rows_alone():
    """Of errors in n rows the standard error is 1/(2√n), whatever their rate, and finite at 0."""
    n, rates = 400.0, np.array([0.05, 0.3, 0.5, 0.9])
    errors = np.sqrt(rates * (1 - rates) / n)
    slopes = SCALES[0].derivative(rates, np.full(4, n))
    assert slopes * errors == pytest.approx(1 / (2 * np.sqrt(n)), rel=0.05)
    assert np.isfinite(SCALES[0].derivative(np.array([0.0, 1.0]), np.full(2, 20.0))).all()


@pytest.mark.parametrize("m", [5, 40])
def test_simultaneous_quantile_does_not_hang_on_the_last_digit(m) -> None:
    """Roots that are equal, or 0, have no eigenvectors of their own: processors choose them."""
    rng = np.random.default_rng(0)
    nested = np.minimum.outer(*2 * [np.sort(rng.integers(1, 30, m))]).astype(float)
    for covariance in (np.eye(m), nested):
        found = []
        for _ in range(4):
            moved = 1e-15 * rng.standard_normal((m, m))
            found.append(simultaneous_quantile(covariance + moved + moved.T, 0.95, 4096))
        assert np.ptp(found) < 1e-9
