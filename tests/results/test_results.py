"""Estimates, curves and findings: what they hold and how they print."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core import formats
from truerisk.exceptions import FitFailedWarning, UnknownName
from truerisk.results.finding import FINDING_CODES, Finding, sort_by_severity
from truerisk.results.interval import Breakdown

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = (X[:, 0] + RNG.normal(size=30) > 0).astype(int)
ROOT = Path(__file__).parents[2]


def curve(n_neighbors=(1, 3, 5), **more):
    grid = {"n_neighbors": n_neighbors}
    return tr.risk_curve(KNeighborsClassifier(), grid, X, Y, cv="3-fold", **more)


@pytest.fixture(scope="module")
def found():
    return curve()


def test_risk_estimate_of_failed_fits_has_no_value_and_comes_back_from_json():
    """Its losses are NaN, its value is None, and the note names the split."""
    with pytest.warns(FitFailedWarning):
        failed = curve((1, 3, 27), engine=tr.engines.Generic(error="warn"))[2]
    assert (failed.value, failed.std_error, failed.interval) == (None, None, None)
    assert "3 of 3 fits failed" in failed.notes[0]
    assert str(failed).startswith("risk no value")
    again = tr.RiskEstimate.from_json(failed.to_json())
    assert again.to_dict() == failed.to_dict()
    assert np.array_equal(again.losses, failed.losses, equal_nan=True)
    assert again.loss_rows.dtype.kind == failed.loss_rows.dtype.kind == "i"


def test_splits_of_an_estimate_count_training_and_test_rows():
    """They are outer splits where it is nested."""
    five = tr.estimate_risk(KNeighborsClassifier(), X, Y, cv="2x4-fold")
    assert five.splits[:, 0].tolist() == [0] * 4 + [1] * 4
    assert (five.splits[:, 1] + five.splits[:, 2] == 30).all()
    assert five.splits[:4, 2].sum() == 30
    nested = tr.estimate_risk(KNeighborsClassifier(), X, Y, cv=tr.methods.Nested("3-fold"))
    assert nested.splits[:, 1:].tolist() == [[20, 10]] * 3
    assert tr.estimate_risk(KNeighborsClassifier(), X, Y, cv="complete").splits is None


def test_risk_curve_is_the_sequence_of_its_estimates(found):
    assert len(found) == 3
    assert [e.value for e in found] == found.values.tolist()
    assert [e.std_error for e in found] == found.std_errors.tolist()
    assert [e.params for e in found] == list(found.candidates)
    assert found.best_params == found.candidates[int(found.values.argmin())]
    assert found[-1].params == {"n_neighbors": 5}
    frame = found.to_frame()
    assert frame["value"].tolist() == found.values.tolist()
    assert frame["chosen"].tolist() == [c == found.best for c in range(3)]
    assert frame["n_neighbors"].tolist() == [1, 3, 5]
    assert [e["value"] for e in found.to_dict()["estimates"]] == found.values.tolist()
    assert str(found).count("<- chosen") == found._repr_html_().count("chosen") == 1


@pytest.mark.parametrize(
    ("place", "error", "sentence"),
    [
        (3, IndexError, "the curve has 3 settings, from 0 on"),
        ("x", TypeError, "give the number of one setting, from 0 to 2"),
        (slice(0, 1), TypeError, "give the number of one setting"),
    ],
)
def test_risk_curve_refuses_what_is_no_number_of_a_setting(found, place, error, sentence):
    with pytest.raises(error, match=sentence):
        found[place]


def test_provenance_names_seed_fingerprints_engine_and_versions(found):
    one, two, other = found[0], found[1], curve(random_state=1)[0]
    assert one.data_fingerprint == two.data_fingerprint == other.data_fingerprint
    assert one.plan_fingerprint == two.plan_fingerprint != other.plan_fingerprint
    assert one.engine in tr.engines.names()
    assert (one.seed, other.seed) == (0, 1)
    assert {"truerisk", "numpy", "sklearn"} <= set(one.versions)


@pytest.mark.parametrize("scoring", ["zero-one", "auc"])
def test_risk_curve_of_many_settings_prints_the_best_ones_first(scoring):
    grid = {"n_neighbors": range(1, 13), "weights": ["uniform", "distance"]}
    long = tr.risk_curve(KNeighborsClassifier(), grid, X, Y, cv="3-fold", scoring=scoring)
    losses = -long.values if scoring == "auc" else long.values
    ranked = np.argsort(losses, kind="stable")[:10]
    best = [formats.format_params(long.candidates[c]) for c in ranked]
    *lines, note = str(long).splitlines()[2:]
    assert [line.split("  ")[0] for line in lines] == best
    assert note == (
        "Of the 24 settings, 14 are left out: to_frame() has all, "
        f"best_set() the {len(long.rivals)} that may be best."
    )
    table, below = long.blocks()
    assert [row[0] for row in table.rows] == best
    assert below.rows == [[note]]
    worst = int(np.argsort(losses)[-1])
    (chosen,) = [row for row in replace(long, best=worst).blocks()[0].rows if row[3] == "chosen"]
    assert chosen[0] == formats.format_params(long.candidates[worst])


def test_risk_curve_of_twenty_settings_prints_all_in_the_order_of_the_grid():
    (table,) = curve(range(1, 21)).blocks()
    assert [row[0] for row in table.rows] == [f"n_neighbors={k}" for k in range(1, 21)]


@pytest.mark.parametrize(
    ("cv", "scoring", "is_pooled"),
    [
        ("loo", "f1", True),
        ("loo", "roc_auc", True),
        (tr.methods.KFold(5, average="pooled"), "matthews_corrcoef", True),
        ("oob", "f1", True),
        ("5-fold", "f1", False),
        ("5-fold", "f1 pooled", False),
        ("loo", "f1 pooled", False),
        ("loo", "zero-one", False),
        ("loo", "ece", False),
        (".632", "f1", False),
    ],
    ids=str,
)
def test_pooled_is_printed_where_a_score_is_usually_a_mean_over_folds(cv, scoring, is_pooled):
    """A word that ends in pooled says it itself."""
    X, y = tr.datasets.make_difficult(60, random_state=0)
    model = RandomForestClassifier(30, random_state=0) if cv == "oob" else GaussianNB()
    found = tr.estimate_risk(model, X, y, cv=cv, scoring=scoring)
    views = str(found), found.blocks()[0].html
    assert [", pooled" in view for view in views] == [is_pooled] * 2
    assert found.pooled == found.to_dict().get("pooled", False) == is_pooled
    if (cv, scoring) == ("loo", "f1"):
        answers = cross_val_predict(model, X, y, cv=LeaveOneOut())
        assert found.value == pytest.approx(f1_score(y, answers))


def test_breakdown_is_a_mapping_that_prints_as_a_table():
    """Risks have four digits, counts stand as they are."""
    table = Breakdown({"apparent": 0.1, "optimism": -0.025, "n": 200})
    assert list(table.items()) == [("apparent", 0.1), ("optimism", -0.025), ("n", 200)]
    assert Breakdown(dict(table)) == table
    head, line, numbers = str(table).splitlines()
    assert head.split() == ["apparent", "optimism", "n"]
    assert set(line) == {"-"}
    assert numbers.split() == ["0.1000", "-0.0250", "200"]
    html = table._repr_html_()
    assert html.count("<th") == 3 + 1  # and <thead>
    assert "<td>0.1000</td><td>-0.0250</td><td>200</td>" in html


def test_finding_prints_what_is_wrong_and_what_to_do():
    found = Finding("flat-curve", "It is flat.", "Take the simplest.")
    assert str(found) == "note: It is flat. Take the simplest. [flat-curve]"
    with pytest.raises(UnknownName, match="code of no finding"):
        Finding("no-such-code", "x", "y")


def test_findings_by_severity_begin_with_the_most_serious():
    """Equal ones keep their order."""
    codes = ["flat-curve", "edge-of-grid", "claim-refuted", "many-candidates"]
    found = sort_by_severity([Finding(code, "x", "y") for code in codes])
    assert [f.code for f in found] == [codes[2], codes[1], codes[3], codes[0]]


def test_codes_stand_on_the_page_are_made_by_a_check_and_have_a_test():
    page = (ROOT / "docs" / "audit.md").read_text("utf-8")
    tests = [path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]
    tested = "\n".join(path.read_text("utf-8") for path in tests)
    for code in FINDING_CODES:
        assert re.search(rf"^\| `{code}` \| {FINDING_CODES[code][0]} \|", page, re.MULTILINE), code
        assert f'"{code}"' in tested, code
    sources = (path.read_text("utf-8") for path in (ROOT / "src" / "truerisk").rglob("*.py"))
    made = {code for text in sources for code in re.findall(r'\bFinding\(\s*"([^"]+)"', text)}
    assert made == set(FINDING_CODES)
