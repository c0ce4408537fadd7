"""The page that the tour makes: its code is run in the build; a picture or a frame shows it."""

from __future__ import annotations

import doctest
import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

PAGE = "example-report.html"
TOUR = "getting-started.md"
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FRAME = (
    f'<p><a href="_static/{PAGE}">The page by itself</a></p>'
    f'<iframe class="example" src="_static/{PAGE}" title="An example of the report" '
    'loading="lazy"></iframe>'
)
PICTURED = Path(__file__).parents[1] / "_static" / "report.txt"
"""File of the text that replaces the pictures for readers who cannot see them.

`docs/pictures.py` writes it when it takes the pictures.
"""
SHOWN = (
    f'<p class="shown"><a href="_static/{PAGE}">'
    '<img class="only-light" src="_static/report-light.png" alt="{0}" width="1100" height="700"/>'
    '<img class="only-dark" src="_static/report-dark.png" alt="{0}" width="1100" height="700"/>'
    "</a></p>"
)


class ExampleReport(SphinxDirective):
    """The page in a frame, or the picture that `docs/pictures.py` took, which leads to it."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        picture = self.arguments and directives.choice(self.arguments[0], ("picture",))
        if not picture:
            return [nodes.raw("", FRAME, format="html")]
        said = "The page of an assessment: " + " ".join(PICTURED.read_text("utf-8").split())
        return [nodes.raw("", SHOWN.format(html.escape(said)), format="html")]


def example_page(folder: Path) -> str:
    """What the tour's `page` is, if its code prints what stands there."""
    path = folder / TOUR
    names: dict[str, Any] = {}
    test = doctest.DocTestParser().get_doctest(
        path.read_text("utf-8"), names, path.name, str(path), 0
    )
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=LIKE, verbose=False)
    if runner.run(test, out=printed.append, clear_globs=False).failed:
        raise ExtensionError("".join(printed))
    return str(test.globs["page"])


def conclusion_of(page: str) -> str:
    """Return the sentences under the title of a page, one a line.

    >>> conclusion_of('<section id="conclusion"><p>Use <b>knn</b> &amp; co.</p></section>')
    'Use knn & co.\\n'
    """
    section = page.partition('<section id="conclusion"')[2].partition("</section>")[0]
    sentences = re.findall(r"<p>(.*?)</p>", section, flags=re.DOTALL)
    return "".join(f"{html.unescape(re.sub('<[^>]*>', '', each))}\n" for each in sentences)


def write_page(app: Any, error: Exception | None) -> None:
    """Put the page beside the style sheets of the built documentation."""
    if error is None and app.builder.format == "html":
        place = Path(app.outdir) / "_static" / PAGE
        place.parent.mkdir(exist_ok=True)
        place.write_text(example_page(Path(app.srcdir)), encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Register `{example-report}`."""
    app.add_directive("example-report", ExampleReport)
    app.connect("build-finished", write_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
