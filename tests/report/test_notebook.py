"""Notebooks show the drawings of the page, and fit nothing for it."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.formats import format_params
from truerisk.report import page
from truerisk.report.curves import GRID_ORDER_LABEL
from truerisk.report.page import DARK_CSS, LIGHT_CSS

X, Y = tr.datasets.make_difficult(40, random_state=1)


def pictures(html: str) -> list[str]:
    """The drawings in a notebook's cell, their keys apart; each is sound XML."""
    found = re.findall(r'<svg class="drawing".*?</svg>', html, re.DOTALL)
    for one in found:
        ET.fromstring(one)
    return found


def curve(ks, model=None):
    grid = None if ks is None else {"n_neighbors": ks}
    return tr.risk_curve(model or KNeighborsClassifier(), grid, X, Y, cv="3-fold")


def test_notebook_of_a_curve():
    """A line with the chosen setting, nothing for a single setting; no two share identifiers."""
    one, other = curve([1, 5]), curve([3, 7])
    ring = f"ring is on n_neighbors={one.best_params['n_neighbors']}"
    assert ring in pictures(one._repr_html_())[0]
    ids = [set(re.findall(r' id="([^"]+)"', c._repr_html_())) for c in (one, other)]
    assert ids[0].isdisjoint(ids[1])
    assert not pictures(curve(None, GaussianNB())._repr_html_())


@pytest.mark.parametrize(
    ("system", "body", "scheme"),
    [
        ("light", "<body>", "light"),
        ("dark", "<body>", "dark"),
        ("dark", "<body data-jp-theme-light=true>", "light"),
        ("light", "<body data-jp-theme-light=false>", "dark"),
        ("light", "<body class=vscode-dark>", "dark"),
    ],
)
def test_notebook_is_seen_on_the_colour_of_the_reader(show, system, body, scheme):
    """The theme of the notebook decides, and without one that of the system."""
    head = "<!doctype html><meta name='color-scheme' content='light dark'>"
    opened = show(head + body + curve([1, 5])._repr_html_(), color_scheme=system)
    line = opened.page.eval_on_selector("svg .line", "one => getComputedStyle(one).color")
    named = re.search(r"--s0:#(..)(..)(..)", LIGHT_CSS if scheme == "light" else DARK_CSS)
    assert line == f"rgb({', '.join(str(int(part, 16)) for part in named.groups())})"
    stroke, fill = (
        opened.page.eval_on_selector(of, f"one => getComputedStyle(one).{what}")
        for of, what in (("svg .line", "stroke"), ("svg text", "fill"))
    )
    paper = "rgb(255, 255, 255)" if scheme == "light" else "rgb(18, 18, 18)"
    assert stroke.startswith("rgb(")
    assert len({stroke, fill, paper}) == 3


def test_notebook_of_an_assessment_has_its_ladder(hostile):
    """Table and ladder, with all three risks; names are escaped as on the page."""
    page = tr.Assessment.from_dict(hostile)._repr_html_()
    assert "<img" not in page
    assert "optimism" in page
    assert len(pictures(page)) == 1
    assert "apparent risk" in page
    assert page.partition('<ul class="keys">')[2].count("<li>") == 4


@pytest.mark.parametrize(("colours", "scheme"), [(LIGHT_CSS, "light"), (DARK_CSS, "dark")])
def test_notebook_has_the_colours_of_the_page(colours, scheme):
    light, dark = (Path(page.__file__).parent / "page.css").read_text().split("dark)", 1)
    style = light if scheme == "light" else dark.split("\n}\n")[0]
    for colour in re.findall(r"--(?:s\d|ink|muted|hair|line): #\w+", style):
        assert colour.replace(" ", "") in colours


def test_notebook_shows_control_characters_in_names():
    name = "x\x1b[31m\x00\u202e"
    many = tr.compare_many({"a": [1, 2, 3, 4, 5], name: [2, 3, 1, 5, 7], "c": [2, 3, 5, 5, 7]})
    roc = tr.RocCurve.from_scores([name] * 9 + ["b"] * 9, range(18), positive=name)
    for view in (many._repr_html_(), roc._repr_html_(), roc.to_html()):
        assert "\\x1b[31m" in view
        assert not {"\x1b", "\x00", "\u202e"} & {*view}


def searched():
    grid = {"n_neighbors": [1, 5]}
    return tr.HonestSearchCV(KNeighborsClassifier(), grid).fit(X, Y)


def test_notebook_of_a_grid_of_two_parameters_is_a_heat_map():
    grid = {"n_neighbors": [1, 5], "p": [1, 2, 3]}
    view = tr.risk_curve(KNeighborsClassifier(), grid, X, Y, cv="3-fold")._repr_html_()
    (drawing,) = pictures(view)
    assert drawing.count('class="cell h') == 6


def grid_of_trees(n_seeds, n_depths):
    grid = {
        "max_depth": range(1, n_depths + 1),
        "min_samples_leaf": range(1, n_depths + 2),
        "random_state": range(n_seeds),
    }
    return tr.risk_curve(DecisionTreeClassifier(), grid, X, Y, cv="3-fold")


