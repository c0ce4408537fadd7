"""Table 4: four classes, two learners."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers import bee_table_4 as module
from truerisk.papers import reproduce
from truerisk.papers.bee_choosing import SHORT
from truerisk.papers.bee_table_4 import LEARNERS, PAPER, bee_table_4


@pytest.fixture
def report(monkeypatch):
    monkeypatch.setattr(module, "SIZES", (40, 40, 40, 40))
    monkeypatch.setattr(module, "TEST_ROWS", 400)
    return reproduce("bee-table-4", replicates=2, seed=1)


def test_both_learners_are_compared(report):
    """A grid each, the oracle least; and the document beside ours."""
    logistic, machine, printed = report.findings.tables
    assert [name for name, _ in logistic.rows] == [*LEARNERS["LR"][1], "oracle"]
    assert [name for name, _ in machine.rows] == [*LEARNERS["SVM"][1], "oracle"]
    assert {row.verdict for row in printed.rows} == {"not printed"}
    for grid in (logistic, machine):
        *others, oracle = [told[0][0] for _, told in grid.rows]
        assert min(others) >= oracle > 0.05


def test_signs_are_judged():
    """The document's own means, with its spreads, hold; with the roles changed they do not."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(100, 4))  # alike for all: the gaps are what is printed
    draws = {f"LR {name}": np.full((100, 4), 0.5) for name in ("CV-10", "EBIC", "oracle")}
    draws |= {"SVM oracle": np.full((100, 4), 0.05), f"LR {SHORT}": np.zeros((100, 4))}
    for name, told in PAPER.items():
        means, spreads = zip(*[map(float, cell.split(" ± ")) for cell in told])
        draws[name] = np.array(means) + noise * spreads + 1e-3 * rng.normal(size=(100, 4))
    verdicts = [claim.verdict for claim in bee_table_4.findings(draws).claims]
    assert verdicts[:-1] == ["holds"] * 11
    swapped = {**draws, "LR BEEp": draws["LR CV-5"], "LR CV-5": draws["LR BEEp"]}
    verdicts = [claim.verdict for claim in bee_table_4.findings(swapped).claims]
    assert verdicts[:3] == ["does not hold"] * 3
