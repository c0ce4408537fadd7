"""Priors that are chosen: exact against draws from the posterior, equal to the words, refused."""

from itertools import count

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import invwishart
from sklearn.linear_model import LogisticRegression

import truerisk as tr
from truerisk.extend import BadArgument, BadData, Refusal
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
UNIT, ZERO = np.eye(P), np.zeros(P)


def error(rule=RULE, X=X, Y=Y, **options):
    return tr.bayesian_error(*rule, X, Y, **options)


def drawn(parameters):
    """Errors of the rule by classes drawn from the posterior, κ*, S*, ν*, m* by definition."""
    errors, rng = [], np.random.default_rng(0)
    both = (X[:12], X[12:])
    for rows, sign, (kappa, nu, scale, mean) in zip(both, (-1, 1), parameters, strict=True):
        n, centre = len(rows), rows.mean(axis=0)
        away = centre - mean
        after = (n - 1) * np.cov(rows.T) + scale + nu * n / (nu + n) * np.outer(away, away)
        covariances = invwishart(kappa + n, after).rvs(DRAWS, random_state=rng)
        middle = (n * centre + nu * np.asarray(mean)) / (n + nu)
        lower = np.linalg.cholesky(covariances / (n + nu))
        means = middle + np.einsum("dij,dj->di", lower, rng.normal(size=(DRAWS, P)))
        spread = np.sqrt(np.einsum("i,dij,j->d", RULE[0], covariances, RULE[0]))
        errors.append(ndtr(-sign * (means @ RULE[0] + RULE[1]) / spread))
    return np.array(errors)


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ({"kappa": 6.5, "nu": 2.0, "scale": S, "mean": M}, [(6.5, 2.0, S, M)] * 2),
        ({"kappa": 9, "scale": 0.5, "mean": 0.2}, [(9, 0.5, 0.5 * UNIT, [0.2] * P)] * 2),
        (
            {"nu": {"a": 0.1, "b": 8.0}, "scale": {"a": S, "b": 3.0}, "mean": {"a": M, "b": 1.0}},
            [(P + 2, 0.1, S, M), (P + 2, 8.0, 3 * UNIT, np.ones(P))],
        ),
        ({"prior": "flat"}, [(-(P + 2), 0, 0 * UNIT, ZERO)] * 2),
        ({"prior": "jeffreys"}, [(0, 0, 0 * UNIT, ZERO)] * 2),
        ({"prior": "empirical"}, [(P + 2, 0.5, WITHIN, X.mean(axis=0))] * 2),
    ],
    ids=["all of them", "numbers", "by class", "flat", "jeffreys", "empirical"],
)
def test_prior_gives_the_posterior_of_draws(options, parameters, monkeypatch):
    """Mean, standard deviation and both ends of the interval, within the noise of the draws.

    12 rows are few for "flat", of which no interval is stated; its posterior is no other for that.
    """
    monkeypatch.setattr(rule_errors, "MAX_EXCESS_VARIANCE", np.inf)
    found, classes = error(standardize=False, **options), drawn(parameters)
    errors = np.array([12, 15]) / 27 @ classes
    noise = errors.std() / np.sqrt(DRAWS)
    assert found.value == pytest.approx(errors.mean(), abs=4 * noise)
    assert found.per_class == pytest.approx(classes.mean(axis=1), abs=6 * noise)
    assert found.std_error == pytest.approx(errors.std(), rel=0.02)
    interval = found.interval(0.9)
    ends = np.quantile(errors, [0.05, 0.95])
    assert (interval.low, interval.high) == pytest.approx(ends, rel=0.02)


@pytest.mark.parametrize(
    "options",
    [
        {"kappa": P + 2, "nu": 0.5, "scale": 1, "mean": 0},
        {"scale": UNIT, "mean": ZERO},
        {"kappa": {"a": P + 2, "b": P + 2}},
        {"prior": "flat", "kappa": P + 2, "nu": 0.5, "scale": 1},
    ],
    ids=count(),
)
def test_proper_prior_is_one_choice_of_parameters(options):
    """κ = p + 2, ν = ½, S = I, m = 0, in words, as numbers and as arrays; to the last digits."""
    assert error(**options).value == pytest.approx(error().value, rel=1e-12)


@pytest.mark.parametrize("prior", ["proper", "flat", "jeffreys", "empirical"])
def test_prior_is_the_same_by_method_and_by_function(prior, monkeypatch):
    monkeypatch.setattr(rule_errors, "MAX_EXCESS_VARIANCE", np.inf)
    model = LogisticRegression(C=0.5).fit(X, Y)
    found = error((model.coef_, model.intercept_), prior=prior)
    estimate = tr.estimate_risk(model, X, Y, cv=BayesianError(prior))
    assert estimate.value == pytest.approx(found.value, rel=1e-12)
    assert estimate.std_error == pytest.approx(found.std_error, rel=1e-12)
    assert estimate.interval.low == pytest.approx(found.interval().low, rel=1e-9)


