"""Rows in standard units: a rule is put in their units, and its scores stay."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from truerisk.core.errors import BadData
from truerisk.methods.bayesian.priors import check_prior, class_priors
from truerisk.methods.bayesian.rule_errors import RuleErrors
from truerisk.methods.bayesian.scaled_rows import ScaledRows
from truerisk.plan.extras.linear_rules import LinearRules

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(5, [1, 20, 0.1, 3], size=(12, 4)), 3)
X[:, 3] = 7.0
X[X[:, 1] < 0, 1] = 0.0
CODES = np.arange(12) % 3 % 2
SLOPES = np.array([[1.0, -0.2, 3.0, 0.5], [0.0, 0.1, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
STARTS = np.array([-1.0, 2.0, 0.5])


def test_scores_are_the_same_in_both_units():
    """β0 + βᵀx is β0' + β'ᵀz for z with mean 0 and variance 1; a constant column is in β0'."""
    rows = ScaledRows.of(X, CODES, standardize=True)
    scale = np.where(rows.scale > 0, rows.scale, 1)
    z = (X - rows.centre) / scale
    expected = z @ rows.slopes(SLOPES).T + rows.intercepts(SLOPES, STARTS)
    for code in (0, 1):
        found = rows.scores(SLOPES, STARTS, code)
        assert found == pytest.approx(expected[code == CODES].T)
    assert rows.scale[3] == 0
    assert (rows.slopes(SLOPES)[:, 3] == 0).all()


def test_traces_add_the_selected_scatters():
    """The scatter of a class about its mean, over the columns that a rule uses."""
    rows = ScaledRows.of(X, CODES, standardize=True)
    z = (X - X.mean(axis=0))[:, :3] / X.std(axis=0)[:3]
    of_class = z[CODES == 1]
    scatter = ((of_class - of_class.mean(axis=0)) ** 2).sum(axis=0)
    selected = rows.slopes(SLOPES) != 0
    assert rows.traces(selected, 1) == pytest.approx([scatter.sum(), scatter[1], 0])


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("prior", ["proper", "improper", "empirical"])
def test_sparse_rows_are_as_good_as_dense(prior, standardize):
    """The same posterior means and variances, without making the rows dense."""
    rules = LinearRules(0, np.arange(3), SLOPES[:, None], STARTS[:, None])
    found, n = [], X.shape[1]
    given = dict.fromkeys(("kappa", "nu", "scale", "mean"))
    priors = None if prior == "improper" else class_priors(prior, given, [0, 1], n, n)
    for table in (X, csr_matrix(X)):
        rows = ScaledRows.of(table, CODES, standardize=standardize)
        errors = RuleErrors.of(rows, rules, (0, 1), (0.4, 0.6), priors)
        found.append([errors.log_means(), errors.variances])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_an_unknown_prior_is_refused():
    """There are five words."""
    for word in ("proper", "improper", "flat", "jeffreys", "empirical"):
        check_prior(word)
    with pytest.raises(BadData, match="'uniform' is unknown"):
        check_prior("uniform")
