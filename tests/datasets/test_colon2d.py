"""The colon problem in the plane is the stated one."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.datasets import make_colon2d


def test_its_classes_have_the_stated_moments() -> None:
    """Means and covariances of many rows are those of the two genes, normal tissue first."""
    X, y = make_colon2d(200_000, random_state=0)
    assert X[y == 0].mean(axis=0) == pytest.approx([1.2073, 0.7410], abs=0.006)
    assert X[y == 1].mean(axis=0) == pytest.approx([0.0745, -0.0097], abs=0.006)
    np.testing.assert_allclose(
        np.cov(X[y == 0].T), [[0.3042, 0.0592], [0.0592, 0.1765]], atol=0.006
    )
    np.testing.assert_allclose(
        np.cov(X[y == 1].T), [[0.2663, 0.1253], [0.1253, 0.1013]], atol=0.006
    )


def test_bayes_risk_is_half_the_overlap() -> None:
    """A plain sum of the smaller density over a fine grid gives the same number."""
    x = np.linspace(-3.5, 4.5, 641)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    densities = []
    for mean, covariance in zip(make_colon2d.means, make_colon2d.covariances, strict=True):
        away = grid - np.array(mean)
        squared = np.einsum("abi,ij,abj->ab", away, np.linalg.inv(covariance), away)
        scale = 2 * np.pi * np.sqrt(np.linalg.det(covariance))
        densities.append(np.exp(-squared / 2) / scale)
    overlap = np.minimum(*densities).sum() * (x[1] - x[0]) ** 2
    assert make_colon2d.bayes_risk == pytest.approx(overlap / 2, abs=1e-6)
