"""The features of several models: shares, order, index and what is printed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import norm

from truerisk.validation.stability import FeatureStability, stability_index

MARKS = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 0, 0]], dtype=bool)
NAMES = ("age", "bmi", "sex", "dose")


def test_the_interval_is_normal():
    """Index ± z times its standard error, at most 1."""
    found = FeatureStability.of(MARKS, NAMES, confidence_level=0.9)
    index, error = stability_index(MARKS)
    assert (found.index, found.std_error) == (index, error)
    assert found.interval.low == pytest.approx(index - norm.ppf(0.95) * error)
    assert found.interval.high == pytest.approx(min(1, index + norm.ppf(0.95) * error))


def test_features_are_listed_by_their_share():
    """The most often selected first, equals as they stand in X."""
    found = FeatureStability.of(MARKS, NAMES)
    assert found.to_frame()["feature"].tolist() == ["age", "bmi", "dose", "sex"]
    assert found.to_frame()["selected"].tolist() == [3, 2, 1, 0]
    assert "2 of 3" in str(found)


def test_without_a_choice_the_reason_is_told():
    """Every feature in every fit: no index, in print and in JSON."""
    found = FeatureStability.of(np.ones((3, 4), dtype=bool), NAMES)
    assert (found.index, found.interval) == (None, None)
    assert "all 4 features" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["reason"] == found.reason


def test_many_features_are_cut_in_print():
    """The first 20 are printed, the rest counted."""
    marks = np.arange(200).reshape(4, 50) % 3 == 0
    assert "and 30 further features" in str(
        FeatureStability.of(marks, tuple(f"g{j}" for j in range(50)))
    )
