"""Folds left out: of a mean the jackknife is its variance, and nothing is carried on."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.validation.profile import FoldJackknife


def test_of_a_mean_it_is_the_variance_of_the_folds_means():
    """K means of equal folds: V = s²/K, and the mean itself is carried on to itself."""
    folds = np.random.default_rng(0).normal(size=(8, 5))
    without = [np.delete(folds, j, axis=0).mean(keepdims=True).ravel() for j in range(8)]
    found = FoldJackknife.of(np.array([folds.mean()]), without)
    assert found.variance[0] == pytest.approx(folds.mean(axis=1).var(ddof=1) / 8)
    assert found.carried[0] == pytest.approx(folds.mean())


def test_a_number_that_does_not_exist_once_is_not_known():
    """NaN without one fold is NaN of both."""
    found = FoldJackknife.of(np.ones(2), [np.array([1.0, np.nan]), np.ones(2), np.ones(2)])
    assert np.isnan(found.variance).tolist() == [False, True]
    assert np.isnan(found.carried).tolist() == [False, True]
