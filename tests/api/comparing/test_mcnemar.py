"""McNemar's test: R's numbers, exact binomials, rows that are no trials."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.errors import Refusal


def losses(both, a_alone, b_alone, neither):
    """Losses of two rules with these counts."""
    counts = [both, a_alone, b_alone, neither]
    return np.repeat([1, 1, 0, 0], counts), np.repeat([1, 0, 1, 0], counts)


# Rscript -e 'options(digits=15); m <- mcnemar.test(matrix(c(794,86,150,570),2))
#   k <- mcnemar.test(matrix(c(50,8,3,20),2)); cat(m$statistic, m$p.value,
#   binom.test(86,236)$p.value, k$statistic, k$p.value, binom.test(3,11)$p.value)'
@pytest.mark.parametrize(
    ("counts", "exact", "chi2", "p"),
    [
        ((570, 86, 150, 794), 3.71593613957143e-05, 16.8177966101695, 4.11456228134594e-05),
        ((20, 8, 3, 50), 0.2265625, 1.45454545454545, 0.227799993988229),
    ],
)
def test_the_numbers_of_r(counts, exact, chi2, p) -> None:
    """The exact p-value, and the chi-square with continuity correction and its p-value."""
    found = tr.compare(*losses(*counts), test="mcnemar")
    assert found.p_value == pytest.approx(exact, rel=1e-11)
    assert found.details["chi-square, corrected"] == pytest.approx(chi2, rel=1e-12)
    assert found.details["its p-value"] == pytest.approx(p, rel=1e-11)
    assert found.difference == (counts[1] - counts[2]) / sum(counts)
    assert (found.details["a alone wrong"], found.details["b alone wrong"]) == counts[1:3]


def test_equal_counts_are_no_difference() -> None:
    """As many errors of either alone: p = 1, not more."""
    assert tr.compare(*losses(3, 4, 4, 3), test="mcnemar").p_value == 1
    assert tr.compare(*losses(3, 1, 0, 3), test="mcnemar").p_value == 1


def test_rules_that_err_alike_have_no_p_value() -> None:
    """Without a row on which they differ nothing is said: None and a note."""
    found = tr.compare(*losses(3, 0, 0, 5), test="mcnemar")
    assert (found.difference, found.p_value) == (0, None)
    assert "nothing tells them apart" in found.notes[0]


def test_estimates_of_one_hold_out() -> None:
    """Losses, rows and difference come from the estimates; nothing is assumed of training sets."""
    X, y = tr.datasets.make_difficult(90, random_state=0)
    a, b = (
        tr.estimate_risk(model, X, y, method="holdout")
        for model in (GaussianNB(), KNeighborsClassifier(1))
    )
    found = tr.compare(a, b, test="mcnemar")
    assert found.difference == pytest.approx(a.value - b.value, abs=1e-15)
    assert (found.n_pairs, found.loss) == (30, "zero-one")
    assert len(found.assumed) == 1


def test_after_cross_validation_the_rules_are_assumed_fixed() -> None:
    """The variation over training sets is not in the p-value, and it is said."""
    X, y = tr.datasets.make_difficult(60, random_state=0)
    a, b = (tr.estimate_risk(KNeighborsClassifier(k), X, y) for k in (1, 9))
    assert "taken as fixed" in tr.compare(a, b, test="mcnemar").assumed[1]


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("2x5-fold", {}, "tests rows repeatedly"),
        ("5-fold", {"groups": np.arange(60) // 2}, "one group depend"),
        ("5-fold", {"groups": np.arange(60) // 2, "interval": "bbc"}, "one group depend"),
        ("5-fold", {"loss": "brier"}, "must be 0 or 1"),
        ("5-fold", {"sample_weight": np.arange(1.0, 61)}, "weights"),
    ],
)
def test_rows_that_are_no_trials_are_refused(method, options, message) -> None:
    """Repeated tests, groups, weights and other losses, each with its reason."""
    X, y = tr.datasets.make_difficult(60, random_state=0)
    a, b = (
        tr.estimate_risk(model, X, y, method=method, **options)
        for model in (GaussianNB(), GaussianNB(var_smoothing=0.1))
    )
    with pytest.raises(Refusal, match=message):
        tr.compare(a, b, test="mcnemar")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"groups": np.arange(60) // 4}, "group"), ({"sample_weight": np.arange(1.0, 61)}, "weights")],
)
def test_a_rule_without_errors_hides_no_groups_or_weights(options, message) -> None:
    """The first rule has no interval and the mean 0 with any weights, and the rows still depend."""
    X, y = tr.datasets.make_difficult(60, random_state=0)
    X[:, 0] = 10 * y
    models = GaussianNB(), DecisionTreeClassifier(max_depth=1, max_features=1, random_state=0)
    a, b = (tr.estimate_risk(model, X, y, method="5-fold", **options) for model in models)
    assert a.value == 0
    assert a.interval is None
    with pytest.raises(Refusal, match=message):
        tr.compare(a, b, test="mcnemar")
    stored = tr.RiskEstimate.from_json(a.to_json())
    assert (stored.n_groups, stored.weighted) == (a.n_groups, a.weighted)
