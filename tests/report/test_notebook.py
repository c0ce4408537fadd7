"""Notebooks show the drawings of the page, and fit nothing for it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.report.conftest import ARABIC, HOSTILE, LONG
from tests.report.test_in_browser import require_open_to_all

import truerisk as tr
from truerisk.report import page
from truerisk.report.page import DARK, LIGHT

X, Y = tr.datasets.make_difficult(40, random_state=1)


def pictures(html: str) -> list[str]:
    """The drawings in a notebook's cell, their keys apart; each is sound XML."""
    found = re.findall(r'<svg class="drawing".*?</svg>', html, re.DOTALL)
    for one in found:
        ET.fromstring(one)
    return found


def test_an_assessment_shows_its_ladder():
    """Table and ladder, with all three risks."""
    found = tr.assess({"bayes": GaussianNB()}, X, Y, cv=["3-fold"], outer="4-fold")
    page = found._repr_html_()
    assert "optimism" in page
    assert len(pictures(page)) == 1
    assert "apparent risk" in page
    assert page.partition('<ul class="keys">')[2].count("<li>") == 3


def test_a_curve_shows_itself():
    """A line with the chosen setting, and nothing for a single setting."""
    curve = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, X, Y, cv="3-fold")
    assert (
        f"ring is on n_neighbors={curve.best_params['n_neighbors']}"
        in pictures(curve._repr_html_())[0]
    )
    assert not pictures(tr.risk_curve(GaussianNB(), None, X, Y, cv="3-fold")._repr_html_())


def test_two_pictures_do_not_share_names():
    """Identifiers are those of the drawing: a notebook shows many at once."""
    drawn = [
        tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": k}, X, Y, cv="3-fold")
        for k in ([1, 5], [3, 7])
    ]
    ids = [set(re.findall(r' id="([^"]+)"', curve._repr_html_())) for curve in drawn]
    assert ids[0].isdisjoint(ids[1])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_is_seen_on_the_colour_of_the_reader(show, scheme):
    """Lines are drawn in a colour, and text differs from the paper."""
    curve = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, X, Y, cv="3-fold")
    head = "<!doctype html><meta name='color-scheme' content='light dark'>"
    opened = show(head + curve._repr_html_(), color_scheme=scheme)
    look = "one => getComputedStyle(one)"
    stroke = opened.page.eval_on_selector("svg .line", f"{look.replace('one)', 'one).stroke')}")
    fill = opened.page.eval_on_selector("svg text", f"{look.replace('one)', 'one).fill')}")
    paper = "rgb(255, 255, 255)" if scheme == "light" else "rgb(18, 18, 18)"
    assert stroke.startswith("rgb(")
    assert len({stroke, fill, paper}) == 3


def test_hostile_names_stay_text():
    """Names in a picture are escaped as on the page."""
    learners = {HOSTILE: GaussianNB(), ARABIC: GaussianNB(), LONG: GaussianNB()}
    found = tr.assess(learners, X, Y, cv=["3-fold"], outer="4-fold")
    assert "<img" not in found._repr_html_()
    assert len(pictures(found._repr_html_())) == 1


@pytest.fixture(scope="module")
def pages() -> list[str]:
    """Of a table, of a figure and a table, of a figure and a text, and of a text alone."""
    curve = tr.learning_curve(GaussianNB(), X, Y)
    model = tr.validate(GaussianNB(), X, Y, replicates=5)
    shown = (curve.estimates[-1], curve, model.net_benefit, model.discrimination)
    return [result.to_html() for result in shown]


@pytest.mark.parametrize("number", range(4))
def test_the_page_of_any_result_shuts_nobody_out(show, pages, number):
    """axe-core finds nothing in either scheme, and nothing sticks out."""
    require_open_to_all(show(pages[number]), phone=390)


@pytest.mark.parametrize(("colours", "scheme"), [(LIGHT, "light"), (DARK, "dark")])
def test_a_notebook_has_the_colours_of_the_page(colours, scheme):
    """Every one that a mark can have."""
    light, dark = (Path(page.__file__).parent / "page.css").read_text().split("dark)", 1)
    style = light if scheme == "light" else dark.split("\n}\n")[0]
    for colour in re.findall(r"--(?:s\d|ink|muted|hair|line): #\w+", style):
        assert colour.replace(" ", "") in colours


def test_control_characters_in_names_are_visible():
    """They are written out in the tables of a notebook and of a page."""
    name = "x\x1b[31m\x00\u202e"
    many = tr.compare_many({"a": [1, 2, 3, 4, 5], name: [2, 3, 1, 5, 7], "c": [2, 3, 5, 5, 7]})
    roc = tr.RocCurve.of([name] * 9 + ["b"] * 9, range(18), positive=name)
    for view in (many._repr_html_(), roc._repr_html_(), roc.to_html()):
        assert "\\x1b[31m" in view
        assert not {"\x1b", "\x00", "\u202e"} & {*view}


@pytest.mark.parametrize("outer", ["pairs", None])
def test_a_search_shows_its_honest_risk_above_the_diagram(outer):
    """As soon as there is one; the names of scores are text."""
    search = tr.HonestSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 5]}, outer=outer, scoring=["zero-one", "auc"]
    )
    assert "What to report" not in search._repr_html_()
    shown = search.fit(X, Y)._repr_mimebundle_()["text/html"]
    assert ("What to report" in shown) == (outer is not None)
    table, _, diagram = shown.partition("</table>")
    if outer is not None:
        assert search._repr_html_().startswith(table)
        assert "sk-container-id" in diagram
        for risk in (search.risk_, search.scores_["auc"], search.selected_risk_):
            assert f"<td>{risk.value:.4f}</td>" in table
