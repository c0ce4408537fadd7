"""The built pages in a browser: they shut nobody out, fit a telephone, find what is typed."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.report.browsing import findings

DOCS = Path(__file__).parent.parent.parent / "docs"
OWN = sorted(path.with_suffix(".html").name for path in DOCS.glob("*.md"))
LAST = ("decisions/", "documents", "versions", "architecture", "contributing", "maintenance")
OTHERS = [
    "api/index.html",
    "api/parts.html",
    "api/generated/truerisk.HonestSearchCV.html",
    "auto_examples/index.html",
    "auto_examples/plot_honest_search.html",
    "decisions/0028-pairs.html",
    "search.html?q=bootstrap",
]
EVIDENCE = ("-measured", "benchmarks", "contributing", "architecture", "maintenance", "versions")
TALLEST = 6_000  # pixels of a page of use: a screen or two, and its tables
WINDOWS = [(390, "light"), (1280, "dark")]


def typed_words() -> Mapping[str, tuple[str, ...]]:
    """The table of what people type, page by page."""
    spec = importlib.util.spec_from_file_location("typed_words", DOCS / "_ext" / "typed_words.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    words: Mapping[str, tuple[str, ...]] = module.WORDS
    return words


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
@pytest.mark.parametrize("page", [*OWN, *OTHERS])
def test_nobody_is_shut_out(reader, page, width, scheme):
    """axe-core finds nothing, nothing is wider than the window, nothing is asked of other hosts."""
    shown, elsewhere = reader(page, width=width, scheme=scheme)
    assert not findings(SimpleNamespace(page=shown))
    assert shown.evaluate("document.scrollingElement.scrollWidth") <= width
    assert not elsewhere


@pytest.mark.parametrize("page", [p for p in OWN if not any(word in p for word in EVIDENCE)])
def test_a_page_of_use_is_short(reader, page):
    """Evidence stands on pages of its own."""
    shown, _ = reader(page)
    assert shown.evaluate("document.querySelector('.bd-article').scrollHeight") <= TALLEST


@pytest.mark.parametrize(
    ("word", "page"), [(word, page) for page, words in typed_words().items() for word in words]
)
def test_a_typed_word_finds_its_page(reader, word, page):
    """The first result of the search leads to it."""
    shown, _ = reader(f"search.html?q={word}")
    first = shown.wait_for_selector("#search-results ul.search li a")
    assert first.get_attribute("href").partition("#")[0] == f"{page}.html"


@pytest.mark.parametrize("word", ["coverage", "engine", "racing", "interval"])
def test_decisions_documents_and_versions_come_last(reader, word):
    """After them the search lists no other page; entries of the index alone follow."""
    shown, _ = reader(f"search.html?q={word}")
    shown.wait_for_selector("#search-results p.search-summary:has-text('found')")
    links = shown.query_selector_all("#search-results ul.search > li > a")
    names = [link.get_attribute("href").partition("#")[0] for link in links]
    pages = [name for name in names if name.startswith(LAST) or name in OWN]
    last = [name.startswith(LAST) for name in pages if name != "glossary.html"]
    assert any(last)
    assert not all(last)
    assert last == sorted(last)
