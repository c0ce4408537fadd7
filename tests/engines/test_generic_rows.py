"""Each fit of the generic engine gets its own rows and weights, and leaves the data alone."""

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
from tests.engines.closed_forms import plan_of
from tests.engines.test_generic import DATA, FOLDS, LABEL, Constant, X, Y, run
from tests.support.data import checked

import truerisk as tr
from truerisk.extend import BadData
from truerisk.methods import Bootstrap, KFold, Nested

OWN = 10 * np.abs(X[:, 0])
WEIGHED = checked(X, Y, fit_params={"sample_weight": OWN})


class Weighing(Constant):
    """A model that knows the weight of each row, and insists on it."""

    def fit(self, X, y, sample_weight=None):
        if not np.allclose(sample_weight, 10 * np.abs(X[:, 0])):
            raise ValueError("these are not the weights of these rows")
        return super().fit(X, y)


@pytest.mark.parametrize("routed", [False, True], ids=["by name", "routed"])
@pytest.mark.parametrize("wrapped", [False, True], ids=["alone", "pipeline"])
@pytest.mark.parametrize("method", ["holdout", Nested("4-fold", "reversed 3-fold")], ids=str)
def test_weights_are_cut_with_the_rows_of_each_fit(routed, wrapped, method):
    with sklearn.config_context(enable_metadata_routing=routed):
        model = Weighing().set_fit_request(sample_weight=True) if routed else Weighing()
        if wrapped:
            scaler = StandardScaler(with_mean=False, with_std=False)
            if routed:
                scaler.set_fit_request(sample_weight=False)
            model = make_pipeline(scaler, model)
        assert tr.estimate_risk(model, X, Y, cv=method, sample_weight=OWN).value > 0


def test_weights_arrive_with_every_copy_and_in_the_fit_of_scikit_learn():
    assert run(
        Weighing(), plan_of("bootstrap", WEIGHED), request=LABEL, data=WEIGHED
    ).answered.all()
    plan = plan_of(KFold(folds=FOLDS), WEIGHED)
    found = run(LogisticRegression(), plan, request=LABEL, data=WEIGHED)
    for k in range(4):
        model = LogisticRegression().fit(X[k != FOLDS], Y[k != FOLDS], OWN[k != FOLDS])
        assert (DATA.classes[found.for_question(k)[0]] == model.predict(X[k == FOLDS])).all()


class Vandal(Constant):
    """A model that writes into its rows."""

    def fit(self, X, y):
        assert np.isfinite(X).all()
        super().fit(X, y)
        X[:], y[:] = np.nan, "no"
        return self

    def predict(self, X):
        X[:] = np.nan
        return np.full(len(X), self.classes_[0])


def test_data_are_left_alone_by_a_model_that_writes_into_them():
    before = X.copy(), Y.copy()
    tr.estimate_risk(Vandal(), X, Y, cv="3-fold")
    assert np.array_equal(before[0], X)
    assert np.array_equal(before[1], Y)


class Scales(ClassifierMixin, BaseEstimator):
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


def test_candidates_do_not_see_what_others_did_to_the_rows():
    plan = plan_of(KFold(2), DATA)
    found, alone = run(Scales(), plan, {"factor": [0.0, 1.0]}), run(Scales(1.0), plan)
    assert np.array_equal(found.values[1], alone.values[0])


@pytest.mark.parametrize("table", [np.array, pd.DataFrame], ids=["array", "frame"])
def test_scaling_in_place_changes_no_result(table):
    grid = {"kneighborsclassifier__n_neighbors": [1, 3, 5]}
    scaled, copied = (
        tr.risk_curve(
            make_pipeline(StandardScaler(copy=copy), KNeighborsClassifier()),
            grid,
            table(5 + 3 * X),
            Y,
            cv="4-fold",
        )
        for copy in (False, True)
    )
    assert scaled.values.tolist() == copied.values.tolist()


def gram(X):
    return X @ X.T


SQUARE = SVC(kernel="precomputed")
CENTRED = make_pipeline(KernelCenterer(), SQUARE)
GIVEN = KNeighborsClassifier(metric="precomputed")


@pytest.mark.parametrize(
    ("model", "grid", "make"),
    [
        (SQUARE, {"C": [0.1, 10.0]}, gram),
        (CENTRED, {"svc__C": [0.1, 10.0]}, gram),
        (GIVEN, {"n_neighbors": [1, 3]}, pairwise_distances),
        (KNeighborsClassifier(), {"metric": ["euclidean", "precomputed"]}, pairwise_distances),
    ],
)
def test_matrix_of_rows_against_rows_is_cut_as_by_grid_search(model, grid, make):
    """Rows and columns of the train set, as GridSearchCV has it by the same tags."""
    X, y = tr.datasets.make_difficult(40, random_state=0)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    search = GridSearchCV(model, grid, cv=folds, refit=False).fit(make(X), y)
    curve = tr.risk_curve(model, grid, make(X), y, cv=folds, engine="generic")
    theirs = 1 - search.cv_results_["mean_test_score"]
    assert curve.values.tolist() == pytest.approx(theirs.tolist(), abs=1e-12)


def test_matrix_of_rows_against_rows_has_the_copies_of_a_bootstrap_sample_as_columns():
    X, y = tr.datasets.make_difficult(30, random_state=1)
    method = Bootstrap(kind="oob", replicates=5)
    plain = tr.estimate_risk(KNeighborsClassifier(3), X, y, cv=method, engine="generic")
    given = KNeighborsClassifier(3, metric="precomputed")
    square = tr.estimate_risk(given, pairwise_distances(X), y, cv=method)
    assert square.value == plain.value
    assert "matrix of rows against rows" in square.refusals["knn"]


def test_matrix_of_rows_against_rows_is_square():
    X, y = tr.datasets.make_difficult(20, random_state=0)
    with pytest.raises(BadData, match=r"matrix of rows against rows.*shape \(20, 2\)"):
        tr.estimate_risk(SQUARE, X, y, cv="5-fold")
