"""The hierarchical correlated t test against integrals and Stan."""

from dataclasses import astuple
from itertools import pairwise
from math import exp, lgamma, log1p, pi, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import t

from truerisk.comparison import hierarchical as module
from truerisk.comparison.hierarchical import hierarchical_test


def drawn(seed, n_sets, n_splits, mean, among, within):
    """Differences of splits that correlate by .1, rounded."""
    rng = np.random.default_rng(seed)
    means = mean + among * rng.standard_normal(n_sets)
    spreads = within * rng.uniform(0.5, 1.5, n_sets)
    own, shared = rng.standard_normal((n_sets, n_splits)), rng.standard_normal((n_sets, 1))
    noise = np.sqrt(0.9) * own + np.sqrt(0.1) * shared
    return np.round(means[:, None] + spreads[:, None] * noise, 4)


WIDE, NARROW = drawn(0, 8, 10, -0.01, 0.02, 0.02), drawn(1, 12, 20, 0.004, 0.002, 0.01)


def told(x, rope, rho=0.1):
    """As a tuple, one correlation for all."""
    return astuple(hierarchical_test(list(x), [rho] * len(x), rope))


def test_likelihood_of_a_data_set_is_a_student_t_of_its_mean():
    """With σ flat the normal likelihood of correlated splits, integrated by quadrature."""
    x, rho = WIDE[0], 0.1
    one, n = module._student_t_likelihood(x, rho), len(x)
    inverse = np.linalg.inv((1 - rho) * np.eye(n) + rho)
    log_spread = np.linspace(np.log(1e-3), np.log(1e3), 4001)
    places = one.centre + one.scale * np.array([0.0, 0.7, -2.0])
    squares = np.array([(x - delta) @ inverse @ (x - delta) for delta in places])
    exponents = -(n - 1) * log_spread - squares[:, None] / (2 * np.exp(2 * log_spread))
    theirs = np.exp(exponents).sum(1)
    ours = t.pdf((places - one.centre) / one.scale, one.df)
    assert ours / ours[0] == pytest.approx(theirs / theirs[0], rel=1e-6)


@pytest.mark.parametrize("df", [1, 8, 98])
def test_posterior_convolves_two_student_t(df):
    """∫ t(μ; μ₀, σ₀, ν) t(μ; x̄, s) dμ by quadrature, for broad and narrow σ₀, heavy tails too."""
    one, degrees = module._Likelihood(0.1, 0.05, df), np.array([1.05, 60.0])
    means, log_scales = np.array([-0.3, 0.15]), np.log([0.004, 0.05, 2.0])

    def density(x, df):  # scipy's takes a hundred times as long for a single number
        log = lgamma((df + 1) / 2) - lgamma(df / 2) - (df + 1) / 2 * log1p(x * x / df)
        return exp(log) / sqrt(df * pi)

    def whole(mean, scale, nu):
        def both(mu):
            own = density((mu - one.centre) / one.scale, df) / one.scale
            return own * density((mu - mean) / scale, nu) / scale

        parts = [-np.inf, *sorted({mean, one.centre, mean - scale, mean + scale}), np.inf]
        return sum(
            quad(both, *ends, epsabs=0, epsrel=1e-8, limit=500)[0] for ends in pairwise(parts)
        )

    for k, scale in enumerate(np.exp(log_scales)):
        found = module._total_log_likelihood([one], means, log_scales[k : k + 1], degrees)[:, 0]
        theirs = [[np.log(whole(mean, scale, nu)) for nu in degrees] for mean in means]
        assert found == pytest.approx(np.array(theirs), abs=2e-4)


def test_hierarchical_grid_is_fine_enough(monkeypatch):
    for x, rope in ((WIDE, 0.01), (WIDE, 0.002), (NARROW, 0.002)):
        coarse = told(x, rope)
        with monkeypatch.context() as finer:
            finer.setattr(module, "N_MEANS", 200)
            finer.setattr(module, "N_DEGREES", 24)
            finer.setattr(module, "STEPS_PER_SCALE", 2)
            assert told(x, rope) == pytest.approx(coarse, abs=1e-3)


def test_hierarchical_probabilities_follow_the_region():
    for rope in (0.0, 0.01, 0.5):
        found = told(WIDE, rope)
        assert (sum(found[:3]), sum(found[3:])) == pytest.approx((1, 1))
    assert told(WIDE, 0.5)[1] > 0.99
    assert told(WIDE, 0.0)[1] == 0


def test_hierarchical_ignores_signs_units_and_order():
    found = told(WIDE, 0.01)
    mirrored = told(-WIDE, 0.01)
    assert (*mirrored[2::-1], *mirrored[:2:-1]) == pytest.approx(found, abs=1e-3)
    assert told(WIDE * 1e6, 1e4) == pytest.approx(found, abs=1e-6)
    assert told(WIDE[::-1], 0.01) == pytest.approx(found, abs=1e-9)
    x = drawn(3, 8, 10, -0.03, 0.001, 0.05)
    assert told(x, 0.01, 0.0)[0] > told(x, 0.01, 0.3)[0] > 0.5


def test_hierarchical_without_spread():
    """Equal columns have no posterior; data sets whose splits are all alike are known exactly."""
    assert hierarchical_test([np.zeros(5)] * 4, [0.1] * 4, 0.01) is None
    assert hierarchical_test([np.full(5, 0.3)] * 4, [0.1] * 4, 0.01) is None
    still = np.tile(WIDE.mean(1, keepdims=True), 10)
    quiet = still + 1e-7 * np.random.default_rng(0).normal(size=still.shape)
    assert told(still, 0.01) == pytest.approx(told(quiet, 0.01), abs=1e-3)


STAN = {  # better, equivalent, worse; the same of the next data set
    ("WIDE", 0.01): (0.1530, 0.7937, 0.0534, 0.2443, 0.6111, 0.1446),
    ("WIDE", 0.002): (0.6703, 0.0354, 0.2943, 0.5149, 0.1553, 0.3297),
    ("NARROW", 0.01): (0.0000, 0.9998, 0.0002, 0.0096, 0.9418, 0.0486),
    ("NARROW", 0.002): (0.0316, 0.1075, 0.8609, 0.1223, 0.2887, 0.5890),
}


@pytest.mark.parametrize(("name", "rope"), list(STAN))
def test_hierarchical_agrees_with_stan(name, rope):
    """The model that baycomp 1.0.3 brings, with the paper's priors, by pystan 3.10.0.

    stan.build(model, data=..., random_seed=1) with lowerAlpha .5, upperAlpha 5, lowerBeta .05,
    upperBeta .15, rho .1, deltas within the largest difference, and 1000 standard deviations as
    upper bounds; then sample(num_chains=4, num_samples=10000, num_warmup=1500, delta=.95).
    """
    assert told({"WIDE": WIDE, "NARROW": NARROW}[name], rope) == pytest.approx(
        STAN[name, rope], abs=0.012
    )
