"""Figure 2: the criterion has its least mean near ten intervals."""

from __future__ import annotations

import pytest

from truerisk.papers import reproduce


@pytest.fixture(scope="module")
def report():
    return reproduce("kearns-figure-2", replicates=100, seed=1)


def test_the_document_s_claims_hold(report):
    """The empirical rate ends at 0; the criterion falls to k = 10 and grows after it."""
    assert [claim.verdict for claim in report.findings.claims] == ["holds"] * 3


def test_the_document_prints_no_numbers(report):
    """Ours stand alone."""
    (table,) = report.findings.tables
    assert {row.verdict for row in table.rows} == {"not printed"}


def test_three_trials_and_the_mean(report):
    """Two lines for each trial on the left, two on the right."""
    (figure,) = report.findings.figures
    assert [len(panel.series) for panel in figure.panels] == [6, 2]
