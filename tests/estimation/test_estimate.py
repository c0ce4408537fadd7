"""`estimate_risk` and `risk_curve` give the same numbers in every container, and honest ones."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import truerisk as tr

RNG = np.random.default_rng(8)
N = 40
X = RNG.normal(size=(N, 3)).astype("f4").astype(float)  # the same numbers in single precision
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)


READ_ONLY = X.copy()
READ_ONLY.flags.writeable = False
INDEX = [f"r{i}" for i in range(N)]
CONTAINERS = {
    "fortran": (np.asfortranarray(X), Y),
    "read-only": (READ_ONLY, Y),
    "float32": (X.astype("f4"), Y),
    "list": (X.tolist(), Y.tolist()),
    "pandas": (pd.DataFrame(X, columns=list("abc"), index=INDEX), pd.Series(Y, index=INDEX)),
    "polars": (pl.DataFrame(X, schema=list("abc"), orient="row"), pl.Series(Y)),
    "csr": (sp.csr_matrix(X), Y),
    "csc": (sp.csc_array(X), Y),
    "coo": (sp.coo_matrix(X), Y),
    "bsr": (sp.bsr_matrix(X, blocksize=(2, 3)), Y),
    "categorical": (X, pd.Series(np.array(["a", "b"])[Y], dtype="category")),
    "text": (X, np.array(["a", "b"])[Y]),
    "bool": (X, Y.astype(bool)),
}


def nested_curve(X, y):
    return tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, X, y, cv="nested")


@pytest.fixture(scope="module")
def expected():
    """What plain arrays give."""
    return nested_curve(X, Y)


@pytest.mark.parametrize("name", CONTAINERS)
def test_risk_curve_is_the_same_in_every_container(name, expected):
    found = nested_curve(*CONTAINERS[name])
    assert found.procedure.plan_fingerprint == expected.procedure.plan_fingerprint
    assert np.array_equal(found.procedure.losses, expected.procedure.losses)
    assert found.values.tolist() == expected.values.tolist()


def test_estimate_risk_takes_two_columns_of_one_name():
    class ByPosition(KNeighborsClassifier):
        def fit(self, X, y):
            return super().fit(np.asarray(X), y)

        def predict(self, X):
            return super().predict(np.asarray(X))

    frame = pd.DataFrame(X[:, :2], columns=["a", "a"])
    one, two = (
        tr.estimate_risk(ByPosition(), table, Y, cv="4-fold") for table in (frame, X[:, :2])
    )
    assert np.array_equal(one.losses, two.losses)


def test_estimate_risk_keeps_categories_for_a_pipeline():
    frame = pd.DataFrame({"x": X[:, 0], "kind": pd.Categorical(np.array(list("uv"))[Y])})
    encoder = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(encoder, LogisticRegression())
    assert tr.estimate_risk(model, frame, Y, cv="4-fold").value == 0


@pytest.mark.parametrize("table", [list, np.array, pd.Series, lambda t: np.array(t, dtype=object)])
def test_estimate_risk_takes_lists_of_texts(table):
    words = ["good", "bad"]
    texts = [f"{words[label]} w{i} w{i + 1}" for i, label in enumerate(Y)]
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    assert tr.estimate_risk(model, table(texts), Y, cv="4-fold").value < 0.2


@pytest.mark.parametrize("loss", [None, "log", "auc", "f1_macro"])
@pytest.mark.parametrize("method", ["apparent", "holdout", "2x3-fold", "three-way"])
def test_estimate_risk_does_not_depend_on_names_of_classes(method, loss):
    one, two = (
        tr.estimate_risk(LogisticRegression(), X, y, cv=method, scoring=loss)
        for y in (Y, np.array(["minus", "plus"])[Y])
    )
    assert one.value == two.value


@pytest.mark.parametrize(("engine", "rel"), [("generic", 0.0), ("least-squares", 1e-9)])
def test_risk_curve_holds_what_each_setting_gets_alone(engine, rel):
    given = {"X": X, "y": X[:, 1] + Y, "cv": "5-fold", "engine": engine}
    curve = tr.risk_curve(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, **given)
    for estimate in curve:
        alone = tr.estimate_risk(Ridge(**estimate.params), **given)
        assert estimate.value == pytest.approx(alone.value, rel=1e-14)
        assert estimate.std_error == pytest.approx(alone.std_error, rel=1e-12)
        np.testing.assert_allclose(estimate.losses, alone.losses, rtol=rel)


def test_estimate_risk_of_a_search_tunes_anew_in_every_training_set():
    """As scikit-learn does in cross_val_score."""
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, cv=3)
    outer = StratifiedKFold(4)
    found = tr.estimate_risk(search, X, Y, cv=outer)
    assert 1 - found.split_risks == pytest.approx(cross_val_score(search, X, Y, cv=outer))


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("apparent", "training"),
        ("holdout", "Err_XY"),
        ("4-fold", "Err"),
        ("loo", "Err"),
        ("nested", "Err"),
        ("three-way", "Err_XY"),
    ],
)
def test_target_of_an_estimate_is_named(method, target):
    assert tr.estimate_risk(KNeighborsClassifier(), X, Y, cv=method).target == target


def test_nested_curve_on_noise_is_as_bad_as_guessing():
    """On labels without a signal nested validation is right about 1/2, and tuning flatters."""
    rng = np.random.default_rng(0)
    honest, flattering = [], []
    method, grid = tr.methods.Nested("5-fold", "4-fold"), {"n_neighbors": list(range(1, 20))}
    for seed in range(12):
        noise, labels = rng.normal(size=(40, 5)), np.arange(40) % 2
        given = {"cv": method, "random_state": seed}
        curve = tr.risk_curve(KNeighborsClassifier(), grid, noise, labels, **given)
        honest.append(curve.procedure.value)
        flattering.append(np.mean([u.inner_risk for u in curve.evaluation.units]))
    assert abs(np.mean(honest) - 0.5) < 0.08
    assert np.mean(honest) - np.mean(flattering) > 0.04
