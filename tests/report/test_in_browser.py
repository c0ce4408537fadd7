"""The page in a real browser: it moves, reads, prints, keeps to itself and shuts nobody out."""

import json
import re

import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.report.browsing import findings
from tests.report.conftest import ARABIC, HOSTILE, LONG

import truerisk as tr
from truerisk.core.formats import escape_and_truncate, format_number
from truerisk.report.rates import ThresholdRates

SHOWN = ("tp", "fn", "fp", "tn", "sensitivity", "specificity", "precision", "npv", "error", "cost")


def shown(opened) -> dict[str, str]:
    """The numbers beside the slider."""
    return {name: opened.text(f"[data-show={name}]") for name in SHOWN}


def move(opened, to: int) -> None:
    """Put the slider on a step."""
    opened.page.eval_on_selector(
        "#threshold-slider",
        "(slider, to) => { slider.value = to; slider.dispatchEvent(new Event('input')); }",
        str(to),
    )


@pytest.mark.parametrize("scores", [None, range(64)], ids=["found", "ties of 1/32 and 3/32"])
def test_slider_moves_the_numbers_to_those_of_python(show, content, found, scores):
    """At every step the page shows the counts and rates of the ROC curve at that threshold.

    Ties of the binary fraction go to the even digit on the page and in Python.
    """
    roc = found.roc if scores is None else tr.RocCurve.from_scores([0] * 32 + [1] * 32, scores)
    plain = content if scores is None else {**content, "roc": roc.to_dict()}
    opened = show(plain)
    rates = ThresholdRates(tr.Assessment.from_dict(plain).roc)
    last = len(rates.operating_points) - 1
    for i, call in enumerate(rates.operating_points):
        move(opened, last - i)
        told, point = shown(opened), roc.at(call.threshold)
        assert told == {name: rates.format_rates(i)[name] for name in SHOWN}
        assert told["tp"] == f"{point.true_positives:g}"
        assert told["fp"] == f"{point.false_positives:g}"
        for name in ("sensitivity", "specificity", "precision", "error"):
            assert told[name] == format_number(getattr(point, name))
        assert opened.text("#threshold-value") == rates.format_rates(i)["threshold"]
    opened.page.focus("#threshold-slider")
    opened.page.keyboard.press("End")  # nothing is called positive: both rates are 0
    where = [opened.page.get_attribute("#figure-roc .drawing .here", name) for name in ("cx", "cy")]
    assert [float(v) for v in where] == rates.slider_data()["roc"][0]
    assert shown(opened)["tp"] == shown(opened)["fp"] == "0"
    assert not opened.said


def test_costs_and_prevalence_move_the_expected_cost(show, content, found):
    """The least cost is that of `roc.at_cost`, at the rows' own share and at another."""
    opened = show(content)
    opened.page.fill("#cost-fn", "5")
    opened.page.click("#least-cost")
    best = found.roc.at_cost(1, 5)
    assert shown(opened)["cost"] == format_number(best.cost)
    assert opened.text("#threshold-value") == f"{best.threshold:.6g}"
    opened.page.fill("#prevalence", "0.05")
    opened.page.click("#least-cost")
    elsewhere = found.roc.at_cost(1, 5, prevalence=0.05)
    assert shown(opened)["cost"] == format_number(elsewhere.cost)
    opened.page.fill("#prevalence", "5")
    assert shown(opened)["cost"] == "–"
    assert opened.page.get_attribute("#prevalence", "aria-invalid") == "true"


def test_arrow_keys_and_pointer_read_the_points(show, content):
    """A step of the slider is a step of the numbers; on a figure the arrows walk the points."""
    opened = show(content)
    page = opened.page
    page.hover("#figure-curve-0-0 [data-tip] >> nth=-1")
    assert re.search(r": 0\.\d{4}", opened.text("#tip"))
    page.focus("#threshold-slider")
    page.keyboard.press("Home")
    before = shown(opened)
    page.keyboard.press("ArrowRight")
    assert shown(opened) != before
    page.focus("#figure-ladder .plot")
    page.keyboard.press("ArrowRight")
    first = opened.text("#tip")
    assert "honest risk" in first
    assert page.text_content("#tip-said") == first
    page.keyboard.press("ArrowRight")
    assert opened.text("#tip") != first
    page.keyboard.press("Escape")
    assert page.is_hidden("#tip")


