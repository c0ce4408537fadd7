"""Nogueira's index: its value, its variance, and when there is none."""

import json
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm
from tests.support.rms_data import REVIEW

from truerisk.validation.stability import FeatureStability, stability_index

Z = np.array(
    [
        [1, 1, 0, 0, 1, 0],
        [1, 1, 1, 0, 0, 0],
        [1, 0, 1, 0, 0, 1],
        [1, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0],
    ]
)


def test_stability_index_is_that_of_the_authors():
    """Index and variance of the authors' program in Python.

    ``getVarianceofStability(Z)`` of github.com/nogueirs/JMLR2018, python/stability/__init__.py.
    """
    index, error = stability_index(Z)
    assert (index, error**2) == pytest.approx((0.2666666666666665, 0.016213333333333333))


SETS = (
    ([[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5]], 10),  # the example of stabm's documentation
    ([[1, 2, 5], [1, 2, 3], [1, 3, 6], [1, 2], [1, 2, 3, 4]], 6),
    ([[*range(1, 8)], [*range(3, 10)], [*range(2, 7)], [7]], 12),
)


@pytest.mark.parametrize("place", range(3))
def test_stability_index_is_that_of_stabm(place):
    """StabilityNogueira of the R package (`tests/support/review_oracles.R`)."""
    sets, n_features = SETS[place]
    marks = np.array([[f + 1 in one for f in range(n_features)] for one in sets])
    assert stability_index(marks)[0] == pytest.approx(REVIEW["nogueira"][place], abs=1e-11)


def test_stability_index_of_sets_of_one_size_is_kunchevas():
    """Where all fits select k of d: the mean over pairs of (r − k²/d)/(k − k²/d), r in common.

    The same features in every fit: 1 without error. Drawn at random: 0 on average.
    """
    rng = np.random.default_rng(0)
    k, d = 3, 8
    marks = np.array([rng.permutation(d) < k for _ in range(6)])
    common = np.array([(a & b).sum() for a, b in combinations(marks, 2)])
    index, _ = stability_index(marks)
    assert index == pytest.approx(np.mean((common - k**2 / d) / (k - k**2 / d)))
    assert stability_index(np.tile(Z[0], (4, 1))) == (1.0, 0.0)
    chance = rng.permuted(np.tile(np.arange(30) < 9, (400, 10, 1)), axis=2)
    drawn = [stability_index(one)[0] for one in chance]
    assert np.mean(drawn) == pytest.approx(0, abs=4 * np.std(drawn) / 20)


def test_stability_index_variance_is_that_of_its_derivative():
    """(M−1)/M times what a little more weight on a fit does to the index, by differences."""
    m, step = len(Z), 1e-6

    def index(weights: np.ndarray) -> float:
        shares = weights @ Z
        size = shares.mean()
        return 1 - m / (m - 1) * (shares * (1 - shares)).mean() / (size * (1 - size))

    even = np.full(m, 1 / m)
    moved = [(index((1 - step) * even + step * one) - index(even)) / step for one in np.eye(m)]
    expected = (m - 1) / m * np.sqrt(np.square(moved).sum()) / m
    assert stability_index(Z)[1] == pytest.approx(expected, rel=1e-3)


# ---------------- The features of several models: shares, order, index and what is printed


MARKS = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 0, 0]], dtype=bool)
NAMES = ("age", "bmi", "sex", "dose")


def test_feature_stability_lists_features_by_their_share():
    """The most often selected first, equals as they stand in X; index ± z times its error.

    The first 20 are printed, the rest counted.
    """
    found = FeatureStability.from_selected(MARKS, NAMES, confidence_level=0.9)
    index, error = stability_index(MARKS)
    assert (found.index, found.std_error) == (index, error)
    assert found.interval.low == pytest.approx(index - norm.ppf(0.95) * error)
    assert found.interval.high == pytest.approx(min(1, index + norm.ppf(0.95) * error))
    assert found.to_frame()["feature"].tolist() == ["age", "bmi", "dose", "sex"]
    assert found.to_frame()["selected"].tolist() == [3, 2, 1, 0]
    assert "2 of 3" in str(found)
    marks = np.arange(200).reshape(4, 50) % 3 == 0
    many = FeatureStability.from_selected(marks, tuple(f"g{j}" for j in range(50)))
    assert "and 30 further features" in str(many)


@pytest.mark.parametrize(
    ("marks", "why"),
    [
        (Z[:1, :4], "one fit alone"),
        (np.zeros((3, 4)), "no fit selected"),
        (np.ones((3, 4)), "all 4 features"),
    ],
)
def test_feature_stability_without_a_choice_has_a_reason(marks, why):
    """A single fit, no feature and every feature: no index, in print and in JSON."""
    assert why in stability_index(marks)
    found = FeatureStability.from_selected(marks.astype(bool), NAMES)
    assert (found.index, found.interval) == (None, None)
    assert why in str(found)
    assert json.loads(json.dumps(found.to_dict()))["reason"] == found.reason
