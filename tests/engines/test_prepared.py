"""Numbers whose squares are none: the learner itself is asked, and nothing leaks or warns."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.engines.prepared import LearnerFitNeeded, as_dense, can_be_dense, has_safe_squares
from truerisk.extend import TrueRiskError
from truerisk.models import FisherClassifier, QuadraticDiscriminant

NUMBERS = (LinearRegression(), Ridge(), KernelRidge(), make_pipeline(StandardScaler(), Ridge()))
CLASSES = (
    RidgeClassifier(),
    LinearDiscriminantAnalysis(),
    make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminant(),
    FisherClassifier(),
)


def said(model, X, y, method, engine):
    """The losses, or the kind of error, and the kinds of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            losses = tr.estimate_risk(model, X, y, cv=method, engine=engine).losses
        except TrueRiskError as error:
            return type(error), None
    return losses, {warning.category for warning in caught}


def require_same(model, X, y, method):
    """Both engines say the same; where both fail, which warnings came before does not matter."""
    (found, warned), (expected, also) = (
        said(model, X, y, method, engine) for engine in ("auto", "generic")
    )
    assert warned == also
    same = found is expected if warned is None else np.allclose(found, expected, rtol=1e-9)
    assert same, (found, expected)


@pytest.mark.parametrize("scale", [1e-308, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("model", NUMBERS + CLASSES, ids=repr)
def test_great_and_small_scales_are_the_learners_own_affair(model, scale):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(14, 3))
    y = rng.normal(size=14) if model in NUMBERS else np.arange(14) % 2
    for scaled in (X * scale, X * [scale, 1.0, 1.0]):
        for method in ("7-fold", "loo"):
            require_same(model, scaled, y, method)
    if model in NUMBERS and scale in (1e150, 1e-150):
        require_same(model, X, y * scale, "7-fold")  # targets are squared as well


def test_squares_fit_of_sparse_cells_zeros_and_no_columns():
    assert has_safe_squares(np.zeros((3, 2)))
    assert has_safe_squares(np.zeros((3, 0)))
    assert has_safe_squares(sparse.csr_array(np.eye(2)))
    assert not has_safe_squares(sparse.csr_array(np.eye(2) * 1e200))


@pytest.mark.parametrize("model", CLASSES, ids=repr)
def test_columns_of_unlike_sizes_are_the_learners_own_affair(model):
    """A learner that drops a direction for its size is asked: labels are its own."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(16, 3)), rng.permutation(np.arange(16) % 2)
        for scales in ([1e8, 1e-8, 1.0], [1.0, 1e-14, 1.0], [1e50, 1.0, 1.0]):
            require_same(model, X * scales, y, "loo" if seed % 2 else "2-fold")


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("method", ["loo", "3-fold", tr.methods.Bootstrap("oob", 20)], ids=str)
def test_discriminants_of_rows_far_from_zero_are_the_learners_own(solver, method):
    """Solvers that do not centre lose digits with distance and condition: they are asked."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(24, 1)), np.arange(24) % 2
    tables = {
        "powers": np.hstack([(x + 30) ** k for k in (1, 2, 3)]),
        "far": np.hstack([x * 1e4, rng.normal(size=(24, 1)) * 1e-4, x + 1e8]),
        "sizes": rng.normal(size=(24, 3)) * [1e4, 1.0, 1e-3],
        "year": 2000 + rng.normal(size=(24, 2)),
    }
    grid = {"shrinkage": [1e-6, 0.01, 0.5]}
    for name, X in tables.items():
        asked, given = (LinearDiscriminantAnalysis(solver=solver), grid, X, y), {"scoring": "brier"}
        curves = [
            tr.risk_curve(*asked, cv=method, engine=engine, **given)
            for engine in ("auto", "generic")
        ]
        for one, other in zip(*curves):
            assert np.abs(one.losses - other.losses).max() < 1e-9, (name, one.params)


def test_is_bearable_by_the_size_of_a_sparse_table_and_what_is_in_it():
    dense, empty = np.eye(2), sparse.csr_array((1000, 10_000))
    tenth = sparse.random(1000, 10_000, density=0.1, random_state=0)
    assert can_be_dense(dense)
    assert as_dense(dense) is dense
    assert can_be_dense(sparse.csr_array((1000, 1000)))  # empty, but small
    assert not can_be_dense(empty)
    assert can_be_dense(tenth)
    assert not can_be_dense(sparse.hstack([tenth] * 4))  # half a gigabyte of cells
    np.testing.assert_array_equal(as_dense(sparse.csr_array(dense)), dense)
    with pytest.raises(LearnerFitNeeded, match="too empty"):
        as_dense(empty)
