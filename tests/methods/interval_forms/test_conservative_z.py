"""The conservative z interval, by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

RNG = np.random.default_rng(1)
N = 60
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)


@pytest.mark.parametrize("loss", ["zero-one", "auc", "brier"])
def test_any_loss_has_it(loss):
    """se² = mean squared difference of the halves' means over 2, also without losses of rows."""
    found = tr.estimate_risk(KNeighborsClassifier(9), X, Y, interval="conservative-z", loss=loss)
    risks = found.split_risks[15:].reshape(10, 2, 15).mean(axis=2)
    error = np.sqrt(((risks[:, 0] - risks[:, 1]) ** 2).sum() / 20)
    assert found.value == pytest.approx(found.split_risks[:15].mean())
    assert found.std_error == pytest.approx(error)
    low, high = stats.norm.interval(0.95, found.value, error)
    assert found.interval.low == pytest.approx(max(low, 0))
    assert found.interval.high == pytest.approx(min(high, 1))
    assert (found.interval.method, found.method) == ("conservative-z", "paired-halves")
