"""The Beta posterior of an error rate, to its far tails."""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk import ErrorPosterior
from truerisk.extend import BadArgument, BadData, Refusal
from truerisk.statistics.sample_size import expected_posterior_summary

GOLDEN = [
    (0, 60, 0.0479239521, 4.3368086899e-19, 0.0005120328),
    (6, 60, 0.1849297991, 2.6903070049e-11, 0.0143369176),
    (15, 150, 0.1488372261, 7.0853777103e-26, 0.0116959064),
    (30, 60, 0.6037259527, 0.5, 0.2539682540),
]


@pytest.mark.parametrize(("errors", "n", "upper", "above", "second"), GOLDEN)
def test_error_posterior_has_wallmans_measures(errors, n, upper, above, second):
    post = ErrorPosterior(errors, n)
    assert post.upper(0.95) == pytest.approx(upper, abs=5.1e-11)
    assert post.mass_above(0.5) == pytest.approx(above, rel=1e-10, abs=0)
    assert post.second_moment() == pytest.approx(second, abs=5.1e-11)


@pytest.mark.parametrize("prior", [(1, 1), (0.5, 0.5), (2, 7)])
def test_error_posterior_is_the_beta_distribution(prior):
    post = ErrorPosterior(4, 30, prior=prior)
    beta = stats.beta(4 + prior[0], 26 + prior[1])
    assert post.mean == pytest.approx(beta.mean(), rel=1e-13)
    assert post.std == pytest.approx(beta.std(), rel=1e-13)
    assert post.second_moment() == pytest.approx(beta.moment(2), rel=1e-12)
    grid = np.linspace(-0.2, 1.2, 15)
    assert np.allclose(post.pdf(grid), beta.pdf(grid), rtol=1e-11)
    assert np.allclose(post.cdf(grid), beta.cdf(grid), rtol=1e-12)
    assert np.allclose([post.mass_above(e) for e in grid], beta.sf(grid), rtol=1e-11)
    interval = post.interval(0.9)
    assert (interval.low, interval.high) == pytest.approx(beta.ppf([0.05, 0.95]), rel=1e-12)
    assert (interval.method, interval.confidence_level) == ("beta", 0.9)


@pytest.mark.parametrize(("errors", "n"), [(0, 0), (0, 40), (7, 90), (90, 90), (120, 400)])
@pytest.mark.parametrize("e", [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(15, 16)])
def test_error_posterior_tails_are_exact_sums_of_fractions(errors, n, e):
    terms = [comb(n + 1, j) * e**j * (1 - e) ** (n + 1 - j) for j in range(n + 2)]
    post = ErrorPosterior(errors, n)
    above, below = float(sum(terms[: errors + 1])), float(sum(terms[errors + 1 :]))
    assert post.mass_above(float(e)) == pytest.approx(above, rel=1e-11, abs=0)
    assert post.cdf(float(e)) == pytest.approx(below, rel=1e-11, abs=0)


def test_error_posterior_has_the_far_tails_of_r():
    """Jeffreys' prior and one of 3.2, 7.9 as R's pbeta and qbeta have them."""
    # Rscript -e 'options(digits=15); cat(pbeta(.5,15.5,135.5,lower=FALSE), qbeta(.95,15.5,135.5),
    #             pbeta(1e-4,40,400), qbeta(1e-20,40,400), pbeta(.2,3.2,7.9,lower=FALSE))'
    jeffreys = ErrorPosterior(15, 150, prior=(0.5, 0.5))
    assert jeffreys.mass_above(0.5) == pytest.approx(4.26263185329912e-26, rel=1e-12, abs=0)
    assert jeffreys.upper() == pytest.approx(0.145936210653834, rel=1e-13)
    many = ErrorPosterior(39, 438)
    assert many.cdf(1e-4) == pytest.approx(9.42206018958898e-104, rel=1e-11, abs=0)
    assert many.quantile(1e-20) == pytest.approx(0.0135800628049159, rel=1e-12)
    prior_alone = ErrorPosterior(0, 0, prior=(3.2, 7.9))
    assert prior_alone.mass_above(0.2) == pytest.approx(0.722532179050086, rel=1e-13)


def test_measures_order_rules_differently():
    short, long = ErrorPosterior(5, 60).measures(), ErrorPosterior(14, 150).measures()
    assert ErrorPosterior(6, 60).measures() == pytest.approx(
        (0.1849297991, 2.6903070049e-11, 0.0143369176, 0.1), abs=5.1e-11
    )
    assert short.err < long.err
    assert short.ub > long.ub


