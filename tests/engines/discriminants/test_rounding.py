"""What rounding would decide of a discriminant is scikit-learn's to say."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from tests.engines.closed_forms import (
    FOLDS,
    LOO,
    RESPONSES,
    counted,
    data_of,
    drawn,
    family_of,
    fits_made,
    require_equal,
    require_same_outcome,
)

from truerisk.engines import FisherDiscriminants, LinearDiscriminants, QuadraticDiscriminants
from truerisk.methods import Apparent, Bootstrap
from truerisk.models import FisherClassifier, LinearDiscriminant

LDA, QDA = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
LINEAR, QUADRATIC = LinearDiscriminants(), QuadraticDiscriminants()
FISHER = FisherDiscriminants(), FisherClassifier(), {"threshold": ["least-squares", "balanced"]}
SVD = LINEAR, LDA(), None
SHRUNK = LINEAR, LDA(solver="lsqr"), {"shrinkage": [0.01, 0.3]}
ONCE = LINEAR, LDA(solver="lsqr"), {"shrinkage": [None, 0.01, 0.3, 1.0]}
LIKE_R = LinearDiscriminant(solver="lsqr")
R = LINEAR, LIKE_R, {"shrinkage": [0.2], "divisor": ["n", "n-K"]}
R_ONCE = LINEAR, LIKE_R, {"shrinkage": [0.0, 0.2], "divisor": ["n", "n-K"]}
X, Y = drawn(30, 3, 2)
COLUMNS = {
    "copied": X[:, 0],
    "constant": np.full(30, 0.1),
    "once": (np.arange(30) == 7).astype(float),
    "flat": 5.0 + 1e-9 * np.random.default_rng(1).normal(size=30),
    "sum": X.sum(axis=1),
    "wide": np.random.default_rng(3).normal(size=(30, 22)),
}


@pytest.mark.parametrize(
    ("learner", "column", "loo_asks", "folds_ask"),
    [
        *((SVD, column, True, True) for column in ("copied", "constant", "once", "flat", "sum")),
        *((FISHER, column, True, True) for column in ("copied", "constant", "once")),
        *((one, col, False, False) for one in (SHRUNK, R) for col in ("copied", "constant")),
        *((one, col, False, False) for one in (SHRUNK, R) for col in ("flat", "sum")),
        *((one, "once", True, True) for one in (ONCE, R_ONCE)),
        (FISHER, "wide", False, True),
    ],
)
def test_discriminants_of_collinear_columns_are_asked(learner, column, loo_asks, folds_ask):
    """What is not shrunk would be solved through noise."""
    engine, model, grid = learner
    data, family = data_of(np.c_[X, COLUMNS[column]], Y), family_of(model, grid)
    for method, asks in ((LOO, loo_asks), (FOLDS, folds_ask)):
        with counted() as seen:
            require_equal(engine, family, data, method, RESPONSES[::2])
        assert (seen["asked"] > 0) == asks
        if method is LOO and learner is SVD and column == "once":
            assert seen == {"asked": 2, "passes": 2}  # one fit per response: that without row 7


GRID = {"reg_param": [0.0, 0.01, 0.4, 1.0]}
SETTINGS = {"shrinkage": [0.1, 0.5]}
TALL = drawn(40, 3, 3)


UNITS = [
    (LINEAR, LDA(), None, [1, 1e-5, 1e5], 0, False),
    (LINEAR, LDA(), None, [1, 1e-3, 1e3], 0, False),
    (LINEAR, LDA(), None, [1, 1e5, 1e-5], 0, False),
    (QUADRATIC, QDA(), GRID, [1, 1e3, 1e5], [0, 1e5, 0], False),
    (LINEAR, LDA(solver="lsqr"), SETTINGS, 1, [0, 1e3, 0], False),
    (LINEAR, LDA(solver="eigen"), SETTINGS, 1, [0, 1e3, 0], False),
    # Beside cells of 1e9 scikit-learn's scores keep few digits: they are its own.
    (LINEAR, LDA(solver="lsqr"), SETTINGS, 1, [0, 1e9, 0], True),
    (LINEAR, LDA(solver="eigen"), SETTINGS, 1, [0, 1e9, 0], True),
    # The solver lsqr cuts off at the largest eigenvalue of the columns in their own units.
    (LINEAR, LDA(solver="lsqr"), None, [1e4, 1e-4, 1], 0, True),
]
SAMPLES = [Bootstrap("oob", 5)]


@pytest.mark.parametrize(
    ("engine", "model", "grid", "scales", "shift", "asks", "methods"),
    [
        *((*row, (LOO, FOLDS)) for row in UNITS),
        (LINEAR, LDA(solver="lsqr"), None, [1e4, 1e-4, 1], 0, True, SAMPLES),
    ],
)
def test_discriminants_of_columns_in_any_unit(engine, model, grid, scales, shift, asks, methods):
    data, family = data_of(TALL[0] * scales + shift, TALL[1]), family_of(model, grid)
    for method in methods:
        require_equal(engine, family, data, method, RESPONSES[:2])
        assert (fits_made(engine, family, data, method, RESPONSES[1])["asked"] > 0) == asks


@pytest.mark.parametrize("tol", [0.0, 1e-4, 1e-3, 0.02, 0.05, 0.2, 0.3, 0.5, 0.6, 0.9])
def test_linear_discriminants_drop_directions_by_tol_as_scikit_learn(tol):
    """Directions of the rows, or across class means that lie nearly on a line."""
    family, rng = family_of(LDA(tol=tol)), np.random.default_rng(0)
    rows, classes = TALL[0].copy(), np.repeat([0, 1, 2], 10)
    rows[:, 2] = rows[:, 0] + 0.05 * rows[:, 2]
    centred = rng.normal(size=(30, 2))
    centred -= np.array([centred[classes == k].mean(axis=0) for k in range(3)])[classes]
    for method in (LOO, FOLDS, Apparent()):
        require_equal(LINEAR, family, data_of(rows, TALL[1]), method, RESPONSES[:2])
        for off in (0.0, 1e-3, 0.1, 0.3):
            centres = np.array([[0, 0], [1, off], [2, 0]])
            data = data_of(centred + centres[classes], classes)
            require_equal(LINEAR, family, data, method, RESPONSES[:2])


@pytest.mark.parametrize(
    "what", ["copied", "constant", "in one class", "once", "nearly", "small", "small in b", "far"]
)
@pytest.mark.parametrize("reg_param", [0.0, 1e-6, 0.01])
def test_quadratic_leaves_ranks_to_scikit_learn(what, reg_param):
    """Where it warns or fails, the engine does as it does; where it does not, numbers are equal."""
    X, y = drawn(40, 3, 2)
    column = {
        "copied": X[:, 0],
        "constant": np.full(40, 0.1),
        "in one class": np.where(y == "a", 1.0, X[:, 2] ** 2),
        "once": (np.arange(40) == 7).astype(float),
        "nearly": X[:, 0] + 0.01 * X[:, 1] ** 2,
        "small": 0.012 * X[:, 1] ** 2,
        "far": 1e10 + 10 * X[:, 1] ** 2,
        "small in b": np.where(y == "b", 1e-3, 1) * X[:, 1] ** 2,
    }[what]
    data = data_of(np.c_[X, column], y)
    for grid in ({"reg_param": [reg_param]}, {"reg_param": [reg_param, 0.5]}):
        for method in (LOO, FOLDS):
            require_same_outcome(QUADRATIC, family_of(QDA(), grid), data, method)


def test_quadratic_leaves_a_small_variance_to_scikit_learn():
    """Below `tol` it complains; above, every row is answered at once."""
    X, y = drawn(40, 2, 2)
    X /= np.array([X[y == k].std(axis=0).min() for k in "ab"]).min()
    for scale, asks in ((1.0, False), (3e-3, True)):
        with counted() as seen:
            require_same_outcome(QUADRATIC, family_of(QDA()), data_of(X * scale, y), LOO)
        assert (seen["asked"] > 0) == asks