def test_empirical_prior_has_no_units():
    """Turned, stretched and moved rows, and the rule with them, have the same posterior."""
    turn = np.array([[2.0, 1.0, 0.0], [0.0, 30.0, 1.0], [0.5, 0.0, 0.1]])
    slopes = np.linalg.solve(turn, RULE[0])
    moved = (slopes, RULE[1] - 7 * slopes.sum()), X @ turn + 7
    one = error(prior="empirical", standardize=False)
    other = error(*moved, prior="empirical", standardize=False)
    assert one.value == pytest.approx(other.value, rel=1e-10)
    assert one.interval().low == pytest.approx(other.interval().low, rel=1e-8)
    usual = error(standardize=False).value - error(*moved, standardize=False).value
    assert abs(usual) > 0.003


def test_proper_prior_ignores_a_feature_that_no_rule_uses():
    """With κ given as a number it counts: κ is of all features."""
    wide = np.column_stack([X, RNG.normal(size=27)])
    longer = (np.append(RULE[0], 0.0), RULE[1]), wide
    assert error().value == pytest.approx(error(*longer).value, rel=1e-12)
    given = error(*longer, kappa=8).value
    assert given == pytest.approx(error(kappa=7).value, rel=1e-12) != error(kappa=8).value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kappa": "5"}, "kappa='5' is not a number"),
        ({"kappa": np.nan}, "kappa=nan is not a number"),
        ({"kappa": [7, 8]}, r"from the labels of y, such as kappa=\{0: 7, 1: 8\}"),
        ({"nu": -1}, "nu=-1 is not a number of rows, 0 or more"),
        ({"nu": np.inf}, "nu=inf is not a number of rows"),
        ({"nu": {"a": -1, "b": 1}}, "nu=-1 is not"),
        ({"scale": -1}, "scale=-1 is not a number from 0 on"),
        ({"scale": [[1, 2], [2, 1]]}, "symmetric matrix whose eigenvalues"),
        ({"scale": [[1, 2, 3], [2, 1, 3]]}, "symmetric matrix"),
        ({"scale": np.diag([1.0, 1.0, 0.0])}, "symmetric matrix whose eigenvalues"),
        ({"mean": "zero"}, "mean='zero' is not a number"),
        ({"mean": [[0.0]]}, "is not a number, or one for each feature"),
        ({"prior": "improper", "nu": 1}, "one form without parameters, and nu is given"),
        ({"prior": "other"}, "prior='other' is unknown"),
        ({"kappa": -1}, "kappa=-1 makes no distribution of covariances: .* κ > p − 1"),
        ({"kappa": 0}, "kappa=0 makes no distribution"),
        ({"kappa": {"a": 9, "b": -2.5}}, "kappa=-2.5 makes no distribution"),
        ({"prior": "empirical", "kappa": 0}, "kappa=0 makes no distribution"),
        ({"kappa": -1, "scale": UNIT}, "The words 'flat' and 'jeffreys' have"),
    ],
    ids=count(),
)
def test_prior_refuses_what_is_none(options, message):
    for refused in (BayesianError, error):
        with pytest.raises(BadArgument, match=message):
            refused(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mean": [0.0, 1.0]}, "mean is for 2 features; X has 3"),
        ({"scale": np.eye(4)}, "scale is for 4 features; X has 3"),
        ({"nu": {"a": 1, "c": 2}}, "and the classes are"),
    ],
)
def test_prior_refuses_what_does_not_fit_the_table(options, message):
    with pytest.raises(BadData, match=message):
        error(**options)


@pytest.mark.parametrize(
    ("options", "is_sound"),
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
    ids=count(),
)
def test_prior_with_a_scale_needs_a_distribution_of_covariances(options, is_sound):
    """With S other than 0 κ exceeds p − 1, by the method as by the function; without S it is free.

    κ = −1 with S = 0 stands between the flat prior and that of Jeffreys.
    """
    model = LogisticRegression().fit(X, Y)
    for of in (
        lambda: error(**options),
        lambda: tr.estimate_risk(model, X, Y, cv=BayesianError(**options)),
    ):
        if is_sound:
            assert 0 < of().value < 1
        else:
            with pytest.raises(Refusal, match="makes no distribution of covariances"):
                of()


@pytest.mark.parametrize(
    ("prior", "few", "n_other", "message"),
    [
        ("flat", 2 * P + 1, 15, f"{2 * P + 2} rows are the fewest"),
        ("jeffreys", P, 15, f"{P + 1} rows are the fewest"),
        ("empirical", 1, 3, "has no full rank for 3 features"),
    ],
)
def test_prior_refuses_too_few_rows_for_a_posterior(prior, few, n_other, message):
    """Flat: 2 p + 2 rows of each class; Jeffreys: p + 1, so that the scatter has full rank.

    Empirical: five rows in two classes leave three degrees of freedom, enough for three features.
    """
    for n in (few, few + 1):
        rows = np.concatenate([np.arange(n), 12 + np.arange(n_other)])
        if n == few:
            with pytest.raises(Refusal, match=message):
                error(X=X[rows], Y=Y[rows], prior=prior)
        else:
            assert 0 < error(X=X[rows], Y=Y[rows], prior=prior).value < 1


def test_prior_arrays_are_kept_as_tuples_and_the_word_tells_what_was_given():
    one, other = (BayesianError(mean=np.array(M), scale=S) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one.name == "bee (scale, mean)"
    assert BayesianError("flat", kappa=3).name == "bee (flat prior, kappa=3)"
