"""1 − R² is scikit-learn's, and its influences are derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from truerisk.core.errors import Refusal
from truerisk.data.data import Data
from truerisk.losses.set_losses import R2

RNG = np.random.default_rng(5)
N = 30
WEIGHTS = RNG.random(N) + 0.1


def numbers(targets):
    y = RNG.normal(size=(N, targets)).squeeze() * np.arange(1, targets + 1)
    return Data.check(np.zeros((N, 1)), y, task="regression"), RNG.normal(size=(2, *y.shape))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("targets", [1, 3])
def test_it_is_that_of_scikit_learn(weights, targets) -> None:
    """The mean over targets where there are several."""
    data, answers = numbers(targets)
    rows = RNG.permutation(N)[:20]
    w = None if weights is None else weights[rows]
    found = R2().of_set(data, rows, answers[:, rows], w)
    expected = [metrics.r2_score(data.y[rows], a[rows], sample_weight=w) for a in answers]
    assert found == pytest.approx(1 - np.array(expected), abs=1e-12)


@pytest.mark.parametrize("targets", [1, 3])
def test_an_influence_is_a_derivative_by_the_weight_of_a_row(targets) -> None:
    """About the loss of the set; about another value it is compared with y's own distance."""
    data, answers = numbers(targets)
    rows, step = np.arange(N), 1e-6
    own = R2().of_set(data, rows, answers, WEIGHTS)
    found = R2().influences(data, rows, answers, WEIGHTS, own)
    for i in rows:
        more, less = WEIGHTS.copy(), WEIGHTS.copy()
        more[i] += step
        less[i] -= step
        by_hand = R2().of_set(data, rows, answers, more) - R2().of_set(data, rows, answers, less)
        assert found[:, i] == pytest.approx(by_hand / (2 * step) * WEIGHTS.sum(), abs=1e-6)
    assert found @ WEIGHTS == pytest.approx(0, abs=1e-9)
    other = R2().influences(data, rows, answers, WEIGHTS, own - 0.1)
    assert other @ WEIGHTS / WEIGHTS.sum() == pytest.approx(0.1)


def test_one_value_of_y_has_no_variance() -> None:
    """A constant test set, one row, or other values without weight are refused."""
    data = Data.check(np.zeros((4, 1)), [1.0, 1.0, 1.0, 2.0], task="regression")
    for rows, weights in (([0, 1, 2], None), ([3], None), ([0, 3], np.array([1.0, 0.0]))):
        with pytest.raises(Refusal, match=f"'r2' needs several values of y .* {len(rows)} rows"):
            R2().of_set(data, np.array(rows), np.zeros((1, len(rows))), weights)


def test_it_has_no_upper_bound() -> None:
    """A score of 1 is perfect; the loss is at least 0 and may be large."""
    assert (R2().lower, R2().upper, R2().score(0.25)) == (0, None, 0.75)
