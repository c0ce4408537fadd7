"""Table 3: who chooses the better cost of a support vector machine."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers import bee_table_3 as module
from truerisk.papers import reproduce
from truerisk.papers.bee_table_3 import NAMES, SIZES, bee_table_3


@pytest.fixture
def report(monkeypatch):
    monkeypatch.setattr(module, "SIZES", SIZES[:1] * 4)
    return reproduce("bee-table-3", replicates=3, seed=1)


def test_every_choice_is_compared(report):
    """Four tables, the document beside ours, and the standard deviations."""
    tables = report.findings.tables
    assert len(tables) == 6
    assert [row.name for row in tables[0].rows] == [*NAMES, "oracle"]
    assert [name for name, _ in tables[5].rows] == [*NAMES]
    errors = {row.name: row.ours for row in tables[0].rows}
    assert all(errors["oracle"] <= errors[name] < 0.3 for name in NAMES)


def test_signs_are_judged():
    """What the text says of the table holds for draws made so, and else not."""
    rng = np.random.default_rng(0)

    def drawn(means, spread):
        return np.array(means) + spread * rng.normal(size=(60, 4))

    draws = {
        "CV-5": drawn([0.09, 0.075, 0.065, 0.052], 0.005),
        "CV-10": drawn([0.09, 0.075, 0.065, 0.052], 0.005),
        "BEEp": drawn([0.106, 0.081, 0.064, 0.048], 0.004),
        "BEEi": drawn([0.083, 0.068, 0.059, 0.057], 0.001),
        "oracle": drawn([0.05] * 4, 0.0),
    }
    assert {claim.verdict for claim in bee_table_3.findings(draws).claims} == {"holds"}
    draws["BEEi"] = drawn([0.12, 0.12, 0.12, 0.04], 0.01)
    verdicts = [claim.verdict for claim in bee_table_3.findings(draws).claims]
    assert verdicts == ["does not hold"] * 4 + ["holds"] * 3 + ["does not hold"]
