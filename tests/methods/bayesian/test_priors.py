"""Priors that are chosen: exact against draws from the posterior, equal to the words, refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import invwishart
from sklearn.linear_model import LogisticRegression

import truerisk as tr
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.methods import BayesianError
from truerisk.methods.bayesian import rule_errors

RNG = np.random.default_rng(3)
P = 3
Y = np.array(["a"] * 12 + ["b"] * 15)
X = RNG.normal(size=(27, P)) @ np.array([[1, 0.5, 0], [0, 1, 0.3], [0, 0, 0.7]])
X[Y == "b"] += [1.2, 0.4, 0.0]
RULE = np.array([1.0, 0.4, -0.5]), -0.6
S = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 0.5]])
M = np.array([0.3, -0.2, 0.1])
WITHIN = (11 * np.cov(X[:12].T) + 14 * np.cov(X[12:].T)) / 25
DRAWS = 40_000


def drawn(parameters, n_draws=DRAWS):
    """Errors of the rule by classes drawn from the posterior, κ*, S*, ν*, m* by definition."""
    errors = []
    rng = np.random.default_rng(0)
    both = (X[:12], X[12:])
    for rows, sign, (kappa, nu, scale, mean) in zip(both, (-1, 1), parameters, strict=True):
        n, centre = len(rows), rows.mean(axis=0)
        away = centre - mean
        after = (n - 1) * np.cov(rows.T) + scale + nu * n / (nu + n) * np.outer(away, away)
        covariances = invwishart(kappa + n, after).rvs(n_draws, random_state=rng)
        middle = (n * centre + nu * np.asarray(mean)) / (n + nu)
        lower = np.linalg.cholesky(covariances / (n + nu))
        means = middle + np.einsum("dij,dj->di", lower, rng.normal(size=(n_draws, P)))
        slopes, start = RULE
        spread = np.sqrt(np.einsum("i,dij,j->d", slopes, covariances, slopes))
        errors.append(ndtr(-sign * (means @ slopes + start) / spread))
    return np.array(errors)


CASES = {
    "all of them": (
        {"kappa": 6.5, "nu": 2.0, "scale": S, "mean": M},
        [(6.5, 2.0, S, M)] * 2,
    ),
    "numbers": (
        {"kappa": 9, "scale": 0.5, "mean": 0.2},
        [(9, 0.5, 0.5 * np.eye(P), [0.2] * P)] * 2,
    ),
    "by class": (
        {"nu": {"a": 0.1, "b": 8.0}, "scale": {"a": S, "b": 3.0}, "mean": {"a": M, "b": 1.0}},
        [(P + 2, 0.1, S, M), (P + 2, 8.0, 3 * np.eye(P), np.ones(P))],
    ),
    "flat": ({"prior": "flat"}, [(-(P + 2), 0, np.zeros((P, P)), np.zeros(P))] * 2),
    "jeffreys": ({"prior": "jeffreys"}, [(0, 0, np.zeros((P, P)), np.zeros(P))] * 2),
    "empirical": ({"prior": "empirical"}, [(P + 2, 0.5, WITHIN, X.mean(axis=0))] * 2),
}


@pytest.mark.parametrize("case", CASES)
def test_equals_draws_from_the_posterior(case, monkeypatch):
    """Mean, standard deviation and both ends of the interval, within the noise of the draws.

    12 rows are few for "flat", of which no interval is stated; its posterior is no other for that.
    """
    monkeypatch.setattr(rule_errors, "MOST", np.inf)
    options, parameters = CASES[case]
    found = tr.bayesian_error(*RULE, X, Y, standardize=False, **options)
    classes = drawn(parameters)
    shares = np.array([12, 15]) / 27
    errors = shares @ classes
    noise = errors.std() / np.sqrt(DRAWS)
    assert found.value == pytest.approx(errors.mean(), abs=4 * noise)
    assert found.per_class == pytest.approx(classes.mean(axis=1), abs=6 * noise)
    assert found.std_error == pytest.approx(errors.std(), rel=0.02)
    interval = found.interval(0.9)
    assert interval.low == pytest.approx(np.quantile(errors, 0.05), rel=0.02)
    assert interval.high == pytest.approx(np.quantile(errors, 0.95), rel=0.02)


def test_the_proper_prior_is_one_choice_of_parameters():
    """κ = p + 2, ν = ½, S = I, m = 0, in words, as numbers and as arrays; to the last digits."""
    usual = tr.bayesian_error(*RULE, X, Y)
    for options in (
        {"kappa": P + 2, "nu": 0.5, "scale": 1, "mean": 0},
        {"scale": np.eye(P), "mean": np.zeros(P)},
        {"kappa": {"a": P + 2, "b": P + 2}},
        {"prior": "flat", "kappa": P + 2, "nu": 0.5, "scale": 1},
    ):
        assert tr.bayesian_error(*RULE, X, Y, **options).value == pytest.approx(
            usual.value, rel=1e-12
        )


@pytest.mark.parametrize("prior", ["proper", "flat", "jeffreys", "empirical"])
def test_the_method_is_the_function(prior, monkeypatch):
    """With the same defaults, for every prior, in standard units."""
    monkeypatch.setattr(rule_errors, "MOST", np.inf)
    model = LogisticRegression(C=0.5)
    fitted = model.fit(X, Y)
    found = tr.bayesian_error(fitted.coef_, fitted.intercept_, X, Y, prior=prior)
    estimate = tr.estimate_risk(model, X, Y, cv=BayesianError(prior))
    assert estimate.value == pytest.approx(found.value, rel=1e-12)
    assert estimate.std_error == pytest.approx(found.std_error, rel=1e-12)
    assert estimate.interval.low == pytest.approx(found.interval().low, rel=1e-9)


def test_the_empirical_prior_has_no_units():
    """Turned, stretched and moved rows, and the rule with them, have the same posterior."""
    turn = np.array([[2.0, 1.0, 0.0], [0.0, 30.0, 1.0], [0.5, 0.0, 0.1]])
    slopes = np.linalg.solve(turn, RULE[0])
    moved = X @ turn + 7
    one = tr.bayesian_error(*RULE, X, Y, prior="empirical", standardize=False)
    other = tr.bayesian_error(
        slopes, RULE[1] - 7 * slopes.sum(), moved, Y, prior="empirical", standardize=False
    )
    assert one.value == pytest.approx(other.value, rel=1e-10)
    assert one.interval().low == pytest.approx(other.interval().low, rel=1e-8)
    usual = [
        tr.bayesian_error(*rule, standardize=False).value
        for rule in ((*RULE, X, Y), (slopes, RULE[1] - 7 * slopes.sum(), moved, Y))
    ]
    assert abs(usual[0] - usual[1]) > 0.003


def test_a_feature_that_no_rule_uses_does_not_matter_to_the_usual_prior():
    """With κ given as a number it does: κ counts all features."""
    wide = np.column_stack([X, RNG.normal(size=27)])
    rule = np.append(RULE[0], 0.0), RULE[1]
    one, other = (tr.bayesian_error(*r).value for r in ((*RULE, X, Y), (*rule, wide, Y)))
    assert one == pytest.approx(other, rel=1e-12)
    given = [tr.bayesian_error(*r, kappa=8).value for r in ((*RULE, X, Y), (*rule, wide, Y))]
    less = tr.bayesian_error(*RULE, X, Y, kappa=7).value
    assert given[1] == pytest.approx(less, rel=1e-12) != given[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kappa": "5"}, "kappa='5' is not a number"),
        ({"kappa": np.nan}, "kappa=nan is not a number"),
        ({"nu": -1}, "nu=-1 is not a number of rows, 0 or more"),
        ({"scale": -1}, "scale=-1 is not a number from 0 on"),
        ({"scale": [[1, 2], [2, 1]]}, "symmetric matrix whose eigenvalues"),
        ({"scale": [[1, 2, 3], [2, 1, 3]]}, "symmetric matrix"),
        ({"mean": "zero"}, "mean='zero' is not a number"),
        ({"mean": [[0.0]]}, "is not a number, or one for each feature"),
        ({"prior": "improper", "nu": 1}, "one form without parameters, and nu is given"),
        ({"prior": "other"}, "prior='other' is unknown"),
        ({"nu": {"a": -1, "b": 1}}, "nu=-1 is not"),
        ({"kappa": -1}, "kappa=-1 makes no distribution of covariances: .* κ > p − 1"),
        ({"kappa": 0}, "kappa=0 makes no distribution"),
        ({"kappa": {"a": 9, "b": -2.5}}, "kappa=-2.5 makes no distribution"),
        ({"prior": "empirical", "kappa": 0}, "kappa=0 makes no distribution"),
        ({"kappa": -1, "scale": np.eye(P)}, "The words 'flat' and 'jeffreys' have"),
        ({"kappa": [5, 6]}, "is not a number"),
        ({"nu": np.inf}, "nu=inf is not a number of rows"),
        ({"scale": np.diag([1.0, 1.0, 0.0])}, "symmetric matrix whose eigenvalues"),
    ],
)
def test_what_is_no_prior_is_refused(options, message):
    """With a sentence, by the method as by the function."""
    for refused in (
        lambda: BayesianError(**options),
        lambda: tr.bayesian_error(*RULE, X, Y, **options),
    ):
        with pytest.raises(BadArgument, match=message):
            refused()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mean": [0.0, 1.0]}, "mean is for 2 features; X has 3"),
        ({"scale": np.eye(4)}, "scale is for 4 features; X has 3"),
        ({"nu": {"a": 1, "c": 2}}, "and the classes are"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(options, message):
    """Sizes and labels are checked when the rows are there."""
    with pytest.raises(BadData, match=message):
        tr.bayesian_error(*RULE, X, Y, **options)


@pytest.mark.parametrize(
    ("options", "sound"),
    [
        ({"kappa": P - 1}, False),
        ({"kappa": P - 0.99}, True),
        ({"kappa": {"a": P - 1, "b": P}}, False),
        ({"prior": "empirical", "kappa": 1.5}, False),
        ({"prior": "flat", "scale": 1}, False),
        ({"prior": "jeffreys", "scale": {"a": 0, "b": S}}, False),
        ({"kappa": -1, "scale": 0}, True),
        ({"prior": "flat", "kappa": -1}, True),
    ],
)
def test_a_scale_needs_a_distribution_of_covariances(options, sound):
    """With S other than 0 κ exceeds p − 1, by the method as by the function; without S it is free.

    κ = −1 with S = 0 stands between the flat prior and that of Jeffreys.
    """
    model = LogisticRegression().fit(X, Y)
    for of in (
        lambda: tr.bayesian_error(*RULE, X, Y, **options),
        lambda: tr.estimate_risk(model, X, Y, cv=BayesianError(**options)),
    ):
        if sound:
            assert 0 < of().value < 1
        else:
            with pytest.raises(Refusal, match="makes no distribution of covariances"):
                of()


@pytest.mark.parametrize(
    ("prior", "few"), [("flat", 2 * P + 1), ("jeffreys", P)], ids=["flat", "jeffreys"]
)
def test_too_few_rows_for_a_posterior_are_refused(prior, few):
    """Flat: 2 p + 2 rows of each class; Jeffreys: p + 1, so that the scatter has full rank."""
    for n, refused in ((few, True), (few + 1, False)):
        rows = np.concatenate([np.arange(n), 12 + np.arange(15)])
        if refused:
            with pytest.raises(Refusal, match=f"{few + 1} rows are the fewest"):
                tr.bayesian_error(*RULE, X[rows], Y[rows], prior=prior)
        else:
            assert 0 < tr.bayesian_error(*RULE, X[rows], Y[rows], prior=prior).value < 1


def test_a_singular_covariance_is_no_empirical_prior():
    """Five rows in two classes leave three degrees of freedom, enough for three features."""
    for n, refused in ((2, False), (1, True)):
        rows = np.concatenate([np.arange(n), 12 + np.arange(3)])
        if refused:
            with pytest.raises(Refusal, match="has no full rank for 3 features"):
                tr.bayesian_error(*RULE, X[rows], Y[rows], prior="empirical")
        else:
            assert tr.bayesian_error(*RULE, X[rows], Y[rows], prior="empirical").value > 0


def test_methods_with_arrays_compare():
    """Arrays are kept as tuples; the word tells what was given."""
    one, other = (BayesianError(mean=np.array(M), scale=S) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one.word == "bee (scale, mean)"
    assert BayesianError("flat", kappa=3).word == "bee (flat prior, kappa=3)"


def test_one_number_for_each_class_is_a_mapping():
    """A list does not say which class is meant."""
    with pytest.raises(BadArgument, match=r"from the labels of y, such as kappa=\{0: 7, 1: 8\}"):
        BayesianError(kappa=[7, 8])
