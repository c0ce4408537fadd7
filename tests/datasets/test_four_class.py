"""Four classes around a tetrahedron: equally far, with the stated Bayes risk."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.errors import BadData
from truerisk.datasets import FourClassProblem, make_four_class


def test_all_classes_are_equally_far_from_each_other() -> None:
    """In the metric of the common covariance, whatever the correlation."""
    for problem in (make_four_class, FourClassProblem(0, 0.9)):
        inverse = np.linalg.inv(problem.covariance)
        gaps = [problem.means[c] - problem.means[d] for c in range(4) for d in range(c)]
        assert np.sqrt([gap @ inverse @ gap for gap in gaps]) == pytest.approx(problem.distance)


def test_rows_have_the_stated_moments() -> None:
    """Means and covariance of 40,000 rows, within 4.5 standard errors."""
    X, y = make_four_class(40_000, random_state=0)
    gaps = X - make_four_class.means[y]
    assert abs(gaps.mean(axis=0)).max() < 4.5 / 200
    assert abs(np.cov(gaps.T) - make_four_class.covariance).max() < 4.5 * np.sqrt(2) / 200


def test_the_best_rule_has_the_bayes_risk() -> None:
    """Counted on 40,000 rows; without any distance it is three quarters."""
    measured = make_four_class.true_risk(make_four_class.bayes_rule, n_test=40_000)
    assert abs(measured.value - make_four_class.bayes_risk) < 4 * measured.std_error
    assert measured.n_test == 40_000
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
        (lambda: make_four_class(3), "n_samples=3: give at least 4"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, sentence) -> None:
    """One sentence says what is wrong."""
    with pytest.raises(BadData, match=sentence):
        wrong()
