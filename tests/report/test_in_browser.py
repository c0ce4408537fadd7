"""The page in a real browser: it moves, reads, prints, keeps to itself and shuts nobody out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import axe_playwright_python
from sklearn.tree import DecisionTreeClassifier
from tests.report.conftest import ARABIC, HOSTILE, LONG

import truerisk as tr
from truerisk.core.formats import clean, number
from truerisk.report.rates import Rates

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
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


def findings(opened, **options) -> list[str]:
    """What axe-core finds on the page as it is."""
    if opened.page.evaluate("typeof axe === 'undefined'"):
        opened.page.evaluate(AXE)
    found = opened.page.evaluate(
        f"axe.run({json.dumps({'resultTypes': ['violations'], **options})})"
    )
    return [
        f"{one['id']}: {node['html'][:120]} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]


def findings_of_both_schemes(opened, **options) -> list[str]:
    """What it finds with everything unfolded; in the dark only colours are others."""
    page = opened.page
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    found = findings(opened, **options)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(20, 24, 28)"
    return found + findings(opened, runOnly=["color-contrast"], **options)


def require_room(opened, width: int) -> None:
    """Nothing sticks out sideways, and letters in drawings stay readable."""
    opened.page.set_viewport_size({"width": width, "height": 900})
    assert opened.page.evaluate("document.documentElement.scrollWidth") == width
    sizes = opened.page.eval_on_selector_all(
        ".drawing text", "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert min(sizes, default=9) >= 9


def require_open_to_all(opened, phone: int = 375) -> None:
    """On a phone and on a desk there is room; axe-core finds nothing, and nothing was let out."""
    require_room(opened, 1600)
    require_room(opened, phone)
    assert findings_of_both_schemes(opened) == []
    assert opened.said == []
    assert opened.asked == []


def require_stopped(opened, phone: int = 375) -> None:
    """Names that try to leave their place: nothing is obeyed, and the page is one for a phone."""
    require_room(opened, phone)
    assert opened.page.locator("img").count() == 0
    assert findings(opened) == []
    assert opened.said == []
    assert opened.asked == []


# ---------------------------------------------------------------- the threshold


def test_the_slider_moves_the_numbers_to_those_of_python(show, content, found):
    """At every step counts and rates are those of the ROC curve at that threshold."""
    opened = show(content)
    rates = Rates(tr.Assessment.from_dict(content).roc)
    last = len(rates.calls) - 1
    for i, call in enumerate(rates.calls):
        move(opened, last - i)
        told, point = shown(opened), found.roc.at(call.threshold)
        assert told == {name: rates.numbers(i)[name] for name in SHOWN}
        assert told["tp"] == f"{point.true_positives:g}"
        assert told["fp"] == f"{point.false_positives:g}"
        assert told["sensitivity"] == number(point.sensitivity)
        assert told["specificity"] == number(point.specificity)
        assert told["precision"] == number(point.precision)
        assert told["error"] == number(point.error)
        assert opened.text("#threshold-value") == rates.numbers(i)["threshold"]
    assert not opened.said


def test_costs_and_prevalence_move_the_expected_cost(show, content, found):
    """The least cost is that of `roc.at_cost`, at the rows' own share and at another."""
    opened = show(content)
    opened.page.fill("#cost-fn", "5")
    opened.page.click("#least-cost")
    best = found.roc.at_cost(1, 5)
    assert shown(opened)["cost"] == number(best.cost)
    assert opened.text("#threshold-value") == f"{best.threshold:.6g}"
    opened.page.fill("#prevalence", "0.05")
    opened.page.click("#least-cost")
    elsewhere = found.roc.at_cost(1, 5, prevalence=0.05)
    assert shown(opened)["cost"] == number(elsewhere.cost)
    opened.page.fill("#prevalence", "5")
    assert shown(opened)["cost"] == "–"
    assert opened.page.get_attribute("#prevalence", "aria-invalid") == "true"


def test_the_mark_moves_along_both_curves(show, content):
    """At the right end nothing is called positive: the mark is where both rates are 0."""
    opened = show(content)
    rates = Rates(tr.Assessment.from_dict(content).roc)
    opened.page.focus("#threshold-slider")
    opened.page.keyboard.press("End")
    where = [opened.page.get_attribute("#figure-roc .drawing .here", name) for name in ("cx", "cy")]
    assert [float(v) for v in where] == rates.data()["roc"][0]
    assert shown(opened)["tp"] == shown(opened)["fp"] == "0"


