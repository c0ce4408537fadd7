"""The linear discriminant engine equals scikit-learn, and MASS by R's divisor, or refuses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from tests.engines.closed_forms import (
    FOLDS,
    LOO,
    RESPONSES,
    counted,
    data_of,
    drawn,
    family_of,
    kit,
    require_equal,
)

import truerisk as tr
from truerisk.contracts import RunOptions, Streams
from truerisk.core.errors import FitFailed
from truerisk.engines.discriminants.discriminant import LinearDiscriminants
from truerisk.engines.templates import task as tasks
from truerisk.models import LinearDiscriminant

ENGINE = LinearDiscriminants()
LEARNERS = {
    "svd": (LinearDiscriminantAnalysis(), None),
    "lsqr": (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [None, 0.01, 0.3, 1.0]}),
    "eigen": (LinearDiscriminantAnalysis(solver="eigen"), {"shrinkage": [0.0, 0.1, 0.9]}),
    "R": (LinearDiscriminant(solver="lsqr"), {"shrinkage": [0.0, 0.2], "divisor": ["n", "n-K"]}),
    "scaled": (make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()), None),
}
PLAIN = family_of(LinearDiscriminantAnalysis())
KIT = {  # of every kind of setting one; the other values of the grids are compared below
    "svd": LEARNERS["svd"],
    "lsqr": (LEARNERS["lsqr"][0], {"shrinkage": [None, 0.3]}),
    "R": (LEARNERS["R"][0], {"shrinkage": [0.2], "divisor": ["n", "n-K"]}),
}
REFUSED = [
    (RidgeClassifier(), "the learner is RidgeClassifier, not LinearDiscriminantAnalysis or"),
    (LinearDiscriminantAnalysis(solver="qr"), "solver='qr' is no solver"),
    (LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), "'auto' is estimated anew"),
    (LinearDiscriminantAnalysis(shrinkage=0.1), "shrinkage=0.1 is none that solver 'svd'"),
    (LinearDiscriminantAnalysis(solver="lsqr", shrinkage=1.5), "shrinkage=1.5 is none"),
    (
        LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=LedoitWolf()),
        "a covariance_estimator is given",
    ),
    (LinearDiscriminantAnalysis(tol=-1.0), "tol=-1.0 is no tolerance"),
    (LinearDiscriminantAnalysis(n_components=0), "n_components=0 is no number"),
    (LinearDiscriminantAnalysis(n_components="1"), "n_components='1' is no number"),
    (LinearDiscriminantAnalysis(priors=[1.0, 0.0]), "not positive shares that sum to 1"),
    (LinearDiscriminantAnalysis(priors=[0.5, 0.7]), "not positive shares that sum to 1"),
    (LinearDiscriminantAnalysis(priors=["a", "b"]), "are no numbers"),
    (LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]), "there are 3 priors, and y has 2"),
    (LinearDiscriminant(divisor="n-1"), "divisor='n-1' is unknown"),
]


@pytest.mark.parametrize("check", kit(ENGINE, KIT))
def test_conforms(check) -> None:
    """The published checks of any engine, for every solver."""
    check()


# ---------------------------------------------------------------- against fitting one by one


@pytest.mark.parametrize(
    ("shape", "solver"), [((24, 10), "lsqr"), ((15, 30), "lsqr"), ((18, 15), "eigen")]
)
def test_wide_data_are_shrunk(shape, solver) -> None:
    """With as many columns as rows or more, shrunk scatters have inverses, and these are served."""
    X, y = drawn(*shape, 3, seed=4)
    for priors in (None, [0.2, 0.5, 0.3]):
        model = LinearDiscriminantAnalysis(solver=solver, priors=priors)
        family = family_of(model, {"shrinkage": [0.05, 0.5, 1.0]})
        for method in (LOO, FOLDS):
            require_equal(ENGINE, family, data_of(X, y), method, RESPONSES[:2])


# ---------------------------------------------------------------- R


# ---------------------------------------------------------------- one decomposition


@pytest.mark.parametrize(
    ("scaler", "solver", "passes"),
    [(StandardScaler(), "svd", 0), (MinMaxScaler(), "svd", 40), (StandardScaler(), "lsqr", 40)],
)
def test_scaling_is_let_go_where_it_changes_nothing(scaler, solver, passes, monkeypatch) -> None:
    """A StandardScaler before a discriminant that is not shrunk; any other step is fitted."""
    X, y = drawn(40, 3, 2)
    shrinkage = 0.3 if solver == "lsqr" else None
    model = LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage)
    family, data = family_of(make_pipeline(scaler, model)), data_of(X, y)
    with counted(monkeypatch) as seen:
        require_equal(ENGINE, family, data, LOO, [RESPONSES[1]])
    assert seen["passes"] == passes
    fitted, steps = [], tasks.fit_steps
    monkeypatch.setattr(tasks, "fit_steps", lambda *given: fitted.append(1) or steps(*given))
    require_equal(ENGINE, family, data, FOLDS, [RESPONSES[1]])
    assert bool(fitted) == bool(passes)  # folds of their own are not scaled either


# ---------------------------------------------------------------- refusals


def test_components_do_not_matter_but_too_many_fail() -> None:
    """`n_components` changes no answer; more than a fit has is scikit-learn's error."""
    X, y = drawn(30, 3, 3)
    family = family_of(LinearDiscriminantAnalysis(), {"n_components": [1, 2]})
    require_equal(ENGINE, family, data_of(X, y), LOO, RESPONSES[:2])
    data = data_of(X, y)
    family = family_of(LinearDiscriminantAnalysis(n_components=3))
    with pytest.raises(FitFailed, match="n_components cannot be larger"):
        ENGINE.run(family, data, FOLDS.plan(data, Streams(0)), RESPONSES[0], RunOptions())


