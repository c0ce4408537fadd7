"""Posteriors of the error of linear rules of two classes, and of all pairs of several."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import nct, norm
from sklearn.linear_model import LogisticRegression

import truerisk as tr
from truerisk.extend import Refusal
from truerisk.methods import BayesianError
from truerisk.methods.bayesian.class_errors import proper_class_errors
from truerisk.methods.bayesian.rule_errors import ClassErrorDistribution, ErrorDistribution


def test_prior_that_takes_features_off_the_rows_has_no_interval():
    """N/(2α) of "flat" is N/(N − 2p − 1), of "jeffreys" N/(N − p + 1): up to 1 + 1/√N, and beyond.

    100 rows of 20 features: "flat" is far above the truth, so the note does not say "too low".
    """
    y = np.arange(100) % 2
    rows = np.random.default_rng(0).normal(size=(100, 20)) + 0.8 * y[:, None]
    model, truth = LogisticRegression(), 0.06
    stated_up_to = {"flat": 2, "jeffreys": 7}
    for p in (2, 3, 7, 8):
        fitted = LogisticRegression().fit(rows[:, :p], y)
        rule = fitted.coef_, fitted.intercept_, rows[:, :p], y
        for prior, most in stated_up_to.items():
            found = tr.estimate_risk(model, rows[:, :p], y, cv=BayesianError(prior))
            stated = p <= most
            assert (found.interval is not None) == (found.std_error is not None) == stated
            assert any("which pulls the estimate up" in note for note in found.notes) != stated
            assert (tr.bayesian_error(*rule, prior=prior).std_error is not None) == stated
    with pytest.raises(Refusal, match="no interval is stated: the prior takes features off"):
        tr.bayesian_error(*rule, prior="jeffreys").interval()
    high = tr.estimate_risk(model, rows, y, cv=BayesianError("flat"))
    assert high.value > 3 * truth
    assert "5.6 times" in high.notes[-1]
    assert "it may err either way" in high.notes[0]
    assert not any("too low" in note for note in high.notes)


def golden(sign):
    """α, b, ν*, c g* of BEEi on the rows of the golden numbers."""
    rows = np.array([(0, 0), (1, 2), (2, 1), (-1, 1)] if sign < 0 else [(3, 2), (2, 4), (4, 3)])
    n = len(rows)
    trace = ((rows - rows.mean(axis=0)) ** 2).sum()
    margin = sign * (rows.mean(axis=0) @ [1, 0.5] - 2.5)
    return ClassErrorDistribution(n + 2.0, 1.25 * trace / 2, float(n), float(margin))


BOTH = ErrorDistribution((4 / 7, 3 / 7), (golden(-1), golden(1)))


def test_error_law_has_the_golden_quantiles_and_inverts_its_distribution():
    """BEEi's ε₋ on the seven rows: .001674, .043066, .297638; intervals have equal tails."""
    law = ErrorDistribution((1.0, 0.0), (golden(-1), golden(1)))
    found = [law.quantile(p) for p in (0.025, 0.5, 0.975)]
    assert found == pytest.approx([0.001674, 0.043066, 0.297638], abs=5e-7)
    for p in (0.001, 0.3, 0.9, 0.999):
        assert BOTH.cdf(BOTH.quantile(p)) == pytest.approx(p, abs=1e-9)
    low, high = BOTH.interval(0.9)
    assert (BOTH.cdf(low), BOTH.cdf(high)) == pytest.approx((0.05, 0.95), abs=1e-9)


@pytest.mark.parametrize(
    "law", [golden(-1), golden(1), ClassErrorDistribution(3.0, 2.0, 2.5, -0.4)]
)
def test_score_law_of_one_class_is_a_noncentral_t(law):
    """P(ε ≤ q) is F(c g* √(ν*α/b); 2α, −√ν* Φ⁻¹(q)) of the noncentral t."""
    q = np.array([1e-4, 0.01, 0.1, 0.3, 0.6, 0.95])
    at = law.margin * np.sqrt(law.nu * law.alpha / law.b)
    expected = nct.cdf(at, 2 * law.alpha, -np.sqrt(law.nu) * norm.ppf(q))
    assert law.cdf(q) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ((2.0, 1.0, 3.5, 8.0), (2.0, 1.0, 3.5, -0.3)),
        ((1000.0, 1.0, 1000.0, 1.0), (50.0, 1.0, 100.0, 0.1)),
        ((1.0, 1.0, 2.0, 1.0), (1.0, 1.0, 2.0, 0.3)),
        ((4000.0, 50.0, 30.0, -3.0), (300.0, 1.0, 30.0, 0.0)),
    ],
)
def test_error_law_of_a_sum_is_that_of_draws(one, two):
    """P(.3 ε₋ + .7 ε₊ ≤ q) at five quantiles of 100,000 draws, within 4 se."""
    laws, rng, size, total = (
        (ClassErrorDistribution(*one), ClassErrorDistribution(*two)),
        np.random.default_rng(0),
        100_000,
        0.0,
    )
    for share, law in zip((0.3, 0.7), laws, strict=True):
        w = law.slope * np.sqrt(rng.gamma(law.alpha, size=size))
        total = total + share * ndtr(-(w + rng.standard_normal(size) / np.sqrt(law.nu)))
    for p in (0.01, 0.2, 0.5, 0.8, 0.99):
        found = ErrorDistribution((0.3, 0.7), laws).cdf(float(np.quantile(total, p)))
        assert abs(found - p) < 4 * np.sqrt(p * (1 - p) / size)


