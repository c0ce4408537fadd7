"""The page of a comparison over data sets says what the comparison says, in one file."""

from __future__ import annotations

import html
import json
import re
from functools import partial

import numpy as np
import pytest
from tests.report.conftest import ARABIC, HOSTILE, LONG, draw_any
from tests.report.test_in_browser import require_open_to_all, require_stopped
from tests.support.demsar import C45, DATA_SETS, METHODS

import truerisk as tr
from truerisk.comparison import method_pairs
from truerisk.core.errors import BadData
from truerisk.core.formats import number
from truerisk.report.many_figures import draw_effects, draw_ranks, draw_values
from truerisk.results.json_values import parse


@pytest.fixture(scope="module")
def compared():
    """Demšar's table, with a hole."""
    values = C45.copy()
    values[3, 1] = np.nan
    return tr.compare_many(
        values, better="higher", methods=METHODS, data_sets=DATA_SETS, quantity="AUC"
    )


@pytest.fixture
def content(compared):
    """Its JSON, to be changed."""
    return json.loads(compared.to_json())


@pytest.fixture(scope="module")
def wild():
    """Names that try to leave their place, and many of them; few weights drawn for each pair."""
    values = np.random.default_rng(0).normal(size=(80, 20))
    values[3, 4] = np.nan
    methods = [HOSTILE, ARABIC, LONG, *(f"{HOSTILE}{i}" for i in range(17))]
    data_sets = [f"{HOSTILE}{i}{LONG}" for i in range(80)]
    with pytest.MonkeyPatch.context() as patched:
        few = partial(method_pairs.dirichlet_signed_rank, draws=50)
        patched.setattr(method_pairs, "dirichlet_signed_rank", few)
        return tr.compare_many(values, methods=methods, data_sets=data_sets, quantity=HOSTILE)


def told(page):
    """The words of a page."""
    return html.unescape(re.sub(r"<[^>]*>", " ", page.partition("<body>")[2]))


def test_the_page_is_drawn_again_from_the_file(compared, tmp_path):
    """`to_html`, and the page of what `to_json` wrote, are the same to the letter."""
    written = compared.to_html(tmp_path / "a.html")
    compared.to_json(tmp_path / "a.json")
    assert (tmp_path / "a.html").read_text("utf-8") == written
    assert draw_any(parse(tmp_path / "a.json")) == written


def test_the_page_says_what_was_found(compared):
    """Conclusion, ranks, values, pairs, what is missing, the paragraph and its papers."""
    page = told(compared.to_html())
    for sentence in compared.conclusion:
        assert sentence in page
    for rank in compared.ranks:
        assert f"{rank:.3f}" in page
    for pair in compared.pairs:
        assert number(pair.difference) in page
        assert str(pair.interval) in page
    assert "1 of 56 values were missing; only the 13 data sets" in page
    assert compared.notes[0] in page
    for name in ("Demšar", "Iman", "Holm", "Hodges", "Benavoli"):
        assert name in page
    assert "better='higher'" in page


def test_the_diagram_has_every_rank_and_every_bar(compared, content):
    """A point for each method at its rank; a bar for each group, as long as the group."""
    figure = draw_ranks(tr.ManyComparison.from_dict(content))
    assert [row[0] for row in figure.table.rows] == [name for name, _ in compared.ordered]
    x = figure.drawing.x
    spans = [mark for mark in figure.drawing.marks if getattr(mark, "kind", "") == "span"]
    *bars, rule = [tuple(mark.xs) for mark in spans]
    ranks = dict(compared.ordered)
    groups = [[ranks[name] for name in group] for group in compared.alike]
    assert bars == [(min(ends), max(ends)) for ends in groups]
    assert figure.svg.count("data-tip") == 4
    assert x.low <= 1
    assert rule == (1, 1 + compared.critical_difference)


def test_the_page_of_few_data_sets_is_their_table(compared):
    """Two problems have values and no ranks, tests, probabilities or critical difference."""
    few = tr.compare_many(C45[:2], better="higher", methods=METHODS, data_sets=DATA_SETS[:2])
    for text in (told(few.to_html()), str(few)):
        assert "2 data sets are too few to rank methods over them" in text
        for value in C45[:2].ravel():
            assert f"{value:.4f}" in text
        for word in ("critical difference", "Friedman", "average rank", "probab"):
            assert word not in text
    assert "critical difference" in told(compared.to_html())
    assert few.blocks()[0].head == ["method", *DATA_SETS[:2]]


