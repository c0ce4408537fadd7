"""Bootstrap samples of one data set, their trees, and three estimates made of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import truerisk as tr
from truerisk.papers import reproduce
from truerisk.papers.insa_bootstrap import FINE, LEAF, SAMPLES, N, insa_bootstrap


@pytest.fixture(scope="module")
def report():
    return reproduce("insa-bootstrap", replicates=12, seed=0)


def test_curves_are_those_of_the_samples_trees():
    """Of all rows, and of the rows of the first sample with their copies."""
    found = insa_bootstrap.replicate(0, 2)
    x, y = found["x"][:, None], found["y"]
    for rows, line in zip((np.arange(N), found["rows"][0]), found["lines"], strict=False):
        tree = DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=0)
        times = np.bincount(rows, minlength=N)
        tree.fit(np.repeat(x, times, axis=0), np.repeat(y, times))
        assert (np.abs(tree.predict(FINE[:, None]) - line) < 1e-9).mean() > 0.99


def test_estimates_are_a_user_s():
    """.632 is .368 training + .632 out of bag, and the training error that of the apparent."""
    found = insa_bootstrap.replicate(0, 1)
    assert found[".632"] == pytest.approx(0.368 * found["training"] + 0.632 * found["oob"])
    tree = DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=0)
    x, y = found["x"][:, None], found["y"]
    apparent = tr.estimate_risk(tree, x, y, method="apparent")
    assert found["training"] == pytest.approx(apparent.value)
    other = tr.estimate_risk(tree, x, y, method=tr.methods.Bootstrap("oob", SAMPLES))
    assert found["oob"] == pytest.approx(other.value, rel=0.3)
    assert found["training"] < found["bootstrap"] < found["oob"]


def test_what_is_known_from_few_data_sets(report):
    """Err_boot flatters; nothing is refuted."""
    verdicts = [claim.verdict for claim in report.findings.claims]
    assert verdicts[0] == "holds"
    assert "does not hold" not in verdicts


def test_points_of_a_sample_grow_with_their_copies(report):
    """As many points as the sample has distinct rows, in sizes that rise."""
    panels = report.findings.figures[0].panels
    assert len(panels) == 3
    points = [line for line in panels[1].series if line.size is not None]
    sizes = [line.size for line in points]
    assert sizes == sorted(sizes)
    copies = np.round((np.array(sizes) / 3.0) ** 2)
    assert sum(n * len(line.x) for n, line in zip(copies, points, strict=True)) == N
