"""The pictures of the landing page show the page that the tour makes today."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("sphinx")
DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.slow
def test_example_picture_shows_the_page_of_today(monkeypatch):
    """The words that were pictured are those of the page; else `python docs/pictures.py`."""
    monkeypatch.syspath_prepend(DOCS / "_ext")
    from example_report import PICTURED, conclusion_of, example_page

    assert PICTURED.read_text("utf-8") == conclusion_of(example_page(DOCS))
