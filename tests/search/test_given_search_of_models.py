"""A model that holds another estimator is fitted as a model, with groups and without."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.linear_model import LogisticRegression, RANSACRegressor, Ridge
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.pipeline import make_pipeline

import truerisk as tr

RULE, LINE = LogisticRegression(), Ridge()
SEARCH = GridSearchCV(RULE, {"C": [0.1, 1.0]}, cv=2)
MODELS = [
    CalibratedClassifierCV(RULE, cv=2),
    CalibratedClassifierCV(SEARCH, cv=2),
    BaggingClassifier(RULE, 2, random_state=0),
    BaggingRegressor(LINE, 2, random_state=0),
    AdaBoostClassifier(RULE, n_estimators=2, random_state=0),
    OneVsRestClassifier(RULE),
    OneVsOneClassifier(RULE),
    OutputCodeClassifier(RULE, random_state=0),
    StackingClassifier([("rule", RULE)], cv=2),
    VotingRegressor([("line", LINE)]),
    TransformedTargetRegressor(LINE, func=np.sinh, inverse_func=np.arcsinh),
    RANSACRegressor(LINE, min_samples=0.5, max_trials=5, random_state=0),
    RFE(RULE, n_features_to_select=1),
    RFE(LINE, n_features_to_select=1),
    RFECV(RULE, cv=2),
    TunedThresholdClassifierCV(RULE, cv=2, thresholds=5),
    FixedThresholdClassifier(RULE),
    make_pipeline(SelectFromModel(RULE), RULE),
    make_pipeline(SEARCH),
]
GROUPS = np.arange(60) // 3
OUTER = tr.methods.KFold(folds=GROUPS % 3)


@pytest.fixture(scope="module")
def rows():
    """60 rows of three features, with numbers to predict."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, X[:, 0] + rng.standard_normal(60)


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_a_model_has_the_risk_of_a_grid_of_one(rows, number):
    """Whatever it holds, an estimate has that risk; every second has groups.

    What an empty grid means is the same for all models, and so is what an assessment makes of them:
    every fourth is searched in one, and assessed.
    """
    model, groups = MODELS[number], (None, GROUPS)[number % 2]
    X, y = rows[0], rows[1] > 0 if is_classifier(model) else rows[1]
    asked = {"outer": OUTER, "cv": "3-fold", "refit": False}
    found = tr.HonestSearchCV(model, **asked).fit(X, y, groups=groups)
    assert not hasattr(found, "search_")
    if number % 4 < 1:
        of_one = tr.HonestSearchCV(model, {}, **asked).fit(X, y, groups=groups)
        assert found.risk_.value == of_one.risk_.value
        assessed = tr.assess({"it": model}, X, y, cv=["3-fold"], outer=OUTER, groups=groups)
        assert assessed.learners["it"].risk.value == found.risk_.value
    assert found.risk_.value == tr.estimate_risk(model, X, y, cv=OUTER, groups=groups).value


def test_a_threshold_that_is_tuned_inside_claims_its_own_score(rows):
    """It has a best score and no best parameters."""
    X, y = rows[0], rows[1] > 0
    model = TunedThresholdClassifierCV(RULE, cv=2, thresholds=5)
    selected = tr.assess({"it": model}, X, y, cv=["3-fold"], outer="3-fold").learners["it"].selected
    assert selected.value == pytest.approx(model.fit(X, y).best_score_)
    assert selected.scoring == "balanced_accuracy"