def estimate(method, **options):
    """The risk of 3-NN on 45 simple rows."""
    X, y = tr.datasets.make_simple(45, random_state=1)
    return tr.estimate_risk(KNeighborsClassifier(3), X, y, cv=method, **options)


def test_error_posterior_is_of_one_rule_after_a_hold_out_and_of_none_after_folds():
    est = estimate("holdout")
    post = ErrorPosterior.of_estimate(est)
    assert (post.errors, post.n) == (est.losses.sum(), 15)
    assert post.of == "one fitted rule"
    assert post.interval() == est.interval
    post = ErrorPosterior.of_estimate(estimate("5-fold"), prior=(2, 3))
    assert (post.n, post.prior) == (45, (2, 3))
    assert post.of.startswith("the rules of 5-fold, each trained on")
    assert "as if one rule had made them" in str(post)
    assert "as if one rule had made them" in post._repr_html_()


COUNTS = [
    (-1, 5, (1, 1), "between 0 and n"),
    (6, 5, (1, 1), "6 errors in 5 test rows"),
    (np.nan, 5, (1, 1), "between 0 and n"),
    (1, np.inf, (1, 1), "between 0 and n"),
    (6, 10**23, (1, 1), "test rows are more than 1,000,000,000,000,000"),
    (1, 5, (1e308, 1e308), "is worth more than 1,000,000,000,000,000 rows"),
    (1, 5, (0, 1), "no Beta prior"),
    (1, 5, (1, np.nan), "no Beta prior"),
    (1, 5, 1, "prior 1 is no Beta prior"),
    (1, 5, (1,), "no Beta prior"),
    ([0, 1, 1], 3, (1, 1), "errors=.0, 1, 1., n=3: give two numbers"),
    ("3", 5, (1, 1), "errors='3', n=5: give two numbers"),
]
DEPENDENT = [
    ("5-fold", {"scoring": "brier"}, "not all 0 or 1"),
    ("5-fold", {"scoring": "auc"}, "no losses of single rows"),
    ("3x5-fold", {}, "not all 0 or 1"),
    ("apparent", {}, "trained on"),
    ("5-fold", {"groups": np.arange(45) // 3}, "rows of one group depend"),
    ("blocks-5", {"block": np.random.default_rng(0).random((45, 2))}, "neighbouring rows"),
    (tr.methods.KFold(7, average="fold"), {}, "not the share of wrong rows"),
]


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        *[
            (lambda _, e=errors, n=n, p=prior: ErrorPosterior(e, n, prior=p), BadData, message)
            for errors, n, prior, message in COUNTS
        ],
        (lambda post: post.quantile(1.5), BadData, "not between 0 and 1"),
        (lambda post: post.upper("95"), BadData, "probability '95' is not between 0 and 1"),
        (lambda post: post.cdf("a"), BadArgument, "a"),
        (lambda post: post.mass_above(np.nan), BadArgument, "e holds NaN"),
        (lambda post: post.pdf([0.1, None]), BadArgument, "holds NaN: give"),
        (lambda post: post.interval(95), BadArgument, "95"),
        (lambda post: post.of_estimate("a.json"), BadArgument, "a.json"),
        (lambda _: ErrorPosterior(0, 0).measures(), BadData, "nothing was tested"),
        *[
            (lambda post, m=method, o=options: post.of_estimate(estimate(m, **o)), Refusal, message)
            for method, options, message in DEPENDENT
        ],
    ],
    ids=itertools.count(),
)
def test_error_posterior_refuses(ask, error, message):
    """Impossible counts and arguments that are no rate or probability are refused.

    Errors that are not independent have no posterior, either.
    """
    with pytest.raises(error, match=message):
        ask(ErrorPosterior(6, 60))


def test_quantile_far_out_in_the_tail_is_a_number():
    """Where SciPy's inverse ends in NaN, the quantile still has its probability below it."""
    posterior = ErrorPosterior(3, 20)
    assert posterior.cdf(posterior.quantile(1e-300)) == pytest.approx(1e-300)
    assert expected_posterior_summary(0.1, 20, 1e-300, (1, 1))["ub"] > 0
    assert str(ErrorPosterior(6, 60)) == (
        "6 errors in 60 rows, prior Beta(1, 1): mean 0.1129, 95 % interval [0.0474, 0.2019] (beta)"
    )
