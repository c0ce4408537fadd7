"""Differences, verdicts of claims, and how a report reads."""

import json
import re

import numpy as np
import pytest

from truerisk.experiments.figures import (
    FOOTNOTE_ON_VERDICTS,
    Findings,
    Panel,
    PanelGroup,
    PaperTable,
    Report,
    Series,
    TableRow,
    mean_line,
    std_error_of_printed_mean,
)
from truerisk.experiments.statements import (
    JOINT_CONFIDENCE_LEVEL,
    MIN_REPLICATES,
    Claim,
    Quantity,
    Statement,
)

LINE = Series("a", np.arange(3), np.array([0.1, np.nan, 0.3]))
REPORT = Report(
    name="toy",
    title="A toy",
    document="somewhere, §1",
    replicates=7,
    unit="throws",
    seed=3,
    seconds=1.5,
    **vars(
        Findings(
            (
                PaperTable(
                    "errors", "paper", (TableRow("a", 0.5, 0.1, 0.25, 0.0), TableRow("b", 0.5, 0.1))
                ),
            ),
            (
                Statement(
                    "it falls", (Quantity("by", -3.0, 0.1, 20, Claim("below")),), "since Monday"
                ),
            ),
            ("a word of caution.",),
            (PanelGroup("toy", (Panel("p", "x", "y", (LINE,)),)),),
        )
    ),
)


@pytest.mark.parametrize(
    ("row", "difference", "verdict"),
    [
        (TableRow("", 0.5, 0.3, 0.0, 0.4), 1.0, "agrees"),
        (TableRow("", 0.5, 0.2, 0.0, 0.0), 2.5, "agrees within 3"),
        (TableRow("", -0.5, 0.1, 0.0, 0.0), -5.0, "differs"),
        (TableRow("", 0.5, 0.1), None, "not printed"),
        (TableRow("", 0.5, 0.0, 0.5), 0.0, "agrees"),
        (TableRow("", 0.4, 0.0, 0.5), -np.inf, "differs"),
        (TableRow("", 0.5, 0.1, 0.0, 0.0, 9), 5.0, "undecided"),
        (TableRow("", 0.5, 0.1, 0.0, 0.0, 10), 5.0, "differs"),
    ],
)
def test_row_difference_is_in_standard_errors_of_both(row, difference, verdict):
    assert row.difference == pytest.approx(difference)
    assert row.verdict == verdict


def test_findings_of_sorts_parts_by_their_kinds():
    table, panel = PaperTable("t", "", ()), Panel("p", "x", "y", (LINE,))
    said = Statement.from_quantities(
        "s", {"q": np.arange(3.0)}, Quantity.from_exact_value("r", 1.0), digits=2
    )
    own = PanelGroup("own", (panel,))
    found = Findings.from_parts("toy", ("first.",), iter([panel, "last.", said, own, table, panel]))
    assert found == Findings((table,), (said,), ("first.", "last."), (own, found.figures[1]))
    assert (found.figures[1].name, found.figures[1].panels) == ("toy", (panel, panel))
    assert [one.digits for one in said.quantities] == [2, 4]
    assert Findings.from_parts("toy", (), iter([])).figures == ()


def test_str_of_report_has_tables_claims_and_notes():
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
        FOOTNOTE_ON_VERDICTS,
        "",
        "note: a word of caution.",
    ]


def test_to_json_of_report_is_one_document():
    content = json.loads(REPORT.to_json())
    assert content["schema"] == "truerisk.reproduction/2"
    assert (content["name"], content["replicates"], content["seed"]) == ("toy", 7, 3)
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


def test_means_of_tables_lines_and_panels_have_their_standard_errors():
    values = {"m": np.array([1.0, 2.0, 3.0]), "exact": 2.0, "known": Quantity("", 1.5, 0.2, 7)}
    rows = PaperTable.from_values("", "", values, {"m": (2.5, 0.1), "exact": 2.5}).rows
    assert rows[0] == TableRow("m", 2.0, pytest.approx(1 / np.sqrt(3)), 2.5, 0.1, 3)
    assert rows[1] == TableRow("exact", 2.0, 0.0, 2.5, 0.0, None)
    assert rows[2] == TableRow("known", 1.5, 0.2, None, 0.0, 7)
    ones = np.array([-1.0, 1.0] * 50)
    assert std_error_of_printed_mean(ones, 400, 1) == pytest.approx(
        np.hypot(ones.std(ddof=1) / 20, 0.05)
    )
    assert std_error_of_printed_mean(np.zeros(5), 10, 3) == pytest.approx(0.0005)
    normal = np.random.default_rng(0).normal(size=(100, 4))
    assert mean_line("", np.arange(4), normal).error == pytest.approx(normal.std(0, ddof=1) / 10)
    assert mean_line("", np.arange(2), np.ones((1, 2))).error is None
    boxes = Panel.box_plot("p", "error", {"a": np.arange(3.0), "b": np.ones(3)})
    assert (boxes.title, boxes.x_label, boxes.y_label, boxes.kind) == ("p", "", "error", "boxes")
    assert {s.label: s.y.tolist() for s in boxes.series} == {"a": [0, 1, 2], "b": [1, 1, 1]}


def test_html_of_report_has_a_link_that_leads_past_the_head():
    page = REPORT.to_html()
    (named,) = re.findall(r'class="skip" href="#([\w-]+)"', page)
    (section,) = re.findall(rf'<section id="{named}".*?</section>', page, re.DOTALL)
    assert "somewhere, §1" in section
    assert 'id="conclusion"' not in page


