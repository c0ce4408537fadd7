"""The closed forms of nearest neighbours equal plain sums over every draw."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from truerisk.engines.neighbours.laws import expected_costs, ranks_needed
from truerisk.plan.extras.laws import Law

KS = np.array([1, 2, 3, 4])


def draws(law, n):
    """Every draw as ranks with copies, ascending."""
    if law.kind == "subsets":
        return list(combinations(range(n), law.size))
    return [tuple(sorted(draw)) for draw in product(range(n), repeat=law.size)]


@settings(max_examples=14, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    law=st.one_of(
        st.builds(Law, st.just("subsets"), st.integers(4, 6)),
        st.builds(Law, st.just("bootstraps"), st.integers(4, 5)),
    ),
)
def test_expected_costs_are_means_over_all_draws(seed, law) -> None:
    """Any labels, any costs of s ones among k, odd and even k: to 1e-12."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(law.size, 9) if law.kind == "subsets" else rng.integers(2, 6))
    ones = rng.integers(2, size=(3, n))
    costs = [rng.random((k + 1, 3)) for k in KS]
    found = expected_costs(ones[:, : ranks_needed(law, n, KS)], n, law, KS, costs)
    for j, k in enumerate(KS):
        for i in range(3):
            each = [costs[j][ones[i, list(draw[:k])].sum(), i] for draw in draws(law, n)]
            assert found[j, i] == pytest.approx(np.mean(each), abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "size"), [("subsets", 1800), ("subsets", 40), ("bootstraps", 2000), ("bootstraps", 40)]
)
def test_the_chances_of_all_ranks_add_up_to_one(kind, size) -> None:
    """Thousands of rows: a cost of 1 is expected to be 1, though far ranks are left out."""
    n, ks = 2000, np.array([1, 13, 31])
    law = Law(kind, size)
    length = ranks_needed(law, n, ks)
    assert length < n
    ones = np.random.default_rng(0).integers(2, size=(4, length))
    costs = [np.ones((k + 1, 4)) for k in ks]
    found = expected_costs(ones, n, law, ks, costs)
    assert found == pytest.approx(np.ones((3, 4)), abs=1e-11)


def test_the_closed_form_as_it_is_printed() -> None:
    """METHODS §2, Mullin and Sukthankar: the double sum over ranks and votes, odd k."""
    rng = np.random.default_rng(3)
    n, m, k = 40, 31, 5
    wrong = rng.integers(2, size=n - 1)  # of the ranks 1 … n − 1
    from math import comb

    expected = 0.0
    for r in range(k, n):
        B, bad = int(wrong[: r - 1].sum()), int(wrong[r - 1])
        votes = sum(comb(B, s) * comb(r - 1 - B, k - 1 - s) for s in range(k) if 2 * (s + bad) > k)
        expected += comb(n - 1 - r, m - k) / comb(n - 1, m) * votes
    law, ks = Law("subsets", m), np.array([k])
    cost = (2 * np.arange(k + 1) > k)[:, None].astype(float)
    found = expected_costs(wrong[None], n - 1, law, ks, [cost])
    assert found[0, 0] == pytest.approx(expected, abs=1e-13)


def test_ranks_that_do_not_matter_are_left_out() -> None:
    """Less than 1e-16 of the probability lies beyond the last rank that is needed."""
    n, m, k = 2000, 1800, 11
    last = ranks_needed(Law("subsets", m), n, np.array([k]))
    assert hypergeom(n, m, last).cdf(k - 1) < 1e-15  # fewer than k drawn among the first ranks
    assert last < 50
