"""Why a chosen classifier's error is too small: the estimates by which it was taken are lucky."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.papers import reproduce
from truerisk.papers.experiment import stream
from truerisk.papers.wallman_bias import KS, PER_CLASS, TEST_PER_CLASS, wallman_bias


@pytest.fixture(scope="module")
def report():
    return reproduce("wallman-bias", replicates=30, seed=0)


def test_a_replicate_is_a_risk_curve_and_fresh_rows():
    """Leave-one-out of every k as a user finds it; k = 7 on the fresh rows by hand."""
    found = wallman_bias.replicate(0, 3)
    rng = stream("wallman bias", 0, 3)
    make = tr.datasets.make_simple
    sample = make((PER_CLASS, PER_CLASS), shuffle=False, random_state=rng)
    fresh = make((TEST_PER_CLASS, TEST_PER_CLASS), shuffle=False, random_state=rng)
    grid = {"n_neighbors": KS}
    curve = tr.risk_curve(KNeighborsClassifier(), grid, *sample, method="loo")
    assert found["estimates"] == pytest.approx(curve.values)
    assert found["chosen"] == curve.best
    rule = KNeighborsClassifier(7).fit(*sample)
    assert found["true"][6] == pytest.approx(1 - rule.score(*fresh))


def test_what_is_reported_is_too_small(report):
    """Known with 30 data sets already; that eq. 7 is nearly unbiased takes more."""
    rows = {row.name: row.ours for row in report.findings.tables[0].rows}
    assert rows["reported, equation 6"] + 0.02 < rows["true, equation 5"]
    assert rows["true, equation 5"] == pytest.approx(rows["unselected, equation 7"], abs=0.04)
    verdicts = [claim.verdict for claim in report.findings.claims]
    assert verdicts[0] == "holds"
    assert "does not hold" not in verdicts


def test_the_distributions_are_drawn_whole(report):
    """Shares of the bins add to 1, and a reported .14 stands at .14."""
    distributions, by_k, shares = report.findings.figures[0].panels
    for line in distributions.series:
        assert line.y.sum() == pytest.approx(1, abs=0.02)
    reported = distributions.series[0]
    rows = {row.name: row.ours for row in report.findings.tables[0].rows}
    assert reported.x @ reported.y == pytest.approx(rows["reported, equation 6"], abs=1e-6)
    assert len(by_k.series) == 3
    assert shares.series[0].y.sum() == pytest.approx(1)
    assert np.array_equal(shares.series[0].x, list(KS))
