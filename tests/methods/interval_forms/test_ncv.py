"""The interval `ncv` asked for by name; tests/methods/test_ncv.py holds it to the formula."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import truerisk as tr

RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 2))
Y = X[:, 0] + RNG.normal(size=40)


def test_a_k_fold_word_becomes_nested_cross_validation():
    """The word 5-fold with interval="ncv" is NestedInterval(5, repeats=10), debiased."""
    asked = tr.estimate_risk(Ridge(), X, Y, method="5-fold", interval="ncv")
    same = tr.estimate_risk(Ridge(), X, Y, method=tr.methods.NestedInterval(5, repeats=10))
    assert (asked.value, asked.interval) == (same.value, same.interval)
    assert asked.method == "ncv (10x5-fold)"


def test_more_repetitions_are_kept():
    """The word 12x5-fold keeps its 12 repetitions."""
    asked = tr.estimate_risk(Ridge(), X, Y, method="12x5-fold", interval="ncv")
    assert asked.n_fits == 12 * 15


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_it_is_symmetric_and_of_its_level(level):
    """Value ± z standard errors."""
    from scipy import stats

    found = tr.estimate_risk(Ridge(), X, Y, interval="ncv", confidence_level=level)
    z = stats.norm.ppf((1 + level) / 2)
    assert found.interval.high == pytest.approx(found.value + z * found.std_error)
