"""The Beta posterior of an error rate, to its far tails."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy import integrate, stats

from truerisk.core.errors import BadData
from truerisk.core.posterior import ErrorPosterior

GOLDEN = [
    (0, 60, 0.0479239521, 4.3368086899e-19, 0.0005120328),
    (6, 60, 0.1849297991, 2.6903070049e-11, 0.0143369176),
    (15, 150, 0.1488372261, 7.0853777103e-26, 0.0116959064),
    (30, 60, 0.6037259527, 0.5, 0.2539682540),
]


@pytest.mark.parametrize(("errors", "n", "upper", "above", "second"), GOLDEN)
def test_wallmans_measures(errors, n, upper, above, second) -> None:
    """Upper bound, P(error > ½) and E[error²] to ten digits, a tail of 1e-26 included."""
    post = ErrorPosterior(errors, n)
    assert post.upper(0.95) == pytest.approx(upper, abs=5.1e-11)
    assert post.mass_above(0.5) == pytest.approx(above, rel=1e-10, abs=0)
    assert post.second_moment() == pytest.approx(second, abs=5.1e-11)


@pytest.mark.parametrize(("errors", "n"), [(0, 60), (6, 60), (15, 150), (30, 60), (3, 3)])
def test_the_tail_is_a_sum_of_binomials(errors, n) -> None:
    """P(error > ½) = P(Bin(n + 1, ½) ≤ e), by exact integers."""
    exact = sum(comb(n + 1, j) for j in range(errors + 1)) / 2 ** (n + 1)
    assert ErrorPosterior(errors, n).mass_above(0.5) == pytest.approx(exact, rel=1e-12, abs=0)


@pytest.mark.parametrize("prior", [(1, 1), (0.5, 0.5), (2, 7)])
def test_it_is_the_beta_distribution(prior) -> None:
    """Moments, density, distribution and quantiles are those of Beta(e + a, n − e + b)."""
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


def test_the_density_integrates_to_one() -> None:
    """The density is a density, with errors at both ends too."""
    for errors in (0, 3, 10):
        total, _ = integrate.quad(ErrorPosterior(errors, 10).pdf, 0, 1)
        assert total == pytest.approx(1, abs=1e-10)


def test_nothing_tested_is_the_prior() -> None:
    """Without test rows the posterior is the prior: flat, mean ½, quantiles themselves."""
    post = ErrorPosterior(0, 0)
    assert (post.mean, post.quantile(0.3), post.pdf(0.7)) == pytest.approx((0.5, 0.3, 1.0))


@pytest.mark.parametrize(
    ("errors", "n", "prior", "message"),
    [
        (-1, 5, (1, 1), "between 0 and n"),
        (6, 5, (1, 1), "6 errors in 5 test rows"),
        (np.nan, 5, (1, 1), "between 0 and n"),
        (1, np.inf, (1, 1), "between 0 and n"),
        (1, 5, (0, 1), "no Beta prior"),
        (1, 5, (1, np.nan), "no Beta prior"),
    ],
)
def test_impossible_counts_are_refused(errors, n, prior, message) -> None:
    """More errors than rows, or a prior that is none."""
    with pytest.raises(BadData, match=message):
        ErrorPosterior(errors, n, prior=prior)


def test_a_probability_lies_between_0_and_1() -> None:
    """A quantile of an impossible probability is refused."""
    with pytest.raises(BadData, match="not between 0 and 1"):
        ErrorPosterior(1, 5).quantile(1.5)
