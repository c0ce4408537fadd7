"""What is asked of every page in a real browser: room, contrast, silence, and nobody shut out."""

import json
from pathlib import Path
from typing import Any

import axe_playwright_python

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")


def findings(opened: Any, **options: Any) -> list[str]:
    """Return what axe-core finds on the page as it is."""
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


def unfold(page: Any) -> None:
    """Open all tables and menus of the page."""
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")


def findings_of_both_schemes(opened: Any) -> list[str]:
    """Return what axe-core finds with everything unfolded; in the dark only colours are others."""
    page = opened.page
    unfold(page)
    found = findings(opened)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(20, 24, 28)"
    return found + findings(opened, runOnly=["color-contrast"])


def require_room(opened: Any, width: int) -> None:
    """Require that nothing sticks out, calls wrap, and letters in drawings stay readable."""
    opened.page.set_viewport_size({"width": width, "height": 900})
    assert opened.page.evaluate("document.documentElement.scrollWidth") == width
    is_cut = "all => all.some(one => one.scrollWidth > one.clientWidth)"
    assert not opened.page.eval_on_selector_all("pre", is_cut)
    sizes = opened.page.eval_on_selector_all(
        ".drawing text", "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert min(sizes, default=9) >= 9


def require_open_to_all(opened: Any, phone: int = 375) -> None:
    """Require room on a phone and on a desk, no finding of axe-core, and nothing let out."""
    require_room(opened, 1600)
    require_room(opened, phone)
    assert findings_of_both_schemes(opened) == []
    assert (opened.said, opened.asked) == ([], [])


def require_stopped(opened: Any, phone: int = 375) -> None:
    """Require that names that try to leave their place are not obeyed, on a phone."""
    require_room(opened, phone)
    assert opened.page.locator("img").count() == 0
    assert findings(opened) == []
    assert (opened.said, opened.asked) == ([], [])
