"""Ranks, Friedman's test, critical differences and Holm's correction against published numbers."""

from itertools import permutations, product
from math import inf

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata

from truerisk.comparison.ranks import (
    critical_difference,
    friedman_test,
    holm_correction,
    rank_difference_error,
    rank_rows,
)

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("k", "q05", "q10"),
    [(2, 1.960, 1.645), (3, 2.343, 2.052), (5, 2.728, 2.459), (10, 3.164, 2.920)],
)
def test_critical_difference_has_nemenyis_values(k, q05, q10):
    """Demšar (2006), table 5a."""
    for level, q in ((0.95, q05), (0.90, q10)):
        assert critical_difference(7, k, level) / rank_difference_error(7, k) == pytest.approx(
            q, abs=1e-3
        )


@pytest.mark.parametrize("ties", [False, True])
def test_friedman_agrees_with_scipy(ties):
    """SciPy's χ² is corrected for ties, too."""
    values = RNG.integers(0, 4, (9, 5)).astype(float) if ties else RNG.normal(size=(9, 5))
    ranks = rank_rows(values)
    assert np.array_equal(ranks, rankdata(values, axis=1))
    theirs = friedmanchisquare(*values.T)
    found = friedman_test(ranks)
    assert found.chi_square == pytest.approx(theirs.statistic)
    assert found.chi_p_value == pytest.approx(theirs.pvalue)
    assert (found.chi_square == pytest.approx(found.chi_square_as_printed)) is not ties


def test_ranked_ties_values_up_to_rounding():
    assert rank_rows(np.array([[0.1 + 0.2, 0.3, 0.5]])).tolist() == [[1.5, 1.5, 3.0]]


def test_friedman_without_spread_of_ranks():
    """All methods tied: nothing divides by zero; one order everywhere: all orders are counted."""
    found = friedman_test(np.full((5, 3), 2.0))
    assert (found.chi_square, found.f, found.p_value, found.chi_p_value) == (0, 0, 1, 1)
    for row in ((1.0, 2.0, 3.0), (1.5, 1.5, 3.0)):
        found = friedman_test(np.array([row] * 4))
        assert found.f == inf
        orders = list(dict.fromkeys(permutations(row)))
        alike = [all(one == rows[0] for one in rows) for rows in product(orders, repeat=4)]
        assert found.p_value == pytest.approx(np.mean(alike))


def test_holm_steps_down():
    """Holm (1979): the smallest by m, the next by m − 1; never smaller than one before, nor over 1.

    R: p.adjust(c(.01, .04, .03, .005, .6), "holm")
    """
    assert holm_correction([0.01, 0.04, 0.03, 0.005, 0.6]) == pytest.approx(
        [0.04, 0.09, 0.09, 0.025, 0.6]
    )
    assert holm_correction([0.7, 0.8]) == [1.0, 1.0]
    assert holm_correction([]) == []
