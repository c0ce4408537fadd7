"""What scikit-learn has something to say of is left to it: no step is answered for in its place."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    StandardScaler,
)

from truerisk.data.data import Data
from truerisk.engines.preparation.closed.first_steps import closed_steps
from truerisk.engines.preparation.closed.selecting import _own_scores
from truerisk.engines.preparation.closed.step_tables import Refused

N, TRAIN = 24, np.arange(16)
Y = np.arange(N) % 2
FULL = np.column_stack([np.linspace(-1, 1, N), np.linspace(0, 1, N) ** 2])
TEXT = np.array([["a"], ["b"], ["c"]] * 8, dtype=object)


def put(X, row, value, column=0):
    X = X.copy()
    X[row, column] = value
    return X


def named(**columns):
    return pd.DataFrame(columns)


TIE = put(put(TEXT, slice(0, 8), None), slice(8, 16), "a")
EMPTY = put(FULL, slice(0, 16), np.nan)
WHOLE = pl.DataFrame({"a": [None, *range(N - 1)]})
CONSTANT = put(FULL, slice(None), 3.0)
APART = np.column_stack([Y, FULL[:, 0]]).astype(float)
FRAME = named(a=FULL[:, 0], b=FULL[:, 1])
MIXED = named(a=FULL[:, 0], t=TEXT[:, 0])
HALF = SimpleImputer(strategy="constant", fill_value=0.5)
OFTEN = SimpleImputer(strategy="most_frequent")
SCALE = StandardScaler()

CASES = {
    "an infinite cell": (put(FULL, 3, np.inf), OFTEN),
    "a large whole number": (np.array([[2**60]] * N), SCALE),
    "single precision": (FULL.astype(np.float32), SCALE),
    "text beside numbers in a column": (put(TEXT, 2, 1.5), OneHotEncoder(handle_unknown="ignore")),
    "text to be scaled": (TEXT, SCALE),
    "a mean of text": (TEXT, SimpleImputer()),
    "numpy's own text, imputed": (TEXT.astype(str), OFTEN),
    "truth, imputed": (FULL > 0, OFTEN),
    "a column of another kind": (FRAME.astype("Float64"), SCALE),
    "text in a frame that is scaled": (MIXED, SCALE),
    "None as often as a text": (
        TIE,
        make_pipeline(OFTEN, OneHotEncoder(handle_unknown="ignore")),
    ),
    "an empty column": (EMPTY, SimpleImputer()),
    "an empty column that is kept": (
        EMPTY,
        SimpleImputer(strategy="constant", fill_value=2.0, keep_empty_features=True),
    ),
    "an empty column, most frequent": (EMPTY, SimpleImputer(strategy="most_frequent")),
    "a fraction among whole numbers": (np.arange(2 * N).reshape(N, 2), HALF),
    "a fraction among whole numbers of which one lacks": (WHOLE, HALF),
    "a missing cell that is scaled": (put(FULL, 1, np.nan), SCALE),
    "a missing cell, asked about": (put(FULL, 20, np.nan), SelectKBest(k=1)),
    "a column that is constant": (CONSTANT, SelectKBest(k=1)),
    "a column that is constant within classes": (APART, SelectKBest(k=1)),
    "a score that warns": (np.abs(put(FULL, slice(None), 0.0)), SelectKBest(chi2, k=1)),
    "a score that fails": (FULL, SelectKBest(chi2, k=1)),
    "too many to choose": (FULL, SelectKBest(k=3)),
    "a level that is new": (put(TEXT, 20, "new"), OneHotEncoder()),
    "a level that is new, and one dropped": (
        put(TEXT, 20, "new"),
        OneHotEncoder(handle_unknown="ignore", drop="first"),
    ),
    "a number for a new level": (TEXT, OrdinalEncoder(unknown_value=-1)),
    "a number that a level has": (
        TEXT,
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=1),
    ),
    "a name that comes twice": (FULL, FeatureUnion([("a", SCALE), ("a", SCALE)])),
    "a name that is a parameter": (FULL, ColumnTransformer([("remainder", SCALE, [0])])),
    "a name with two lines": (FULL, Pipeline([("a__b", SCALE)])),
    "a column from the end": (FULL, ColumnTransformer([("a", SCALE, [-1])])),
    "a column that is not there": (FULL, ColumnTransformer([("a", SCALE, [2])])),
    "a name that is not there": (FRAME, ColumnTransformer([("a", SCALE, ["z"])])),
    "a mask of another length": (FULL, ColumnTransformer([("a", SCALE, [True])])),
    "one column by itself": (FRAME, ColumnTransformer([("a", SCALE, "a")])),
    "names after an array": (
        FRAME,
        make_pipeline(
            make_column_transformer(("passthrough", ["a", "b"])),
            make_column_transformer((SCALE, ["a"])),
        ),
    ),
    "nothing chosen": (FULL, ColumnTransformer([("a", SCALE, [])])),
    "weights": (FULL, FeatureUnion([("a", SCALE)], transformer_weights={"a": 2.0})),
    "printed lines": (FULL, FeatureUnion([("a", SCALE)], verbose=True)),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused(name):
    """Also where it is only seen in the rows that are asked about."""
    X, step = CASES[name]
    data = Data.check(X, Y, task="classification")
    assert closed_steps(Pipeline([("s", step)]), data, TRAIN, Y[TRAIN], [np.arange(16, N)]) is None


def test_a_score_that_warns_is_refused():
    """Whatever it says."""

    def loud(X, y):
        warnings.warn("loud", stacklevel=1)
        return X[0]

    with pytest.raises(Refused):
        _own_scores(loud, FULL, Y)
    assert _own_scores(lambda X, y: X[0], FULL, Y).tolist() == FULL[0].tolist()


def test_columns_that_come_twice_are_refused():
    """Or whose names are of two kinds."""
    for names in (["a", "a"], ["a", 1]):
        X = pd.DataFrame(FULL, columns=names)
        data = Data(X=X, y=Y, task="other")
        steps = Pipeline([("s", SCALE)])
        assert closed_steps(steps, data, TRAIN, Y[TRAIN], []) is None


def test_a_frame_goes_to_the_next_step_as_it_is():
    """A step that does nothing leaves its names, which the next may look at."""
    steps = Pipeline([("a", FunctionTransformer()), ("b", PowerTransformer())])
    data = Data.check(FRAME, Y, task="classification")
    assert closed_steps(steps, data, TRAIN, Y[TRAIN], []) is None


def test_tables_of_another_kind_between_steps_are_refused():
    """Frames, where they are asked for everywhere."""
    data = Data.check(FRAME, Y, task="classification")
    with sklearn.config_context(transform_output="pandas"):
        steps = Pipeline([("s", StandardScaler())])
        assert closed_steps(steps, data, TRAIN, Y[TRAIN], []) is None
    steps = Pipeline([("s", StandardScaler())])
    assert closed_steps(steps, data, TRAIN, Y[TRAIN], []) is not None
