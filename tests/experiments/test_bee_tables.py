"""002, Tables 2 and 3: who chooses the better penalty or cost."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.experiments import bee_tables, reproduce
from truerisk.experiments.bee_choosing import NAMES, ORACLE, SHORT, SIZES
from truerisk.experiments.bee_tables import (
    COLUMNS,
    FEW,
    MANY,
    NAMES_3,
    NAMES_4,
    ONE_SE,
    PAPER_4,
    bee_table_2,
    bee_table_3,
    bee_table_4,
)


def test_every_choice_is_compared_at_every_size(findings_of):
    """Four tables against the same recipe, and four beside the document by noise features."""
    tables = findings_of("bee-table-2").tables
    for place, n in enumerate(SIZES):
        assert tables[place].title.startswith(f"n = {n},")
        assert [row.name for row in tables[place].rows] == [*NAMES, ORACLE]
        assert tables[4 + place].columns == (*NAMES, ORACLE)
        assert len(tables[4 + place].rows) == len(COLUMNS) == 9
        means = [row.ours for row in tables[place].rows]
        assert list(tables[4 + place].rows[0].means) == means
    assert tables[4].rows[4].name == "30 (document: .163 .159 .148 .145 .187)"
    assert tables[7].rows[8].name == "250 (document: .067 .065 .062 .066 .063)"


def test_no_choice_beats_the_oracle():
    """It is the least true error on the path; by one standard error there are fewer features."""
    draws = bee_table_2.replicate(0, 0)
    for column, names in ((FEW, (*NAMES, "LOO")), (MANY, NAMES)):
        for name in names:
            assert (draws[f"{column} {name}"] >= draws[f"{column} {ORACLE}"]).all()
    fewer = draws[f"{FEW} CV-5 features"] - draws[f"{ONE_SE} CV-5 features"]
    assert (fewer >= 0).all()
    assert fewer.any()


@pytest.fixture
def draws():
    """Twice 50 training sets alike, EBIC worse with much noise; BEE is set by the tests."""
    rng = np.random.default_rng(0)
    base = 0.1 + 0.001 * rng.normal(size=(50, 4))
    names = (*NAMES, ORACLE)
    every = {f"{column} {name}": base for column in COLUMNS for name in names}
    every |= {f"{column} {SHORT}": np.zeros((50, 4)) for column in COLUMNS}
    every |= {f"{FEW} {name} estimate": base + 0.02 for name in ("CV-5", "BEEp")}
    every |= {f"{word} CV-5 features": 100 * base for word in (FEW, ONE_SE)}
    every[f"{ONE_SE} CV-5"] = base
    return every | {f"{MANY} EBIC": base + 0.3, f"{FEW} LOO": base}


def said(draws):
    """Every sentence with its answer."""
    return {claim.text: claim.verdict for claim in bee_table_2.findings(draws).claims}


def test_other_folds_are_alike_within_a_tolerance(draws):
    """Equal errors are alike; .004 above is for ten folds, not for n: and one size decides."""
    tens = "errors are very similar between CV-5 and CV-10: within 0.005"
    every = "of leave-one-out from CV-5 there is no significant difference"
    assert said(draws)[tens] == said(draws)[every] == "holds"
    above = draws[f"{FEW} LOO"] + np.array([0, 0, 0.004, 0])
    found = said(draws | {f"{FEW} LOO": above, f"{FEW} CV-10": above})
    assert (found[tens], found[every]) == ("holds", "does not hold")
    assert said(draws | {f"{FEW} CV-10": above + 0.002})[tens] == "does not hold"


def test_every_printed_difference_is_judged(draws):
    """Of 72 pairs the five with equal means say nothing; equal errors here decide nothing."""
    found = said(draws)
    signs = [text for text in found if "(printed" in text]
    assert len(signs) == 67
    assert {found[text] for text in signs} == {"undecided"}
    for text in (
        "100 noise features: BEEp lies below CV-5 at n = 50 (printed .126 for BEEp, .130 for CV-5)",
        "6 noise features: CV-5 lies below BEEi at n = 200 (printed .062 for BEEi, .042 for CV-5)",
    ):
        assert text in signs


def test_signs_are_judged_by_their_own_column(draws):
    """With 100 noise features BEEp errs more, with 6 less."""
    base, noise = draws[f"{FEW} CV-5"], 0.001 * np.random.default_rng(1).normal(size=(50, 4))
    draws |= {f"{FEW} BEEp": base - 0.01 + noise, "100 noise features BEEp": base + 0.01 + noise}
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
    for column in COLUMNS:
        many[f"{column} BEEi"] = 0.1 + 0.002 * rng.normal(size=shape)
        many[f"{column} BEEp"] = 0.1 + 0.006 * rng.normal(size=shape)
    *_, least, second = bee_table_2.findings(many).claims
    assert (len(least.quantities), least.verdict, second.verdict) == (36, "holds", "holds")
    many["250 noise features BEEi"] = 0.1 + 0.05 * rng.normal(size=shape)
    assert bee_table_2.findings(many).claims[-2].verdict == "does not hold"


def test_estimates_are_judged_by_their_own_rule(draws):
    """Above or below: CV-5's lies .02 from the error of its choice, BEEp's .01 or .03."""
    text = "BEEp can be more accurate in absolute terms than CV-5, in particular with small samples"
    assert said(draws)[text] == "undecided"
    noise = 0.001 * np.random.default_rng(3).normal(size=(50, 4))
    for by, verdict in ((-0.01, "holds"), (0.01, "holds"), (-0.03, "does not hold")):
        found = draws[f"{FEW} BEEp"] + by + noise
        assert said(draws | {f"{FEW} BEEp estimate": found})[text] == verdict
    (claim,) = [c for c in bee_table_2.findings(draws).claims if c.text == text]
    assert [quantity.value for quantity in claim.quantities] == pytest.approx([0] * 4)


def test_one_standard_error_is_judged(draws):
    """Two features fewer and .01 more errors: both sentences hold, and neither the other way."""
    sparser = "the rule of one standard error favours sparser solutions than the minimum"
    better = "choosing the minimum results in more accurate prediction"
    for sign, verdict in ((1, "holds"), (-1, "does not hold")):
        noise = 1 + 0.1 * np.random.default_rng(4).normal(size=(50, 4))
        moved = {
            f"{ONE_SE} CV-5 features": draws[f"{FEW} CV-5 features"] - 2 * sign * noise,
            f"{ONE_SE} CV-5": draws[f"{FEW} CV-5"] + 0.01 * sign * noise,
        }
        found = said(draws | moved)
        assert (found[sparser], found[better]) == (verdict, verdict)


def test_ebic_is_judged(draws):
    """It errs more by .3 with 250 noise features."""
    (claim,) = [c for c in bee_table_2.findings(draws).claims if c.text.startswith("EBIC")]
    assert claim.verdict == "holds"
    assert claim.quantities[0].value == pytest.approx(0.3)


def test_every_choice_of_machines_is_compared(findings_of):
    """Four tables, the document beside ours, and the standard deviations."""
    tables = findings_of("bee-table-3").tables
    assert len(tables) == 6
    assert [row.name for row in tables[0].rows] == [*NAMES_3, ORACLE]
    assert [row.name for row in tables[5].rows] == [*NAMES_3]
    errors = {row.name: row.ours for row in tables[0].rows}
    assert all(errors[ORACLE] <= errors[name] < 0.3 for name in NAMES_3)


def test_tables_are_drawn_beside_the_document(findings_of):
    """The same rows in both, the means of ours, and the document's as they are printed."""
    found = findings_of("bee-table-3")
    ours, theirs = found.figures[0].panels
    assert [one.label for one in ours.series] == [one.label for one in theirs.series]
    assert {panel.kind for panel in (ours, theirs)} == {"shades"}
    errors = {row.name: row.ours for row in found.tables[0].rows}
    assert {one.label: one.y[0] for one in ours.series} == pytest.approx(
        {name: errors[name] for name in ("CV-5", "BEEp", "BEEi")}
    )
    assert theirs.series[1].y == pytest.approx([0.106, 0.081, 0.064, 0.048])
    last = findings_of("bee-table-2").figures[0].panels[-1]
    assert [one.y[0] for one in last.series] == [0.208, 0.208, 0.207, 0.205, 0.437]


