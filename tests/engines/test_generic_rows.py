"""Each fit of the generic engine gets its own rows and weights, and leaves the data alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer, StandardScaler
from sklearn.svm import SVC
from tests.engines.test_generic import DATA, FOLDS, X, Y, any_plan

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.errors import BadData
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.methods import KFold, Nested


def weighing():
    """A model that keeps its weights with its rows, and insists on them."""

    class Weighing(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, sample_weight=None):
            if not np.allclose(sample_weight, 10 * np.abs(X[:, 0])):
                raise ValueError("these are not the weights of these rows")
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    return Weighing()


OWN = 10 * np.abs(X[:, 0])


@pytest.mark.parametrize(
    "method", ["4-fold", Nested("4-fold", "3-fold"), "holdout", "reversed 3-fold"], ids=str
)
@pytest.mark.parametrize("wrapped", [False, True], ids=["alone", "pipeline"])
def test_each_fit_gets_the_weights_of_its_rows(method, wrapped) -> None:
    """Weights are cut with the rows, in a pipeline too."""
    model = make_pipeline("passthrough", weighing()) if wrapped else weighing()
    found = tr.estimate_risk(model, X, Y, cv=method, sample_weight=OWN)
    assert found.value > 0


@pytest.mark.parametrize("wrapped", [False, True], ids=["alone", "pipeline"])
def test_weights_arrive_with_metadata_routing(wrapped) -> None:
    """With scikit-learn's routing enabled the weights reach the step that asked for them."""
    with sklearn.config_context(enable_metadata_routing=True):
        model = weighing().set_fit_request(sample_weight=True)
        if wrapped:
            scaler = StandardScaler(with_mean=False, with_std=False)
            model = make_pipeline(scaler.set_fit_request(sample_weight=False), model)
        found = tr.estimate_risk(model, X, Y, cv="4-fold", sample_weight=OWN)
    assert found.value > 0


def test_weights_count_copies_in_a_bootstrap_sample() -> None:
    """A row drawn twice comes twice, with its weight each time."""
    data = Data.check(X, Y, task="classification", fit_params={"sample_weight": OWN})
    answers = Generic().run(Family.of(weighing()), data, any_plan(), Request("label"), RunOptions())
    assert answers.answered.all()


def test_the_data_are_left_alone() -> None:
    """A model that writes into its rows changes neither X nor y, nor other fits."""

    class Vandal(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            assert np.isfinite(X).all()
            self.classes_ = np.unique(y)
            X[:], y[:] = np.nan, "no"
            return self

        def predict(self, X):
            X[:] = np.nan
            return np.full(len(X), self.classes_[0])

    before = X.copy(), Y.copy()
    tr.estimate_risk(Vandal(), X, Y, cv="3-fold")
    assert np.array_equal(before[0], X)
    assert np.array_equal(before[1], Y)


def test_candidates_do_not_see_what_others_did_to_the_rows() -> None:
    """Each candidate of a grid gets rows as they were given."""

    class Scaler(ClassifierMixin, BaseEstimator):
        def __init__(self, factor=1.0):
            self.factor = factor

        def fit(self, X, y):
            X *= self.factor
            self.mean_ = X.mean()
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            share = 1 / (1 + np.exp(-self.mean_))
            return np.tile([share, 1 - share, 0.0], (len(X), 1))

        def predict(self, X):
            return self.classes_[np.zeros(len(X), int)]

    family = Family.of(Scaler(), {"factor": [0.0, 1.0]})
    plan = KFold(2).plan(DATA, Streams(0))
    found = Generic().run(family, DATA, plan, Request("probability"), RunOptions())
    alone = Generic().run(Family.of(Scaler(1.0)), DATA, plan, Request("probability"), RunOptions())
    assert np.array_equal(found.values[1], alone.values[0])


@pytest.mark.parametrize("table", [np.array, pd.DataFrame], ids=["array", "frame"])
def test_scaling_in_place_changes_no_result(table) -> None:
    """A pipeline that scales without copying gives the results of one that copies."""
    curves = [
        tr.risk_curve(
            make_pipeline(StandardScaler(copy=copy), KNeighborsClassifier()),
            {"kneighborsclassifier__n_neighbors": [1, 3, 5]},
            table(5 + 3 * X),
            Y,
            cv="4-fold",
        ).values.tolist()
        for copy in (True, False)
    ]
    assert curves[0] == curves[1]


def test_a_linear_model_is_fitted_as_given() -> None:
    """Fit parameters of one entry per row are cut with the rows; others pass."""
    data = Data.check(X, Y, task="classification", fit_params={"sample_weight": OWN})
    plan = KFold(folds=FOLDS).plan(data, Streams(0))
    found = Generic().run(
        Family.of(LogisticRegression()), data, plan, Request("label"), RunOptions()
    )
    for k in range(4):
        model = LogisticRegression().fit(X[k != FOLDS], Y[k != FOLDS], OWN[k != FOLDS])
        assert (DATA.classes[found.of(k)[0]] == model.predict(X[k == FOLDS])).all()


SQUARE = {
    "Gram": (SVC(kernel="precomputed"), {"C": [0.1, 10.0]}, lambda X: X @ X.T),
    "centred": (
        make_pipeline(KernelCenterer(), SVC(kernel="precomputed")),
        {"svc__C": [0.1, 10.0]},
        lambda X: X @ X.T,
    ),
    "distances": (
        KNeighborsClassifier(metric="precomputed"),
        {"n_neighbors": [1, 3]},
        pairwise_distances,
    ),
    "as the grid says": (
        KNeighborsClassifier(),
        {"metric": ["euclidean", "precomputed"]},
        pairwise_distances,
    ),
}


@pytest.mark.parametrize("what", SQUARE)
def test_a_matrix_of_rows_against_rows_is_cut_as_scikit_learn_cuts_it(what) -> None:
    """Rows and columns of the train set, as GridSearchCV has it by the same tags."""
    model, grid, made = SQUARE[what]
    X, y = tr.datasets.make_difficult(40, random_state=0)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    search = GridSearchCV(model, grid, cv=folds, refit=False).fit(made(X), y)
    curve = tr.risk_curve(model, grid, made(X), y, cv=folds, engine="generic")
    theirs = 1 - search.cv_results_["mean_test_score"]
    assert curve.values.tolist() == pytest.approx(theirs.tolist(), abs=1e-12)


def test_copies_in_a_bootstrap_sample_are_copies_of_columns() -> None:
    """Distances given and distances computed are one neighbour rule on any sample."""
    X, y = tr.datasets.make_difficult(30, random_state=1)
    method = tr.methods.Bootstrap(kind="oob", replicates=5)
    plain = tr.estimate_risk(KNeighborsClassifier(3), X, y, cv=method, engine="generic")
    given = KNeighborsClassifier(3, metric="precomputed")
    square = tr.estimate_risk(given, pairwise_distances(X), y, cv=method)
    assert square.value == plain.value
    assert "matrix of rows against rows" in square.refusals["knn"]


def test_a_matrix_of_rows_against_rows_is_square() -> None:
    """The sentence says what X is taken for, and which shape it has."""
    X, y = tr.datasets.make_difficult(20, random_state=0)
    with pytest.raises(BadData, match=r"matrix of rows against rows.*shape \(20, 2\)"):
        tr.estimate_risk(SVC(kernel="precomputed"), X, y, cv="5-fold")
