"""Which columns of X a fitted model uses, whatever its steps make of them."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingRegressor
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from truerisk.extend import Refusal
from truerisk.models.stated.selected_features import selected_features

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 5))
Y = (X[:, 1] + X[:, 3] > 0).astype(int)
GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
GAPS[:, 0] = np.nan
FRAME = pd.DataFrame(
    {"a": X[:, 0], "b": X[:, 1], "c": RNG.choice(["u", "v", "w"], 90), "d": X[:, 3]}
)


def part(places):
    """Return a lasso on some columns of the table."""
    return make_pipeline(make_column_transformer(("passthrough", places)), Lasso(0.01))


def imputed(**options):
    """Return a lasso on rows whose gaps are filled in."""
    return make_pipeline(SimpleImputer(**options), Lasso(0.15))


NUMERIC = FRAME.assign(c=0.0), FRAME["b"] + FRAME["d"]


@pytest.mark.parametrize(
    ("model", "table", "used"),
    [
        (Lasso(0.15), (X, Y), [1, 3]),
        (make_pipeline(StandardScaler(), Lasso(0.15)), (X, Y), [1, 3]),
        (make_pipeline(SelectKBest(k=2), KNeighborsClassifier()), (X, Y), [1, 3]),
        (make_pipeline(StandardScaler(), SelectKBest(k=3), Lasso(0.15)), (X, Y), [1, 3]),
        (DecisionTreeClassifier(max_depth=1), (X, Y), [3]),
        (RandomForestClassifier(5, max_depth=1, random_state=0), (X, Y), None),
        (KNeighborsClassifier(), (X, Y), [0, 1, 2, 3, 4]),
        (make_pipeline(make_pipeline("passthrough", None), Lasso(0.15)), (X, Y), [1, 3]),
        (
            make_pipeline(make_union(SelectKBest(k=1), SelectKBest(k=2)), Lasso(0.15)),
            (X, Y),
            [1, 3],
        ),
        (GridSearchCV(Lasso(), {"alpha": [0.15]}, cv=2), (X, Y), [1, 3]),
        (
            make_pipeline(
                make_column_transformer(
                    (StandardScaler(), [3, 4]), ("drop", [0]), (VarianceThreshold(), slice(1, 3))
                ),
                Lasso(0.15),
            ),
            (X, Y),
            [1, 3],
        ),
        (
            make_pipeline(make_column_transformer(("passthrough", X[0] > -9)), Lasso(0.15)),
            (X, Y),
            [1, 3],
        ),
        (
            CalibratedClassifierCV(make_pipeline(SelectKBest(k=2), LogisticRegression()), cv=2),
            (X, Y),
            [1, 3],
        ),
        (VotingRegressor([("a", Lasso(0.15)), ("b", Lasso(9.0))]), (X, Y), [1, 3]),
        (TransformedTargetRegressor(Lasso(0.15)), (X, Y), [1, 3]),
        pytest.param(part(slice("b", "d")), NUMERIC, [1, 3], id="slice of names"),
        pytest.param(part([False, True, True, True]), NUMERIC, [1, 3], id="mask of columns"),
        # an empty column is left out; marks of gaps are of the columns that had them
        pytest.param(imputed(add_indicator=False), (GAPS, Y), [1, 3], id="gaps"),
        pytest.param(imputed(add_indicator=True), (GAPS, Y), [1, 3], id="gaps with marks"),
    ],
)
def test_selected_features_are_columns_of_x(model, table, used):
    """Coefficients, importances and supports, through pipelines, searches and parts of tables."""
    empty = pytest.warns(UserWarning, match="without any observed values")
    with empty if table[0] is GAPS else nullcontext():
        model.fit(*table)
    found = selected_features(model, table[0].shape[1])
    if used is None:
        assert found.tolist() == (model.feature_importances_ > 0).tolist()
    else:
        assert np.flatnonzero(found).tolist() == used


def test_selected_features_join_classes():
    y = np.argmax(X[:, :3], axis=1)
    model = LinearSVC(C=0.01, penalty="l1", dual=False)
    found = selected_features(model.fit(X, y), 5)
    assert found.tolist() == (model.coef_ != 0).any(axis=0).tolist()
    assert not (model.coef_ != 0).all(axis=0)[found].all()


def frame_model(learner, **encoder):
    return make_pipeline(
        make_column_transformer(
            (OneHotEncoder(**encoder), ["c"]),
            (make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b"]),
            remainder="passthrough",
        ),
        learner,
    )


@pytest.mark.parametrize("encoder", [{}, {"drop": "first"}, {"max_categories": 2}])
def test_selected_features_of_indicators_are_of_their_column(encoder):
    """A category that counts is its column that counts; dropped and joined ones shift nothing."""
    y = (FRAME["c"] == "u").to_numpy().astype(float) + 2 * FRAME["d"].to_numpy()
    found = selected_features(frame_model(Lasso(0.01), **encoder).fit(FRAME, y), 4)
    assert found[[2, 3]].all()
    numbers = selected_features(frame_model(Lasso(0.4), **encoder).fit(FRAME, y), 4)
    assert np.flatnonzero(numbers).tolist() == [3]


BAGGED = BaggingClassifier(make_pipeline(SelectKBest(k=1), KNeighborsClassifier()), 3)
KEEPS = FunctionTransformer(np.exp, feature_names_out="one-to-one")


@pytest.mark.parametrize(
    ("model", "n", "message"),
    [
        (make_pipeline(PCA(2), LogisticRegression()), 5, "PCA makes columns of several others"),
        (make_pipeline(FunctionTransformer(np.exp), Lasso()), 5, "may mix columns"),
        (Lasso(), 6, "speaks of 5 columns and was given 6"),
        (BAGGED, 5, "BaggingClassifier holds other models"),
    ],
)
def test_selected_features_refuses(model, n, message):
    """Rather than that all columns, or none, were selected; a function that keeps them says so."""
    assert len(selected_features(make_pipeline(KEEPS, Lasso(0.5)).fit(X, Y), 5)) == 5
    with pytest.raises(Refusal, match=message):
        selected_features(model.fit(X, Y), n)
