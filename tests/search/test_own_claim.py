"""The selected risk of a search is what the search itself minimised."""

import json

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LassoCV, RidgeCV
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.family import tunes_inside
from truerisk.estimation.problem import problem_from_arguments
from truerisk.extend import Family
from truerisk.search.own_claim import claimed_risk

X, Y = tr.datasets.make_simple(60, random_state=2)
NUMBERS = X[:, 0] + Y
KNN = KNeighborsClassifier()
GRID = {"n_neighbors": [1, 5, 15]}
QUICK = {"cv": ["3-fold"], "outer": "4-fold"}


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(KNN, GRID, cv=3),
        RandomizedSearchCV(KNN, GRID, n_iter=2, random_state=1, cv=3),
        make_pipeline(StandardScaler(), GridSearchCV(KNN, GRID, cv=3, scoring="accuracy")),
        tr.HonestSearchCV(KNN, GRID, cv="3-fold", outer=None),
        GridSearchCV(KNN, GRID, cv=3, scoring="neg_brier_score"),
    ],
    ids=["grid", "random", "pipeline", "ours", "brier"],
)
def test_selected_risk_is_best_score_of_search_as_a_risk(search):
    one = tr.assess({"search": search}, X, Y, **QUICK).learners["search"]
    model = search.fit(X, Y)
    score = (model[-1] if hasattr(model, "steps") else model).best_score_
    brier = score < 0
    assert one.selected.value == pytest.approx(score if brier else 1 - score, abs=1e-12)
    assert one.selected.scoring == ("neg_brier_score" if brier else "zero-one")
    assert one.optimism == (None if brier else one.risk.value - one.selected.value)
    assert one.selected.interval is None


def test_selected_risk_of_path_regression_is_its_best_score():
    models = {"lasso": LassoCV(cv=3), "ridge": RidgeCV([0.1, 1.0], cv=3)}
    found = tr.assess(models, X, NUMBERS, **QUICK)
    lasso = LassoCV(cv=3).fit(X, NUMBERS)
    assert found.learners["lasso"].selected.value == pytest.approx(lasso.mse_path_.mean(1).min())
    ridge = RidgeCV([0.1, 1.0], cv=3).fit(X, NUMBERS)
    assert found.learners["ridge"].selected.value == pytest.approx(ridge.best_score_)
    assert found.learners["ridge"].optimism is None


def test_selected_risk_is_missing_with_reason_if_nothing_is_claimed():
    model = CalibratedClassifierCV(DecisionTreeClassifier(max_depth=1, random_state=0), cv=3)
    found = tr.assess({"inside": model}, X, Y, **QUICK)
    one = found.learners["inside"]
    assert one.selected is None
    assert one.optimism is None
    assert "keeps no score" in one.no_selected
    assert f"inside: {one.no_selected}" in str(found)
    assert "that tuned it" not in found.conclusion
    assert np.isnan(found.table()["selected"].astype(float)).all()
    content = json.loads(found.to_json())
    assert content["learners"]["inside"]["selected"] is None
    assert tr.Assessment.from_dict(content).learners["inside"].no_selected == one.no_selected
    assert "by which its setting was chosen" not in found.to_html()
    assert one.no_selected in found.to_html()


def test_claimed_by_gives_reason_if_search_cannot_be_fitted():
    search = GridSearchCV(KNN, {"n_neighbors": [1, 39]}, cv=2, error_score="raise")
    like = tr.estimate_risk(GaussianNB(), X, Y, cv="holdout")
    why = claimed_risk(problem_from_arguments(Family.from_grid(search), X, Y), like)
    assert why.startswith("GridSearchCV cannot be fitted on all rows: Expected n_neighbors")


@pytest.mark.parametrize("model", [KNN, GaussianNB(), make_pipeline(StandardScaler(), KNN)])
def test_tunes_inside_is_false_without_splits_of_its_own(model):
    assert not tunes_inside(Family.from_grid(model))
    assert not tunes_inside(Family.from_grid(GridSearchCV(KNN, GRID), {"cv": [2, 3]}))
