"""The posteriors of Wallman's tests: exact measures, statements that are true as often as said."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers import reproduce
from truerisk.papers.wallman_posterior import _held_with, _third_difference


@pytest.fixture(scope="module")
def report():
    return reproduce("wallman-posterior", replicates=100, seed=1)


def test_every_measure_is_exact(report):
    """Bounds, far tails and second moments within half a unit of the tenth digit."""
    rows = report.findings.tables[0].rows
    assert len(rows) == 12
    assert all(abs(row.difference) <= 1.1 for row in rows)


def test_a_95_percent_statement_is_true_in_95_percent(report):
    """Bound and interval, with 60 and with 150 test rows, within 3.5 standard errors."""
    rows = report.findings.tables[1].rows
    assert [row.reference for row in rows] == [0.95] * 4
    assert all(abs(row.difference) < 3.5 for row in rows)


def test_what_the_document_errs_in_is_said(report):
    """The size in the posterior and the kind of cost do not hold, the reward of rows does."""
    verdicts = [claim.verdict for claim in report.findings.claims]
    assert verdicts == ["does not hold", "does not hold", "holds"]


def test_the_bound_of_a_wrong_size_is_computed():
    """By plain sums: with the test rows as n it holds in 95 of 100 tests, with more rows in few."""
    from scipy.stats import beta

    for n, held in ((60, 0.95), (150, 0.0561)):
        found = [
            beta.cdf(beta.ppf(0.95, e + 1, n - e + 1), e + 1, 60 - e + 1) for e in range(60 + 1)
        ]
        assert _held_with(n, 60) == pytest.approx(np.mean(found), abs=1e-9)
        assert _held_with(n, 60) == pytest.approx(held, abs=1e-4)
    assert _third_difference(60) == pytest.approx(0, abs=1e-9)


def test_the_densities_are_drawn(report):
    """One line for each pair of counts."""
    (figure,) = report.findings.figures
    assert [series.label for series in figure.panels[0].series] == [
        "0 of 60",
        "6 of 60",
        "15 of 150",
        "30 of 60",
    ]
