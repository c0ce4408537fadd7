"""The posteriors of Wallman's tests: exact measures, statements that are true as often as said."""

from __future__ import annotations

import pytest

from truerisk.papers import reproduce


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


def test_the_densities_are_drawn(report):
    """One line for each pair of counts."""
    (figure,) = report.findings.figures
    assert [series.label for series in figure.panels[0].series] == [
        "0 of 60",
        "6 of 60",
        "15 of 150",
        "30 of 60",
    ]
