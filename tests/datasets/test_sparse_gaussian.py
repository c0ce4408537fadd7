"""The sparse problem is that of document 002's tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from truerisk.core.errors import BadData
from truerisk.datasets import make_sparse_gaussian
from truerisk.datasets.sparse_gaussian import sparse_gaussian
from truerisk.papers.bee_choosing import draw, true_errors


def test_the_bayes_risk_is_phi() -> None:
    """Phi(-2), with any number of noise features."""
    assert make_sparse_gaussian.bayes_risk == pytest.approx(ndtr(-2), abs=1e-5)
    assert sparse_gaussian(60).bayes_risk == pytest.approx(make_sparse_gaussian.bayes_risk)


def test_it_is_the_law_of_the_experiments() -> None:
    """The same risk of any linear rule, and the same moments of 40,000 rows of each generator."""
    rng = np.random.default_rng(0)
    for slopes, start in zip(rng.normal(size=(5, 20)), rng.normal(size=5)):
        expected = true_errors(slopes[None], np.array([start]))[0]
        assert make_sparse_gaussian.true_risk_linear(slopes, start) == pytest.approx(expected)
    for X, y in (draw(rng, 40_000), make_sparse_gaussian(40_000, random_state=1)):
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
