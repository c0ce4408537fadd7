"""Every link of the built pages leads somewhere, and nothing is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ASKED = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src"}
LOADED = {"img", "script", "iframe"}


class Links(HTMLParser):
    """The places that a page has, and those that it leads to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = {"", "top"}
        self.led: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        if given.get(ASKED.get(tag, "")):
            self.led.append((tag, given[ASKED[tag]]))


def read(folder: Path) -> dict[Path, Links]:
    """Every page of a folder, those shown in a frame too; templates of the theme are no pages."""
    texts = {path: path.read_text("utf-8") for path in sorted(folder.rglob("*.html"))}
    begun = "<!doctype html>"
    return {
        path: Links(text) for path, text in texts.items() if text.lstrip()[:15].lower() == begun
    }


def broken(pages: dict[Path, Links]) -> Iterator[str]:
    """Links of a page to no file, or to no place in a page; what comes from another host."""
    for path, links in pages.items():
        for tag, url in links.led:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                if tag in LOADED and parts.scheme != "data":
                    yield f"{path.name}: {tag} from elsewhere: {url}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{path.name}: no file {url}"
            elif target in pages and unquote(parts.fragment) not in pages[target].places:
                yield f"{path.name}: no place {url}"


def test_every_link_leads_somewhere(site):
    """To a file that is there, and to a place in it."""
    pages = read(site)
    assert len(pages) > 100
    found = sorted(set(broken(pages)))
    assert not found, "\n".join(found)


def test_a_broken_link_is_seen(tmp_path):
    """A lost page, a lost place and a script of another host are found; what is right is not."""
    good = '<a href="a.html#here"></a><a id="here" href="https://else.org"></a><a href="#"></a>'
    bad = '<a href="b.html"></a><a href="#there"></a><script src="//elsewhere.org/x.js"></script>'
    (tmp_path / "a.html").write_text(f"<!DOCTYPE html>{good}{bad}")
    (tmp_path / "macros.html").write_text('<a href="{{ link }}"></a>')
    found = list(broken(read(tmp_path)))
    assert [text.partition(": ")[2] for text in found] == [
        "no file b.html",
        "no place #there",
        "script from elsewhere: //elsewhere.org/x.js",
    ]
