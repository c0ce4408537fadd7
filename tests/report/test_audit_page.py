"""The page of an audit says what the audit says, in one file."""

from __future__ import annotations

import copy
import html
import json
import re
from dataclasses import replace

import pytest
from sklearn.linear_model import RidgeCV
from tests.report.conftest import ARABIC, HOSTILE, LONG, draw_any

import truerisk as tr
from truerisk.core.errors import BadData
from truerisk.core.formats import clean, number
from truerisk.report.audit_figures import draw_claim, draw_settings
from truerisk.results.json_values import parse

LEVELS = ("scores", "bbc", "nested")


@pytest.fixture
def content(audited):
    """The JSON of level bbc, to be changed."""
    return json.loads(audited["bbc"].to_json())


def told(page: str) -> str:
    """The words of a page."""
    return html.unescape(re.sub(r"<[^>]*>", " ", page.partition("<body>")[2]))


@pytest.mark.parametrize("level", LEVELS)
def test_the_page_is_drawn_again_from_the_file(audited, tmp_path, level):
    """`to_html`, and the page of what `to_json` wrote, are the same to the letter."""
    written = audited[level].to_html(tmp_path / "a.html")
    audited[level].to_json(tmp_path / "a.json")
    assert (tmp_path / "a.html").read_text("utf-8") == written
    assert draw_any(parse(tmp_path / "a.json")) == written


@pytest.mark.parametrize("level", LEVELS)
def test_claim_honest_risk_and_findings_are_there(audited, level):
    """The numbers of the audit, its conclusion, and what to do about each finding."""
    found = audited[level]
    page = told(found.to_html())
    for one in (found.claimed, found.honest, found.rough):
        assert number(one.value) in page
        assert number(one.loss_value) not in page.partition("Copy as SVG")[0]
    for sentence in found.conclusion.split(". "):
        assert sentence.rstrip(".") in page
    for finding in found.findings:
        assert f"{finding.sentence}" in page
        assert finding.remedy in page
    assert ("Report this score" in page) == (level != "scores")
    assert ("Roughly corrected" in page) == (level == "scores")


def test_the_verdict_is_that_of_the_audit(content):
    """Refuted, possible, or open where there is no interval."""
    claimed, interval = content["claimed"]["value"], content["honest"]["interval"]
    ends = {"refuted": claimed + 0.1, "possible": claimed}
    intervals = {word: {**interval, "low": low, "high": low + 0.1} for word, low in ends.items()}
    for word, changed in {**intervals, "open": None}.items():
        page = told(draw_any({**content, "honest": {**content["honest"], "interval": changed}}))
        assert re.search(rf"The claim\s+{word}", page)


def test_every_setting_stands_with_its_score(audited):
    """The drawing has a point for each, its table the measured scores from the best on."""
    found = audited["bbc"]
    figure = draw_settings(found)
    assert len(found.risks) == found.n_candidates == 58
    assert found.risks[found.chosen] == pytest.approx(found.claimed.value)
    rows = figure.table.rows
    assert [row[1] for row in rows] == [number(r) for r in sorted(found.risks, reverse=True)]
    assert sum(row[2] == "yes" for row in rows) == len(found.within_one_error)
    assert [row[0] for row in rows if row[3] == "yes"] == ["n_neighbors=3, weights=distance"]
    assert figure.svg.count("data-tip") == 58
    assert figure.svg.count('class="point s0" data-tip') == len(found.within_one_error)


def test_rungs_are_claim_correction_and_honest_risk(audited):
    """At level scores the honest risk is the correction, and stands once."""
    for level, names in (("scores", 2), ("bbc", 3), ("nested", 3)):
        figure = draw_claim(audited[level])
        assert len(figure.table.rows) == len(figure.keys) == names


def test_a_search_that_kept_no_scores_has_no_curve_of_settings():
    """RidgeCV keeps the best score alone: the page does without the figure."""
    X, y = tr.datasets.load("diabetes").X[:60], tr.datasets.load("diabetes").y[:60]
    found = tr.audit(RidgeCV([0.1, 1.0, 10.0]).fit(X, y), X, y, level="nested", outer="3-fold")
    assert found.risks == ()
    page = found.to_html()
    assert 'id="figure-settings"' not in page
    assert "None" not in told(page)


def test_names_stay_text(wild):
    """Tags and quotes are escaped, letters that turn the direction are gone, length has an end."""
    page = draw_any(wild)
    assert HOSTILE not in page
    assert "<img" not in page
    assert clean(HOSTILE, 30) in told(page)
    assert ARABIC not in page
    assert LONG not in page
    assert len(page) < 300_000


def test_many_settings_stay_small(content):
    """Points and rows are capped; the JSON has them all."""
    n = 20_000
    content.update(
        settings=[{"n": i} for i in range(n)],
        risks=[0.1 + i / n for i in range(n)],
        within_one_error=[0, 1],
        n_candidates=n,
    )
    page = draw_any(content)
    assert len(page.encode()) < 300_000
    assert f"{n - 60} further rows are not on the page" in page


def cited(found) -> list[str]:
    """The first authors of the references on its page."""
    listed = found.to_html().partition('<ul class="references">')[2].partition("</ul>")[0]
    return re.findall(r"<li>(\w+)", listed)


def test_the_paragraph_rests_on_what_was_done(audited):
    """Bootstrap bias correction, nested resampling and the rough correction have a reference."""
    names = {"scores": ["Tibshirani"], "bbc": ["Tsamardinos", "Tibshirani"]}
    for level, wanted in names.items():
        assert cited(audited[level]) == wanted
    for level in ("pairs", "nested"):
        for mixes in (None, "groups"):
            found = replace(audited[level], mixes=mixes)
            assert cited(found) == ["Varma", "Bengio", "Tibshirani"]


def test_identifiers_are_unique_and_nothing_is_fetched(audited):
    """An id stands for one element; no address but the name of SVG itself."""
    page = audited["bbc"].to_html()
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"https?://[^\"' <]+", page)) <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("chosen",), 58),
        (("risks",), [0.1]),
        (("risks",), ["a"] * 58),
        (("within_one_error",), [58]),
        (("claimed", "value"), "nan"),
        (("honest", "interval", "low"), 2.0),
        (("findings", 0, "code"), "fatal"),
        (("versions",), {"numpy": 2}),
        (("settings",), [3]),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_wrong_value_is_named(content, path, value):
    """Values that contradict each other or their meaning are refused by their place."""
    changed = copy.deepcopy(content)
    part = changed
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    with pytest.raises(BadData, match="damaged"):
        draw_any(changed)


def test_a_lost_field_and_a_later_version_are_named(content):
    """What is missing, and which version is needed."""
    with pytest.raises(BadData, match="they lack 'settings'"):
        draw_any({name: v for name, v in content.items() if name != "settings"})
    with pytest.raises(BadData, match="of version 3 of .* reads versions 1 to 2: upgrade"):
        draw_any({**content, "schema": "truerisk.audit/3"})