def test_error_law_has_quantiles_of_tiny_errors():
    """Errors of 1e-45 are told apart; below 1e-300 the quantile is 0."""
    laws = ClassErrorDistribution(8e6, 1e6, 30.0, 5.0), ClassErrorDistribution(8e6, 1e6, 30.0, 7.0)
    low, high = ErrorDistribution((0.3, 0.7), laws).interval(0.95)
    assert 1e-48 < low < 2e-48
    assert 4e-44 < high < 5e-44
    far = ClassErrorDistribution(8e6, 1.0, 30.0, 5.0)
    assert ErrorDistribution((0.3, 0.7), (far, far)).interval(0.95) == (0.0, 0.0)


def test_error_law_of_a_sure_class_is_the_other_one_moved():
    """With ε₊ = 1 for sure, γ ε₋ + 1 − γ is the law of ε₋, moved."""
    sure, right, free = (
        ClassErrorDistribution(1.0, 0.0, 3.0, -1.0),
        ClassErrorDistribution(1.0, 0.0, 3.0, 1.0),
        golden(-1),
    )
    for law in (
        ErrorDistribution((0.25, 0.75), (free, sure)),
        ErrorDistribution((0.75, 0.25), (sure, free)),
    ):
        assert not law.is_certain
        assert law.cdf(0.76) == pytest.approx(float(free.cdf(np.array([0.04]))[0]))
        assert (law.cdf(0.7), law.cdf(1.0)) == (0, 1)
    known = ErrorDistribution((0.5, 0.5), (sure, right))
    assert known.is_certain
    assert ErrorDistribution((0.0, 1.0), (free, right)).is_certain
    assert (known.cdf(0.49), known.cdf(0.5)) == (0, 1)


@pytest.mark.slow
def test_error_law_covers_the_truth_under_its_own_model():
    """Truths drawn from the proper prior, rows from the truth: 95 ± 1 % of intervals cover."""
    rng = np.random.default_rng(1)
    n_simulations, p, sizes = 2000, 2, (5, 9)
    covered = np.zeros(n_simulations, dtype=bool)
    for s in range(n_simulations):
        slope, start = rng.normal(size=p), rng.normal()
        truth, laws = 0.0, []
        for share, sign, n in ((0.4, -1, sizes[0]), (0.6, 1, sizes[1])):
            # inverse Wishart with κ = p + 2 and S = I; the mean about 0 with weight 1/2
            root = rng.normal(size=(p + 2, p))
            covariance = np.linalg.inv(root.T @ root)
            half = np.linalg.cholesky(covariance)
            mean = np.sqrt(2) * half @ rng.normal(size=p)
            spread = np.sqrt(slope @ covariance @ slope)
            truth += share * ndtr(-sign * (mean @ slope + start) / spread)
            rows = mean + rng.normal(size=(n, p)) @ half.T
            scores = (rows @ slope + start)[None]
            found = proper_class_errors(scores, np.array([start]), np.array([slope @ slope]), sign)
            laws.append(
                ClassErrorDistribution(found.alpha[0], found.b[0], found.nu[0], found.margin[0])
            )
        law = ErrorDistribution((0.4, 0.6), (laws[0], laws[1]))
        below = law.cdf(truth)
        covered[s] = 0.025 <= below <= 0.975
        if below > 0.975 and truth > 0.999:  # 1 − 1e-20 is 1 to a double, and so is the end
            covered[s] = truth <= law.quantile(0.975)
    assert abs(covered.mean() - 0.95) < 0.01