# ---------------------------------------------------------------- the keyboard


def test_the_arrow_keys_move_the_slider_and_read_the_points(show, content):
    """A step of the slider is a step of the numbers; on a figure the arrows walk the points."""
    opened = show(content)
    page = opened.page
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


def test_every_control_is_reached_by_the_tab_key(show, content):
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


def test_the_pointer_reads_points(show, content):
    """Over a point of a curve stands its setting and its risk."""
    opened = show(content)
    opened.page.hover("#figure-curve-0-0 [data-tip] >> nth=-1")
    assert opened.page.is_visible("#tip")
    assert re.search(r": 0\.\d{4}", opened.text("#tip"))


# ---------------------------------------------------------------- nobody is shut out


def test_the_page_shuts_nobody_out(show, content):
    """No violation of axe-core's rules, contrast among them, in either scheme, at any width."""
    require_open_to_all(show(content))


def test_axe_finds_what_is_wrong(show, content):
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


def test_dark_and_light_differ(show, content):
    """The page follows the scheme of the reader."""
    colours = {
        scheme: show(content, color_scheme=scheme).page.evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    assert colours["light"] == "rgb(255, 255, 255)"
    assert colours["dark"] == "rgb(20, 24, 28)"


def test_the_honest_column_is_seen_on_a_telephone(show):
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


def test_the_page_is_read_without_script(show, content, found):
    """Conclusion, tables, drawings and one operating point are there; dead controls are not."""
    opened = show(content, java_script_enabled=False)
    assert found.conclusion.split(". ")[0] in opened.text("#conclusion")
    assert opened.page.is_hidden("#threshold-slider")
    assert opened.page.is_hidden("[data-copy]")
    assert shown(opened)["tp"].isdigit()
    assert opened.page.locator("svg.drawing").count() == opened.page.locator("figure").count()


def test_the_page_prints(show, content):
    """A PDF of a few pages, on white, with the tables unfolded and without controls."""
    opened = show(content, color_scheme="dark")
    paper = opened.page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 14
    opened.page.emulate_media(media="print")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert opened.page.evaluate(colour) == "rgb(255, 255, 255)"
    assert opened.page.is_hidden(".controls")
    assert opened.page.is_visible("#figure-ladder table")


# ---------------------------------------------------------------- it keeps to itself


def test_nothing_leaves_the_file(show, content):
    """No request but for the file itself, and not a word on the console."""
    opened = show(content)
    opened.page.click("text=Copy the paragraph")
    opened.page.wait_for_selector("#methods .copy [role=status]:text('c')")
    assert opened.asked == []
    assert opened.said == []


def test_the_policy_stops_what_is_slipped_in(show, content):
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


def test_hostile_names_stay_text(show, hostile):
    """Names that close tags, turn the reading direction or never end are shown, not obeyed."""
    opened = show(hostile)
    page = opened.page
    assert page.locator("script").count() == 2
    cells = page.locator("#learners .main tbody th").all_inner_texts()
    assert set(cells) == {clean(name, 60) for name in (HOSTILE, ARABIC, LONG)}
    assert clean(HOSTILE, 60) in opened.text("#rates .lead") + opened.text("#repeat")
    move(opened, 1)
    assert shown(opened)["tp"].isdigit()
    assert page.evaluate("document.documentElement.scrollWidth") == 1200


def test_hostile_names_do_not_shut_anybody_out(show, hostile):
    """That page is one for a phone as well."""
    require_stopped(show(hostile))


def test_numbers_are_rounded_as_python_rounds(show, content):
    """Ties of the binary fraction go to the even digit: 1/32 and 3/32 on the page and in Python."""
    plain = {**content, "roc": tr.RocCurve.of([0] * 32 + [1] * 32, range(64)).to_dict()}
    opened = show(plain)
    rates = Rates(tr.Assessment.from_dict(plain).roc)
    last = len(rates.calls) - 1
    for i in (1, 3, 5, 33):
        move(opened, last - i)
        assert shown(opened) == {name: rates.numbers(i)[name] for name in SHOWN}
