"""Differences, verdicts, and how a report reads."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from truerisk.experiments.figures import (
    JUDGED,
    Findings,
    Panel,
    Panels,
    PaperTable,
    Report,
    Row,
    Series,
    printed,
)
from truerisk.experiments.statements import Claim, Quantity, Statement

LINE = Series("a", np.arange(3), np.array([0.1, np.nan, 0.3]))
REPORT = Report(
    word="toy",
    title="A toy",
    document="somewhere, §1",
    replicates=7,
    unit="throws",
    seed=3,
    seconds=1.5,
    **vars(
        Findings(
            (PaperTable("errors", "paper", (Row("a", 0.5, 0.1, 0.25, 0.0), Row("b", 0.5, 0.1))),),
            (
                Statement(
                    "it falls", (Quantity("by", -3.0, 0.1, 20, Claim("below")),), "since Monday"
                ),
            ),
            ("a word of caution.",),
            (Panels("toy", (Panel("p", "x", "y", (LINE,)),)),),
        )
    ),
)


@pytest.mark.parametrize(
    ("row", "difference", "verdict"),
    [
        (Row("", 0.5, 0.3, 0.0, 0.4), 1.0, "agrees"),
        (Row("", 0.5, 0.2, 0.0, 0.0), 2.5, "agrees within 3"),
        (Row("", -0.5, 0.1, 0.0, 0.0), -5.0, "differs"),
        (Row("", 0.5, 0.1), None, "not printed"),
        (Row("", 0.5, 0.0, 0.5), 0.0, "agrees"),
        (Row("", 0.4, 0.0, 0.5), -np.inf, "differs"),
        (Row("", 0.5, 0.1, 0.0, 0.0, 9), 5.0, "undecided"),
        (Row("", 0.5, 0.1, 0.0, 0.0, 10), 5.0, "differs"),
    ],
)
def test_a_difference_is_in_standard_errors_of_both(row, difference, verdict):
    """Both errors count; two and three of them are the limits; exact numbers must be equal.

    Fewer than ten replicates decide nothing.
    """
    assert row.difference == pytest.approx(difference)
    assert row.verdict == verdict


def test_a_mean_has_its_standard_error():
    """The standard deviation over the square root of the number."""
    values = {"m": np.array([1.0, 2.0, 3.0]), "exact": 2.0, "known": Quantity("", 1.5, 0.2, 7)}
    rows = PaperTable.of("", "", values, {"m": (2.5, 0.1), "exact": 2.5}).rows
    assert rows[0] == Row("m", 2.0, pytest.approx(1 / np.sqrt(3)), 2.5, 0.1, 3)
    assert rows[1] == Row("exact", 2.0, 0.0, 2.5, 0.0, None)
    assert rows[2] == Row("known", 1.5, 0.2, None, 0.0, 7)


def test_parts_stand_by_their_kinds():
    """Whatever the order in which they were found: panels under the word, notes behind others."""
    table, panel = PaperTable("t", "", ()), Panel("p", "x", "y", (LINE,))
    said = Statement.of("s", {"q": np.arange(3.0)}, Quantity.exact("r", 1.0), digits=2)
    own = Panels("own", (panel,))
    found = Findings.of("toy", ("first.",), iter([panel, "last.", said, own, table, panel]))
    assert found == Findings((table,), (said,), ("first.", "last."), (own, found.figures[1]))
    assert (found.figures[1].name, found.figures[1].panels) == ("toy", (panel, panel))
    assert [one.digits for one in said.quantities] == [2, 4]
    assert Findings.of("toy", (), iter([])).figures == ()


def test_boxes_are_of_all_replicates():
    """One for each name, of the values themselves."""
    values = {"a": np.arange(3.0), "b": np.ones(3)}
    panel = Panel.boxes("p", "error", values)
    assert (panel.title, panel.x_label, panel.y_label, panel.kind) == ("p", "", "error", "boxes")
    assert {line.label: line.y.tolist() for line in panel.series} == {
        name: of.tolist() for name, of in values.items()
    }


def test_a_printed_mean_has_an_error_too():
    """That of its own replicates, and half a unit of its last digit."""
    values = np.array([-1.0, 1.0] * 50)
    assert printed(values, 400, 1) == pytest.approx(np.hypot(values.std(ddof=1) / 20, 0.05))
    assert printed(np.zeros(5), 10, 3) == pytest.approx(0.0005)


def test_a_report_reads():
    """Title, table with verdicts, claims, notes."""
    assert str(REPORT).splitlines() == [
        "A toy",
        "somewhere, §1",
        "7 throws, seed 3, 1.50 s",
        "",
        "errors",
        "    paper    ours  std. error  difference  verdict",
        "--------------------------------------------------",
        "a  0.2500  0.5000      0.1000        +2.5  agrees within 3",
        "b       –  0.5000      0.1000           –  not printed",
        "difference: in standard errors of both numbers together",
        "",
        "What the document says",
        "HOLDS: it falls",
        "    by: -3.0000 ± 0.1000, claimed below 0",
        "    since Monday",
        JUDGED,
        "",
        "note: a word of caution.",
    ]


def test_the_link_that_skips_leads_to_what_is_there():
    """A report of many lines draws no conclusion: the link leads to its numbers."""
    page = REPORT.to_html()
    (named,) = re.findall(r'class="skip" href="#([\w-]+)"', page)
    (section,) = re.findall(rf'<section id="{named}".*?</section>', page, re.DOTALL)
    assert "somewhere, §1" in section
    assert 'id="conclusion"' not in page


def test_a_report_is_one_json_document():
    """Plain values, the verdicts and the series included; what is not a number is a text."""
    content = json.loads(REPORT.to_json())
    assert content["schema"] == "truerisk.reproduction/2"
    assert (content["word"], content["replicates"], content["seed"]) == ("toy", 7, 3)
    first, second = content["tables"][0]["rows"]
    assert (first["reference"], first["verdict"]) == (0.25, "agrees within 3")
    assert second["difference"] is None
    (claim,) = content["claims"]
    assert (claim["text"], claim["verdict"], claim["level"]) == ("it falls", "holds", 0.99)
    (test,) = claim["tests"]
    assert (test["value"], test["std_error"], test["replicates"]) == (-3.0, 0.1, 20)
    assert (test["claimed"], test["null"], test["tolerance"]) == ("below", 0.0, 0.0)
    assert test["verdict"] == "holds"
    assert content["figures"][0]["panels"][0]["series"][0]["y"] == [0.1, "nan", 0.3]


@pytest.mark.parametrize(
    ("word", "n_compared"),
    [
        ("wallman-table-1", 6),
        ("wallman-figure-4", 3),
        ("wallman-posterior", 16),
        ("wallman-figure-1", 4),
        ("kearns-figure-1", 20),
        ("kearns-figure-3", 13),
        ("mehta-rules", 4),
        ("insa-polynomial", 4),
        ("insa-optimism", 5),
        ("bee-table-3", 4),
        ("aicc-simulation", 7),
    ],
)
def test_every_number_is_near_its_reference(word, n_compared, findings_of):
    """The document's, an exact one, or that of many more replicates: within 3.5 standard errors."""
    rows = [row for table in findings_of(word).tables for row in table.rows]
    compared = [row for row in rows if isinstance(row, Row) and row.difference is not None]
    assert len(compared) == n_compared
    for row in compared:
        assert abs(row.difference) < 3.5, row