def test_the_heat_table_frames_the_best(content):
    """One frame in each data set, more where they tie; what is missing has no cell."""
    figure = draw_values(tr.ManyComparison.from_dict(content))
    frames = sum(int((row == np.nanmax(row)).sum()) for row in np.delete(C45, 3, 0)) + 1
    assert figure.svg.count('class="frame"') == frames
    assert figure.svg.count('class="cell ') == 4 * 14 - 1
    assert ">cmc*<" in figure.svg
    assert figure.table.rows[3][2] == "–"


def test_the_best_is_the_lowest_where_lower_is_better(content):
    """The shades turn round."""
    content["terms"]["better"] = "lower"
    figure = draw_values(tr.ManyComparison.from_dict(content))
    lowest = sum(int((row == row.min()).sum()) for row in np.delete(C45, 3, 0)) + 1
    assert figure.svg.count('class="frame"') == lowest


def test_effects_have_their_intervals_and_the_region(content):
    """A span per pair, a band within the region, none where it has no width."""
    figure = draw_effects(tr.ManyComparison.from_dict(content))
    assert figure.svg.count("data-tip") == 6
    assert figure.svg.count('class="band s5"') == 1
    content["terms"]["rope"] = 0.0
    assert 'class="band' not in draw_effects(tr.ManyComparison.from_dict(content)).svg


def test_ties_everywhere_are_drawn():
    """Equal columns have a page, too."""
    found = tr.compare_many(np.ones((8, 3)))
    assert "all methods are tied on every data set" in told(found.to_html())


def test_an_endless_f_is_written():
    """All data sets rank alike."""
    assert "F(2, 10) = ∞" in told(tr.compare_many(np.ones((6, 1)) * [1.0, 2.0, 3.0]).to_html())


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("methods",), ["a"], "'methods' is"),
        (("methods",), ["a", "a", "b", "c"], "'methods' is"),
        (("ranks",), [1.0], "'ranks' is"),
        (("values", 0), [1.0], r"values\[0\]"),
        (("values", 0, 0), "x", r"values\[0\]\[0\]"),
        (("pairs", 0, "a"), "nobody", r"pairs\[0\].a"),
        (("pairs", 0, "p_holm"), 2, r"pairs\[0\].p_holm"),
        (("friedman", "f_df"), [1], "friedman.f_df"),
        (("terms", "rope"), None, "terms.rope"),
        (("terms", "better"), "both", "in 'terms', better='both'"),
        (("schema",), "truerisk.many-comparison/3", "upgrade truerisk"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_wrong_value_is_named(content, path, value, sentence):
    """Damaged JSON is refused by the place of the damage."""
    inside = content
    for name in path[:-1]:
        inside = inside[name]
    inside[path[-1]] = value
    with pytest.raises(BadData, match=sentence):
        draw_any(content)


def test_names_stay_text_and_much_stays_small(wild):
    """Tags are escaped; 80 data sets and 20 methods are cut to what can be read."""
    page = draw_any(wild.to_dict())
    assert HOSTILE not in page
    assert "<img" not in page
    assert ARABIC not in page
    assert LONG not in page
    assert len(page) < 700_000
    assert "Not drawn: 20 further data sets and 4 further methods" in page
    assert "150 further pairs are in the JSON" in page


def test_identifiers_are_unique_and_nothing_is_fetched(compared):
    """An id stands for one element; no address but the name of SVG itself."""
    page = compared.to_html()
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"https?://[^\"' <]+", page)) <= {"http://www.w3.org/2000/svg"}


# ---------------------------------------------------------------- in the browser


def test_the_page_shuts_nobody_out(show, content):
    """No violation of axe-core's rules, in either scheme, at any width."""
    opened = show(content)
    require_open_to_all(opened, phone=390)
    boxes = opened.page.eval_on_selector_all(
        ".drawing text", "all => all.map(one => one.getBoundingClientRect())"
    )
    assert all(one["left"] >= 0 and one["right"] <= 390 for one in boxes)


def test_hostile_names_shut_nobody_out(show, wild):
    """On a phone: nothing is obeyed, nothing sticks out, axe-core finds nothing."""
    require_stopped(show(wild.to_dict()), phone=390)
