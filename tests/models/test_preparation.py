"""Columns are prepared inside the folds, and only as far as they need it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from truerisk.models.preparation import MOST_LEVELS, prepare

MIXED = np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, np.nan], [5.0, 1.0]])


def test_plain_numbers_get_a_plain_scaler_or_nothing() -> None:
    """Without text and missing cells there is nothing that hides the model from a fast engine."""
    assert type(prepare([0, 1], [], scale=True)) is StandardScaler
    assert prepare([0, 1], [], scale=False) == "passthrough"


def test_missing_numbers_get_the_median_of_the_training_rows() -> None:
    """The median is that of the rows fitted on, not of those transformed."""
    prepared = prepare([0], [], scale=False, missing=True).fit(MIXED[:, :1])
    assert prepared.transform([[np.nan], [9.0]]).tolist() == [[3.0], [9.0]]


def test_imputed_numbers_are_scaled_after() -> None:
    """Imputing comes first: the scaled column has mean 0 and standard deviation 1."""
    scaled = prepare([0], [], scale=True, missing=True).fit_transform(MIXED[:, :1])
    assert scaled.mean() == pytest.approx(0)
    assert scaled.std() == pytest.approx(1)


def test_a_column_without_values_in_a_fold_keeps_its_place() -> None:
    """A training fold in which all cells of a column are missing loses no column."""
    X = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    assert prepare([0, 1], [], scale=True, missing=True).fit_transform(X).shape == (2, 2)


def test_text_becomes_indicators_and_missing_is_a_level() -> None:
    """Codes 0 and 1 and the missing cell have one indicator each; numbers come first."""
    prepared = prepare([0], [1], scale=False, missing=True).fit(MIXED)
    expected = [[1, 1, 0, 0], [3, 0, 1, 0], [3, 0, 0, 1], [5, 0, 1, 0]]
    assert prepared.transform(MIXED).tolist() == expected


def test_scaling_leaves_indicators_alone() -> None:
    """Indicators stay 0 and 1 beside standardised numbers."""
    X = prepare([0], [1], scale=True, missing=True).fit_transform(MIXED)
    assert set(X[:, 1:].ravel()) == {0.0, 1.0}
    assert X[:, 0].std() == pytest.approx(1)


def test_a_level_unseen_in_training_is_none_of_them() -> None:
    """A new level, also a first missing cell, has all indicators 0 and raises nothing."""
    prepared = prepare([], [0], scale=False).fit([[0.0], [1.0]])
    assert prepared.transform([[2.0], [np.nan]]).tolist() == [[0, 0], [0, 0]]


def test_rare_levels_share_an_indicator() -> None:
    """A column of many levels makes 20 indicators, the last for the rare and the unseen."""
    codes = np.repeat(np.arange(30.0), np.arange(30, 0, -1))[:, None]
    prepared = prepare([], [0], scale=False).fit(codes)
    X = prepared.transform([[0.0], [29.0], [99.0]])
    assert X.shape == (3, MOST_LEVELS)
    assert X[:, -1].tolist() == [0, 1, 1]