@pytest.mark.parametrize(
    ("word", "of_tables", "of_claims"),
    [
        ("wallman-table-1", 1.02314, 0.934516),
        ("wallman-figure-4", 1.6369, 185),
        ("wallman-posterior", -49.2988, -13.5796),
        ("wallman-figure-1", 0.3789, 0.3789),
        ("wallman-bias", 5.86285, 0.136262),
        ("kearns-figure-1", 4.52063, 1.12231),
        ("kearns-figure-2", 3.5023, 10.3136),
        ("kearns-figure-3", 216.459, 15.026),
        ("mehta-three-way", 1.6153, 0.0749681),
        ("mehta-rules", 14.1318, 2.90947),
        ("insa-polynomial", 7.69647, 2.31329),
        ("insa-optimism", 4.6564, 3.08004),
        ("insa-decomposition", 1.29462, 1.04065),
        ("aicc-simulation", 138.068, 1.30311),
    ],
)
def test_numbers_of_seed_0_stay(word, of_tables, of_claims, findings_of):
    """The sums of all means in the tables, and of all quantities that sentences are about."""
    findings = findings_of(word)
    rows = [row for table in findings.tables for row in table.rows]
    means = [row.ours if isinstance(row, Row) else sum(row.means) for row in rows]
    values = [quantity.value for claim in findings.claims for quantity in claim.quantities]
    assert (sum(means), sum(values)) == pytest.approx((of_tables, of_claims), rel=1e-4)
