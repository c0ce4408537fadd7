"""A model around another one says of columns what the fitted one inside says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from truerisk.models.early_stopping import Around
from truerisk.models.threshold import ThresholdClassifier

X, Y = pd.DataFrame({"a": np.arange(20.0), "b": np.ones(20)}), np.arange(20) > 9


def test_columns_are_those_of_the_fitted_one():
    """Number and names; before `fit` there are none, and arrays have no names."""
    model = ThresholdClassifier(LogisticRegression(), cv=2)
    assert isinstance(model, Around)
    assert not hasattr(model, "n_features_in_")
    model.fit(X, Y)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(AttributeError):
        _ = model.fit(X.to_numpy(), Y).feature_names_in_