MANY = 10_000  # Student's t is normal there: 2.576 standard errors at 99 per cent


def of(value, error=1.0, *claim, n=MANY):
    """A sentence about one number."""
    return Statement("s", (Quantity("q", value, error, n, *claim),))


def one(value, *claim):
    """Return a statement about one number whose standard error is 1."""
    return of(value, 1.0, *claim)


def both(first, second):
    """Return a statement which claims that two numbers are positive."""
    pair = (Quantity("a", first, 1.0, MANY), Quantity("b", second, 1.0, MANY))
    return Statement("s", pair)


def exact(value, claim):
    """Return a statement about a number that has no standard error."""
    return Statement("s", (Quantity.from_exact_value("q", value, claim),))


NEAR = Claim("near", 0.0, 3.0)


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        # one number, at 99 per cent
        (one(2.6, Claim("above")), "holds"),
        (one(2.5, Claim("above")), "undecided"),
        (one(-2.5, Claim("above")), "undecided"),
        (one(-2.6, Claim("above")), "does not hold"),
        (one(3.5, Claim("above", 1.0)), "undecided"),
        (one(-2.6, Claim("below")), "holds"),
        (one(2.6, Claim("below")), "does not hold"),
        (one(0.3, NEAR), "holds"),
        (one(0.5, NEAR), "undecided"),
        (one(5.5, NEAR), "undecided"),
        (one(5.6, NEAR), "does not hold"),
        (one(-5.6, NEAR), "does not hold"),
        (one(0.0, Claim("near", 0.0, 0.0)), "undecided"),
        # refuted by one number and confirmed by all
        (both(3, 3), "holds"),
        (both(3, 2.7), "undecided"),
        (both(3, -2.7), "undecided"),
        (both(3, -3), "does not hold"),
        (both(1, -3), "does not hold"),
        # it needs replicates and a standard error
        (of(3.24, 1.0, n=MIN_REPLICATES), "undecided"),
        (of(3.26, 1.0, n=MIN_REPLICATES), "holds"),
        (of(1e6, 1.0, n=MIN_REPLICATES - 1), "undecided"),
        (of(1e6, 0.0, n=2), "undecided"),
        (of(5.0, np.inf), "undecided"),
        (of(np.nan, 0.1), "undecided"),
        # exact numbers are taken as they stand
        (exact(1.0, Claim("above")), "holds"),
        (exact(0.0, Claim("above")), "does not hold"),
        (exact(0.1, Claim("near", 0.0, 0.1)), "holds"),
        (exact(0.2, Claim("near", 0.0, 0.1)), "does not hold"),
    ],
)
def test_statement_has_the_verdict_of_its_numbers(statement, verdict):
    assert statement.verdict == verdict
    assert statement.level == JOINT_CONFIDENCE_LEVEL


def test_statement_that_is_fair_is_seldom_decided():
    rng = np.random.default_rng(0)
    found = [
        Statement("s", (Quantity.mean("q", rng.normal(size=12)),)).verdict for _ in range(4000)
    ]
    assert found.count("holds") / 4000 == pytest.approx(0.005, abs=0.004)
    assert found.count("does not hold") / 4000 == pytest.approx(0.005, abs=0.004)


def test_str_of_statement_has_numbers_and_claims():
    one = of(0.5, 0.25, Claim("near", 0.0, 3.0))
    assert str(one).splitlines() == ["HOLDS: s", "    q: 0.5000 ± 0.2500, claimed within 3 of 0"]
    assert "claimed from 20 to 80" in str(of(50.0, 1.0, Claim("near", 50.0, 30.0)))
    two = Statement("s", tuple(Quantity(n, v, 1.0, MANY) for n, v in (("a", 9), ("b", 1))), "so.")
    assert str(two).splitlines() == [
        "UNDECIDED: s",
        "    a: 9.0000 ± 1.0000, claimed above 0: holds",
        "    b: 1.0000 ± 1.0000, claimed above 0: undecided",
        "    so.",
    ]
    six = Statement("s", tuple(Quantity("q", v, 1.0, MANY) for v in (9, 9, 9, 9, 9, -9)))
    assert str(six).splitlines() == [
        "DOES NOT HOLD: s",
        "    q: -9.0000 ± 1.0000, claimed above 0: does not hold",
        "    5 of 6 numbers lie where they are claimed (above 0, …)",
    ]


def test_quantity_of_mean_share_or_statistic_has_its_standard_error():
    found = Quantity.mean("q", np.array([1.0, 2.0, 3.0]), Claim("above", 1.0))
    assert (found.value, found.n_replicates, found.claim.null) == (2.0, 3, 1.0)
    assert found.std_error == pytest.approx(1 / np.sqrt(3))
    every = Quantity.share("q", np.ones(20, dtype=bool), Claim("above", 95))
    assert every.value == 100
    assert every.std_error == pytest.approx(100 * np.sqrt(22 / 24 * 2 / 24 / 20))
    assert Statement("s", (every,)).verdict == "undecided"
    values = np.random.default_rng(0).normal(size=2000)
    mean, median = (Quantity.from_statistic("q", f, values) for f in (np.mean, np.median))
    assert mean.value == values.mean()
    assert mean.std_error == pytest.approx(values.std() / np.sqrt(2000), rel=0.1)
    assert median.std_error == pytest.approx(np.sqrt(np.pi / 2) / np.sqrt(2000), rel=0.2)