@pytest.mark.parametrize(("n_panels", "size"), [(2, (1, 2)), (3, (1, 3)), (4, (2, 2)), (6, (2, 3))])
def test_notebook_of_a_grid_of_three_parameters_is_a_heat_map_for_each_value(n_panels, size):
    """Panels have titles and a common scale of shades; cells and texts do not overlap."""
    side = n_panels + 1
    trees = grid_of_trees(n_panels, n_depths=side)
    (drawing,) = pictures(trees._repr_html_())
    assert re.findall(r">random_state=(\d)</text>", drawing) == [str(k) for k in range(n_panels)]
    cells = re.findall(
        r'<rect class="cell h(\d)" x="([\d.]+)" y="([\d.]+)".*?<title>(.*?): ([\d.]+)<', drawing
    )
    assert {setting for _, _, _, setting, _ in cells} == {
        format_params(setting) for setting in trees.candidates
    }
    assert len({(x, y) for _, x, y, _, _ in cells}) == len(cells) == len(trees)
    low, high = trees.values.min(), trees.values.max()
    for shade, *_, value in cells:
        assert int(shade) == pytest.approx(8 * (float(value) - low) / (high - low), abs=0.51)
    lefts, tops = ({float(cell[place]) for cell in cells} for place in (1, 2))
    assert (len(tops), len(lefts)) == (size[0] * side, size[1] * (side + 1))
    assert drawing.count('class="frame"') == 1


@pytest.mark.parametrize("n_panels", [7, 3])
def test_notebook_of_a_large_grid_of_three_parameters_is_a_line(n_panels):
    """There are at most six panels, and at most twelve values on a side."""
    trees = grid_of_trees(n_panels, n_depths=8 if n_panels == 7 else 12)
    (drawing,) = pictures(trees._repr_html_())
    assert 'class="cell' not in drawing
    assert GRID_ORDER_LABEL in drawing


def test_axis_of_a_score_ends_at_its_largest_value():
    estimate = tr.estimate_risk(GaussianNB(), X, Y, scoring="auc", cv=".632+")
    (drawing,) = pictures(estimate._repr_html_())
    assert max(map(float, re.findall(r'class="tick"[^>]*>([\d.]+)<', drawing))) <= 1


def drift():
    days = np.datetime64("2026-03-01", "ns") + np.arange(40) * np.timedelta64(1, "D")
    return tr.risk_over_time(tr.estimate_risk(GaussianNB(), X, Y, time=days), days)


def finished():
    return tr.validate_predictions(Y, GaussianNB().fit(X, Y).predict_proba(X)[:, 1])


def validated():
    return tr.validate(GaussianNB(), X, Y, replicates=0)


def ladder():
    kept = tr.Ladder([0, 1] * 20)
    kept.submit([0] * 40, name="<all 0>")
    return kept


SHOWN = {
    "accepted": (lambda: ladder().steps, "<td style='text-align:left'>&lt;all 0&gt;</td>"),
    "none accepted": (lambda: tr.Ladder([0, 1] * 20).steps, "Accepted submissions"),
    "measures": (lambda: validated().measures, ">average-precision<"),
    "measures of a finished model": (lambda: finished().measures, ">value<"),
    "checklist": (lambda: validated().checklist, "for you to answer"),
    "stability": (lambda: validated().stability.features, "nothing was selected"),
    "finished": (finished, ">Updating<"),
    "two candidates": (lambda: tr.audit_table(np.eye(2, 20)), "The next best candidate after"),
    "assessment": (lambda: tr.assess(["knn"], X, Y, scoring=["auc", "f1"]), "Further scores"),
    "validation": (validated, "Discrimination"),
    "drift": (drift, "<td>2026-04-09</td>"),
    "choices": (lambda: searched().stability_, "chosen by"),
    "outer": (lambda: searched().outer_, "rows trained"),
    "plan": (lambda: tr.plan_sample(0.15, width=0.1), "test rows"),
    "many": (lambda: tr.compare_many({k: [k, 2, 3, 4, 5, 6 + k] for k in range(3)}), "Holm"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_notebook_view_is_tables_with_short_captions(name):
    """No view is printed text; a caption has two lines, and no column is all dashes.

    Sentences are aligned left.
    """
    make, word = SHOWN[name]
    page = make()._repr_html_()
    assert word in page
    assert "<pre>" not in page
    assert max(map(len, re.findall("<p style=[^>]*>(.*?)</p>", page)), default=0) <= 230
    sentences = re.findall(r"<td([^>]*)>([^<]* [^<]* [^<]* [^<]* [^<]*)</td>", page)
    assert all("left" in style for style, _ in sentences)
    for table in re.findall("<table>.*?</table>", page):
        body = table.partition("<tbody>")[2].split("<tr>")[1:]
        columns = list(zip(*(re.findall("<td[^>]*>(.*?)</td>", row) for row in body), strict=True))
        assert all(set(column) - {"", "–"} for column in columns[1:])


def test_measures_are_printed_as_a_table():
    heading, _, first, *_ = str(validated().measures).splitlines()
    assert heading.split() == ["name", "honest", "low", "high", "apparent"]
    assert first.split()[0] == "auc"


@pytest.mark.parametrize("outer", ["pairs", None])
def test_notebook_of_a_search_has_its_honest_risk_above_the_diagram(outer):
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
