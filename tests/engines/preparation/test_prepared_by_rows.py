"""Steps asked about all rows at once, where that changes no bit."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

import truerisk as tr
from truerisk.engines.preparation.fitted import CELLS, is_by_rows

RNG = np.random.default_rng(0)
FULL = np.column_stack([RNG.normal(size=(70, 3)) * 1e3 + 7, RNG.integers(4, size=(70, 2))])
HOLES = np.where(RNG.random(FULL.shape) < 0.1, np.nan, FULL)
Y = RNG.integers(2, size=70)
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


def test_every_class_that_is_named_is_tried():
    """Below."""
    assert {place.partition(":")[2] for place in CELLS} == {type(step).__name__ for step in STEPS}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_a_row_has_the_same_cells_alone_and_in_company(step):
    """To the last bit."""
    X = HOLES if isinstance(step, SimpleImputer | MissingIndicator) else FULL
    assert is_by_rows(step)
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
def test_steps_made_of_steps_are_what_these_are(step, so):
    """And nothing is told by a name."""
    assert is_by_rows(step) == so


@pytest.mark.parametrize("remainder", ["passthrough", FunctionTransformer()])
def test_answers_are_those_of_single_questions(remainder):
    """Pairs ask every model about two folds."""
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), [0, 1]),
        (OneHotEncoder(handle_unknown="ignore"), [3, 4]),
        remainder=remainder,
    )
    pipe = make_pipeline(SimpleImputer(), columns, KNeighborsClassifier())
    grid = {"kneighborsclassifier__n_neighbors": [1, 3, 5]}
    fast, whole = (
        tr.HonestSearchCV(pipe, grid, cv="5-fold", engine=engine, random_state=0)
        .fit(HOLES, Y)
        .risk_
        for engine in ("auto", "generic")
    )
    assert fast.engine == "knn"
    np.testing.assert_array_equal(fast.losses, whole.losses)


def test_copies_of_a_row_that_rounding_parts_are_left_to_the_learner():
    """A component beyond the rank is rounding alone, and says other things of a row drawn twice."""
    X = np.array([[1000.0, 1002.0, 999.0], [999.0, 1001.0, 998.0], [1000.0, 999.0, 1001.0]])
    model = make_pipeline(PCA(), tr.models.LogisticPath())
    method = tr.methods.Bootstrap("bootstrap", replicates=2)
    found, own = (
        tr.estimate_risk(model, X, np.array([0, 1, 0]), cv=method, engine=word)
        for word in ("logistic-path", "generic")
    )
    np.testing.assert_array_equal(found.losses, own.losses)
