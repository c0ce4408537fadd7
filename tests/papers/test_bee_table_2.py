"""Table 2: who chooses the better penalty, by sample size."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers import reproduce
from truerisk.papers.bee_choosing import ORACLE, SHORT
from truerisk.papers.bee_table_2 import NAMES, SIZES, bee_table_2


@pytest.fixture(scope="module")
def report():
    return reproduce("bee-table-2", replicates=3, seed=1)


def test_every_choice_is_compared_at_every_size(report):
    """Four tables against the same recipe, and one beside the document."""
    tables = report.findings.tables
    assert [table.title for table in tables[:4]] == [f"n = {n}" for n in SIZES]
    assert [row.name for row in tables[0].rows] == [*NAMES, "oracle"]
    assert {row.verdict for row in tables[4].rows} == {"not printed"}
    assert len(report.findings.claims) == 8


def test_no_choice_beats_the_oracle():
    """The oracle is the least true error on the path."""
    draws = bee_table_2.replicate(0, 0)
    for name in NAMES:
        assert (draws[name] >= draws["oracle"]).all()


def test_signs_are_judged():
    """BEEp below CV-5 everywhere, BEEi below it for few rows and above it for many: all hold."""
    rng = np.random.default_rng(0)
    base = 0.1 + 0.001 * rng.normal(size=(50, 4))
    draws = {**dict.fromkeys((*NAMES, ORACLE), base), SHORT: np.zeros((50, 4))}
    draws |= {"BEEp": base - 0.01 + 0.001 * rng.normal(size=(50, 4))}
    draws |= {"BEEi": base + [-0.01, -0.01, 0.01, 0.01] + 0.001 * rng.normal(size=(50, 4))}
    assert [c.verdict for c in bee_table_2.findings(draws).claims] == ["holds"] * 8
    draws |= {"BEEp": base + 0.01, "BEEi": base}
    verdicts = [c.verdict for c in bee_table_2.findings(draws).claims]
    assert verdicts == ["does not hold"] * 4 + ["not decided"] * 4
