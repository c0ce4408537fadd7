"""Rows in standard units: a rule is put in their units, and its scores stay."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from truerisk.extend import LinearRules
from truerisk.methods.bayesian.priors import class_priors
from truerisk.methods.bayesian.rule_errors import RuleErrors
from truerisk.methods.bayesian.scaled_rows import ScaledRows

X = np.round(np.random.default_rng(0).normal(5, [1, 20, 0.1, 3], size=(12, 4)), 3)
X[:, 3] = 7.0
X[X[:, 1] < 0, 1] = 0.0
CODES = np.arange(12) % 3 % 2
SLOPES = np.array([[1.0, -0.2, 3.0, 0.5], [0.0, 0.1, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
STARTS = np.array([-1.0, 2.0, 0.5])
ROWS = ScaledRows.from_array(X, CODES, standardize=True)


def test_scaled_rows_have_the_same_scores_in_both_units():
    """β0 + βᵀx is β0' + β'ᵀz for z with mean 0 and variance 1; a constant column is in β0'."""
    z = (X - ROWS.centre) / np.where(ROWS.scale > 0, ROWS.scale, 1)
    expected = z @ ROWS.slopes(SLOPES).T + ROWS.intercepts(SLOPES, STARTS)
    for code in (0, 1):
        found = ROWS.scores(SLOPES, STARTS, code)
        assert found == pytest.approx(expected[code == CODES].T)
    assert ROWS.scale[3] == 0
    assert (ROWS.slopes(SLOPES)[:, 3] == 0).all()


def test_scaled_rows_traces_add_the_scatters_of_the_columns_that_a_rule_uses():
    of_class = ((X - X.mean(axis=0))[:, :3] / X.std(axis=0)[:3])[CODES == 1]
    scatter = ((of_class - of_class.mean(axis=0)) ** 2).sum(axis=0)
    found = ROWS.traces(ROWS.slopes(SLOPES) != 0, 1)
    assert found == pytest.approx([scatter.sum(), scatter[1], 0])


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("prior", ["proper", "improper", "empirical"])
def test_scaled_rows_give_sparse_rows_the_posterior_of_dense_ones(prior, standardize):
    rules, found = LinearRules(0, np.arange(3), SLOPES[:, None], STARTS[:, None]), []
    given = dict.fromkeys(("kappa", "nu", "scale", "mean"))
    priors = None if prior == "improper" else class_priors(prior, given, [0, 1], 4, 4)
    for table in (X, csr_matrix(X)):
        rows = ScaledRows.from_array(table, CODES, standardize=standardize)
        errors = RuleErrors.from_rows(rows, rules, (0, 1), (0.4, 0.6), priors)
        found.append([errors.log_means(), errors.variances])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)
