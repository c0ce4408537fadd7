"""The interval of the .632 bootstrap, by name."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.methods import Bootstrap

RNG = np.random.default_rng(1)
N = 40
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
KNN = KNeighborsClassifier(5)


@pytest.mark.parametrize("kind", ["oob", ".632", ".632+"])
def test_the_error_out_of_bag_is_scaled_to_the_value(kind):
    """Value ± z se(Err₁) value/Err₁, se(Err₁) the one that method "oob" reports."""
    method = Bootstrap(kind, replicates=400)
    found = tr.estimate_risk(KNN, X, Y, method=method, interval="bootstrap-.632")
    oob = tr.estimate_risk(KNN, X, Y, method=Bootstrap("oob", replicates=400))
    error = oob.std_error * found.value / oob.value
    low, high = stats.norm.interval(0.95, found.value, error)
    assert found.std_error == pytest.approx(error)
    assert (found.interval.low, found.interval.high) == pytest.approx((max(low, 0), high))
    assert found.interval.method == "bootstrap-.632"


def test_without_being_asked_632_has_none():
    """The formula is a rule of thumb for .632 and .632+, so it is given on request only."""
    assert tr.estimate_risk(KNN, X, Y, method=".632+").interval is None


def test_where_the_jackknife_fails_a_note_says_why():
    """Groups have no formula: no interval, and the reason."""
    found = tr.estimate_risk(
        KNN, X, Y, method=".632", interval="bootstrap-.632", groups=np.arange(N) // 2
    )
    assert (found.interval, found.std_error) == (None, None)
    assert any("groups" in note for note in found.notes)


@pytest.mark.parametrize("method", ["optimism", "bootstrap", "10-fold"])
def test_other_methods_refuse_it(method):
    """Samples that are tested on their own rows, and folds, have no such interval."""
    with pytest.raises(Refusal, match="bootstrap-.632' needs bootstrap samples, which method '"):
        tr.estimate_risk(KNN, X, Y, method=method, interval="bootstrap-.632")
