"""The page says what the assessment found, in one file of a small size."""

from __future__ import annotations

import copy
import re

import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from tests.report.conftest import draw_any

import truerisk as tr
from truerisk.core.formats import number
from truerisk.results.json_values import parse

LARGEST = 300_000


def plain(page: str) -> str:
    """The page without tags."""
    return re.sub(r"<[^>]*>", "", page)


def test_the_page_is_drawn_again_from_the_file(found, tmp_path):
    """`to_html`, and the page of what `to_json` wrote, are the same to the letter."""
    written = found.to_html(tmp_path / "a.html")
    found.to_json(tmp_path / "a.json")
    assert (tmp_path / "a.html").read_text("utf-8") == written
    assert draw_any(parse(tmp_path / "a.json")) == written


def test_the_page_is_small(found):
    """At most 300 kB."""
    assert len(found.to_html().encode()) < LARGEST


def test_many_rows_and_settings_stay_small(content):
    """Thresholds, points and rows of tables are capped: 3000 rows and 300 settings fit, too."""
    X, y = tr.datasets.make_simple(3000, random_state=0)
    content = copy.deepcopy(content)
    for learner in content["learners"].values():
        for curve in (learner["curve"], *learner["criteria"].values()):
            first = curve["estimates"][0]
            more = [{**first, "params": {"n": i}} for i in range(300)]
            curve["estimates"], curve["best"] = more, 7
    content["roc"] = tr.RocCurve.of(y, X[:, 0]).to_dict()
    page = draw_any(content)
    assert len(page.encode()) < LARGEST
    assert "240 further rows are not on the page" in page


def test_nothing_is_fetched(found):
    """No address but the name of SVG itself, no style attribute, no handler in a tag."""
    page = found.to_html()
    assert set(re.findall(r"https?://[^\"' <]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<[^>]+\s(?:src|style|on\w+)=", page)
    assert re.search(r"default-src 'none'; style-src 'nonce-\w{32}'", page)


def test_every_figure_has_its_numbers_as_a_table(found):
    """As many tables under figures as figures, each drawing with a name and a description."""
    page = found.to_html()
    figures = page.split("<figure ")[1:]
    assert len(figures) >= 8
    for figure in figures:
        assert figure.partition("</figure>")[0].count("<table>") == 1
        assert re.search(r'role="img" aria-labelledby="[\w-]+-title [\w-]+-about"', figure)


def test_identifiers_are_unique(found):
    """An id stands for one element."""
    ids = re.findall(r'\sid="([^"]+)"', found.to_html())
    assert len(ids) == len(set(ids))


def test_the_conclusion_comes_first(found):
    """Before any table: the number to report, and the words of the assessment."""
    page = plain(found.to_html().partition("<table>")[0])
    assert number(found.choice.value) in page
    for sentence in found.conclusion.split(". "):
        assert sentence.rstrip(".").replace("'", "&#39;") in page


def test_regression_has_a_page():
    """Without classes there are no thresholds, and no calibration."""
    X, _ = tr.datasets.make_simple(40, random_state=0)
    learners = {"line": LinearRegression(), "ridge": (Ridge(), {"alpha": [0.01, 1.0, 100.0]})}
    found = tr.assess(learners, X, X[:, 0] + X[:, 1] ** 2, cv=["3-fold"], outer="4-fold")
    page = found.to_html()
    assert 'id="rates-data"' not in page
    assert "C, logarithmic" not in page
    assert "alpha, logarithmic" in page
    assert "optimism +" in page or "optimism -" in page


def test_a_learner_that_tunes_inside_has_no_further_score_that_was_selected():
    """What is known of its other scores is of the fit without tuning; its table has none, too."""
    X, y = tr.datasets.make_simple(40, random_state=0)
    inside = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2)
    found = tr.assess(
        {"inside": inside}, X, X[:, 0] + 0.1 * y, scoring=["squared", "absolute"], outer="4-fold"
    )
    (told,) = [told for told in found.told_scores() if told[0] == "absolute"]
    assert told[2] is None
    row = found.to_html().partition("<bdi>absolute (lower is better)<")[2].partition("</tr>")[0]
    cells = re.findall("<bdi>([^<]*)<", row)
    assert cells[:3] == ["inside", "–", number(told[3].value)]