def test_tab_key_reaches_every_control(show, content):
    """Links, figures, tables that scroll, fields and buttons take the focus, in their order."""
    opened = show(content)
    seen = []
    for _ in range(120):
        opened.page.keyboard.press("Tab")
        name = opened.page.evaluate("document.activeElement.id || document.activeElement.tagName")
        seen.append(name)
        if name == "BODY":
            break
    wanted = ["threshold-slider", "cost-fp", "cost-fn", "prevalence", "least-cost"]
    assert [name for name in seen if name in wanted] == wanted
    assert {"A", "SUMMARY", "BUTTON"} <= set(seen)


def test_findings_of_axe_fail_on_a_bad_page(show, content):
    """The check fails on a page without names, and on one without contrast in the dark."""
    opened = show(content)
    opened.page.evaluate("document.querySelector('label').remove()")
    found = findings(opened, runOnly=["label"])
    assert any(one.startswith("label:") for one in found)
    grey = "@media (prefers-color-scheme: dark) { p { color: rgb(30, 34, 38) !important; } }"
    opened.page.evaluate(
        """css => { const sheet = new CSSStyleSheet(); sheet.replaceSync(css);
        document.adoptedStyleSheets = [sheet]; }""",
        grey,
    )
    assert findings(opened, runOnly=["color-contrast"]) == []
    opened.page.emulate_media(color_scheme="dark")
    assert findings(opened, runOnly=["color-contrast"]) != []


def test_honest_column_is_seen_on_a_telephone(show):
    """Of the learners and of the scores, whose settings and names are long; the rest scrolls."""
    X, y = tr.datasets.make_difficult(40, random_state=1)
    grid = {"max_depth": [1], "min_samples_leaf": [5], "criterion": ["log_loss", "entropy"]}
    tree = DecisionTreeClassifier(random_state=0)
    assessed = tr.assess(
        {"decision tree": (tree, grid)}, X, y, scoring=["zero-one", "balanced-accuracy"]
    )
    opened = show(json.loads(assessed.to_json()), viewport={"width": 390, "height": 900})
    ends = opened.page.eval_on_selector_all(
        "#learners th[scope=col]",
        "all => all.filter(one => one.textContent == 'honest')"
        ".map(one => one.getBoundingClientRect().right)",
    )
    assert len(ends) == 2
    assert max(ends) <= 390


def test_page_is_read_without_script(show, content, found):
    """Conclusion, tables, drawings and one operating point are there; dead controls are not."""
    opened = show(content, java_script_enabled=False)
    assert found.conclusion.split(". ")[0] in opened.text("#conclusion")
    assert opened.page.is_hidden("#threshold-slider")
    assert opened.page.is_hidden("[data-copy]")
    assert shown(opened)["tp"].isdigit()
    assert opened.page.locator("svg.drawing").count() == opened.page.locator("figure").count()


def test_page_prints(show, content):
    """A PDF of a few pages, on white, with the tables unfolded and without controls."""
    opened = show(content, color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert opened.page.evaluate(colour) == "rgb(20, 24, 28)"
    paper = opened.page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 14
    opened.page.emulate_media(media="print")
    assert opened.page.evaluate(colour) == "rgb(255, 255, 255)"
    assert opened.page.is_hidden(".controls")
    assert opened.page.is_visible("#figure-ladder table")


def test_content_policy_stops_what_is_slipped_in(show, content):
    """Scripts, styles and pictures without the nonce do nothing, and the console says so."""
    opened = show(content)
    opened.page.evaluate(
        """() => {
            const script = document.createElement('script');
            script.textContent = 'window.slipped = true';
            document.body.append(script);
            document.body.insertAdjacentHTML('beforeend', '<img src="https://example.org/x.png">');
        }"""
    )
    assert opened.page.evaluate("window.slipped") is None
    assert opened.page.eval_on_selector("img", "image => image.naturalWidth") == 0
    assert any("Content Security Policy" in line for line in opened.said)


def test_hostile_names_are_shown_and_not_obeyed(show, hostile):
    """Names that close tags, turn the reading direction or never end are shown, not obeyed."""
    opened = show(hostile)
    page = opened.page
    assert page.locator("script").count() == 2
    cells = page.locator("#learners .main tbody th").all_inner_texts()
    assert set(cells) == {escape_and_truncate(name, 60) for name in (HOSTILE, ARABIC, LONG)}
    assert escape_and_truncate(HOSTILE, 60) in opened.text("#rates .lead") + opened.text("#repeat")
    move(opened, 1)
    assert shown(opened)["tp"].isdigit()
    assert page.evaluate("document.documentElement.scrollWidth") == 1200
