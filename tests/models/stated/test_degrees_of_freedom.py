"""Degrees of freedom of regressions and averages, and which model has none."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LassoLars,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeCV,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler, TargetEncoder
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from truerisk.extend import Refusal
from truerisk.models.builders import DataSize, lasso
from truerisk.models.stated.degrees_of_freedom import degrees_of_freedom
from truerisk.models.stated.freedom_of_regressions import numerical_rank
from truerisk.testing.toy_learners import NearestMean

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
def test_degrees_of_freedom_of_regressions_are_the_trace(model, weights):
    """Moving each label by a little moves its own fitted value by the leverage."""
    options = {} if weights is None else {"sample_weight": weights}
    fitted = clone(model).fit(X, Y, **options)
    assert degrees_of_freedom(fitted, X, weights) == pytest.approx(trace(model, weights), abs=1e-5)


@pytest.mark.parametrize("model", [Lasso(0.3, **SHARP), LassoLars(0.3)], ids=str)
def test_degrees_of_freedom_of_a_lasso_count_what_is_not_zero(model):
    """The coefficients that are not 0, and the intercept; that is the trace, too."""
    fitted = clone(model).fit(X, Y)
    count = np.count_nonzero(fitted.coef_) + 1
    assert 1 < count < 5
    assert degrees_of_freedom(fitted, X) == count == pytest.approx(trace(model), abs=1e-4)
    for strong in (Lasso(1e6), ElasticNet(1e6)):  # the intercept is left
        assert degrees_of_freedom(strong.fit(X, Y), X) == 1
    assert numerical_rank(np.empty((3, 0))) == 0


ROWS = np.random.default_rng(0).normal(size=(12, 2))
VALUES, CLASSES = ROWS[:, 0] ** 2, np.arange(12) % 3
COLLINEAR = np.column_stack([X, 2 * X[:, 0], np.ones(14)])


@pytest.mark.parametrize(
    ("model", "rows", "labels", "freedom"),
    [
        # each of n fitted values holds 1/k of its own label
        (KNeighborsRegressor(4), ROWS, VALUES, 3),
        (DecisionTreeRegressor(max_leaf_nodes=2, random_state=0), ROWS, VALUES, 2),
        (DecisionTreeRegressor(max_leaf_nodes=5, random_state=0), ROWS, VALUES, 5),
        (DummyRegressor(), ROWS, VALUES, 1),  # a mean is one leaf
        # of K classes K − 1 shares
        (KNeighborsClassifier(4), ROWS, CLASSES, 6),
        (DecisionTreeClassifier(max_leaf_nodes=4, random_state=0), ROWS, CLASSES, 8),
        (DummyClassifier(strategy="prior"), ROWS, CLASSES, 2),
        pytest.param(LinearRegression(), COLLINEAR, Y, 5, id="collinear columns"),
        pytest.param(Ridge(0.0, solver="svd"), COLLINEAR, Y, 5, id="collinear columns, ridge"),
        pytest.param(LinearRegression(), sparse.csr_array(X), Y, 5, id="sparse"),
    ],
    ids=str,
)
def test_degrees_of_freedom_are_whole_numbers_of_what_is_fitted(model, rows, labels, freedom):
    """Each fitted average counts once.

    Collinear columns count as many times as they have independent directions.
    """
    assert degrees_of_freedom(model.fit(rows, labels), rows) == freedom


WIDE = np.random.default_rng(0).normal(size=(20, 4)) * [1, 2, 3, 4.0] + 5
TARGET = WIDE[:, 0] + np.arange(20) / 5


def test_degrees_of_freedom_of_a_pipeline_are_those_of_its_last_step():
    scaled = make_pipeline(StandardScaler(), Ridge(3.0)).fit(WIDE, TARGET)
    by_hand = degrees_of_freedom(scaled[-1], scaled[0].transform(WIDE))
    assert (
        degrees_of_freedom(scaled, WIDE)
        == by_hand
        != degrees_of_freedom(Ridge(3.0).fit(WIDE, TARGET), WIDE)
    )
    unseeing = make_pipeline(VarianceThreshold(), PCA(2), LinearRegression()).fit(WIDE, TARGET)
    assert degrees_of_freedom(unseeing, WIDE) == 3
    assert degrees_of_freedom(make_pipeline(LinearRegression()).fit(WIDE, TARGET), WIDE) == 5
    # A method degrees_of_freedom(WIDE) comes before any formula, in a pipeline, too.
    labels = np.arange(20) % 2
    assert degrees_of_freedom(NearestMean().fit(WIDE, labels), WIDE) == 5
    assert degrees_of_freedom(make_pipeline(PCA(2), NearestMean()).fit(WIDE, labels), WIDE) == 3


def test_degrees_of_freedom_of_a_scaled_target():
    model, grid = lasso.build("regression", DataSize(20, 4, 0))
    model.set_params(regressor__alpha=grid["regressor__alpha"][3]).fit(WIDE, TARGET)
    count = np.count_nonzero(model.regressor_.coef_) + 1
    assert degrees_of_freedom(model, WIDE) == count
    plain = TransformedTargetRegressor(LinearRegression()).fit(WIDE, TARGET)
    assert degrees_of_freedom(plain, WIDE) == 5


class Mine(LinearRegression):
    """A subclass may fit otherwise."""


UNION = make_union(PCA(2), SelectKBest(f_regression, k=1))
LOOKS = "looks at y before LinearRegression does"
LOGS = {"func": np.log, "inverse_func": np.exp}
SEVERAL = ("one penalty per target", "several targets")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (make_pipeline(SelectKBest(f_regression, k=2), LinearRegression()), LOOKS),
        (make_pipeline(UNION, LinearRegression()), LOOKS),
        (make_pipeline(TargetEncoder(target_type="continuous"), LinearRegression()), LOOKS),
        (SVR(), "no formula is known for the degrees of freedom of SVR.*10-fold"),
        (Mine(), "degrees of freedom of Mine.*10-fold"),
        (PoissonRegressor(), "degrees of freedom of PoissonRegressor.*10-fold"),
        (RidgeCV(), "RidgeCV chooses its setting within the fit.*10-fold"),
        (GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=3), "GridSearchCV chooses.*10-fold"),
        # the likelihood is not that of y, or the centring is not counted
        (TransformedTargetRegressor(Ridge(), **LOGS), "transformed y"),
        (TransformedTargetRegressor(Ridge(), transformer=FunctionTransformer()), "transformed y"),
        (
            TransformedTargetRegressor(Ridge(fit_intercept=False), transformer=StandardScaler()),
            "no intercept",
        ),
        (LinearRegression(positive=True), "positive=True"),
        (Ridge(alpha=np.array([1.0, 2.0])), "one penalty per target"),
        (KernelRidge(alpha=np.array([1.0, 2.0])), "one penalty per target"),
        (Lasso(), "several targets"),
        (KNeighborsRegressor(3, weights="distance"), "number of rows"),
        (DecisionTreeRegressor(criterion="absolute_error"), "do not hold the means"),
        (DecisionTreeClassifier(class_weight="balanced"), "do not hold the means"),
        (DummyRegressor(strategy="median"), "no maximum of the likelihood"),
        (DummyClassifier(strategy="uniform"), "no maximum of the likelihood"),
        (LogisticRegression(class_weight="balanced"), "class_weight"),
        (LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1), "shrunken"),
        (QuadraticDiscriminantAnalysis(reg_param=0.1), "shrunken"),
        (LogisticRegression(), "3,002 penalised coefficients"),
    ],
)
def test_degrees_of_freedom_refuses(model, message):
    """Where no formula is known, or the likelihood is another one."""
    y = np.column_stack([TARGET, WIDE[:, 0]]) if message in SEVERAL else np.abs(TARGET)
    rows = RNG.normal(size=(20, 3001)) if "penalised" in message else WIDE
    labels = np.arange(20) % 2 if is_classifier(model) else y
    with pytest.raises(Refusal, match=f"(?s){message}"):
        degrees_of_freedom(model.fit(rows, labels), rows)
