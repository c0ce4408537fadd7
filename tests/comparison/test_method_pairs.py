"""The signed-rank test is exact also with ties and zeros; its shift and interval are R's."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon
from tests.support.demsar import C45

from truerisk.comparison import method_pairs as module
from truerisk.comparison.method_pairs import dirichlet_signed_rank, median_shift, signed_rank_test

RNG = np.random.default_rng(1)
X = np.array([1.1, -0.3, 2.2, 0.7, -1.4, 3.1, 0.25, -0.9])


def brute(differences):
    """All signs of the ranks of the differences that are not zero."""
    ranks = rankdata(np.abs(differences))
    kept = differences != 0
    seen = ranks[kept & (differences > 0)].sum()
    sums = np.array([np.dot(ranks[kept], s) for s in product((0, 1), repeat=int(kept.sum()))])
    return min(1.0, 2 * min((sums <= seen + 1e-9).mean(), (sums >= seen - 1e-9).mean()))


@pytest.mark.parametrize("seed", range(6))
def test_signed_rank_p_value_counts_all_signs(seed):
    """With ties and zeros, which SciPy's exact mode does not know."""
    differences = np.random.default_rng(seed).integers(-3, 4, 9).astype(float)
    assert signed_rank_test(differences).p_value == pytest.approx(brute(differences))


def test_signed_rank_agrees_with_scipy():
    """Exact without ties; beyond `EXACT` normal by Pratt's rule, with ties and zeros."""
    differences = RNG.normal(0.3, 1, 23)
    found, theirs = signed_rank_test(differences), wilcoxon(differences, method="exact")
    assert min(found.positive_rank_sum, found.negative_rank_sum) == theirs.statistic
    assert found.p_value == pytest.approx(theirs.pvalue)
    differences = RNG.integers(-5, 7, module.MAX_EXACT + 40).astype(float)
    theirs = wilcoxon(differences, zero_method="pratt", method="approx", correction=False)
    assert signed_rank_test(differences).p_value == pytest.approx(theirs.pvalue, rel=1e-3)


def test_signed_rank_has_the_sums_of_demsar():
    """Demšar (2006), section 3.1.3: R+ = 93, R− = 12, where each side has half of the zeros' 3."""
    found = signed_rank_test(C45[:, 1] - C45[:, 0])
    assert (found.positive_rank_sum + 1.5, found.negative_rank_sum + 1.5, found.n_zero) == (
        93,
        12,
        2,
    )


def test_median_shift_has_the_numbers_of_r():
    """R 4.2.2: wilcox.test(x, conf.int=TRUE, conf.level=…); five differences keep 15/16 only."""
    assert signed_rank_test(X).p_value == pytest.approx(0.4609, abs=5e-5)
    assert median_shift(X, 0.95).value == pytest.approx(0.5625)
    for n, level, ends in (
        (8, 0.95, (-0.85, 2.10)), (8, 0.90, (-0.575, 1.675)), (6, 0.95, (-1.4, 3.1)),
        (5, 0.93, (-1.4, 2.2)),
    ):  # fmt: skip
        assert median_shift(X[:n], level).limits == pytest.approx(ends)
    assert median_shift(X[:5], 0.95).limits is None


def test_median_shift_of_many_differences_is_normal(monkeypatch):
    differences = RNG.normal(0.1, 1, 150)
    exact = median_shift(differences, 0.95).limits
    monkeypatch.setattr(module, "MAX_EXACT", 100)
    module._limit_rank.cache_clear()
    assert median_shift(differences, 0.95).limits == pytest.approx(exact, abs=0.005)


def test_signed_rank_of_equal_columns():
    found = signed_rank_test(np.zeros(8))
    assert (found.p_value, found.rank_biserial, found.n_zero) == (1.0, None, 8)
    assert median_shift(np.zeros(8), 0.95).limits == (0.0, 0.0)
    assert drawn(np.zeros(6), 0.0) == (0.0, 1.0, 0.0)


def test_signed_rank_takes_rounding_for_zero():
    """Differences of values near 1e6 that are their last bits; the unit changes nothing."""
    noise = np.array([1e-9, -2e-9, 3.0, 1.0])
    assert signed_rank_test(noise, 1e6).n_zero == 2
    assert signed_rank_test(X * 1e-9, 1e-9).p_value == signed_rank_test(X).p_value


# ---------------- The Bayesian signed-rank test against its definition and against baycomp


def drawn(differences, rope, seed=0, **options):
    """The probabilities of one pair."""
    return tuple(dirichlet_signed_rank([np.asarray(differences)], rope, seed, **options)[0])


def test_dirichlet_shares_are_the_double_sum():
    """For given weights, indicator by indicator, with ties at the ends of the region."""
    z = np.array([-0.03, -0.02, 0.0, 0.01, 0.02, 0.05, 0.0])
    drawn = module._DirichletWeights(np.random.default_rng(0), 20, 6, module.PRIOR_STRENGTH)
    weights = np.vstack([drawn.upward[0], drawn.prior]).T
    assert np.allclose(weights.sum(1), 1)
    for rope in (0.0, 0.01, 0.015):
        found = drawn.outcome_shares(z[:-1], rope)
        sums = np.round(z[:, None] + z, 9)
        for at, inside in enumerate((sums < -2 * rope, abs(sums) <= 2 * rope, sums > 2 * rope)):
            theirs = np.einsum("di,dj,ij->d", weights, weights, inside.astype(float))
            assert np.allclose(found[at], theirs)


BAYCOMP = {  # better, equivalent, worse of the first method, 400,000 draws
    (1, 0.0097): (0.0, 0.3289, 0.6711),
    (2, 0.0097): (0.1165, 0.6956, 0.1879),
    (2, 0.0103): (0.0685, 0.7815, 0.1500),
    (3, 0.0103): (0.0003, 0.0379, 0.9618),
    (3, 0.0203): (0.0, 0.5565, 0.4435),
}


@pytest.mark.parametrize(("column", "rope"), list(BAYCOMP))
def test_dirichlet_signed_rank_agrees_with_baycomp(column, rope):
    """By baycomp 1.0.3: SignedRankTest.probs(C45[:, 0], C45[:, column], rope, nsamples=400000).

    The end of a region is no difference of the table: baycomp leaves those to rounding.
    """
    table = np.round(C45, 3)
    found = drawn(table[:, column] - table[:, 0], rope)
    assert found == pytest.approx(BAYCOMP[column, rope], abs=0.008)  # four errors of 50,000 draws


def test_dirichlet_signed_rank_of_one_difference():
    """One difference and the prior's 0: better where 1 − w₀² > 1/2, and w₀ is Beta(s, 1)."""
    found = drawn([-1.0], 0.0, draws=400_000)
    assert found[0] == pytest.approx(np.sqrt(0.5) ** module.PRIOR_STRENGTH, abs=0.003)
    assert found[2] == 0


def test_dirichlet_draws_in_parts_are_as_many(monkeypatch):
    monkeypatch.setattr(module, "WEIGHTS_IN_CACHE", 100)
    found = drawn(C45[:, 1] - C45[:, 0], 0.01, draws=2000)
    assert sum(found) == pytest.approx(1)
    assert found[2] == pytest.approx(0.672, abs=0.05)
    assert drawn(C45[::-1, 1] - C45[::-1, 0], 0.01, draws=2000) == found  # in any order
