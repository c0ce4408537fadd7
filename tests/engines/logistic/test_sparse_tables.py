"""Sparse tables are answered as LogisticRegression answers them, or it is asked itself."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.engines.closed_forms import counted, data_of, family_of
from tests.support.fitted_once import fitted_once

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.engines.generic import Generic
from truerisk.engines.logistic.paths import LogisticPaths
from truerisk.methods import Bootstrap
from truerisk.models import LogisticPath

RESPONSES = ["label", "probability", "score"]
ENGINE = LogisticPaths()


def words_and_numbers(rng, n, scaled=True):
    """Levels of words, some rare, and numbers of unlike sizes; steps that make a sparse table."""
    columns = {}
    for j in range(int(rng.integers(1, 4))):
        levels = int(rng.integers(2, 12))
        columns[f"word{j}"] = np.array([f"w{k}" for k in rng.integers(0, levels, n)])
    for j in range(int(rng.integers(0, 3))):
        columns[f"number{j}"] = rng.normal(size=n) * 10.0 ** rng.integers(-2, 4)
    words = [name for name in columns if name.startswith("word")]
    numbers = [name for name in columns if name.startswith("number")]
    steps = [(OneHotEncoder(handle_unknown="ignore"), words)]
    if numbers:
        steps.append((StandardScaler() if scaled else "passthrough", numbers))
    return pd.DataFrame(columns), make_column_transformer(*steps, sparse_threshold=1.0)


def problem(kind, seed):
    """A learner, a plan and a table that is sparse for the learner."""
    rng = np.random.default_rng([seed, *kind.encode()])
    n, n_classes = int(rng.integers(20, 70)), int(rng.choice([2, 2, 3]))
    model = LogisticRegression(
        tol=float(rng.choice([1e-4, 1e-4, 1e-2, 1e-6])),
        max_iter=int(rng.choice([100, 100, 7, 1000])),
    )
    grid, weights = {"C": np.sort(10.0 ** rng.uniform(-4, 5, 3)).tolist()}, {}
    if kind == "given":
        X = rng.normal(size=(n, int(rng.integers(1, 20)))) * (rng.random(n) < 0.5)[:, None]
        X[:, 0] *= 10.0 ** rng.integers(-2, 5)
        score = X[:, -1]
        make = [sparse.csr_matrix, sparse.csc_array, sparse.coo_array][int(rng.integers(3))]
        X = make(X)
        name = "sample_weight"
    else:
        X, steps = words_and_numbers(rng, n, scaled=kind == "scaled")
        score = (X["word0"] == "w1").to_numpy() * 2.0
        model = make_pipeline(steps, model)
        grid = {"logisticregression__C": grid["C"]}
        name = "logisticregression__sample_weight"
    if rng.random() < 0.3:
        weights = {name: rng.uniform(0.2, 3.0, n)}
    y = np.clip(np.round(score + rng.normal(size=n)) % n_classes, 0, n_classes - 1)
    y[: 2 * n_classes] = np.arange(2 * n_classes) % n_classes
    data = data_of(X, np.array(list("abc"))[y.astype(int)], **weights)
    method = Bootstrap("oob", 4) if rng.random() < 0.3 else tr.methods.KFold(3)
    return family_of(model, grid), data, method.plan(data, Streams(seed))


def answered(engine, *given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return engine.run(*given, RunOptions()).values.astype(float)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["given", "scaled", "unscaled"])
@pytest.mark.parametrize("seed", range(1, 4))
def test_it_says_what_fits_on_the_sparse_table_say(kind, seed):
    """Labels to the letter, digits to 1e-9, of tables with words, weights and few steps."""
    (family, data, plan), known = problem(kind, seed), {}
    for response in RESPONSES[: 3 if data.n_classes == 2 else 2]:
        given = family, data, plan, Request(response)
        reason = ENGINE.refuse(*given)
        if reason == "a fit sees one class only.":
            continue
        assert reason is None
        ours = answered(ENGINE, *given)
        with fitted_once(LogisticRegression, known=known):
            theirs = answered(Generic(), *given)
        if response == "label":
            assert np.array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_what_steps_make_sparse_is_followed(monkeypatch):
    """At scikit-learn's defaults it is seldom asked itself, and steps are fitted once a fold."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"word{j}": rng.choice(list("abcdefg"), 200) for j in range(5)})
    X["number"] = rng.normal(size=200)
    y = np.where((X["word0"] < "d") + rng.normal(size=200) > 0.5, "yes", "no")
    words = [name for name in X if name.startswith("word")]
    steps = make_column_transformer((OneHotEncoder(), words), (StandardScaler(), ["number"]))
    assert sparse.issparse(steps.fit_transform(X))
    model = make_pipeline(steps, LogisticRegression())
    family = family_of(model, {"logisticregression__C": [0.01, 0.1, 1.0, 10.0]})
    data = data_of(X, y)
    plan = tr.methods.KFold(5).plan(data, Streams(0))
    with counted(monkeypatch) as seen:
        ENGINE.run(family, data, plan, Request("label"), RunOptions())
    assert seen["asked"] <= 1
    assert seen["passes"] == 5


def test_logistic_path_after_steps_goes_its_own_way_on_sparse_tables(monkeypatch):
    """Its answers are promised to the last bit, and sparse sums have other last bits."""
    X, steps = words_and_numbers(np.random.default_rng(0), 40)
    y = np.array(["a", "b"] * 20)
    family = family_of(make_pipeline(steps, LogisticPath(n_lambdas=5)), {"logisticpath__at": [1]})
    data = data_of(X, y)
    plan = tr.methods.KFold(3).plan(data, Streams(0))
    with counted(monkeypatch) as seen:
        ours = answered(ENGINE, family, data, plan, Request("score"))
    assert seen["asked"] == 3
    np.testing.assert_array_equal(ours, answered(Generic(), family, data, plan, Request("score")))


def test_a_table_of_zeros_alone_nearly_is_left_to_the_learner(monkeypatch):
    """Writing the zeros would take longer than the fits, or the memory of the machine."""
    empty = sparse.random(200, 20_000, density=1e-4, random_state=0, format="csr")
    y = np.array(["a", "b"] * 100)
    data, family = data_of(empty, y), family_of(LogisticRegression())
    plan = tr.methods.KFold(3).plan(data, Streams(0))
    reason = ENGINE.refuse(family, data, plan, Request("label"))
    assert reason == "X is sparse, and too large, or too empty, to be made a dense table."
    words = pd.DataFrame({"name": [f"w{k}" for k in range(4_000)]})
    steps = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["name"]))
    model = make_pipeline(steps, LogisticRegression())
    family, data = family_of(model), data_of(words, np.array(["a", "b"] * 2_000))
    plan = tr.methods.KFold(2).plan(data, Streams(0))
    with counted(monkeypatch) as seen:
        ENGINE.run(family, data, plan, Request("label"), RunOptions())
    assert seen["asked"] == 2
