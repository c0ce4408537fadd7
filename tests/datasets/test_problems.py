"""The five Gaussian problems by name: their Bayes risks, their draws, where they are from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from truerisk.core.errors import BadData
from truerisk.datasets import (
    make_colon2d,
    make_difficult,
    make_highleyman,
    make_simple,
    make_sparse_gaussian,
)
from truerisk.datasets.problems import sparse_gaussian


def test_the_best_linear_rule_of_simple_is_the_bayes_rule() -> None:
    """x1 > 1 is wrong with probability Phi(-1); a constant rule half of the time."""
    assert make_simple.true_risk_linear([1, 0], -1) == pytest.approx(make_simple.bayes_risk)
    assert make_simple.true_risk_linear([-1, 0], 1) == pytest.approx(1 - make_simple.bayes_risk)
    assert make_simple.true_risk_linear([0, 0], 3) == 0.5


@pytest.mark.parametrize(
    ("problem", "distance", "within"),
    [
        (make_simple, 2.0, 1e-11),  # means 2 apart, variances 1
        (make_difficult, np.sqrt(9 + 9 / 40), 1e-11),  # which a rotation does not change
        (make_sparse_gaussian, 4.0, 1e-5),
        (sparse_gaussian(60), 4.0, 1e-5),  # with any number of noise features
    ],
)
def test_the_bayes_risk_is_phi_of_half_the_distance(problem, distance, within) -> None:
    """Of classes with one covariance, minus half of the distance in its units."""
    assert problem.bayes_risk == pytest.approx(ndtr(-distance / 2), abs=within)


def test_difficult_is_the_stated_rotation() -> None:
    """Rows are Z [[1,-1],[1,1]]/sqrt(2) of variances (1, 40), means (3,3) apart."""
    turn = np.array([[1, -1], [1, 1]]) / np.sqrt(2)
    np.testing.assert_allclose(make_difficult.means[1], np.array([3, 3]) @ turn, atol=1e-12)
    expected = turn.T @ np.diag([1, 40]) @ turn
    np.testing.assert_allclose(make_difficult.covariances[0], expected)
    np.testing.assert_allclose(make_difficult.covariances[1], expected)


def test_bayes_risk_of_highleyman_is_half_the_overlap() -> None:
    """A plain sum of the smaller density over a fine grid gives the same number."""
    x1 = np.linspace(1, 3, 2001)  # class 1 has standard deviation .1 around 2: all of it is here
    x2 = np.linspace(-8, 8, 2001)
    a = np.exp(-((x1 - 1) ** 2) / 2)[:, None] * np.exp(-((x2 - 1) ** 2) / 0.5)
    b = np.exp(-((x1 - 2) ** 2) / 0.02)[:, None] * np.exp(-(x2**2) / 8)
    a, b = a / (2 * np.pi * 0.5), b / (2 * np.pi * 0.1 * 2)
    overlap = np.minimum(a, b).sum() * (x1[1] - x1[0]) * (x2[1] - x2[0])
    assert make_highleyman.bayes_risk == pytest.approx(overlap / 2, abs=1e-5)
    assert make_highleyman.bayes_risk == pytest.approx(0.0554721408, abs=1e-9)


def test_rotation_keeps_the_bayes_risk() -> None:
    """A rotation changes the axes, not the overlap."""
    turned = make_highleyman.rotated(45)
    assert turned.bayes_risk == pytest.approx(make_highleyman.bayes_risk, abs=1e-9)
    assert turned.covariances != make_highleyman.covariances


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


def test_rows_have_the_moments_of_their_class() -> None:
    """Means and covariances of 40,000 rows are those that the problem names."""
    X, y = make_sparse_gaussian(40_000, random_state=1)
    for label in (0, 1):
        rows = X[y == label]
        off = rows.mean(axis=0) - make_sparse_gaussian.means[label]
        assert abs(off).max() < 4.5 / np.sqrt(len(rows))
        gaps = np.cov(rows.T) - make_sparse_gaussian.covariances[label]
        assert abs(gaps).max() < 4.5 * np.sqrt(2 / len(rows))


def test_a_negative_number_of_features_is_refused() -> None:
    """One sentence says what is wrong."""
    with pytest.raises(BadData, match="no number of features"):
        sparse_gaussian(-1)


def test_the_best_rule_of_sparse_classes_errs_as_the_distance_says() -> None:
    """Φ(−2): each pair of features has a distance of its own, all together 4."""
    pair = np.linalg.solve([[1, 0.6], [0.6, 1]], [1.2095, 0.0])
    best = np.r_[np.tile(pair, 7), np.zeros(6)]
    assert make_sparse_gaussian.true_risk_linear(best, 0.0) == pytest.approx(ndtr(-2), abs=1e-5)
