"""Figure 4 shows the data sets of Table 1."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers import reproduce
from truerisk.papers.running import draw_replicates
from truerisk.papers.wallman_figure_4 import wallman_figure_4
from truerisk.papers.wallman_table_1 import wallman_table_1


@pytest.fixture(scope="module")
def report():
    return reproduce("wallman-figure-4", replicates=30, seed=1)


def test_the_data_sets_are_those_of_table_1():
    """Seed for seed, number for number."""
    table, figure = (draw_replicates(e, 2, seed=3) for e in (wallman_table_1, wallman_figure_4))
    np.testing.assert_array_equal(table["internal"], figure["internal"])


def test_spreads_are_those_of_many_sets(report):
    """.047, .063 and .021, within 3.5 standard errors."""
    for row in report.findings.tables[0].rows:
        assert abs(row.difference) < 3.5, row


def test_internal_and_external_go_together(report):
    """More than either goes with the true error."""
    rows = {row.name: row.ours for row in report.findings.tables[1].rows}
    assert rows["internal and external"] > 0.6
    assert rows["internal and external"] > max(rows["external and true"], rows["internal and true"])


def test_three_panels_count_points(report):
    """(a), (b), (c), one point for each data set."""
    (figure,) = report.findings.figures
    assert [panel.kind for panel in figure.panels] == ["counts"] * 3
    assert all(len(panel.series[0].x) == 30 for panel in figure.panels)
