"""The built pages in a browser: they shut nobody out, fit a telephone, find what is typed."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.report.browsing import findings

DOCS = Path(__file__).parent.parent.parent / "docs"
GALLERY = sorted(DOCS.parent.glob("examples/plot_*.py"))
OWN = sorted(path.with_suffix(".html").name for path in DOCS.glob("*.md"))
LAST = ("decisions/", "documents", "versions", "architecture", "contributing", "maintenance")
OTHERS = [
    "api/index.html",
    "api/parts.html",
    "api/methods.html",
    "api/generated/truerisk.HonestSearchCV.html",
    "auto_examples/index.html",
    *(f"auto_examples/{path.stem}.html" for path in GALLERY),
    "decisions/0028-pairs.html",
    "search.html?q=bootstrap",
]
EVIDENCE = ("-measured", "benchmarks", "contributing", "architecture", "maintenance", "versions")
TALLEST = 8_500  # pixels: clarity decides about the length, but a page answers one question
WINDOWS = [(390, "light"), (1280, "dark")]


def typed_words():
    """Return the table of what people type, page by page."""
    return runpy.run_path(str(DOCS / "_ext" / "typed_words.py"))["WORDS"]


@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
@pytest.mark.parametrize("page", [*OWN, *OTHERS])
def test_page_passes_axe_and_fits_its_window(reader, page, width, scheme):
    shown, elsewhere = reader(page, width=width, scheme=scheme)
    assert not findings(SimpleNamespace(page=shown))
    assert shown.evaluate("document.scrollingElement.scrollWidth") <= width
    assert not elsewhere


@pytest.mark.parametrize("page", [p for p in OWN if not any(word in p for word in EVIDENCE)])
def test_page_of_use_is_short(reader, page):
    shown, _ = reader(page)
    assert shown.evaluate("document.querySelector('.bd-article').scrollHeight") <= TALLEST


@pytest.mark.parametrize(
    ("word", "page"), [(word, page) for page, words in typed_words().items() for word in words]
)
def test_search_of_a_typed_word_finds_its_page(reader, word, page):
    shown, _ = reader(f"search.html?q={word}")
    first = shown.wait_for_selector("#search-results ul.search li a")
    assert first.get_attribute("href").partition("#")[0] == f"{page}.html"


@pytest.mark.parametrize("word", ["coverage", "engine", "racing", "interval"])
def test_search_lists_decisions_documents_and_versions_last(reader, word):
    shown, _ = reader(f"search.html?q={word}")
    shown.wait_for_selector("#search-results p.search-summary:has-text('found')")
    links = shown.query_selector_all("#search-results ul.search > li > a")
    names = [link.get_attribute("href").partition("#")[0] for link in links]
    pages = [name for name in names if name.startswith(LAST) or name in OWN]
    last = [name.startswith(LAST) for name in pages if name != "glossary.html"]
    assert any(last)
    assert not all(last)
    assert last == sorted(last)
