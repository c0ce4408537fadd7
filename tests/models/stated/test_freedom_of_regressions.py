"""Degrees of freedom of linear and kernel fits are the trace of d fit / d labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, LassoLars, LinearRegression, Ridge

from truerisk.core.errors import Refusal
from truerisk.models.stated.degrees_of_freedom import degrees_of_freedom
from truerisk.models.stated.freedom_of_regressions import rank_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(14, 4)) + 3
Y = X @ [1.0, -2.0, 0.0, 0.5] + RNG.normal(size=14)
WEIGHTS = RNG.uniform(0.2, 3.0, 14)
SHARP = {"tol": 1e-14, "max_iter": 100_000}


def squared_product(a, b):
    """A kernel as a function."""
    return (a @ b + 1) ** 2


SMOOTH = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(2.0),
    Ridge(2.0, fit_intercept=False),
    Ridge(0.0),
    ElasticNet(0.1, l1_ratio=0.3, **SHARP),
    ElasticNet(0.3, l1_ratio=0.9, fit_intercept=False, **SHARP),
    KernelRidge(alpha=0.7, kernel="rbf", gamma=0.1),
    KernelRidge(alpha=0.7, kernel=squared_product),
]


def trace(model, weights=None):
    """The sum of d fit_i / d y_i, by central differences."""
    options = {} if weights is None else {"sample_weight": weights}
    step, total = 1e-4, 0.0
    for i in range(len(Y)):
        ends = []
        for sign in (1, -1):
            moved = Y.copy()
            moved[i] += sign * step
            ends.append(clone(model).fit(X, moved, **options).predict(X)[i])
        total += (ends[0] - ends[1]) / (2 * step)
    return total


@pytest.mark.parametrize("model", SMOOTH, ids=[str(m).split(" at 0x")[0] for m in SMOOTH])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_degrees_of_freedom_of_regressions_are_the_trace(model, weights) -> None:
    """Moving each label by a little moves its own fitted value by the leverage."""
    options = {} if weights is None else {"sample_weight": weights}
    fitted = clone(model).fit(X, Y, **options)
    assert degrees_of_freedom(fitted, X, weights) == pytest.approx(trace(model, weights), abs=1e-5)


@pytest.mark.parametrize("model", [Lasso(0.3, **SHARP), LassoLars(0.3)], ids=str)
def test_degrees_of_freedom_of_a_lasso_count_what_is_not_zero(model) -> None:
    """The coefficients that are not 0, and the intercept; that is the trace, too."""
    fitted = clone(model).fit(X, Y)
    count = np.count_nonzero(fitted.coef_) + 1
    assert 1 < count < 5
    assert degrees_of_freedom(fitted, X) == count == pytest.approx(trace(model), abs=1e-4)
    for strong in (Lasso(1e6), ElasticNet(1e6)):  # the intercept is left
        assert degrees_of_freedom(strong.fit(X, Y), X) == 1


def test_degrees_of_freedom_count_collinear_columns_once() -> None:
    wide = np.column_stack([X, 2 * X[:, 0], np.ones(14)])
    assert degrees_of_freedom(LinearRegression().fit(wide, Y), wide) == 5
    assert degrees_of_freedom(Ridge(0.0, solver="svd").fit(wide, Y), wide) == 5
    thin = sparse.csr_array(X)
    assert degrees_of_freedom(LinearRegression().fit(thin, Y), thin) == 5
    assert rank_of(np.empty((3, 0))) == 0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearRegression(positive=True), "positive=True"),
        (Ridge(alpha=np.array([1.0, 2.0])), "one penalty per target"),
        (KernelRidge(alpha=np.array([1.0, 2.0])), "one penalty per target"),
        (Lasso(), "several targets"),
    ],
    ids=str,
)
def test_degrees_of_freedom_refuses_regressions_without_a_formula(model, message) -> None:
    several = message != "positive=True"
    model.fit(X, np.column_stack([Y, X[:, 0]]) if several else Y)
    with pytest.raises(Refusal, match=message):
        degrees_of_freedom(model, X)
