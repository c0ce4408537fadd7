"""The page of an audit in a real browser."""

from __future__ import annotations

import re

import pytest
from tests.report.test_in_browser import require_open_to_all, require_stopped


@pytest.fixture
def content(audited):
    """The JSON of level bbc."""
    return audited["bbc"].to_dict()


def test_the_page_shuts_nobody_out(show, content):
    """No violation of axe-core's rules, in either scheme, at any width."""
    require_open_to_all(show(content))


def test_points_are_read_by_pointer_and_keys(show, content):
    """Over a point stands its setting and its risk; the arrow keys walk from one to the next."""
    opened = show(content)
    opened.page.hover("#figure-settings [data-tip] >> nth=-1")
    assert re.search(r"n_neighbors=\d+, weights=\w+: 0\.\d{4}", opened.text("#tip"))
    opened.page.focus("#figure-settings .plot")
    opened.page.keyboard.press("ArrowRight")
    first = opened.page.text_content("#tip-said")
    opened.page.keyboard.press("ArrowRight")
    assert first != opened.page.text_content("#tip-said")
    assert opened.said == []
    assert opened.asked == []


def test_it_is_read_without_script_and_printed(show, content):
    """Conclusion, tables and drawings are there; on paper the tables are unfolded."""
    opened = show(content, java_script_enabled=False)
    assert "best_score_" in opened.text("#conclusion")
    assert opened.page.is_hidden("[data-copy]")
    assert opened.page.locator("svg.drawing").count() == opened.page.locator("figure").count() == 2
    printed = show(content)
    assert printed.page.pdf(format="A4").startswith(b"%PDF")
    printed.page.emulate_media(media="print")
    assert printed.page.is_visible("#figure-settings table")


def test_hostile_names_stay_text_and_shut_nobody_out(show, wild):
    """On a phone: nothing is obeyed, nothing sticks out, axe-core finds nothing."""
    require_stopped(show(wild))
