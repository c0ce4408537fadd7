"""Figure 1 on 60 trials: the numbers of 2000 lie within 3.5 standard errors."""

from __future__ import annotations

import pytest

from truerisk.papers import reproduce
from truerisk.papers.statements import Claim


@pytest.fixture(scope="module")
def report():
    return reproduce("kearns-figure-1", replicates=60, seed=1)


def test_risks_and_biases_are_the_known_ones(report):
    """At k = 4, 10, 20, 60, and at k = 10 for the four noise levels."""
    risks, biases = report.findings.tables
    assert (len(risks.rows), len(biases.rows)) == (12, 8)
    for row in (*risks.rows, *biases.rows):
        assert abs(row.difference) < 3.5, row


def test_what_the_document_says_of_the_bias_holds(report):
    """Nearly parallel; over, more over; about equal and under are beyond 60 trials."""
    verdicts = [claim.verdict for claim in report.findings.claims]
    assert verdicts[1:3] == ["holds"] * 2
    assert "does not hold" not in verdicts
    near = report.findings.claims[3].quantities[0]
    assert near.claim == Claim.near(0.0, 0.02)


def test_two_panels_of_three_curves(report):
    """Error rates on the left, biases on the right, along 60 numbers of intervals."""
    (figure,) = report.findings.figures
    assert [len(panel.series) for panel in figure.panels] == [3, 3]
    assert len(figure.panels[0].series[0].x) == 60
