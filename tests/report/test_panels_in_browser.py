"""The slider of an experiment's page: a sentence for each step, and the points that it is about."""

from __future__ import annotations

import numpy as np
import pytest
from tests.report.test_in_browser import require_open_to_all
from tests.report.test_panels import report_of

from truerisk.experiments.figures import Panel, Series

SAID = ("one gene: <b>4</b> and 1", "two genes: 3 and 2", "five genes: 2 and 6")
LINES = (
    Series("a", np.arange(1, 4), np.array([4, 3, 2]), "C0o-"),
    Series("b", np.arange(1, 4), np.array([1, 2, 6]), "C1s--"),
)
PANEL = Panel("toy", "genes", "error", LINES, names=("1", "2", "5"), steps=SAID)
PLAIN = Panel("plain", "genes", "error", LINES)


@pytest.fixture
def page() -> str:
    return report_of(PANEL, PLAIN).to_html()


def shown(opened) -> tuple[list[str], list[int]]:
    """The sentences in sight, and which points are large."""
    said = [one.inner_text() for one in opened.page.query_selector_all(".steps li:visible")]
    places = "all => all.flatMap((one, i) => one.classList.contains('at') ? [i] : [])"
    return said, opened.page.eval_on_selector_all("#figure-toy-1 .drawing .point", places)


def test_arrow_keys_go_through_the_steps(show, page):
    """Each with its sentence, which a screen reader hears, and the points of all lines there."""
    opened = show(page)
    slider = opened.page.locator("input[type=range]")
    assert slider.count() == 1
    assert opened.page.get_by_label("genes", exact=True).count() == 1
    slider.focus()
    opened.page.keyboard.press("Home")
    for i, said in enumerate(SAID):
        assert shown(opened) == ([said], [i, i + 3])
        assert slider.get_attribute("aria-valuetext") == said
        opened.page.keyboard.press("ArrowRight")
    require_open_to_all(opened)


def test_a_copied_drawing_is_that_of_no_step(show, page):
    """Its points are all alike."""
    opened = show(page)
    with opened.page.expect_download() as saved:
        opened.page.click("#figure-toy-1 [data-save=svg]")
    text = saved.value.path().read_text("utf-8")
    assert 'class="point s0"' in text
    assert not {"point s0 at", "point s1 at"} & set(text.split('"'))


def test_without_script_and_on_paper_all_sentences_are_there(show, page):
    """And no slider that would not move."""
    still = show(page, java_script_enabled=False)
    assert shown(still)[0] == list(SAID)
    assert not still.page.locator("input[type=range]").is_visible()
    printed = show(page)
    printed.page.emulate_media(media="print")
    assert shown(printed)[0] == list(SAID)
    assert not printed.page.locator("input[type=range]").is_visible()
