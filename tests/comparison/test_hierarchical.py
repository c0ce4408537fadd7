"""The hierarchical correlated t test against integrals, a sampler of the whole model, and Stan."""

from __future__ import annotations

from dataclasses import astuple
from itertools import pairwise
from math import exp, lgamma, log1p, pi, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln
from scipy.stats import t

from truerisk.comparison import hierarchical as module
from truerisk.comparison.hierarchical import hierarchical


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
    return astuple(hierarchical(list(x), [rho] * len(x), rope))


def test_a_data_set_is_a_student_t_of_its_mean():
    """With σ flat the normal likelihood of correlated splits, integrated by quadrature."""
    x, rho = WIDE[0], 0.1
    one, n = module._likelihood(x, rho), len(x)
    inverse = np.linalg.inv((1 - rho) * np.eye(n) + rho)
    log_spread = np.linspace(np.log(1e-3), np.log(1e3), 4001)

    def likelihood(delta):
        square = (x - delta) @ inverse @ (x - delta)
        return np.exp(-(n - 1) * log_spread - square / (2 * np.exp(2 * log_spread))).sum()

    places = one.centre + one.scale * np.array([0.0, 0.7, -2.0])
    ours = t.pdf((places - one.centre) / one.scale, one.df)
    theirs = np.array([likelihood(place) for place in places])
    assert ours / ours[0] == pytest.approx(theirs / theirs[0], rel=1e-6)


def density(x, df):
    """Of Student's t; scipy's takes a hundred times as long for a single number."""
    log = lgamma((df + 1) / 2) - lgamma(df / 2) - (df + 1) / 2 * log1p(x * x / df)
    return exp(log) / sqrt(df * pi)


@pytest.mark.parametrize("df", [1, 8, 98])
def test_the_table_is_the_convolution_of_two_t(df):
    """That is ∫ t(μ; μ₀, σ₀, ν) t(μ; x̄, s) dμ, for broad and narrow σ₀, heavy tails too."""
    one = module._Likelihood(0.1, 0.05, df)
    means, log_scales = np.array([-0.3, 0.15]), np.log([0.004, 0.05, 2.0])
    for k, log_scale in enumerate(log_scales):
        degrees = np.array([1.05, 60.0])
        found = module._posterior([one], means, log_scales[k : k + 1], degrees)
        for i, mean in enumerate(means):
            for j, nu in enumerate(degrees):
                scale = np.exp(log_scale)

                def product(mu, mean=mean, scale=scale, nu=nu):
                    own = density((mu - one.centre) / one.scale, df) / one.scale
                    return own * density((mu - mean) / scale, nu) / scale

                breaks = sorted({mean, one.centre, mean - scale, mean + scale})
                parts = [-np.inf, *breaks, np.inf]
                whole = sum(
                    quad(product, a, b, epsabs=0, epsrel=1e-8, limit=500)[0]
                    for a, b in pairwise(parts)
                )
                assert found[i, 0, j] == pytest.approx(np.log(whole), abs=2e-4)


def test_the_grid_is_fine_enough(monkeypatch):
    """Finer in every direction moves no probability by more than .001."""
    for x, rope in ((WIDE, 0.01), (WIDE, 0.002), (NARROW, 0.002)):
        coarse = told(x, rope)
        with monkeypatch.context() as finer:
            finer.setattr(module, "N_MEANS", 200)
            finer.setattr(module, "N_DEGREES", 24)
            finer.setattr(module, "STRIDE", 2)
            assert told(x, rope) == pytest.approx(coarse, abs=1e-3)


def test_probabilities_are_whole():
    """Each three sum to one."""
    for rope in (0.0, 0.01, 0.5):
        found = told(WIDE, rope)
        assert sum(found[:3]) == pytest.approx(1)
        assert sum(found[3:]) == pytest.approx(1)
    assert told(WIDE, 0.5)[1] > 0.99
    assert told(WIDE, 0.0)[1] == 0


def test_signs_units_and_order_do_not_count():
    """Mirrored, in other units, in another order: the same."""
    found = told(WIDE, 0.01)
    mirrored = told(-WIDE, 0.01)
    assert (*mirrored[2::-1], *mirrored[:2:-1]) == pytest.approx(found, abs=1e-3)
    assert told(WIDE * 1e6, 1e4) == pytest.approx(found, abs=1e-6)
    assert told(WIDE[::-1], 0.01) == pytest.approx(found, abs=1e-9)


def test_correlated_splits_say_less():
    """Splits that share rows are fewer than they look: the answer is less sure."""
    x = drawn(3, 8, 10, -0.03, 0.001, 0.05)
    assert told(x, 0.01, 0.0)[0] > told(x, 0.01, 0.3)[0] > 0.5


def test_sure_data_sets_are_sure():
    """Many data sets far below: the next is, too."""
    x = drawn(2, 30, 10, -0.1, 0.01, 0.01)
    found = told(x, 0.01)
    assert found[0] > 0.999
    assert found[3] > 0.99


def test_without_any_spread():
    """Equal columns have no posterior; data sets whose splits are all alike are known exactly."""
    assert hierarchical([np.zeros(5)] * 4, [0.1] * 4, 0.01) is None
    assert hierarchical([np.full(5, 0.3)] * 4, [0.1] * 4, 0.01) is None
    still = np.tile(WIDE.mean(1, keepdims=True), 10)
    quiet = still + 1e-7 * np.random.default_rng(0).normal(size=still.shape)
    assert told(still, 0.01) == pytest.approx(told(quiet, 0.01), abs=1e-3)


