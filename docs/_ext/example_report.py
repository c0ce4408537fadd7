"""An assessment's page among the documentation: made at the build, shown in a frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

PAGE = "example-report.html"
FRAME = (
    f'<p><a href="_static/{PAGE}">The page by itself</a></p>'
    f'<iframe class="example" src="_static/{PAGE}" title="An example of the report" '
    'loading="lazy"></iframe>'
)


class ExampleReport(SphinxDirective):
    """The frame and a link to what stands in it."""

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", FRAME, format="html")]


def example_page() -> str:
    """Three learners on a hundred rows of a hard problem."""
    from dataclasses import replace

    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    import truerisk as tr

    X, y = tr.datasets.make_difficult(100, random_state=3)
    learners = {
        "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9, 15, 25]}),
        "tree": (
            DecisionTreeClassifier(random_state=0),
            {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 5, 15]},
        ),
        "bayes": GaussianNB(),
    }
    found = tr.assess(learners, X, y, methods=["10-fold", "loo"], outer="10-fold")
    return replace(found, source="make_difficult(100)").to_html()


def write_page(app: Any, error: Exception | None) -> None:
    """Put the page beside the style sheets of the built documentation."""
    if error is None and app.builder.format == "html":
        place = Path(app.outdir) / "_static" / PAGE
        place.parent.mkdir(exist_ok=True)
        place.write_text(example_page(), encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Register `{example-report}`."""
    app.add_directive("example-report", ExampleReport)
    app.connect("build-finished", write_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
