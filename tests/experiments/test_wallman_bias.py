"""Why a chosen classifier's error is too small; the posteriors of Wallman's tests."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.experiments.experiment import stream
from truerisk.experiments.wallman_bias import (
    FRESH,
    KS,
    REPORTED,
    TRUE,
    UNSELECTED,
    N,
    _held_with,
    wallman_bias,
)


def test_a_replicate_is_a_risk_curve_and_fresh_rows():
    """Leave-one-out of every k as a user finds it; k = 7 on the fresh rows by hand."""
    found = wallman_bias.replicate(0, 3)
    make = tr.datasets.make_simple
    for n, word in ((N, "wallman bias"), (100, "wallman bias 100")):
        rng = stream(word, 0, 3)
        both = n // 2, FRESH[n]
        sample, fresh = (make((m, m), shuffle=False, random_state=rng) for m in both)
        grid = {"n_neighbors": range(1, n - 1)}
        curve = tr.risk_curve(KNeighborsClassifier(), grid, *sample, cv="loo")
        chosen, estimates, true = np.split(found[f"{n} rows"], [1, n - 1])
        assert estimates == pytest.approx(curve.values)
        assert chosen == curve.best
        for k in (7, 1 + curve.best):
            rule = KNeighborsClassifier(k).fit(*sample)
            assert true[k - 1] == pytest.approx(1 - rule.score(*fresh))


def test_the_bias_falls_with_the_rows(draws_of):
    """Sizes stand in their order, 50 rows among them; of equal biases nothing is said."""
    draws = dict(draws_of("wallman-bias"))
    draws |= {f"{n} rows": draws["20 rows"] for n in (100, 200)}
    findings = wallman_bias.findings(draws)
    (grid,) = [table for table in findings.tables if table.title.startswith("bias by rows")]
    assert grid.columns == ("n = 20", "n = 50", "n = 100", "n = 200")
    estimates, true = np.split(draws[f"{N} rows"][:, 1:], 2, axis=1)
    taken = true[np.arange(30), estimates.argmin(axis=1)] - estimates.min(axis=1)
    assert grid.rows[0].means[1] == pytest.approx(taken.mean())
    assert findings.claims[4].verdict == "undecided"
    worse = np.repeat([0, 1], [19, 18])  # the true errors alone
    wide = {
        f"{n} rows": draws["20 rows"] + by * worse for n, by in ((20, 1), (100, 0.5), (200, -1))
    }
    claim = wallman_bias.findings(draws | wide).claims[4]
    assert [round(quantity.value, 9) for quantity in claim.quantities][::2] == [2, 1.5]
    assert claim.verdict == "holds"


def test_what_is_reported_is_too_small(findings_of):
    """Known with 30 data sets already; that eq. 7 is nearly unbiased takes more."""
    rows = {row.name: row.ours for row in findings_of("wallman-bias").tables[0].rows}
    assert rows[REPORTED] + 0.02 < rows[TRUE]
    assert rows[TRUE] == pytest.approx(rows[UNSELECTED], abs=0.04)
    verdicts = [claim.verdict for claim in findings_of("wallman-bias").claims]
    assert verdicts[0] == "holds"
    assert "does not hold" not in verdicts
    unbiased = findings_of("wallman-bias").claims[2]  # no tolerance: a bias of 6 errors refutes it
    assert unbiased.text.endswith("are unbiased")
    assert str(unbiased.quantities[0]).endswith("claimed 0")


def test_the_distributions_are_drawn_whole(findings_of):
    """Shares of the bins add to 1, and a reported .14 stands at .14."""
    distributions, by_k, shares = findings_of("wallman-bias").figures[0].panels
    for line in distributions.series:
        assert line.y.sum() == pytest.approx(1, abs=0.02)
    reported = distributions.series[0]
    rows = {row.name: row.ours for row in findings_of("wallman-bias").tables[0].rows}
    assert reported.x @ reported.y == pytest.approx(rows[REPORTED], abs=1e-6)
    assert len(by_k.series) == 3
    assert shares.series[0].y.sum() == pytest.approx(1)
    assert np.array_equal(shares.series[0].x, list(KS))


def test_every_measure_is_exact(findings_of):
    """Bounds, far tails and second moments within half a unit of the tenth digit."""
    rows = findings_of("wallman-posterior").tables[0].rows
    assert len(rows) == 12
    assert all(abs(row.difference) <= 1.1 for row in rows)


def test_a_95_percent_statement_is_true_in_95_percent(findings_of):
    """Bound and interval, with 60 and with 150 test rows, within 3.5 standard errors."""
    rows = findings_of("wallman-posterior").tables[1].rows
    assert [row.reference for row in rows] == [0.95] * 4
    assert all(abs(row.difference) < 3.5 for row in rows)


def test_the_bound_of_a_wrong_size_is_computed():
    """By plain sums: with the test rows as n it holds in 95 of 100 tests, with more rows in few."""
    from scipy.stats import beta

    for n, held in ((60, 0.95), (150, 0.0561)):
        found = [
            beta.cdf(beta.ppf(0.95, e + 1, n - e + 1), e + 1, 60 - e + 1) for e in range(60 + 1)
        ]
        assert _held_with(n, 60) == pytest.approx(np.mean(found), abs=1e-9)
        assert _held_with(n, 60) == pytest.approx(held, abs=1e-4)


def test_a_square_has_no_third_difference(findings_of):
    """Nothing but rounding is left of the cost's, and an exponential would have one."""
    (cost,) = findings_of("wallman-posterior").claims[1].quantities
    assert cost.value == pytest.approx(0, abs=1e-9)
    assert findings_of("wallman-posterior").claims[1].verdict == "does not hold"


def test_the_densities_are_drawn(findings_of):
    """One line for each pair of counts."""
    (figure,) = findings_of("wallman-posterior").figures
    assert [series.label for series in figure.panels[0].series] == [
        "0 of 60",
        "6 of 60",
        "15 of 150",
        "30 of 60",
    ]
