"""What rounding would decide of a discriminant is scikit-learn's to say."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.engines.closed_forms import (
    FOLDS,
    LOO,
    RESPONSES,
    both,
    counted,
    data_of,
    drawn,
    family_of,
    last_two_rows,
    require_equal,
)
from tests.engines.discriminants.test_discriminant import ENGINE, LEARNERS, PLAIN

import truerisk as tr


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


def test_ties_are_asked() -> None:
    """A row as near to one class as to the other gets scikit-learn's label, whatever rounding."""
    X = np.array([[-2.0, 0], [-1, 1], [-1, -1], [2, 0], [1, 1], [1, -1], [0, 3], [0, -3]])
    data = data_of(X, [0, 0, 0, 1, 1, 1, 0, 1])
    for word in ("svd", "lsqr", "R"):
        found, expected = both(
            ENGINE, family_of(*LEARNERS[word]), data, last_two_rows(8), RESPONSES[0]
        )
        assert (found == expected).all()