# ---------------------------------------------------------------- against a sampler


def sampled(x, rho, seed=0, n_chains=64, n_steps=1500, n_left_out=300):
    """μ₀, σ₀ and ν of a sampler that draws every parameter of the model from its conditional.

    δᵢ, σᵢ, the precisions of the δᵢ, μ₀ and σ₀ have conditionals of known form; ν, shape and rate
    take Metropolis steps.
    """
    rng = np.random.default_rng(seed)
    largest = np.abs(x).max()
    x = x / largest
    (n_sets, n), centres = x.shape, x.mean(1)
    squares, factor = ((x - centres[:, None]) ** 2).sum(1), (1 + (n - 1) * rho) / n
    many = (n_chains, n_sets)
    delta, precision = np.tile(centres, (n_chains, 1)), np.ones(many)
    mean, scale = np.full(n_chains, np.median(centres)), np.full(n_chains, centres.std(ddof=1))
    widest, nu = 1000 * centres.std(ddof=1), np.full(n_chains, 10.0)
    shape, rate = rng.uniform(0.5, 5, n_chains), rng.uniform(0.05, 0.15, n_chains)

    def of_gamma(nu, shape, rate):
        density = shape * np.log(rate) - gammaln(shape)
        return density + (shape - 1) * np.log(nu - 1) - rate * (nu - 1)

    def of_nu(nu):
        half = nu / 2
        own = n_sets * (half * np.log(half) - gammaln(half))
        own += half * (np.log(precision) - precision).sum(1)
        return own + of_gamma(nu, shape, rate) + np.log(nu - 1)

    kept = []
    for step in range(n_steps):
        around = squares / (1 - rho) + (centres - delta) ** 2 / factor
        variance = factor * around / 2 / rng.standard_gamma((n - 1) / 2, many)
        weight = 1 / variance + precision / scale[:, None] ** 2
        middle = centres / variance + precision * (mean / scale**2)[:, None]
        delta = middle / weight + rng.standard_normal(many) / np.sqrt(weight)
        away = ((delta - mean[:, None]) / scale[:, None]) ** 2
        half = (nu[:, None] + 1) / 2 * np.ones(many)
        precision = rng.standard_gamma(half) / ((nu[:, None] + away) / 2)
        total = precision.sum(1)
        drawn = (precision * delta).sum(1) / total
        drawn = drawn + scale * rng.standard_normal(n_chains) / np.sqrt(total)
        mean = np.where(np.abs(drawn) < 1, drawn, mean)
        square = (precision * (delta - mean[:, None]) ** 2).sum(1)
        drawn = np.sqrt(square / 2 / rng.standard_gamma((n_sets - 1) / 2, n_chains))
        scale = np.where(drawn < widest, drawn, scale)
        moved = 1 + (nu - 1) * np.exp(0.8 * rng.standard_normal(n_chains))
        nu = np.where(np.log(rng.random(n_chains)) < of_nu(moved) - of_nu(nu), moved, nu)
        other = rng.uniform(0.5, 5, n_chains), rng.uniform(0.05, 0.15, n_chains)
        gain = of_gamma(nu, *other) - of_gamma(nu, shape, rate)
        taken = np.log(rng.random(n_chains)) < gain
        shape, rate = np.where(taken, other[0], shape), np.where(taken, other[1], rate)
        if step >= n_left_out:
            kept.append((mean * largest, scale * largest, nu))
    return np.concatenate(np.array(kept), axis=1)


@pytest.mark.parametrize(("x", "rope"), [(WIDE, 0.01), (WIDE, 0.002), (NARROW, 0.002)])
def test_a_sampler_of_the_whole_model_agrees(x, rope):
    """76,800 draws that correlate; the sums on the grid have no such error."""
    mean, scale, nu = sampled(x, 0.1)
    below, above = t.cdf((-rope - mean) / scale, nu), t.sf((rope - mean) / scale, nu)
    three = np.stack([below, 1 - below - above, above])
    likeliest = np.bincount(three.argmax(0), minlength=3) / len(nu)
    assert told(x, rope) == pytest.approx((*likeliest, *three.mean(1)), abs=0.015)


STAN = {  # better, equivalent, worse; the same of the next data set
    ("WIDE", 0.01): (0.1530, 0.7937, 0.0534, 0.2443, 0.6111, 0.1446),
    ("WIDE", 0.002): (0.6703, 0.0354, 0.2943, 0.5149, 0.1553, 0.3297),
    ("NARROW", 0.01): (0.0000, 0.9998, 0.0002, 0.0096, 0.9418, 0.0486),
    ("NARROW", 0.002): (0.0316, 0.1075, 0.8609, 0.1223, 0.2887, 0.5890),
}


@pytest.mark.parametrize(("name", "rope"), list(STAN))
def test_stan_agrees(name, rope):
    """The model that baycomp 1.0.3 brings, with the paper's priors, by pystan 3.10.0.

    stan.build(model, data=..., random_seed=1) with lowerAlpha .5, upperAlpha 5, lowerBeta .05,
    upperBeta .15, rho .1, deltas within the largest difference, and 1000 standard deviations as
    upper bounds; then sample(num_chains=4, num_samples=10000, num_warmup=1500, delta=.95).
    """
    assert told({"WIDE": WIDE, "NARROW": NARROW}[name], rope) == pytest.approx(
        STAN[name, rope], abs=0.012
    )
