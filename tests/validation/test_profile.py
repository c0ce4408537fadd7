"""Optimism is training − test over samples in which a number exists."""

from __future__ import annotations

import numpy as np

from truerisk.validation.measures import OF_EVENTS, OF_RANKS
from truerisk.validation.outcomes import Outcomes
from truerisk.validation.profile import Optimism, Profile

GRID, T = np.array([0.3, 0.5]), np.array([0.2, 0.4, 0.6])


def test_a_sample_without_the_number_does_not_count():
    """NaN on either side leaves the sample out of both means, for that number alone."""
    found = Optimism.of(
        np.array([1.0, 2.0, 3.0]),
        [np.array([3.0, np.nan, np.nan]), np.array([5.0, 4.0, np.nan])],
        [np.array([2.0, 1.0, 1.0]), np.array([np.nan, 1.0, 1.0])],
    )
    assert found.n.tolist() == [1, 1, 0]
    np.testing.assert_array_equal(found.training, [3.0, 4.0, np.nan])
    np.testing.assert_array_equal(found.corrected, [0.0, -1.0, np.nan])


def test_no_samples_correct_nothing():
    """Nothing is invented."""
    found = Optimism.of(np.array([1.0]), [], [])
    assert np.isnan(found.corrected).all()
    assert found.n.tolist() == [0]


def test_a_sample_of_one_class_has_brier_and_net_benefit_alone():
    """What needs both outcomes is NaN."""
    rows = Outcomes.of(np.ones(20), np.linspace(0.1, 0.9, 20))
    profile = Profile(GRID, T)
    line = profile.of(rows)
    assert {w for w, v in profile.measures(line).items() if np.isfinite(v)} == {"brier"}
    assert np.isnan(profile.curve(line)).all()
    assert np.isfinite(profile.net_benefit(line)).all()
    assert len(line) == len(OF_EVENTS) + len(GRID) + len(T)


def test_decision_values_have_ranks_alone():
    """AUC and average precision, and nothing that reads probabilities."""
    rows = Outcomes.of(np.arange(20) % 2, np.linspace(-3, 3, 20))
    profile = Profile(np.empty(0), np.empty(0), OF_RANKS)
    found = profile.measures(profile.of(rows))
    assert {w for w, v in found.items() if np.isfinite(v)} == {"auc", "average-precision"}
