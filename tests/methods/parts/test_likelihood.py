"""Minus twice the log-likelihood, as R counts it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from truerisk.core.table.data import Data
from truerisk.methods.parts.likelihood import Likelihood, has_exact_fit, squares

Y = np.array([1.0, 2.0, 4.0, 8.0])
FITS = np.array([[1.5, 2.5, 3.0, 7.0], [1.0, 2.0, 4.0, 9.0]])
ROWS = np.arange(4)
DATA = Data.check(Y[:, None], Y, task="regression")


@pytest.mark.parametrize("weights", [None, np.array([0.5, 1.0, 2.0, 3.0])])
def test_numbers_are_gaussian_with_the_variance_at_its_maximum(weights) -> None:
    """The sum of normal log-densities, the variance of row i being RSS/(n w_i)."""
    w = np.ones(4) if weights is None else weights
    found = Likelihood("regression").of_set(DATA, ROWS, FITS, weights)
    for fit, one in zip(FITS, found, strict=True):
        variance = (w * (Y - fit) ** 2).sum() / 4 / w
        assert one == pytest.approx(-2 * stats.norm(fit, np.sqrt(variance)).logpdf(Y).sum())
        assert variance[0] * w[0] * 4 == pytest.approx(squares(DATA, ROWS, fit[None], weights)[0])


def test_classes_have_the_log_of_their_probability() -> None:
    """−2 Σ log p; infinite where a label has probability 0."""
    data = Data.check(Y[:3, None], [0, 1, 1], task="classification")
    p = np.array([[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    found = Likelihood("classification").of_set(data, np.arange(3), p, None)
    assert found[0] == pytest.approx(-2 * np.log(0.9 * 0.8 * 0.5))
    assert found[1] == np.inf


def test_an_exact_fit_has_no_bound() -> None:
    """Residuals of rounding are none."""
    fits = np.array([Y, Y * (1 + 1e-15), Y * (1 + 1e-12)])
    rss = squares(DATA, ROWS, fits, None)
    assert has_exact_fit(DATA, ROWS, rss, None).tolist() == [True, True, False]
    found = Likelihood("regression").of_set(DATA, ROWS, fits, None)
    assert np.isneginf(found).tolist() == [True, True, False]
