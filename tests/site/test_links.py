"""Every link of the built pages leads somewhere, and nothing is loaded from elsewhere."""

from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

ASKED = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src"}
LOADED = {"img", "script", "iframe"}


class Links(HTMLParser):
    """The places that a page has, and those that it leads to."""

    def __init__(self, text):
        super().__init__()
        self.places = {"", "top"}
        self.led = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        if given.get(ASKED.get(tag, "")):
            self.led.append((tag, given[ASKED[tag]]))


def read(folder):
    """Every page of a folder, those shown in a frame too; templates of the theme are no pages."""
    texts = {path: path.read_text("utf-8") for path in sorted(folder.rglob("*.html"))}
    begun = "<!doctype html>"
    return {
        path: Links(text) for path, text in texts.items() if text.lstrip()[:15].lower() == begun
    }


def broken(pages):
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


def test_links_lead_somewhere(site):
    pages = read(site)
    assert len(pages) > 100
    found = sorted(set(broken(pages)))
    assert not found, "\n".join(found)


def test_broken_links_are_seen(tmp_path):
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
