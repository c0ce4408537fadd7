"""What holds of every page: drawn again from its file, small, nothing fetched, nobody shut out."""

import re

import pytest
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.naive_bayes import GaussianNB
from tests.report.browsing import require_open_to_all, require_stopped
from tests.report.conftest import ARABIC, HOSTILE, LONG, draw_any, told
from tests.report.test_panels import slides

import truerisk as tr
from truerisk.results.json_values import parse_json

PAGES = (
    "assessment", "audit scores", "audit bbc", "audit pairs", "audit nested", "many",
    "validation", "parts", "learning", "over time",
)  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_page_is_small_and_drawn_again_from_its_file(results, tmp_path, name):
    """The page of what `to_json` wrote is the same to the letter; an id stands for one element.

    No address but the name of SVG itself, no style attribute, no handler in a tag.
    """
    written = results[name].to_html(tmp_path / "a.html")
    results[name].to_json(tmp_path / "a.json")
    assert (tmp_path / "a.html").read_text("utf-8") == written
    assert draw_any(parse_json(tmp_path / "a.json")) == written
    assert len(written.encode()) < 300_000
    ids = re.findall(r'\sid="([^"]+)"', written)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"https?://[^\"' <]+", written)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<[^>]+\s(?:src|style|on\w+)=", written)
    assert re.search(r"default-src 'none'; style-src 'nonce-\w{32}'", written)
    for figure in written.split("<figure ")[1:]:
        assert figure.partition("</figure>")[0].count("<table>") == 1
        assert re.search(r'role="img" aria-labelledby="[\w-]+-title [\w-]+-about"', figure)


@pytest.mark.parametrize("name", ["assessment", "audit", "many", "validation"])
def test_page_keeps_hostile_names_text(wild, show, name):
    """Tags are escaped, letters that turn the direction are gone, length has an end.

    On a phone nothing is obeyed, nothing sticks out, and axe-core finds nothing.
    """
    page = draw_any(wild[name])
    for forbidden in (HOSTILE, "<img", ARABIC, LONG):
        assert forbidden not in page
    assert "</script><img src" in told(page)
    assert len(page) < 700_000
    require_stopped(show(page), 390 if name == "many" else 375)


X, Y = tr.datasets.make_difficult(40, random_state=1)


@pytest.fixture(scope="module")
def others() -> dict[str, str]:
    """Pages of results that are no records of their own, and of panels that slide."""
    curve = tr.learning_curve(GaussianNB(), X, Y)
    model = tr.validate(GaussianNB(), X, Y, replicates=5)
    shown = {"estimate": curve.estimates[-1], "curve": curve, "benefit": model.net_benefit}
    return {name: one.to_html() for name, one in {**shown, "panels": slides()}.items()}


@pytest.mark.parametrize(
    "name",
    [*PAGES[:3:2], *PAGES[5:7], *PAGES[8:], "estimate", "curve", "benefit", "panels"],
)
def test_page_shuts_nobody_out(results, others, show, name):
    page = others[name] if name in others else results[name].to_html()
    wide = name in ("assessment", "audit bbc", "validation", "panels")
    opened = show(page)
    require_open_to_all(opened, phone=375 if wide else 390)
    ends = opened.page.eval_on_selector_all(
        ".drawing text", "all => all.map(one => one.getBoundingClientRect().right)"
    )
    assert name != "many" or max(ends) <= 390


def test_page_of_a_search_without_scores_has_no_curve_of_settings():
    X, y = tr.datasets.load("diabetes").X[:60], tr.datasets.load("diabetes").y[:60]
    found = tr.audit(RidgeCV([0.1, 1.0, 10.0]).fit(X, y), X, y, level="nested", outer="3-fold")
    assert found.risks == ()
    page = found.to_html()
    assert 'id="figure-settings"' not in page
    assert "None" not in told(page)


def test_page_depends_on_its_content_alone(content):
    nonce = re.compile(r"nonce-(\w+)'")
    first = draw_any(content)
    assert first == draw_any(content)
    assert nonce.search(first)[1] != nonce.search(draw_any({**content, "source": "o.csv"}))[1]


@pytest.mark.parametrize("name", ["\ud800", "\x00", "\r\n", ""])
def test_page_with_odd_names_can_be_written(content, tmp_path, name):
    """Lone surrogates, control characters and nothing at all are made visible or left out."""
    page = draw_any({**content, "source": name, "command": name, "classes": [name]})
    (tmp_path / "page.html").write_text(page, encoding="utf-8")


def test_page_names_its_day(results, monkeypatch):
    """SOURCE_DATE_EPOCH names the day for builds that are repeated, else it is this one."""
    counted = tr.estimate_risk(LinearRegression(), X, X[:, 0])
    for one in (*results.values(), counted):
        assert "on 1 January 2026 from the numbers above" in one.to_html()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert "on 1 January 1970" in counted.to_html()
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert "on 1 January 1970" not in counted.to_html()
