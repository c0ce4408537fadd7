"""Rows that rounding ranks are ranked by the learner itself; wide tables are turned."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.closed_forms import both, data_of, family_of

import truerisk as tr
from truerisk.engines import choose_engine
from truerisk.engines.templates.task import fits_ranked_by_rounding
from truerisk.engines.templates.turned import rotate_about_mean, rotate_rows
from truerisk.exceptions import FitFailed
from truerisk.extend import Request, Streams
from truerisk.losses import AUC
from truerisk.methods import KFold, LeaveOneOut, MonteCarlo, as_method

MODELS = {
    "least-squares": (RidgeClassifier(), {"alpha": [0, 1e-12, 1e-3, 1.0, 1e12]}),
    "without": (RidgeClassifier(fit_intercept=False), {"alpha": [0, 1.0]}),
    "scaled": (make_pipeline(StandardScaler(), RidgeClassifier()), None),
    "discriminant": (
        LinearDiscriminantAnalysis(solver="lsqr"),
        {"shrinkage": [None, 0.1, 0.5, 0.9]},
    ),
    "quadratic": (QuadraticDiscriminantAnalysis(), {"reg_param": [0.1, 0.9]}),
    "fisher": (tr.models.FisherClassifier(), {"threshold": ["least-squares", "balanced"]}),
}


def few_values(seed):
    """Rows of a few values, so that many scores are equal in theory."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(14, 30))
    X = rng.integers(0, 2, size=(n, int(rng.integers(1, 4)))).astype(float)
    y = rng.permutation(np.arange(n) % 2)
    return data_of(X * rng.choice([1.0, 0.1, 3.0]), y)


@pytest.mark.parametrize("method", ["3-fold", "loo", MonteCarlo(3)], ids=str)
@pytest.mark.parametrize("word", MODELS)
def test_auc_of_rows_that_tie_is_the_learners_own(word, method):
    family, request = family_of(*MODELS[word]), Request("score")
    for seed in range(3):
        data = few_values(seed)
        plan = as_method(method).plan(data, Streams(seed))
        engine, _ = choose_engine("auto", family, data, plan, request)
        if engine.name == "generic":
            continue
        try:
            found, expected = both(engine, family, data, plan, request)
        except FitFailed:
            continue
        first = np.repeat(plan.repeat, plan.test_sizes) == 0
        rows = plan.positions[0][first]
        ranks = [
            AUC().of_set(data, rows, each[:, first], None).tolist() for each in (found, expected)
        ]
        assert ranks[0] == ranks[1], seed


@pytest.mark.filterwarnings("ignore:.* rows are exact copies")
@pytest.mark.parametrize("seed", [1, 4, 15, 16, 19])  # rounding would decide in these
@pytest.mark.parametrize(
    ("word", "weighted"),
    [
        ("least-squares", False),
        ("least-squares", True),
        ("fisher", False),
        ("fisher", True),
        ("discriminant", False),
    ],
)
def test_auc_of_a_curve_is_the_learners_own_where_slopes_are_rounding(word, weighted, seed):
    model, grid = MODELS[word]
    rng = np.random.default_rng(seed)
    n = int(rng.integers(16, 40))
    X, y = rng.integers(-2, 3, size=(n, 1)).astype(float), np.arange(n) % 2
    weight = rng.integers(1, 3, n).astype(float) if weighted else None
    given = {"cv": "5-fold", "scoring": "auc", "sample_weight": weight}
    fast, slow = (tr.risk_curve(model, grid, X, y, engine=e, **given) for e in ("auto", "generic"))
    np.testing.assert_array_equal(fast.values, slow.values)
    assert fast.common.engine == word


@pytest.mark.parametrize(
    ("scores", "fits"),
    [
        ([0.0, 1.0, 0.0, 1.0, 0.5, 2.0], []),  # equal scores of one class
        ([0.0, 1.0, 1e-17, 1.0, -1e-17, 0.0], [0, 2, 4, 5]),
        ([0.0, 1.0, 2.0, 3.0, 4.0, 4.0 + 1e-7], []),  # clear
        ([0.0, np.nan, 0.0, np.nan, 0.0, np.nan], []),
        ([np.nan] * 6, []),
    ],
)
def test_fits_ranked_by_rounding_have_scores_near_those_of_the_other_class(scores, fits):
    data = data_of(np.zeros((6, 1)), [0, 1, 0, 1, 0, 1])
    plan = LeaveOneOut().plan(data, Streams(0))
    assert fits_ranked_by_rounding(np.array(scores), plan, data).tolist() == fits


def test_fits_ranked_by_rounding_lie_in_one_repetition():
    data = data_of(np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    plan = KFold(2, repeats=2, stratify=False).plan(data, Streams(0))
    rows, fit = plan.positions[0], np.repeat(plan.fit, plan.test_sizes)
    scores = np.arange(len(rows), dtype=float)

    def asked():
        return fits_ranked_by_rounding(scores, plan, data).tolist()

    assert asked() == []
    other = next(at for at in range(4) if rows[at] % 2 != rows[7] % 2)
    scores[7] = scores[other]  # of the second and of the first repetition
    assert asked() == []
    twin = next(at for at in range(4) if at != other and rows[at] % 2 == rows[other] % 2)
    scores[twin] = scores[other]  # of one class
    assert asked() == []
    rival = next(at for at in range(4) if rows[at] % 2 != rows[other] % 2)
    scores[rival] = scores[other]
    assert asked() == sorted({int(fit[at]) for at in (other, twin, rival)})


@pytest.mark.parametrize("kind", ["plain", "copied", "flat", "far", "scales"])
@pytest.mark.parametrize("p", [14, 300])
@pytest.mark.parametrize("about", [rotate_rows, rotate_about_mean])
def test_turned_rows_keep_lengths_and_inner_products(kind, p, about):
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(12, p)), rng.normal(size=(5, p))
    if kind == "copied":
        X[6:] = X[:6]
    if kind == "flat":
        X[:, 3:] = 0.5
    if kind == "far":
        X, T = X + 1e6, T + 1e6
    if kind == "scales":
        X, T = X * np.logspace(-8, 3, p), T * np.logspace(-8, 3, p)
    before = X.copy(), T.copy()
    found = about(X)
    inside, across = found.rotate(T)
    assert (before[0] == X).all()
    assert (before[1] == T).all()
    centre = X.mean(axis=0) if about is rotate_about_mean else np.zeros(p)
    every = np.vstack([X - centre, T - centre, -centre])
    here = np.vstack([found.train_rows, inside, found.origin])
    assert here.shape[1] == (13 if about is rotate_about_mean else 12)
    largest = np.abs(X - centre).max() * np.abs(X).max() * p
    near = {"rtol": 1e-9, "atol": 1e-12 * largest}
    np.testing.assert_allclose(found.train_rows @ here.T, (X - centre) @ every.T, **near)
    squares = (inside**2).sum(axis=1) + across**2
    np.testing.assert_allclose(squares, ((T - centre) ** 2).sum(axis=1), rtol=1e-9)
    assert found.n_features == p
    back = found.train_rows @ found.directions.T
    np.testing.assert_allclose(back, X - centre, atol=1e-12 * np.abs(X).max())


def test_turned_rows_of_the_span_have_nothing_across():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 40))
    _, across = rotate_about_mean(X).rotate(np.vstack([X[:3].mean(axis=0), rng.normal(size=40)]))
    assert across[0] < 1e-6 < 1 < across[1]
