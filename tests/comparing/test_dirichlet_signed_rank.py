"""The Bayesian signed-rank test against its definition and against baycomp."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.demsar import C45

from truerisk.comparing import method_pairs as module
from truerisk.comparing.method_pairs import dirichlet_signed_rank


def drawn(differences, rope, seed=0, **options):
    """The probabilities of one pair."""
    return tuple(dirichlet_signed_rank([np.asarray(differences)], rope, seed, **options)[0])


def test_the_shares_are_the_double_sum():
    """For given weights, indicator by indicator, with ties at the ends of the region."""
    z = np.array([-0.03, -0.02, 0.0, 0.01, 0.02, 0.05, 0.0])
    drawn = module._Weights(np.random.default_rng(0), 20, 6, module.PRIOR)
    weights = np.vstack([drawn.upward[0], drawn.prior]).T
    assert np.allclose(weights.sum(1), 1)
    for rope in (0.0, 0.01, 0.015):
        found = drawn.shares(z[:-1], rope)
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
def test_baycomp_agrees(column, rope):
    """By baycomp 1.0.3: SignedRankTest.probs(C45[:, 0], C45[:, column], rope, nsamples=400000).

    The end of a region is no difference of the table: baycomp leaves those to rounding.
    """
    table = np.round(C45, 3)
    found = drawn(table[:, column] - table[:, 0], rope)
    assert found == pytest.approx(BAYCOMP[column, rope], abs=0.008)  # four errors of 50,000 draws


def test_it_is_exact_in_distribution():
    """One difference and the prior's 0: better where 1 − w₀² > 1/2, and w₀ is Beta(s, 1)."""
    found = drawn([-1.0], 0.0, draws=400_000)
    assert found[0] == pytest.approx(np.sqrt(0.5) ** module.PRIOR, abs=0.003)
    assert found[2] == 0


def test_draws_in_parts_are_as_many(monkeypatch):
    """Weights that do not fit at once are drawn in parts."""
    monkeypatch.setattr(module, "AT_ONCE", 100)
    found = drawn(C45[:, 1] - C45[:, 0], 0.01, draws=2000)
    assert sum(found) == pytest.approx(1)
    assert found[2] == pytest.approx(0.672, abs=0.05)


def test_the_order_of_data_sets_does_not_count():
    """The same draws for the same differences, whatever their order."""
    differences = C45[:, 1] - C45[:, 0]
    assert drawn(differences, 0.01) == drawn(differences[::-1], 0.01)


def test_equal_columns_are_practically_the_same():
    """All of the weight lies in the region."""
    assert drawn(np.zeros(6), 0.0) == (0.0, 1.0, 0.0)
