"""Experiments ask through the same engines as users."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.experiments.experiment import evaluated, first_least
from truerisk.losses.row_losses import ZeroOne
from truerisk.methods import as_method
from truerisk.results.evaluation import values_of


@pytest.mark.parametrize("word", ["loo", "4-fold", "three-way"])
def test_a_method_finds_what_a_user_finds(word) -> None:
    """The same seed, the same values and the same procedure."""
    X, y = tr.datasets.make_simple(40, random_state=0)
    grid = {"n_neighbors": [1, 5, 9]}
    curve = tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv=word, random_state=3)
    family = Family.of(KNeighborsClassifier(), grid)
    found = evaluated(
        as_method(word), family, Data.check(X, y, task="classification"), ZeroOne(), 3
    )
    np.testing.assert_allclose(values_of(found.tested), curve.values)
    if curve.procedure is not None:
        assert found.procedure.value == curve.procedure.value


def test_of_equal_curves_the_first_place_is_taken() -> None:
    """Where sums in another order differ in their last bits, too."""
    assert first_least(np.array([0.3, 0.1 + 1e-14, 0.1, 0.2])) == 1
