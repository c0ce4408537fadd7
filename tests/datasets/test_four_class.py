"""Four classes around a tetrahedron: equally far, with the stated Bayes risk."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.errors import BadData
from truerisk.datasets import FourClassProblem, make_four_class

PAIRED = FourClassProblem(correlation=0.7, paired=True)
BOTH = pytest.mark.parametrize("problem", [make_four_class, PAIRED])


def test_all_classes_are_equally_far_from_each_other() -> None:
    """In the metric of the common covariance, whatever the correlation."""
    for problem in (make_four_class, FourClassProblem(0, 0.9), PAIRED):
        inverse = np.linalg.inv(problem.covariance)
        gaps = [problem.means[c] - problem.means[d] for c in range(4) for d in range(c)]
        assert np.sqrt([gap @ inverse @ gap for gap in gaps]) == pytest.approx(problem.distance)


@BOTH
def test_rows_have_the_stated_moments(problem) -> None:
    """Means and covariance of 40,000 rows, within 4.5 standard errors."""
    X, y = problem(40_000, random_state=0)
    gaps = X - problem.means[y]
    assert abs(gaps.mean(axis=0)).max() < 4.5 / 200
    assert abs(np.cov(gaps.T) - problem.covariance).max() < 4.5 * np.sqrt(2) / 200


def test_features_of_a_paired_group_tell_nothing_alone() -> None:
    """Means of 0, and the stated correlation with their likes alone."""
    assert not PAIRED.means[:, [3, 4, 5, 9, 10, 11]].any()
    likes = np.argwhere(np.triu(PAIRED.covariance, 1) == 0.7)
    assert likes.tolist() == [[0, 3], [1, 4], [2, 5], [6, 9], [7, 10], [8, 11]]
    without = np.delete(PAIRED.means[1] - PAIRED.means[0], [3, 4, 5, 9, 10, 11])
    assert np.sqrt(without @ without) < PAIRED.distance - 0.5


@BOTH
def test_the_best_rule_has_the_bayes_risk(problem) -> None:
    """Counted on 40,000 rows."""
    measured = problem.true_risk(problem.bayes_rule, n_test=40_000)
    assert abs(measured.value - problem.bayes_risk) < 4 * measured.std_error
    assert measured.n_test == 40_000


def test_a_constant_errs_on_three_quarters() -> None:
    """Without any noise, as each class has as many rows."""
    constant = make_four_class.true_risk(lambda rows: np.zeros(len(rows)), n_test=4_001)
    assert (constant.value, constant.std_error) == (0.75, 0.0)


def test_classes_share_the_rows() -> None:
    """The first classes get the odd ones; noise features come last."""
    X, y = make_four_class.with_noise_features(2)(7, shuffle=False, random_state=1)
    assert X.shape == (7, 17)
    assert y.tolist() == [0, 0, 1, 1, 2, 2, 3]
    np.testing.assert_array_equal(
        make_four_class(9, random_state=3)[0], make_four_class(9, random_state=3)[0]
    )
    assert make_four_class.bundle().X.shape == (100, 21)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: FourClassProblem(n_noise=-1), "no number of features"),
        (lambda: FourClassProblem(correlation=1.0), "not in 0 <= correlation < 1"),
        (lambda: FourClassProblem(paired="yes"), "paired='yes': use True or False"),
        (lambda: make_four_class(3), "n_samples=3: give at least 4"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, sentence) -> None:
    """One sentence says what is wrong."""
    with pytest.raises(BadData, match=sentence):
        wrong()
