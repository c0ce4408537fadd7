"""Leave-one-out equals n plain fits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import BadData, Refusal

X = np.array([1, 2, 4, 8, 13, 21, 31, 45, 66.0])[:, None]
Y = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1])


def test_golden() -> None:
    """METHODS §2: LOO risks of 1, 3, 5 and 7 neighbours."""
    curve = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7]}, X, Y, method="loo")
    assert curve.values == pytest.approx([5 / 9, 4 / 9, 7 / 9, 7 / 9], abs=1e-12)
    assert curve[0].n_fits == 36


def test_it_is_cross_val_predict() -> None:
    """Row by row the losses of scikit-learn's leave-one-out predictions."""
    predicted = cross_val_predict(Ridge(), X, Y * 1.5, cv=LeaveOneOut())
    found = tr.estimate_risk(Ridge(), X, Y * 1.5, method="loo")
    assert found.losses == pytest.approx((predicted - Y * 1.5) ** 2, abs=1e-12)


def test_auc_is_of_all_answers_together() -> None:
    """A single row has no AUC: all n answers are rated as one test set."""
    scores = cross_val_predict(
        LogisticRegression(), X, Y, cv=LeaveOneOut(), method="decision_function"
    )
    found = tr.estimate_risk(LogisticRegression(), X, Y, method="loo", loss="auc")
    assert found.value == pytest.approx(1 - roc_auc_score(Y, scores), abs=1e-12)


def test_groups_are_refused() -> None:
    """Leave-one-out would ignore the groups; the remedy is named."""
    with pytest.raises(Refusal, match="would ignore the groups.*LeaveOneGroupOut"):
        tr.estimate_risk(Ridge(), X, Y, method="loo", groups=Y)


def test_one_row_leaves_nothing() -> None:
    """One row cannot be left out."""
    with pytest.raises(BadData, match="nothing to train on"):
        tr.estimate_risk(Ridge(), X[:1], Y[:1], method="loo")
