"""`estimate_risk` and `risk_curve` give the same numbers in every container, and honest ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import truerisk as tr
from truerisk.contracts import Streams

RNG = np.random.default_rng(8)
N = 40
X = RNG.normal(size=(N, 3)).astype("f4").astype(float)  # the same numbers in single precision
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)


def read_only() -> np.ndarray:
    array = X.copy()
    array.flags.writeable = False
    return array


TABLES = {
    "numpy": X,
    "fortran": np.asfortranarray(X),
    "read-only": read_only(),
    "float32": X.astype("f4"),
    "list": X.tolist(),
    "pandas": pd.DataFrame(X, columns=list("abc")),
    "string index": pd.DataFrame(X, columns=list("abc"), index=[f"r{i}" for i in range(N)]),
    "polars": pl.DataFrame(X, schema=list("abc"), orient="row"),
    "csr": sp.csr_matrix(X),
    "csc": sp.csc_array(X),
    "coo": sp.coo_matrix(X),
    "bsr": sp.bsr_matrix(X, blocksize=(2, 3)),
}
TARGETS = {
    "numpy": Y,
    "list": Y.tolist(),
    "series": pd.Series(Y, index=[f"r{i}" for i in range(N)]),
    "categorical": pd.Series(np.array(["a", "b"])[Y], dtype="category"),
    "polars": pl.Series(Y),
    "text": np.array(["a", "b"])[Y],
    "bool": Y.astype(bool),
}


@pytest.fixture(scope="module")
def expected():
    """What plain arrays give."""
    return tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, X, Y, cv="nested")


@pytest.mark.parametrize("name", TABLES)
def test_every_table_gives_the_same_risks(name, expected) -> None:
    """Arrays, lists, frames and sparse matrices: the same plan and the same losses."""
    found = tr.risk_curve(
        KNeighborsClassifier(), {"n_neighbors": [1, 5]}, TABLES[name], Y, cv="nested"
    )
    assert found.procedure.plan_fingerprint == expected.procedure.plan_fingerprint
    assert np.array_equal(found.procedure.losses, expected.procedure.losses)
    assert found.values.tolist() == expected.values.tolist()


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_gives_the_same_risks(name, expected) -> None:
    """Labels of any type and container: the same losses."""
    found = tr.risk_curve(
        KNeighborsClassifier(), {"n_neighbors": [1, 5]}, X, TARGETS[name], cv="nested"
    )
    assert np.array_equal(found.procedure.losses, expected.procedure.losses)


def test_equal_column_names() -> None:
    """Two columns of one name are two columns, for a model that takes them."""

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


def test_categories_and_text_in_a_pipeline() -> None:
    """Frames with categories are encoded inside the folds; the rows keep their columns."""
    frame = pd.DataFrame({"x": X[:, 0], "kind": pd.Categorical(np.array(list("uv"))[Y])})
    encoder = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(encoder, LogisticRegression())
    assert tr.estimate_risk(model, frame, Y, cv="4-fold").value == 0


@pytest.mark.parametrize("table", [list, np.array, pd.Series, lambda t: np.array(t, dtype=object)])
def test_lists_of_texts(table) -> None:
    """One text per row, for a pipeline that counts words."""
    words = ["good", "bad"]
    texts = [f"{words[label]} w{i} w{i + 1}" for i, label in enumerate(Y)]
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    assert tr.estimate_risk(model, table(texts), Y, cv="4-fold").value < 0.2


@pytest.mark.parametrize("loss", [None, "log", "auc", "f1_macro"])
@pytest.mark.parametrize(
    "method", ["apparent", "holdout", "4-fold", "2x3-fold", "loo", "three-way"]
)
def test_the_names_of_the_classes_do_not_matter(method, loss) -> None:
    """Classes renamed in order give the same number."""
    if method == "loo" and loss == "f1_macro":
        method = "monte-carlo"
    one, two = (
        tr.estimate_risk(LogisticRegression(), X, y, cv=method, scoring=loss)
        for y in (Y, np.array(["minus", "plus"])[Y])
    )
    assert one.value == two.value


@pytest.mark.parametrize(("engine", "rel"), [("generic", 0.0), ("least-squares", 1e-9)])
def test_a_curve_holds_what_each_setting_gets_alone(engine, rel) -> None:
    """Every candidate of a curve has the estimate of that model alone, on the same splits."""
    given = {"X": X, "y": X[:, 1] + Y, "cv": "5-fold", "engine": engine}
    curve = tr.risk_curve(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, **given)
    for estimate in curve:
        alone = tr.estimate_risk(Ridge(**estimate.params), **given)
        assert estimate.value == pytest.approx(alone.value, rel=1e-14)
        assert estimate.std_error == pytest.approx(alone.std_error, rel=1e-12)
        np.testing.assert_allclose(estimate.losses, alone.losses, rtol=rel)


def test_a_search_is_a_model() -> None:
    """A search tunes anew in every training set, as scikit-learn does in cross_val_score."""
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, cv=3)
    outer = StratifiedKFold(4)
    found = tr.estimate_risk(search, X, Y, cv=outer)
    assert 1 - found.split_risks == pytest.approx(cross_val_score(search, X, Y, cv=outer))


def test_the_target_is_named() -> None:
    """What is estimated, with which bias, by how many fits."""
    model = make_pipeline(StandardScaler(), LogisticRegression())
    targets = {
        m: tr.estimate_risk(model, X, Y, cv=m).target
        for m in ("apparent", "holdout", "4-fold", "loo", "nested", "three-way", "reversed")
        if m != "reversed"
    }
    assert targets == {
        "apparent": "training",
        "holdout": "Err_XY",
        "4-fold": "Err",
        "loo": "Err",
        "nested": "Err",
        "three-way": "Err_XY",
    }


OF_LINES = ("cp", "gcv")  # methods that ask for lines, and for rules with a likelihood
OF_RULES = ("aic", "aicc", "bic", "ebic", "bee", "bee-improper", "bolstered", "alo")


@pytest.mark.parametrize("method", tr.methods.names())
def test_the_same_seed_is_the_same_number(method, monkeypatch) -> None:
    """Twice the same call, twice the same value; the plan follows the seed where it is drawn."""
    drawn: set[str] = set()

    class Watched(Streams):
        def get(self, name: str) -> np.random.Generator:
            drawn.add(name)
            return super().get(name)

    monkeypatch.setattr("truerisk.estimation.run.Streams", Watched)
    method = "reversed 4-fold" if method == "reversed" else method.replace("K", "4")
    learner, y = KNeighborsClassifier(3), Y
    if method in OF_LINES:
        learner, y = LinearRegression(), X[:, 0] + Y
    elif method in OF_RULES:
        learner = LogisticRegression()
    elif method == "oob":
        learner = RandomForestClassifier(40)
    places = {"block": X} if method in ("blocks-4", "buffered") else {}
    one, again, other = (
        tr.estimate_risk(learner, X, y, cv=method, random_state=s, **places) for s in (0, 0, 1)
    )
    assert one.value == again.value
    assert one.plan_fingerprint == again.plan_fingerprint
    assert (one.plan_fingerprint != other.plan_fingerprint) == bool(drawn)


def test_noise_is_as_bad_as_guessing() -> None:
    """On labels without a signal nested validation is right about 1/2, and tuning flatters."""
    rng = np.random.default_rng(0)
    honest, flattering = [], []
    for seed in range(12):
        noise, labels = rng.normal(size=(40, 5)), np.arange(40) % 2
        curve = tr.risk_curve(
            KNeighborsClassifier(),
            {"n_neighbors": list(range(1, 20))},
            noise,
            labels,
            cv=tr.methods.Nested("5-fold", "4-fold"),
            random_state=seed,
        )
        honest.append(curve.procedure.value)
        flattering.append(np.mean([u.inner_risk for u in curve.evaluation.units]))
    assert abs(np.mean(honest) - 0.5) < 0.08
    assert np.mean(honest) - np.mean(flattering) > 0.04
