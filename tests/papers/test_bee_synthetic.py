"""The synthetic classes: their Bayes error, and the true error of a rule."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from truerisk.papers.bee_synthetic import BAYES, draw, true_errors


def test_the_best_rule_has_the_bayes_error():
    """Φ(−2): the distance of the classes is 4."""
    pair = np.linalg.solve([[1, 0.6], [0.6, 1]], [1.2095, 0.0])
    best = np.r_[np.tile(pair, 7), np.zeros(6)]
    assert true_errors(best[None], np.zeros(1))[0] == pytest.approx(ndtr(-2), abs=1e-5)
    assert round(ndtr(-2), 3) == BAYES


def test_true_errors_by_counting():
    """Of two rules on 200,000 rows, within 4 standard errors; a constant rule errs in half."""
    rng = np.random.default_rng(0)
    X, y = draw(rng, 200_000, 3)
    slopes, intercepts = rng.normal(size=(2, 17)), np.array([0.3, -0.2])
    found = true_errors(slopes, intercepts)
    counted = (y != (X @ slopes.T + intercepts > 0).T).mean(axis=1)
    assert (np.abs(found - counted) < 4 * np.sqrt(found * (1 - found) / len(y))).all()
    assert true_errors(np.zeros((1, 17)), np.ones(1)) == 0.5


def test_classes_are_balanced():
    """Half of the rows of each class, 14 features and the noise."""
    X, y = draw(np.random.default_rng(0), 28, 250)
    assert X.shape == (28, 264)
    assert y.sum() == 14
