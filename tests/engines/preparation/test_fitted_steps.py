"""Steps before a learner: engines answer as whole pipelines do, gaps, draws and all."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import normal_rows

import truerisk as tr
from truerisk.engines.preparation.fitted import ROWWISE_CLASSES, is_rowwise
from truerisk.methods import Bootstrap, Pairs

RNG = np.random.default_rng(0)
FULL = np.column_stack([RNG.normal(size=(70, 3)) * 1e3 + 7, RNG.integers(4, size=(70, 2))])
HOLES = np.where(RNG.random(FULL.shape) < 0.1, np.nan, FULL)
Y = RNG.integers(2, size=70)

LEARNERS = {
    "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
    "logistic-path": (LogisticRegression(), {"C": [0.1, 1.0]}),
    "svm": (SVC(), {"C": [0.1, 1.0]}),
    "discriminant": (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.1, 0.5]}),
    "least-squares": (RidgeClassifier(), {"alpha": [0.1, 1.0]}),
    "tree": (DecisionTreeClassifier(random_state=0), {"ccp_alpha": [0.0, 0.05]}),
}
FILLED = {
    "filled": ([SimpleImputer(strategy="median"), StandardScaler()], {}),
    "kept": ([StandardScaler()], {}),
    "refused": ([Normalizer()], {}),
    "filled in one setting": ([SimpleImputer()], {"s0": [SimpleImputer(), "passthrough"]}),
}


def answers(model, grid, X, y, engine="auto", method="4-fold"):
    """The engine's name and answers; what is said where it fails."""
    try:
        curve = tr.risk_curve(model, grid, X, y, cv=method, engine=engine, random_state=0)
    except ValueError as error:
        return None, str(error)
    return curve[0].engine, curve.evaluation.answers.values.tolist()


@pytest.mark.parametrize("filled", FILLED)
@pytest.mark.parametrize("word", LEARNERS)
def test_missing_cells_are_answered_as_by_whole_pipelines(word, filled):
    """Gaps that are filled keep no engine away; the others are the learner's own business."""
    (learner, grid), (steps, more) = LEARNERS[word], FILLED[filled]
    pipe = Pipeline([*((f"s{i}", step) for i, step in enumerate(steps)), ("m", learner)])
    X, y, _ = normal_rows(60, 4)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    given = pipe, {f"m__{name}": values for name, values in grid.items()} | more, X, y
    fast, whole = answers(*given), answers(*given, "generic")
    assert fast[1] == whole[1]
    assert filled != "filled" or fast[0] == word


NEIGHBOURS = {"kneighborsclassifier__n_neighbors": [1, 3, 5]}
TWO, TWELVE, MANY = normal_rows(60, 4)[:2], normal_rows(60, 12)[:2], normal_rows(520, 505)[:2]


def columns(remainder):
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), [0, 1]),
        (OneHotEncoder(handle_unknown="ignore"), [3, 4]),
        remainder=remainder,
    )


@pytest.mark.parametrize(
    ("steps", "data", "method"),
    [
        ([PCA(2)], TWO, "4-fold"),  # by the eigenvectors of the covariance
        ([PCA(2)], TWELVE, "4-fold"),  # by a whole decomposition
        ([PCA(2)], MANY, "4-fold"),  # drawn, in train sets of 390 rows
        ([QuantileTransformer(n_quantiles=10)], TWO, "4-fold"),
        ([QuantileTransformer(n_quantiles=10, subsample=20)], TWO, "4-fold"),  # drawn
        ([KBinsDiscretizer(3, encode="ordinal", strategy="uniform")], TWO, "4-fold"),
        # pairs ask every model about two folds
        ([SimpleImputer(), columns("passthrough")], (HOLES, Y), Pairs("5-fold")),
        ([SimpleImputer(), columns(FunctionTransformer())], (HOLES, Y), Pairs("5-fold")),
    ],
)
def test_steps_are_answered_as_by_whole_pipelines(steps, data, method):
    """Where a step drew, the pipeline itself is asked, with the random numbers of its fit."""
    given = make_pipeline(*steps, KNeighborsClassifier()), NEIGHBOURS, *data
    fast, whole = answers(*given, "knn", method), answers(*given, "generic", method)
    assert fast == ("knn", whole[1])


def test_steps_that_always_draw_are_left_to_the_generic_engine():
    pipe = make_pipeline(PCA(2, svd_solver="randomized"), KNeighborsClassifier())
    assert answers(pipe, None, *TWO)[0] == "generic"


def test_copies_of_a_row_that_rounding_parts_are_left_to_the_learner():
    """A component beyond the rank is rounding alone, and says other things of a row drawn twice."""
    X = np.array([[1000.0, 1002.0, 999.0], [999.0, 1001.0, 998.0], [1000.0, 999.0, 1001.0]])
    given = make_pipeline(PCA(), tr.models.LogisticPath()), None, X, np.array([0, 1, 0])
    method = Bootstrap("bootstrap", replicates=2)
    assert answers(*given, "logistic-path", method)[1] == answers(*given, "generic", method)[1]


STEPS = [
    StandardScaler(),
    MinMaxScaler(clip=True),
    MaxAbsScaler(),
    RobustScaler(),
    OneHotEncoder(handle_unknown="ignore"),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    Binarizer(threshold=1.0),
    SimpleImputer(add_indicator=True),
    MissingIndicator(error_on_new=False),
    VarianceThreshold(),
    SelectKBest(k=2),
    SelectPercentile(percentile=50),
]


@pytest.mark.parametrize("place", ROWWISE_CLASSES)
def test_steps_by_rows_give_a_row_the_same_cells_alone_and_in_company(place):
    (step,) = (step for step in STEPS if type(step).__name__ == place.partition(":")[2])
    X = HOLES if isinstance(step, SimpleImputer | MissingIndicator) else FULL
    assert is_rowwise(step)
    step.fit(X[:40], Y[:40])
    together = step.transform(X[40:])
    alone = [step.transform(X[i : i + 1]) for i in range(40, 70)]
    if hasattr(together, "toarray"):
        together, alone = together.toarray(), [row.toarray() for row in alone]
    np.testing.assert_array_equal(together, np.vstack(alone))


@pytest.mark.parametrize(
    ("step", "so"),
    [
        (make_pipeline(SimpleImputer(), StandardScaler()), True),
        (make_column_transformer((StandardScaler(), [0]), remainder="passthrough"), True),
        (make_column_transformer((StandardScaler(), [0]), remainder=PCA()), False),
        (FeatureUnion([("a", StandardScaler()), ("b", "drop")]), True),
        (FeatureUnion([("a", make_pipeline(PCA()))]), False),
        (FunctionTransformer(), False),  # any function of the user
        (type("Own", (StandardScaler,), {})(), False),
    ],
)
def test_steps_made_of_steps_are_by_rows_as_these_are(step, so):
    assert is_rowwise(step) == so
