"""Optimism is training − test over samples in which a number exists."""

import numpy as np
import pytest

from truerisk.validation.measures import EVENT_MEASURES, RANK_MEASURES
from truerisk.validation.outcomes import HeldOut, Outcomes, clip_probabilities
from truerisk.validation.profile import FoldJackknife, Optimism, ProfileLayout

GRID, T = np.array([0.3, 0.5]), np.array([0.2, 0.4, 0.6])


def test_optimism_leaves_out_a_sample_without_the_number():
    """NaN on either side leaves the sample out of both means; no samples correct nothing."""
    found = Optimism.from_profiles(
        np.array([1.0, 2.0, 3.0]),
        [np.array([3.0, np.nan, np.nan]), np.array([5.0, 4.0, np.nan])],
        [np.array([2.0, 1.0, 1.0]), np.array([np.nan, 1.0, 1.0])],
    )
    assert found.n.tolist() == [1, 1, 0]
    np.testing.assert_array_equal(found.training, [3.0, 4.0, np.nan])
    np.testing.assert_array_equal(found.corrected, [0.0, -1.0, np.nan])
    found = Optimism.from_profiles(np.array([1.0]), [], [])
    assert np.isnan(found.corrected).all()
    assert found.n.tolist() == [0]


def test_profile_is_nan_where_a_measure_does_not_exist():
    """One class has no measure that needs both; decision values have ranks alone."""
    rows = Outcomes.from_predictions(np.ones(20), np.linspace(0.1, 0.9, 20))
    profile = ProfileLayout(GRID, T)
    line = profile.compute_profile(rows)
    assert {w for w, v in profile.extract_measures(line).items() if np.isfinite(v)} == {"brier"}
    assert np.isnan(profile.extract_curve(line)).all()
    assert np.isfinite(profile.extract_net_benefit(line)).all()
    assert len(line) == len(EVENT_MEASURES) + len(GRID) + len(T)
    rows = Outcomes.from_predictions(np.arange(20) % 2, np.linspace(-3, 3, 20))
    profile = ProfileLayout(np.empty(0), np.empty(0), RANK_MEASURES)
    found = profile.extract_measures(profile.compute_profile(rows))
    assert {w for w, v in found.items() if np.isfinite(v)} == {"auc", "average-precision"}


def test_fold_jackknife_of_a_mean_is_the_variance_of_the_folds_means():
    """K means of equal folds: V = s²/K, and the mean itself is carried on to itself."""
    folds = np.random.default_rng(0).normal(size=(8, 5))
    without = [np.delete(folds, j, axis=0).mean(keepdims=True).ravel() for j in range(8)]
    found = FoldJackknife.from_values(np.array([folds.mean()]), without)
    assert found.variance[0] == pytest.approx(folds.mean(axis=1).var(ddof=1) / 8)
    assert found.extrapolated_values[0] == pytest.approx(folds.mean())
    found = FoldJackknife.from_values(np.ones(2), [np.array([1.0, np.nan]), np.ones(2), np.ones(2)])
    assert np.isnan(found.variance).tolist() == [False, True]
    assert np.isnan(found.extrapolated_values).tolist() == [False, True]


# ---------------- Rows of outcomes: copies weigh, rows without weight are left out


HELD = HeldOut(
    rows=np.array([0, 1, 2, 0, 1, 2, 2]),
    fold=np.zeros(7, int),
    repetition=np.array([0, 0, 0, 1, 1, 1, 2]),
    fit=np.zeros(7, int),
    truth=np.array([0, 1, 1, 0, 1, 1, 1]),
    answers=np.column_stack([np.full(7, 0.5), np.array([0, 0.5, 1, 0.2, 0.5, 1, 0.9])]),
    response="probability",
    classes=np.array(["no", "yes"]),
    weights=np.array([1.0, 0.0, 2.0, 1.0, 0.0, 2.0, 2.0]),
    groups=None,
)


def test_outcomes_weigh_a_row_answered_several_times_as_others():
    """Its answers share its weight and are one member; a row of weight 0 is left out."""
    found = Outcomes.from_held_out(HELD, clip=0.01)
    assert round(found.n, 12) == found.n_rows == 2
    np.testing.assert_allclose(1.5 * found.weights, [0.5, 2 / 3, 0.5, 2 / 3, 2 / 3])
    assert found.clusters.tolist() == [0, 1, 0, 1, 1]
    assert found.predictions.tolist() == [0.01, 0.99, 0.2, 0.99, 0.9]
    assert HELD.n_repetitions == 3


def test_outcomes_quantiles_weigh_rows():
    """Of equal weights, in whatever unit, they are those of NumPy; a heavy row draws them."""
    values, shares = np.random.default_rng(0).random(41), (0.0, 0.01, 0.3, 0.5, 0.9, 1.0)
    for unit in (1.0, 0.01):
        rows = Outcomes.from_predictions(np.zeros(41), values, np.full(41, unit))
        np.testing.assert_allclose(rows.quantiles(values, shares), np.quantile(values, shares))
    heavy = Outcomes.from_predictions(np.zeros(3), np.arange(3.0), np.array([1.0, 1.0, 1000.0]))
    assert heavy.quantiles(np.arange(3.0), [0.0, 0.5, 1.0]).round(2).tolist() == [0.0, 1.5, 2.0]
    # Probabilities stay as they are, but for rounding beyond 0 and 1.
    given = np.array([-1e-17, 0.3, 1.0])
    assert clip_probabilities(given, None).tolist() == [0.0, 0.3, 1.0]
    assert clip_probabilities(given, 0.1).tolist() == [0.1, 0.3, 0.9]
