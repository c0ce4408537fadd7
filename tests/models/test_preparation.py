"""Columns are prepared inside the folds, and only as far as they need it."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from truerisk.models import prepare
from truerisk.models.preparation import MAX_INDICATORS

MIXED = np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, np.nan], [5.0, 1.0]])


def test_prepare_of_plain_numbers_is_a_plain_scaler_or_nothing() -> None:
    """Without text and missing cells there is nothing that hides the model from a fast engine."""
    assert type(prepare([0, 1], [], scale=True)) is StandardScaler
    assert prepare([0, 1], [], scale=False) == "passthrough"


def test_prepare_fills_missing_numbers_by_the_median_of_the_training_rows() -> None:
    prepared = prepare([0], [], scale=False, missing=True).fit(MIXED[:, :1])
    assert prepared.transform([[np.nan], [9.0]]).tolist() == [[3.0], [9.0]]
    scaled = prepare([0], [], scale=True, missing=True).fit_transform(MIXED[:, :1])
    assert (scaled.mean(), scaled.std()) == pytest.approx((0, 1))
    X = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    assert prepare([0, 1], [], scale=True, missing=True).fit_transform(X).shape == (2, 2)


def test_prepare_makes_indicators_of_text_and_of_missing() -> None:
    """Codes 0 and 1 and the missing cell have one indicator each, unscaled; numbers come first."""
    prepared = prepare([0], [1], scale=False, missing=True).fit(MIXED)
    expected = [[1, 1, 0, 0], [3, 0, 1, 0], [3, 0, 0, 1], [5, 0, 1, 0]]
    assert prepared.transform(MIXED).tolist() == expected
    X = prepare([0], [1], scale=True, missing=True).fit_transform(MIXED)
    assert X[:, 1:].tolist() == [row[1:] for row in expected]
    assert X[:, 0].std() == pytest.approx(1)


def test_prepare_takes_an_unseen_level_for_none() -> None:
    """A new level, also a first missing cell, has all indicators 0 and raises nothing."""
    prepared = prepare([], [0], scale=False).fit([[0.0], [1.0]])
    assert prepared.transform([[2.0], [np.nan]]).tolist() == [[0, 0], [0, 0]]
    # A column of many levels makes 20 indicators, the last for the rare and the unseen.
    codes = np.repeat(np.arange(30.0), np.arange(30, 0, -1))[:, None]
    prepared = prepare([], [0], scale=False).fit(codes)
    X = prepared.transform([[0.0], [29.0], [99.0]])
    assert X.shape == (3, MAX_INDICATORS)
    assert X[:, -1].tolist() == [0, 1, 1]