def test_signs_of_machines_are_judged():
    """What the text says of the table holds for draws made so, and else not."""
    rng = np.random.default_rng(0)

    def drawn(means, spread):
        return np.array(means) + spread * rng.normal(size=(60, 4))

    draws = {
        "SVM CV-5": drawn([0.09, 0.075, 0.065, 0.052], 0.005),
        "SVM CV-10": drawn([0.09, 0.075, 0.065, 0.052], 0.005),
        "SVM BEEp": drawn([0.106, 0.081, 0.064, 0.048], 0.004),
        "SVM BEEi": drawn([0.083, 0.068, 0.059, 0.057], 0.001),
        "SVM oracle": drawn([0.05] * 4, 0.0),
    }
    assert {claim.verdict for claim in bee_table_3.findings(draws).claims} == {"holds"}
    draws["SVM BEEi"] = drawn([0.12, 0.12, 0.12, 0.04], 0.01)
    verdicts = [claim.verdict for claim in bee_table_3.findings(draws).claims]
    assert verdicts == ["does not hold"] * 4 + ["holds"] * 3 + ["does not hold"]


def test_both_learners_are_compared(monkeypatch):
    """A grid each, the oracle least; and the document beside ours."""
    monkeypatch.setattr(bee_tables, "SIZES_4", (40, 40, 40, 40))
    monkeypatch.setattr(bee_tables, "TEST_ROWS", 400)
    logistic, machine, printed = reproduce("bee-table-4", replicates=2, seed=1).tables
    assert [row.name for row in logistic.rows] == [*NAMES_4["LR"], "oracle"]
    assert [row.name for row in machine.rows] == [*NAMES_4["SVM"], "oracle"]
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
    for name, cells in PAPER_4.items():
        means, spreads = zip(*[map(float, cell.split(" ± ")) for cell in cells])
        draws[name] = np.array(means) + noise * spreads + 1e-3 * rng.normal(size=(100, 4))
    verdicts = [claim.verdict for claim in bee_table_4.findings(draws).claims]
    assert verdicts[:-1] == ["holds"] * 11
    swapped = {**draws, "LR BEEp": draws["LR CV-5"], "LR CV-5": draws["LR BEEp"]}
    verdicts = [claim.verdict for claim in bee_table_4.findings(swapped).claims]
    assert verdicts[:3] == ["does not hold"] * 3
