"""The stated true risks are those of long simulations."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from truerisk.datasets import GaussianProblem
from truerisk.testing.replicates import PureNoise, noisy_line, problems, pure_noise, two_gaussians

LEARNERS = {
    "classification": (LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=3)),
    "regression": (LinearRegression(), KNeighborsRegressor(5)),
}
UNEVEN = PureNoise(share=0.3)


@pytest.mark.parametrize(
    ("problem", "model"),
    [(p, model) for p in (*problems, UNEVEN) for model in LEARNERS[p.task]],
    ids=str,
)
def test_the_true_risk_is_that_of_a_long_test(problem, model):
    """The loss on 100,000 other rows agrees within 4.5 standard errors of both."""
    model = model.fit(*problem.draw(40, 1))
    X, y = problem.draw(100_000, 99)
    wrong = (
        model.predict(X) != y if problem.task == "classification" else (model.predict(X) - y) ** 2
    )
    stated = problem.true_risk(model)
    error = np.hypot(stated.std_error, wrong.std() / np.sqrt(len(y)))
    assert abs(wrong.mean() - stated.value) < 4.5 * error
    assert stated.value >= problem.least_risk - 3 * stated.std_error


def test_linear_rules_have_exact_risks():
    """No fresh row is drawn for a rule that is linear, nor for any rule on fair noise."""
    for problem in problems:
        model = LEARNERS[problem.task][0].fit(*problem.draw(40, 1))
        assert problem.true_risk(model).std_error == 0
    assert pure_noise.true_risk(KNeighborsClassifier(1)).value == 0.5


def test_a_model_of_one_class_is_no_linear_rule():
    """A constant rule on two Gaussians is wrong for half of the rows."""
    X, y = two_gaussians.draw(40, 1)
    constant = DummyClassifier(strategy="constant", constant=1).fit(X, y)
    assert two_gaussians.true_risk(constant).value == 0.5


def test_draws_differ_by_seed_only():
    """The same seed gives the same rows; classes come as a fair coin, not as exact halves."""
    for problem in problems:
        first, again, other = (problem.draw(30, seed)[0] for seed in (3, 3, 4))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)
    assert len({int(two_gaussians.draw(30, seed)[1].sum()) for seed in range(9)}) > 1


def test_the_least_risks():
    """Bayes risk Φ(−1), the rarer class's share, the noise variance."""
    assert two_gaussians.least_risk == pytest.approx(0.15865525)
    assert (pure_noise.least_risk, UNEVEN.least_risk) == (0.5, 0.3)
    assert noisy_line.least_risk == 2.0
    assert isinstance(two_gaussians.gaussians, GaussianProblem)
