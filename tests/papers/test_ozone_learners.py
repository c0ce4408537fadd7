"""Nine learners for both tasks."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers.ozone_learners import LEARNERS, ozone_family

RNG = np.random.default_rng(0)
X = RNG.normal(size=(250, 4))
NUMBERS = 30 * X[:, 0] + RNG.normal(size=250)


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("word", LEARNERS)
def test_every_setting_can_be_fitted(word, task) -> None:
    """It learns what is plain, and a classifier ranks the rows."""
    family = ozone_family(word, task)
    assert family.task == task
    y = NUMBERS if task == "regression" else (NUMBERS > 0).astype(int)
    model = family.make(len(family) - 1).fit(X, y)
    assert model.score(X, y) > 0.4
    if task == "classification":
        assert hasattr(model, "decision_function") or hasattr(model, "predict_proba")


def test_interactions_are_squares_and_products() -> None:
    """Four columns become fourteen."""
    model = ozone_family("linear, interactions", "regression").make(0).fit(X, NUMBERS)
    assert len(model[-1].coef_) == 14
    assert len(ozone_family("linear", "regression").make(0).fit(X, NUMBERS)[-1].coef_) == 4
