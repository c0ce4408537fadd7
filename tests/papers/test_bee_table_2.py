"""Table 2: who chooses the better penalty, by sample size."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers import reproduce
from truerisk.papers.bee_choosing import ORACLE, SHORT
from truerisk.papers.bee_table_2 import NAMES, NOISE, SIZES, _column, bee_table_2


@pytest.fixture(scope="module")
def report():
    return reproduce("bee-table-2", replicates=2, seed=1)


def test_every_choice_is_compared_at_every_size(report):
    """Four tables against the same recipe, and four beside the document by noise features."""
    tables = report.findings.tables
    for place, n in enumerate(SIZES):
        assert tables[place].title.startswith(f"n = {n},")
        assert [row.name for row in tables[place].rows] == [*NAMES, ORACLE]
        assert tables[4 + place].columns == tuple(map(str, NOISE))
        means = [row.ours for row in tables[place].rows]
        assert [told[0][0] for _, told in tables[4 + place].rows] == means
    assert tables[4].rows[2][0] == "BEEp (document: .132 .148 .176 .207)"


def test_no_choice_beats_the_oracle():
    """The oracle is the least true error on the path, with any number of noise features."""
    draws = bee_table_2.replicate(0, 0)
    for column in ("", "250 noise features "):
        for name in NAMES:
            assert (draws[column + name] >= draws[column + ORACLE]).all()


@pytest.fixture
def draws():
    """Twice 50 training sets alike, EBIC worse with much noise; BEE is set by the tests."""
    rng = np.random.default_rng(0)
    base = 0.1 + 0.001 * rng.normal(size=(50, 4))
    names = (*NAMES, ORACLE)
    every = {f"{_column(noise)} {name}".strip(): base for noise in NOISE for name in names}
    every |= {f"{_column(noise)} {SHORT}".strip(): np.zeros((50, 4)) for noise in NOISE}
    return every | {f"{_column(250)} EBIC": base + 0.3}


def test_signs_are_judged(draws):
    """BEEp below CV-5 everywhere, BEEi below it for few rows and above it for many: all hold."""
    rng, base = np.random.default_rng(1), draws["CV-5"]
    draws |= {"BEEp": base - 0.01 + 0.001 * rng.normal(size=(50, 4))}
    draws |= {"BEEi": base + [-0.01, -0.01, 0.01, 0.01] + 0.001 * rng.normal(size=(50, 4))}
    assert [c.verdict for c in bee_table_2.findings(draws).claims[:8]] == ["holds"] * 8
    draws |= {"BEEp": base + 0.01, "BEEi": base}
    verdicts = [c.verdict for c in bee_table_2.findings(draws).claims[:8]]
    assert verdicts == ["does not hold"] * 4 + ["not decided"] * 4


def test_noise_features_are_judged(draws):
    """Each number of them by its own column."""
    draws[f"{_column(30)} BEEi"] = draws["CV-5"] - 0.01
    claims = bee_table_2.findings(draws).claims[8:]
    assert [c.verdict for c in claims] == [
        "not decided", "holds", *["not decided"] * 4, "holds",
    ]  # fmt: skip
    assert claims[1].text == "30 noise features: BEEi lies below CV-5 at n = 28"
    assert "+0.1000" in claims[-1].evidence
    assert "+0.4000" in claims[-1].evidence
