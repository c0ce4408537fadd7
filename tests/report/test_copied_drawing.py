"""A drawing copied from the page stands by itself: legend, colours, no reference outside."""

import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tests.report.browsing import unfold

from truerisk.report.page import result_from_dict

SVG = "{http://www.w3.org/2000/svg}"
MAY = ["clipboard-read", "clipboard-write"]
AS_IMAGE = """(text) => new Promise((done) => {
  const image = new Image();
  image.onload = () => done([image.naturalWidth, image.naturalHeight]);
  image.onerror = () => done([0, 0]);
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
})"""


def copied(opened: Any, name: str) -> tuple[str, ET.Element]:
    """What lies on the clipboard after the button of a figure."""
    unfold(opened.page)
    opened.page.click(f"[data-drawing={name}]")
    opened.page.wait_for_selector(f"p:has([data-drawing={name}]) [role=status]:text('copied')")
    text = opened.page.evaluate("navigator.clipboard.readText()")
    return text, ET.fromstring(text)


def test_drawings_of_a_page_are_copied_whole(show, browser, content):
    """As an image of its own it has a size, its legend's words, and no variable of the page."""
    opened = show(content, permissions=MAY, color_scheme="dark")
    names = opened.page.eval_on_selector_all(
        "[data-drawing]", "all => all.map((b) => b.dataset.drawing)"
    )
    assert len(names) == opened.page.locator("figure").count() > 5
    blank = browser.new_page()
    for name in names:
        text, svg = copied(opened, name)
        assert svg.tag == f"{SVG}svg"
        assert not re.search(r"var\(|data-tip|url\(|href", text)
        assert svg.attrib["class"] != "drawing"  # which would make it as wide as its window
        keys = opened.page.locator(f"#{name} .keys li:not(:has(.here))").all_inner_texts()
        words = [part.text for part in svg.findall(f"{SVG}text")][-len(keys) :] if keys else []
        assert words == [" ".join(key.split()) for key in keys]
        size = [float(svg.attrib[side]) for side in ("width", "height")]
        assert blank.evaluate(AS_IMAGE, text) == pytest.approx(size, abs=1)
    blank.close()
    assert not opened.said


def test_drawing_is_selected_where_copying_is_not_allowed(show, content):
    opened = show(content)
    opened.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject('no'); }")
    opened.page.click("#figure-ladder summary:has-text('Save')")
    opened.page.click("[data-drawing=figure-ladder]")
    said = "p:has([data-drawing=figure-ladder]) [role=status]:text('copy it with the keyboard')"
    opened.page.wait_for_selector(said)
    selected = opened.page.evaluate("window.getSelection().toString()")
    assert ET.fromstring(selected).tag == f"{SVG}svg"


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_drawing_is_saved_as_the_command_saves_it(show, content, tmp_path, kind):
    """By its name, in light colours whatever the scheme, the picture 1920 pixels wide."""
    files = []
    for scheme in ("light", "dark"):
        opened = show(content, color_scheme=scheme)
        unfold(opened.page)
        with opened.page.expect_download() as download:
            opened.page.click(f"#figure-roc [data-save={kind}]")
        files.append(tmp_path / f"{scheme}.{kind}")
        download.value.save_as(files[-1])
        assert not opened.said
        assert not opened.asked
    names = [path.name for path in result_from_dict(content).save_figures(tmp_path / "own", [kind])]
    assert download.value.suggested_filename in names
    light, dark = (path.read_bytes() for path in files)
    assert light == dark
    if kind == "png":
        assert (light[:4], int.from_bytes(light[16:20], "big")) == (b"\x89PNG", 1920)
    else:
        words = [part.text for part in ET.fromstring(light).iter(f"{SVG}text")]
        assert {"ROC curve", "false positive rate (1 − specificity)"} <= {*words}
        assert "the threshold below" not in words
        assert b"#1d5f96" in light
        assert b"var(" not in light
