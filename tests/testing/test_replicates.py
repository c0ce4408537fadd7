"""The bias of the built-in methods on problems whose true risk is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from truerisk.methods import MonteCarlo, as_method
from truerisk.testing.replicates import (
    NoisyLine,
    PureNoise,
    Replicates,
    check_bias,
    check_mean,
    pure_noise,
    replicate,
    two_gaussians,
)

ALWAYS_1 = DummyClassifier(strategy="constant", constant=1)
LEAST_SQUARES = LinearRegression(fit_intercept=False)
LINE = NoisyLine(coef=(1.0, -1.0))
UNEVEN = PureNoise(share=0.3)


@pytest.mark.parametrize(
    "method", ["apparent", "4-fold", "2x3-fold", "loo", "holdout", MonteCarlo(5)], ids=str
)
def test_a_constant_rule_on_noise_is_wrong_with_the_other_class(method):
    """Whatever the splits, the mean estimate is the share of class 0."""
    found = replicate(as_method(method), UNEVEN, ALWAYS_1, n=24, replicates=40)
    check_mean(found, 0.7)
    check_bias(found, "none")


@pytest.mark.parametrize(
    ("word", "n_train"), [("4-fold", 18), ("reversed 3-fold", 8), ("loo", 23)], ids=str
)
def test_cross_validated_least_squares_has_the_risk_of_its_training_size(word, n_train):
    """The mean is σ² (1 + p/(m − p − 1)) for m training rows, not for all n."""
    found = replicate(as_method(word), LINE, LEAST_SQUARES, n=24, replicates=60)
    check_mean(found, LINE.least_squares_risk(n_train))


def test_apparent_least_squares_has_the_risk_lost_to_its_parameters():
    """The mean is σ² (1 − p/n), which flatters."""
    found = replicate(as_method("apparent"), LINE, LEAST_SQUARES, n=20, replicates=150)
    check_mean(found, LINE.least_squares_apparent(20))
    check_bias(found, "optimistic")


def test_a_full_tree_on_noise_looks_perfect_to_itself_only():
    """Apparent risk 0, while nested and K-fold risks are one half."""
    tree = DecisionTreeClassifier(random_state=0)
    apparent = replicate(as_method("apparent"), pure_noise, tree, n=24, replicates=20)
    assert apparent.mean == 0
    assert apparent.bias == -0.5
    for word in ("4-fold", "nested"):
        check_mean(replicate(as_method(word), pure_noise, tree, n=40, replicates=30), 0.5)


def test_few_training_rows_make_a_pessimist():
    """Reversed cross-validation trains on a fifth of the rows, and says the risk of that."""
    found = replicate(
        as_method("reversed 5-fold"), two_gaussians, GaussianNB(), n=30, replicates=60
    )
    check_bias(found, "pessimistic")


@pytest.mark.parametrize("shift", [-0.1, 0.1])
def test_a_wrong_mean_is_seen(shift):
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
