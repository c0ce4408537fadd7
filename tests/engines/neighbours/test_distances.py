"""Distances of the kNN engine: on hostile tables scikit-learn's own answers, or a refusal."""

from itertools import product

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, PolynomialFeatures
from tests.engines.closed_forms import plan_of, warnings_of
from tests.support.data import checked

from truerisk.engines import Generic, NearestNeighbours
from truerisk.exceptions import FitFailed
from truerisk.extend import Data, Family, Request

METRICS = ["euclidean", "l1", "chebyshev", "cosine", "canberra", "braycurtis"]
POWERS = [1, 1.5, 2, 3, 30, 300, np.inf]
SEARCHES = ["auto", "kd_tree", "ball_tree", "brute"]
SCALES = [1, 1, 1, 1e8, 1e-8, 1e150, 1e-150, 1e160, 1e-160, 1e-162]
OFFSETS = [0, 0, 1e3, 1e4, 1e5, 1e6, 1e8]


def hostile(rng, n, d):
    """Counts of both signs, zeros, constants, copies, far from 0, of any size and type."""
    X = rng.normal(size=(n, d))
    kind = rng.choice(["plain", "counts", "zeros", "constant", "copies", "binary"])
    if kind == "counts":
        X = np.round(2 * X)
    elif kind == "zeros":
        X = X * (rng.random((n, d)) < 0.2)
        X[rng.random(n) < 0.2] = 0.0
    elif kind == "constant":
        X[:, : max(1, d // 2)] = 3.7
    elif kind == "copies":
        X = X[rng.integers(0, n, n)]
    elif kind == "binary":
        X = (X > 0).astype(float)
    scale = rng.choice(SCALES)
    X = X * scale + (rng.choice(OFFSETS) if scale == 1 else 0.0)
    form = rng.choice(["C", "F", "whole", "bool", "single"], p=[0.5, 0.1, 0.15, 0.1, 0.15])
    if form == "whole":
        return np.clip(np.round(X), -1e17, 1e17).astype(np.int64)
    if form == "single":
        with np.errstate(over="ignore"):
            return X.astype(np.float32)
    return {"C": X, "F": np.asfortranarray(X), "bool": X > 0}[str(form)]


def problem(rng, n):
    """A model with any metric, search and weights, targets, and the response asked for."""
    metric = str(rng.choice([*METRICS, "minkowski", "minkowski"]))
    options = {
        "metric": metric,
        "p": float(rng.choice(POWERS)) if metric == "minkowski" else 2,
        "algorithm": str(rng.choice(SEARCHES)),
        "leaf_size": int(rng.choice([1, 2, 30])),
        "weights": str(rng.choice(["uniform", "distance"])),
    }
    response = str(rng.choice(["label", "probability", "value"]))
    if response == "value":
        y = rng.normal(size=(n, 2)) if rng.random() < 0.3 else rng.integers(0, 3, n).astype(float)
        return KNeighborsRegressor(**options), y, response
    y = np.arange(n) % int(rng.integers(2, 6))
    if rng.random() < 0.2:
        y[0] = 99  # the only one of its class
    return KNeighborsClassifier(**options), rng.permutation(y), response


def require_same(family, data, plan, response):
    """Answers to 1e-9 and warnings, or the error, are those of refits."""
    outcomes = []
    for engine in (NearestNeighbours(), Generic()):
        try:
            answers, said = warnings_of(engine, family, data, plan, Request(response))
            outcomes.append((answers.values, sorted(set(said))))
        except FitFailed as error:
            outcomes.append(str(error))
    (found, expected) = outcomes
    if isinstance(expected, str):
        assert found == expected
        return
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9, atol=1e-9)
    assert found[1] == expected[1]


@pytest.mark.parametrize("part", range(5))
@pytest.mark.filterwarnings("ignore::truerisk.exceptions.TrueRiskWarning")
def test_distances_of_hostile_tables_are_answered_as_by_refits_or_refused(part):
    served = 0
    for seed in range(12 * part, 12 * part + 12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(12, 50))
        X = hostile(rng, n, int(rng.choice([1, 2, 5, 15, 16, 20])))
        if not np.isfinite(X).all():
            continue
        model, y, response = problem(rng, n)
        data = Data.check(X, y, task="regression" if response == "value" else "classification")
        plan = plan_of(str(rng.choice(["4-fold", "loo", "apparent", "2x3-fold"])), data, seed)
        most = int(plan.train_sizes.min())
        family = Family.from_grid(model, {"n_neighbors": sorted({1, 2, 3, most})})
        if NearestNeighbours().refuse(family, data, plan, Request(response)) is None:
            served += 1
            require_same(family, data, plan, response)
    assert served >= 3


def behind_a_step(step, kind):
    """Single precision stays so in a step that treats each row by itself, as in a refit."""
    X = (1000 + 20 * np.random.default_rng(0).normal(size=(60, 3))).astype(kind)
    model = make_pipeline(step, KNeighborsClassifier())
    family = Family.from_grid(model, {"kneighborsclassifier__n_neighbors": [1, 3, 5, 9]})
    return family, checked(X, np.arange(60) % 2), "label"


def far_from_0(offset, metric, n, d, algorithm):
    """Return regressors weighted by reciprocal distances, and rows shifted by an offset.

    Cancellation leaves few correct digits of a distance far from 0, so that the predictions depend
    on the digits that scikit-learn itself computes.
    """
    rng = np.random.default_rng(0)
    data = checked(offset + rng.normal(size=(n, d)), rng.normal(size=n))
    model = KNeighborsRegressor(weights="distance", metric=metric, algorithm=algorithm)
    return Family.from_grid(model, {"n_neighbors": [1, 3, 9]}), data, "value"


@pytest.mark.parametrize(
    ("make", "given"),
    [
        *(
            (behind_a_step, given)
            for given in product((Normalizer(), PolynomialFeatures(2)), (np.float32, np.int64))
        ),
        *(
            (far_from_0, (offset, metric, *shape))
            for offset, metric, shape in product(
                (0.0, 100.0, 1e4, 1e5),
                ("euclidean", "cosine"),
                ((300, 2, "brute"), (120, 20, "auto")),
            )
        ),
    ],
)
def test_distances_in_the_type_of_a_step_and_far_from_0_are_those_of_scikit_learn(make, given):
    family, data, response = make(*given)
    plan = plan_of("5-fold", data)
    assert NearestNeighbours().refuse(family, data, plan, Request(response)) is None
    require_same(family, data, plan, response)


def halved(X):
    return X.astype(np.float32)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_distances_in_single_precision_made_by_a_step_are_left_to_scikit_learn(weights):
    rng = np.random.default_rng(1)
    X, y = 1e4 + rng.normal(size=(60, 20)), rng.normal(size=60)
    model = KNeighborsRegressor(weights=weights, metric="cosine")
    model = make_pipeline(FunctionTransformer(halved), model)
    family, data = (
        Family.from_grid(model, {"kneighborsregressor__n_neighbors": [1, 5]}),
        checked(X, y),
    )
    plan = plan_of("3-fold", data)
    if NearestNeighbours().refuse(family, data, plan, Request("value")) is None:
        require_same(family, data, plan, "value")
