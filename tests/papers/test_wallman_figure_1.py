"""Four problems as points, and their Bayes risks by counting."""

from __future__ import annotations

import pytest

from truerisk.papers import reproduce


@pytest.fixture(scope="module")
def report():
    return reproduce("wallman-figure-1", replicates=12, seed=0)


def test_counting_agrees_with_the_formula(report):
    """The error of the best rule, within 3.5 standard errors, in all four problems."""
    (table,) = report.findings.tables
    assert len(table.rows) == 4
    for row in table.rows:
        assert abs(row.difference) < 3.5, row


def test_a_panel_of_2000_points_for_each_problem(report):
    """1000 of each class, of the first replicate, and no two panels alike."""
    (figure,) = report.findings.figures
    assert len(figure.panels) == 4
    seen = {tuple(line.x[:3]) for panel in figure.panels for line in panel.series}
    assert len(seen) == 8
    assert all(len(line.x) == 1000 for panel in figure.panels for line in panel.series)
