"""002, Table 4: who chooses the better penalty or cost with four classes."""

from __future__ import annotations

import numpy as np

from truerisk.papers import bee_four_classes, reproduce
from truerisk.papers.bee_choosing import SHORT
from truerisk.papers.bee_four_classes import LEARNERS, PAPER, bee_table_4


def test_both_learners_are_compared(monkeypatch):
    """A grid each, the oracle least; and the document beside ours."""
    monkeypatch.setattr(bee_four_classes, "SIZES", (40, 40, 40, 40))
    monkeypatch.setattr(bee_four_classes, "TEST_ROWS", 400)
    logistic, machine, printed = reproduce("bee-table-4", replicates=2, seed=1).tables
    assert [row.name for row in logistic.rows] == [*LEARNERS["LR"][1], "oracle"]
    assert [row.name for row in machine.rows] == [*LEARNERS["SVM"][1], "oracle"]
    assert {row.verdict for row in printed.rows} == {"not printed"}
    for grid in (logistic, machine):
        *others, oracle = [row.means[0] for row in grid.rows]
        assert min(others) >= oracle > 0.05


def test_signs_of_four_classes_are_judged():
    """The document's own means, with its spreads, hold; with the roles changed they do not."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(100, 4))  # alike for all: the gaps are what is printed
    draws = {f"LR {name}": np.full((100, 4), 0.5) for name in ("CV-10", "EBIC", "oracle")}
    draws |= {"SVM oracle": np.full((100, 4), 0.05), f"LR {SHORT}": np.zeros((100, 4))}
    for name, cells in PAPER.items():
        means, spreads = zip(*[map(float, cell.split(" ± ")) for cell in cells])
        draws[name] = np.array(means) + noise * spreads + 1e-3 * rng.normal(size=(100, 4))
    verdicts = [claim.verdict for claim in bee_table_4.findings(draws).claims]
    assert verdicts[:-1] == ["holds"] * 11
    swapped = {**draws, "LR BEEp": draws["LR CV-5"], "LR CV-5": draws["LR BEEp"]}
    verdicts = [claim.verdict for claim in bee_table_4.findings(swapped).claims]
    assert verdicts[:3] == ["does not hold"] * 3
