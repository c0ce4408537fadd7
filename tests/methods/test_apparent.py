"""The apparent risk is one fit, asked about its own rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

X = np.array([1, 2, 4, 8, 13, 21, 31, 45, 66.0])[:, None]
Y = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])


def test_golden() -> None:
    """METHODS §2: apparent risks of 1, 3, 5 and 7 neighbours."""
    curve = tr.risk_curve(
        KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7]}, X, Y, method="apparent"
    )
    assert curve.values == pytest.approx([0, 3 / 9, 2 / 9, 4 / 9])
    assert curve[0].n_fits == 4
    assert curve[0].target == "training"
    assert "optimistic" in curve[0].bias


def test_copies_and_groups_are_no_leak_here() -> None:
    """Testing on the training rows is the point: no warning about copies or groups."""
    found = tr.estimate_risk(LogisticRegression(), np.ones((9, 1)), Y, method="apparent", groups=Y)
    assert found.value == pytest.approx(4 / 9)


def test_weights_count_in_fit_and_mean() -> None:
    """The weighted mean of the losses of the weighted fit."""
    weights = np.arange(9.0)
    found = tr.estimate_risk(LogisticRegression(), X, Y, method="apparent", sample_weight=weights)
    fitted = LogisticRegression().fit(X, Y, sample_weight=weights)
    assert found.value == pytest.approx(np.average(fitted.predict(X) != Y, weights=weights))