def test_one_learner_without_a_grid_has_a_page():
    """No choice, no curve, no stability, and nothing was tuned: the rest is there."""
    X, y = tr.datasets.make_simple(40, random_state=0)
    found = tr.assess({"one": tr.models.FisherClassifier()}, X, y, outer="4-fold")
    page = found.to_html()
    assert "Assessment of 1 learner<" in page
    assert "risk on rows not used for fitting" in page
    assert "fitted without it" in page
    assert not re.search(r"tuned|tuning", plain(page.partition("<h2>How to repeat it")[0]))
    assert "Risk curves" not in page


def test_the_nonce_depends_on_the_content(content):
    """The same content is the same page; other content has another nonce."""
    nonce = re.compile(r"nonce-(\w+)'")
    first, again = draw_any(content), draw_any(content)
    other = draw_any({**content, "source": "other.csv"})
    assert first == again
    assert nonce.search(first)[1] != nonce.search(other)[1]


def test_an_interrupted_assessment_says_what_is_missing(content):
    """Learners that were not assessed stand among the notes."""
    page = draw_any({**content, "not_assessed": ["forest"]})
    assert "not assessed, because interrupted: forest" in page


@pytest.mark.parametrize("name", ["\ud800", "\x00", "\r\n", ""])
def test_odd_names_can_be_written(content, tmp_path, name):
    """Lone surrogates, control characters and nothing at all are made visible or left out."""
    page = draw_any({**content, "source": name, "command": name, "classes": [name]})
    (tmp_path / "page.html").write_text(page, encoding="utf-8")


def test_differences_are_as_precise_as_the_risks():
    """Beside a risk of thousands one decimal is enough; one setting has no agreement."""
    X, _ = tr.datasets.make_simple(40, random_state=0)
    y = 1000 * X[:, 0] + 300 * X[:, 1] ** 2
    found = tr.assess({"line": LinearRegression()}, X, y, cv=["3-fold"], outer="4-fold")
    row = plain(found.to_html().partition('<div class="main">')[2]).split("line", 1)[1]
    assert found.risks["line"].value > 1000
    assert not re.search(r"[+-]\d+\.\d{4}", row.partition("selected:")[0])
    assert "%" not in row.partition("selected:")[0]


def test_differences_of_earlier_versions_are_drawn(content):
    """They had a mean, a standard error and whether it exceeds its noise; now a reason for none."""
    old = {"learner": "tree", "mean": 0.1, "std_error": 0.04, "exceeds_noise": True}
    new = {**old, "interval": None, "probability": None, "rope": None, "std_error": None}
    new["notes"] = ["no row tells the two apart"]
    for written in (old, new):
        page = plain(draw_any({**content, "differences": [written]}))
        assert re.search(r"tree\s*\+0\.1000\s*none\s*–", page)
        told = "tree, compared with the best: no row tells the two apart" in page
        assert told == ("notes" in written)


def test_a_page_needs_no_rows(found):
    """What is drawn without the losses of rows and splits is the same page; the JSON has them."""
    whole = found.to_dict()
    assert len(whole["learners"]["knn"]["risk"]["losses"]) == found.n_rows
    assert draw_any(without_rows(whole)) == found.to_html()


def without_rows(content):
    """The same where no estimate has losses of rows or risks of splits."""
    if isinstance(content, list):
        return [without_rows(one) for one in content]
    if not isinstance(content, dict):
        return content
    rows = dict.fromkeys({"losses", "loss_rows", "split_risks"} & content.keys())
    return {name: without_rows(one) for name, one in content.items()} | rows
