"""The signed-rank test is exact also with ties and zeros; its shift and interval are R's."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon
from tests.support.demsar import C45

from truerisk.comparing import method_pairs as module
from truerisk.comparing.method_pairs import median_shift, signed_rank

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
def test_the_p_value_counts_all_signs(seed):
    """With ties and zeros, which SciPy's exact mode does not know."""
    differences = np.random.default_rng(seed).integers(-3, 4, 9).astype(float)
    assert signed_rank(differences).p_value == pytest.approx(brute(differences))


def test_scipy_agrees_without_ties():
    """W and its exact p-value."""
    differences = RNG.normal(0.3, 1, 23)
    theirs = wilcoxon(differences, method="exact")
    found = signed_rank(differences)
    assert min(found.positive, found.negative) == theirs.statistic
    assert found.p_value == pytest.approx(theirs.pvalue)


def test_many_differences_are_normal():
    """Beyond `EXACT`, with ties and zeros, as SciPy's normal mode by Pratt's rule."""
    differences = RNG.integers(-5, 7, module.EXACT + 40).astype(float)
    theirs = wilcoxon(differences, zero_method="pratt", method="approx", correction=False)
    assert signed_rank(differences).p_value == pytest.approx(theirs.pvalue, rel=1e-3)


def test_demsars_wilcoxon():
    """Demšar (2006), section 3.1.3: R+ = 93, R− = 12, where each side has half of the zeros' 3."""
    found = signed_rank(C45[:, 1] - C45[:, 0])
    assert (found.positive + 1.5, found.negative + 1.5, found.n_zero) == (93, 12, 2)


def test_the_shift_is_that_of_r():
    """R 4.2.2: wilcox.test(x, conf.int=TRUE, conf.level=…)."""
    assert signed_rank(X).p_value == pytest.approx(0.4609, abs=5e-5)
    found = median_shift(X, 0.95)
    assert found.value == pytest.approx(0.5625)
    assert found.ends == pytest.approx((-0.85, 2.10))
    assert median_shift(X, 0.90).ends == pytest.approx((-0.575, 1.675))
    assert median_shift(X[:6], 0.95).ends == pytest.approx((-1.4, 3.1))


def test_too_few_differences_have_no_interval():
    """Of five, all Walsh averages together cover with 15/16 only."""
    assert median_shift(X[:5], 0.95).ends is None
    assert median_shift(X[:5], 0.93).ends == pytest.approx((-1.4, 2.2))


def test_large_samples_meet_the_exact_ones(monkeypatch):
    """Where the exact distribution ends, the normal one gives nearly the same ends."""
    differences = RNG.normal(0.1, 1, 150)
    exact = median_shift(differences, 0.95).ends
    monkeypatch.setattr(module, "EXACT", 100)
    assert median_shift(differences, 0.95).ends == pytest.approx(exact, abs=0.005)


def test_equal_columns_have_no_direction():
    """All zero: p = 1, no correlation, and a shift of 0."""
    found = signed_rank(np.zeros(8))
    assert (found.p_value, found.correlation, found.n_zero) == (1.0, None, 8)
    assert median_shift(np.zeros(8), 0.95).ends == (0.0, 0.0)


def test_rounding_beside_the_scale_is_zero():
    """Differences of values near 1e6 that are their last bits; the unit changes nothing."""
    noise = np.array([1e-9, -2e-9, 3.0, 1.0])
    assert signed_rank(noise, 1e6).n_zero == 2
    assert signed_rank(X * 1e-9, 1e-9).p_value == signed_rank(X).p_value
