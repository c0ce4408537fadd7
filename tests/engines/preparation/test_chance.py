"""Steps with a random_state that draw nothing do not keep the fast engines away."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, QuantileTransformer

import truerisk as tr


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
    options = {"method": "4-fold", "random_state": 0}
    fast = tr.risk_curve(pipe, grid, X, y, engine="knn", **options)
    whole = tr.risk_curve(pipe, grid, X, y, engine="generic", **options)
    np.testing.assert_array_equal(fast.values, whole.values)


def test_a_solver_that_always_draws_is_left_to_the_generic_engine():
    """It would be fitted twice for nothing."""
    X, y = table(60, 4)
    pipe = make_pipeline(PCA(2, svd_solver="randomized"), KNeighborsClassifier())
    assert tr.estimate_risk(pipe, X, y, method="4-fold", random_state=0).engine == "generic"