# ---------------- What rounding would decide of a discriminant is scikit-learn's to say


@pytest.mark.parametrize("word", ["svd", "lsqr", "R"])
@pytest.mark.parametrize("what", ["copied", "constant", "once", "flat", "sum"])
def test_collinear_columns(word, what, monkeypatch) -> None:
    """Columns copied, constant, constant but for one row, nearly constant, sums of others."""
    X, y = drawn(30, 3, 2)
    column = {
        "copied": X[:, 0],
        "constant": np.full(30, 0.1),
        "once": (np.arange(30) == 7).astype(float),
        "flat": 5.0 + 1e-9 * np.random.default_rng(1).normal(size=30),
        "sum": X.sum(axis=1),
    }[what]
    model, grid = LEARNERS[word]
    if what in ("constant", "flat", "copied", "sum") and word == "lsqr":
        grid = {"shrinkage": [0.01, 0.3]}  # what is not shrunk is solved through noise
    if what in ("constant", "flat", "copied", "sum") and word == "R":
        grid = {"shrinkage": [0.2], "divisor": ["n", "n-K"]}
    data = data_of(np.c_[X, column], y)
    for method in (LOO, FOLDS):
        with counted(monkeypatch) as seen:
            require_equal(ENGINE, family_of(model, grid), data, method, RESPONSES)
        assert (seen["asked"] > 0) == (word == "svd" or what == "once")


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_columns_far_from_zero_are_asked_where_they_are_shrunk(solver, monkeypatch) -> None:
    """Beside cells of 1e9 scikit-learn's scores keep few digits: they are its own."""
    X, y = drawn(30, 3, 2)
    family = family_of(LinearDiscriminantAnalysis(solver=solver), {"shrinkage": [0.1, 0.5]})
    for far, asks in ((1e3, False), (1e9, True)):
        for method in (LOO, FOLDS):
            with counted(monkeypatch) as seen:
                data = data_of(X + np.array([0, far, 0]), y)
                require_equal(ENGINE, family, data, method, [RESPONSES[1]])
            assert (seen["asked"] > 0) == asks


def test_a_row_whose_leverage_is_one_is_asked(monkeypatch) -> None:
    """Without the only row in which a column differs there is no inverse: one fit per response."""
    X, y = drawn(30, 3, 2)
    data = data_of(np.c_[X, np.arange(30) == 7], y)
    with counted(monkeypatch) as seen:
        require_equal(ENGINE, PLAIN, data, LOO, [RESPONSES[1]])
    assert seen == {"asked": 1, "passes": 1}


@pytest.mark.parametrize("scale", [1e-5, 1e-3, 1e5])
def test_units_of_columns_do_not_matter(scale) -> None:
    """Columns in other units are served alike."""
    X, y = drawn(40, 3, 3)
    require_equal(ENGINE, PLAIN, data_of(X * [1, scale, 1 / scale], y), LOO, RESPONSES[:2])


@pytest.mark.parametrize("method", [LOO, FOLDS, tr.methods.Bootstrap("oob", 5)])
def test_directions_that_least_squares_drops_are_asked(method) -> None:
    """The solver lsqr cuts off at the largest eigenvalue of the columns in their own units."""
    X, y = drawn(24, 3, 3)
    family = family_of(LinearDiscriminantAnalysis(solver="lsqr"))
    require_equal(ENGINE, family, data_of(X * [1e4, 1e-4, 1], y), method, RESPONSES[:2])


def test_a_coarse_tol_is_minded() -> None:
    """Where the SVD solver drops directions, of the rows or of the class means, it is asked."""
    X, y = drawn(40, 3, 3)
    X[:, 2] = X[:, 0] + 0.05 * X[:, 2]
    for tol in (0.0, 1e-3, 0.05, 0.3, 0.6, 0.9):
        family = family_of(LinearDiscriminantAnalysis(tol=tol))
        for method in (LOO, FOLDS):
            require_equal(ENGINE, family, data_of(X, y), method, RESPONSES[:2])


@pytest.mark.parametrize("tol", [1e-4, 0.02, 0.2, 0.5])
def test_class_means_on_a_line(tol) -> None:
    """Three class means nearly on a line: the direction across is dropped as scikit-learn does."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 10)
    X = rng.normal(size=(30, 2))
    X -= np.array([X[y == k].mean(axis=0) for k in range(3)])[y]
    family = family_of(LinearDiscriminantAnalysis(tol=tol))
    for off in (0.0, 1e-3, 0.1, 0.3):
        centres = np.array([[0, 0], [1, off], [2, 0]])
        for method in (LOO, FOLDS, tr.methods.Apparent()):
            require_equal(ENGINE, family, data_of(X + centres[y], y), method, RESPONSES[:2])
