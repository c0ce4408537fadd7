"""Problems of known true risk, and the bias of the built-in methods on them."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from truerisk.methods import MonteCarlo, as_method
from truerisk.testing import check_bias, check_mean, replicate
from truerisk.testing.replicates import (
    SIMULATED_PROBLEMS,
    NoisyLine,
    PureNoise,
    Replicates,
    noisy_line,
    pure_noise,
    two_gaussians,
)

ALWAYS_1 = DummyClassifier(strategy="constant", constant=1)
LEAST_SQUARES = LinearRegression(fit_intercept=False)
LINE = NoisyLine(coef=(1.0, -1.0))
UNEVEN = PureNoise(class_1_probability=0.3)


@pytest.mark.parametrize(
    "method", ["apparent", "4-fold", "2x3-fold", "loo", "holdout", MonteCarlo(5)], ids=str
)
def test_replicate_of_a_constant_rule_on_noise_errs_with_the_other_class(method):
    """Whatever the splits, the mean estimate is the share of class 0."""
    found = replicate(as_method(method), UNEVEN, ALWAYS_1, n=24, replicates=40)
    check_mean(found, 0.7)
    check_bias(found, "none")


@pytest.mark.parametrize(
    ("word", "n_train"), [("4-fold", 18), ("reversed 3-fold", 8), ("loo", 23)], ids=str
)
def test_replicate_of_cross_validation_has_the_risk_of_its_training_size(word, n_train):
    """The mean is σ² (1 + p/(m − p − 1)) for m training rows, not for all n."""
    found = replicate(as_method(word), LINE, LEAST_SQUARES, n=24, replicates=60)
    check_mean(found, LINE.least_squares_risk(n_train))


def test_replicate_of_apparent_risk_flatters_by_the_parameters():
    """The mean is σ² (1 − p/n), which flatters."""
    found = replicate(as_method("apparent"), LINE, LEAST_SQUARES, n=20, replicates=150)
    check_mean(found, LINE.least_squares_apparent_risk(20))
    check_bias(found, "optimistic")


def test_replicate_of_a_full_tree_on_noise_looks_perfect_to_itself_alone():
    """Apparent risk 0, while nested and K-fold risks are one half."""
    tree = DecisionTreeClassifier(random_state=0)
    apparent = replicate(as_method("apparent"), pure_noise, tree, n=24, replicates=20)
    assert apparent.mean == 0
    assert apparent.bias == -0.5
    for word in ("4-fold", "nested"):
        check_mean(replicate(as_method(word), pure_noise, tree, n=40, replicates=30), 0.5)


def test_replicate_of_reversed_folds_is_pessimistic():
    """Reversed cross-validation trains on a fifth of the rows, and says the risk of that."""
    found = replicate(
        as_method("reversed 5-fold"), two_gaussians, GaussianNB(), n=30, replicates=60
    )
    check_bias(found, "pessimistic")


@pytest.mark.parametrize("shift", [-0.1, 0.1])
def test_check_mean_and_check_bias_see_a_wrong_mean(shift):
    """Estimates that are off by a tenth fail both checks."""
    truth = np.full(100, 0.3)
    off = Replicates(truth + shift + np.random.default_rng(0).normal(0, 0.05, 100), truth)
    with pytest.raises(AssertionError, match=r"should be 0\.3000"):
        check_mean(off, 0.3)
    with pytest.raises(AssertionError, match="which is not none"):
        check_bias(off, "none")
    with pytest.raises(AssertionError, match="not"):
        check_bias(off, "pessimistic" if shift < 0 else "optimistic")
    check_bias(off, "optimistic" if shift < 0 else "pessimistic")


LEARNERS = {
    "classification": (LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=3)),
    "regression": (LinearRegression(), KNeighborsRegressor(5)),
}


@pytest.mark.parametrize(
    ("problem", "model"),
    [(p, model) for p in (*SIMULATED_PROBLEMS, UNEVEN) for model in LEARNERS[p.task]],
    ids=str,
)
def test_true_risk_is_that_of_a_long_test(problem, model):
    """The loss on 100,000 other rows agrees within 4.5 standard errors of both."""
    model = model.fit(*problem.draw(40, 1))
    X, y = problem.draw(100_000, 99)
    wrong = (
        model.predict(X) != y if problem.task == "classification" else (model.predict(X) - y) ** 2
    )
    stated = problem.true_risk(model)
    error = np.hypot(stated.std_error, wrong.std() / np.sqrt(len(y)))
    assert abs(wrong.mean() - stated.value) < 4.5 * error
    assert stated.value >= problem.bayes_risk - 3 * stated.std_error


def test_true_risk_of_linear_rules_and_of_constants_is_exact():
    """No fresh row is drawn for a linear rule, nor for any on fair noise; one class errs half."""
    for problem in SIMULATED_PROBLEMS:
        model = LEARNERS[problem.task][0].fit(*problem.draw(40, 1))
        assert problem.true_risk(model).std_error == 0
    assert pure_noise.true_risk(KNeighborsClassifier(1)).value == 0.5
    assert two_gaussians.true_risk(ALWAYS_1.fit(*two_gaussians.draw(40, 1))).value == 0.5


def test_problems_draw_by_seed_and_state_their_least_risks():
    """Bayes risk Φ(−1), the rarer class's share, the noise variance; classes are a fair coin."""
    for problem in SIMULATED_PROBLEMS:
        first, again, other = (problem.draw(30, seed)[0] for seed in (3, 3, 4))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)
    assert len({int(two_gaussians.draw(30, seed)[1].sum()) for seed in range(9)}) > 1
    assert two_gaussians.bayes_risk == pytest.approx(0.15865525)
    assert (pure_noise.bayes_risk, UNEVEN.bayes_risk, noisy_line.bayes_risk) == (0.5, 0.3, 2.0)
