"""Stability of a validation: features of the outer splits, predictions of the pairs' models."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import truerisk as tr

N = 90
RNG = np.random.default_rng(4)
X = RNG.normal(size=(N, 6))
Y = (X[:, 0] + X[:, 1] + RNG.logistic(size=N) > 0).astype(int)
SPARSE = LinearSVC(penalty="l1", dual=False)
GRID = {"C": [0.02, 0.1, 1.0]}


def stability(model, y=Y):
    return tr.validate(model, X, y, replicates=0).stability


def test_stability_is_that_of_plain_fits():
    search = tr.HonestSearchCV(SPARSE, GRID, cv="5-fold").fit(X, Y)
    found = stability(search).features
    plan = search.risk_.answered.answers[0].plan
    for q, split in enumerate(search.outer_):
        rows = plan.train_rows(int(plan.fit[q]))[0]
        fitted = LinearSVC(penalty="l1", dual=False, **split.params).fit(X[rows], Y[rows])
        assert found.selected[q].tolist() == (fitted.coef_ != 0)[0].tolist()
    assert found.n_fits == 5
    assert found.index is not None
    # What moves is the probability that the validation reads everywhere else.
    found = tr.validate(LogisticRegression(), X, Y, replicates=0)
    predictions = found.stability.predictions
    order = np.argsort(found.held_out.rows)
    assert np.array_equal(predictions.predictions, found.held_out.answers[order, 1])
    assert predictions.n_models == 4
    assert predictions.event == "1"
    assert predictions.of_new_rows == pytest.approx(np.sqrt(3) * predictions.mape)


@pytest.mark.parametrize("model", [LogisticRegression(), RandomForestClassifier(5)])
def test_stability_of_a_fitted_search_is_that_of_a_new_one(model):
    """Fits that are made again are the same fits, also of learners that draw numbers."""
    name, values = ("C", [0.01, 1.0]) if hasattr(model, "C") else ("max_depth", [3, 4, 5])
    new, old = (
        tr.HonestSearchCV(model, {name: values}, cv="3-fold", scoring="brier") for _ in "ab"
    )
    before, after = stability(new).predictions, stability(old.fit(X, Y)).predictions
    assert len({split.best_index for split in old.outer_}) > 1  # the winners differ
    assert np.array_equal(before.predictions, after.predictions)
    assert np.array_equal(before.others, after.others)


def test_stability_of_labels_and_of_numbers():
    """Without probabilities a move is another label; a regression moves in its unit."""
    found = stability(SPARSE).predictions
    assert set(np.unique(found.others)) <= {0.0, 1.0}
    assert found.mape == pytest.approx(found.otherwise.mean())
    assert "another label" in str(found)
    found = stability(Lasso(0.1), X[:, 0] + RNG.normal(size=N))
    assert found.predictions.otherwise is None
    assert found.predictions.mape > 0
    assert found.features.shares[0] == 1
    found = stability(KNeighborsClassifier()).features  # all columns are used, and none selected
    assert found.index is None
    assert "all 6 features" in found.reason


LACKING = "no models were fitted without a further fold"


@pytest.mark.parametrize(
    ("model", "part", "why"),
    [
        (make_pipeline(PCA(2), LogisticRegression()), "features", "PCA makes columns of several"),
        (GridSearchCV(SPARSE, GRID, cv=2), "predictions", LACKING),
        (tr.HonestSearchCV(SPARSE, GRID, outer="3-fold", cv="3-fold"), "predictions", LACKING),
        (tr.HonestSearchCV(SPARSE, GRID, cv="2x3-fold"), "predictions", "tested more than once"),
    ],
)
def test_stability_says_why_a_part_is_missing(model, part, why):
    """The part is None, the sentence stands in its place, the other part is there."""
    found = stability(model)
    assert getattr(found, part) is None
    assert why in found.missing[part]
    assert why in str(found)
    other = "features" if part == "predictions" else "predictions"
    assert getattr(found, other) is not None
