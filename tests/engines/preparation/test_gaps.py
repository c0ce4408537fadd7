"""Cells that are missing keep no fast engine away where a step before the learner fills them."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, Normalizer, QuantileTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr

RNG = np.random.default_rng(0)
FULL = RNG.normal(size=(60, 4))
X = np.where(RNG.random(FULL.shape) < 0.1, np.nan, FULL)
Y = (FULL[:, 0] + RNG.normal(size=60) > 0).astype(int)
LEARNERS = {
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
    "logistic-path": (LogisticRegression(), {"C": [0.1, 1.0]}),
    "svm": (SVC(), {"C": [0.1, 1.0]}),
    "discriminant": (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.1, 0.5]}),
    "least-squares": (RidgeClassifier(), {"alpha": [0.1, 1.0]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"ccp_alpha": [0.0, 0.05]}),
}


def tuned(model, grid, steps, more=None, **options):
    pipe = Pipeline([*steps, ("m", model)])
    grid = {f"m__{name}": values for name, values in grid.items()} | (more or {})
    search = tr.HonestSearchCV(pipe, grid, cv="4-fold", random_state=0, **options)
    return search.fit(X, Y).risk_


@pytest.mark.parametrize("word", LEARNERS)
def test_an_imputer_before_a_learner_is_served(word):
    """By the learner's own engine, with the answers of whole pipelines."""
    steps = [("fill", SimpleImputer(strategy="median")), ("scale", StandardScaler())]
    fast = tuned(*LEARNERS[word], steps)
    assert fast.engine == word
    assert np.array_equal(fast.losses, tuned(*LEARNERS[word], steps, engine="generic").losses)


@pytest.mark.parametrize("word", LEARNERS)
@pytest.mark.parametrize("step", [StandardScaler(), Normalizer()], ids=["keeps them", "refuses"])
def test_gaps_that_stay_are_the_learners_own_business(word, step):
    """It says so, or, as a tree does, has a way of its own."""
    found = []
    for engine in ("auto", "generic"):
        try:
            found.append(tuned(*LEARNERS[word], [("step", step)], engine=engine).losses.tolist())
        except ValueError as error:
            found.append(str(error))
    assert found[0] == found[1]


@pytest.mark.parametrize("word", LEARNERS)
def test_a_grid_that_takes_the_imputer_away_fails_as_a_pipeline_does(word):
    """No engine computes with what is missing."""
    steps, more = [("fill", SimpleImputer())], {"fill": [SimpleImputer(), "passthrough"]}
    found = []
    for engine in ("auto", "generic"):
        try:
            found.append(tuned(*LEARNERS[word], steps, more, engine=engine).losses.tolist())
        except ValueError as error:
            found.append(str(error))
    assert found[0] == found[1]


# ---------------- Steps with a random_state that draw nothing do not keep the fast engines away


def table(n, p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize(
    ("step", "shape"),
    [
        (PCA(2), (60, 4)),  # by the eigenvectors of the covariance
        (PCA(2), (60, 12)),  # by a whole decomposition
        (PCA(2), (520, 505)),  # drawn, in train sets of 390 rows
        (QuantileTransformer(n_quantiles=10), (60, 4)),
        (QuantileTransformer(n_quantiles=10, subsample=20), (60, 4)),  # drawn
        (KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), (60, 4)),
    ],
    ids=["eigenvectors", "whole", "drawn", "quantiles", "drawn quantiles", "bins"],
)
def test_answers_are_those_of_the_pipeline_with_the_seeds_of_each_fit(step, shape):
    """Where the step drew, the pipeline itself is asked, with the random numbers of its fit."""
    X, y = table(*shape)
    pipe = make_pipeline(step, KNeighborsClassifier())
    grid = {"kneighborsclassifier__n_neighbors": [1, 3, 5]}
    options = {"cv": "4-fold", "random_state": 0}
    fast = tr.risk_curve(pipe, grid, X, y, engine="knn", **options)
    whole = tr.risk_curve(pipe, grid, X, y, engine="generic", **options)
    np.testing.assert_array_equal(fast.values, whole.values)


def test_a_solver_that_always_draws_is_left_to_the_generic_engine():
    """It would be fitted twice for nothing."""
    X, y = table(60, 4)
    pipe = make_pipeline(PCA(2, svd_solver="randomized"), KNeighborsClassifier())
    assert tr.estimate_risk(pipe, X, y, cv="4-fold", random_state=0).engine == "generic"
