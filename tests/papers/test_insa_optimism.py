"""Training error falls, test error turns; the gap at the same x's is 2 p sigma2 / n."""

from __future__ import annotations

import pytest

from truerisk.papers import reproduce


@pytest.fixture(scope="module")
def report():
    return reproduce("insa-optimism", replicates=40, seed=0)


def test_the_optimism_is_the_exact_one(report) -> None:
    """Within 3.5 standard errors at every degree shown."""
    for row in report.findings.tables[1].rows:
        assert abs(row.difference) < 3.5, row


def test_what_the_document_draws_holds(report) -> None:
    """Down; down and, in so few training sets, up by two standard errors; below."""
    verdicts = [claim.verdict for claim in report.findings.claims]
    assert verdicts == ["holds", "holds", "undecided", "undecided"]
    assert all(gap.value > 0 for gap in report.findings.claims[3].quantities)
    (rise,) = report.findings.claims[2].quantities
    assert rise.value > 2 * rise.std_error


def test_one_panel_of_thin_and_thick_lines(report) -> None:
    """Thirty training sets one by one, and the two means."""
    (figure,) = report.findings.figures
    assert len(figure.panels[0].series) == 2 * 30 + 2
