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


def said(draws):
    """Every sentence with its answer."""
    return {claim.text: claim.verdict for claim in bee_table_2.findings(draws).claims}


def test_every_printed_difference_is_judged(draws):
    """Of 32 pairs the two with equal means say nothing; equal errors here decide nothing."""
    found = said(draws)
    signs = [text for text in found if "(printed" in text]
    assert len(signs) == 30
    assert {found[text] for text in signs} == {"undecided"}
    for text in (
        "100 noise features: BEEp lies below CV-5 at n = 50 (printed .126 for BEEp, .130 for CV-5)",
        "6 noise features: CV-5 lies below BEEi at n = 200 (printed .062 for BEEi, .042 for CV-5)",
    ):
        assert text in signs


def test_signs_are_judged_by_their_own_column(draws):
    """With 100 noise features BEEp errs more, with 6 less."""
    base, noise = draws["CV-5"], 0.001 * np.random.default_rng(1).normal(size=(50, 4))
    draws |= {"BEEp": base - 0.01 + noise, f"{_column(100)} BEEp": base + 0.01 + noise}
    found = said(draws)
    for text, verdict in found.items():
        if "BEEp lies below CV-5" in text:
            column = int(text.split()[0])
            expected = {6: "holds", 100: "does not hold"}.get(column, "undecided")
            assert verdict == expected, text


def test_spreads_are_judged(draws):
    """BEEi has the least standard deviation, BEEp the second least: both sentences hold."""
    rng = np.random.default_rng(2)
    shape = (200, 4)
    many = {name: 0.1 + 0.02 * rng.normal(size=shape) for name in draws}
    for noise in NOISE:
        many[f"{_column(noise)} BEEi".strip()] = 0.1 + 0.002 * rng.normal(size=shape)
        many[f"{_column(noise)} BEEp".strip()] = 0.1 + 0.006 * rng.normal(size=shape)
    *_, least, second = bee_table_2.findings(many).claims
    assert (len(least.quantities), least.verdict, second.verdict) == (16, "holds", "holds")
    many["250 noise features BEEi"] = 0.1 + 0.05 * rng.normal(size=shape)
    assert bee_table_2.findings(many).claims[-2].verdict == "does not hold"


def test_ebic_is_judged(draws):
    """It errs more by .3 with 250 noise features."""
    (claim,) = [c for c in bee_table_2.findings(draws).claims if c.text.startswith("EBIC")]
    assert claim.verdict == "holds"
    assert claim.quantities[0].value == pytest.approx(0.3)
