"""Run the tour's code in the build, and show what it makes: the report, and pictures of results."""

from __future__ import annotations

import doctest
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

PAGE = "example-report.html"
TOUR = "first-analysis.md"
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# The frame is a picture, so it takes neither the focus nor the wheel; the link opens the page.
FRAME = (
    f'<p class="shown"><a href="_static/{PAGE}">Open the report</a><span inert>'
    f'<iframe src="_static/{PAGE}" title="Report of the example" loading="lazy"></iframe>'
    "</span></p>"
)
BOUND = 0.55
"""Bound of the AUC in the tour's last step, the gate."""
WIDTH, HEIGHT, LEFT = 320, 150, 10


class ExampleReport(SphinxDirective):
    """Show the top of the tour's report, as the build made it, in a frame that leads to it."""

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", FRAME, format="html")]


class CardPicture(SphinxDirective):
    """Draw results of the tour as a picture of the size of a card on the first page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = directives.choice(self.arguments[0], tuple(PICTURES))
        picture = PICTURES[name](self.env.app.tour)
        return [nodes.raw("", picture, format="html")]


def tour_results(folder: Path) -> dict[str, Any]:
    """Run the tour's code and return its variables; raise an error if it prints anything else."""
    path = folder / TOUR
    names: dict[str, Any] = {}
    test = doctest.DocTestParser().get_doctest(
        path.read_text("utf-8"), names, path.name, str(path), 0
    )
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=LIKE, verbose=False)
    if runner.run(test, out=printed.append, clear_globs=False).failed:
        raise ExtensionError("".join(printed))
    return test.globs


class Row(NamedTuple):
    """A value with the ends of its interval; a value without an interval has two equal ends."""

    label: str
    value: float
    low: float
    high: float

    def describe(self) -> str:
        """Return the row in words."""
        if self.low == self.high:
            return f"{self.label}: {self.value:.2f}"
        return f"{self.label}: {self.value:.2f}, interval {self.low:.2f} to {self.high:.2f}"


def draw_intervals(rows: list[Row], ends: tuple[float, float], bound: float | None = None) -> str:
    """Draw values and their intervals below each other, and a bound on all of them.

    >>> "risk: 0.30" in draw_intervals([Row("risk", 0.3, 0.3, 0.3)], (0, 1))
    True
    """

    def at(value: float) -> float:
        return round(LEFT + (value - ends[0]) / (ends[1] - ends[0]) * (WIDTH - 2 * LEFT), 1)

    words, parts = [row.describe() for row in rows], []
    for place, row in enumerate(rows):
        top = (30 if len(rows) > 1 else 46) + 66 * place
        role = "best" if row.low == row.high else "honest"
        parts += [
            f'<text x="{LEFT}" y="{top}">{escape(row.label)}</text>',
            f'<text class="number" x="{WIDTH - LEFT}" y="{top}">{row.value:.2f}</text>',
            f'<path class="axis" d="M{LEFT} {top + 22}H{WIDTH - LEFT}"/>',
            f'<path class="bar" d="M{at(row.low)} {top + 22}H{at(row.high)}"/>',
            f'<circle class="{role}" cx="{at(row.value)}" cy="{top + 22}" r="7"/>',
        ]
    if bound is not None:
        words.append(f"bound {bound:.2f}, kept")
        parts += [
            f'<path class="bound" d="M{at(bound)} {top + 8}v50"/>',
            f'<text x="{at(bound) + 8}" y="{top + 56}">{words[-1]}</text>',
        ]
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape("; ".join(words))}"'
    return f'<svg class="card-picture" {size}>{"".join(parts)}</svg>'


def draw_honest_risk(tour: dict[str, Any]) -> str:
    """Draw the best score of the tour's search and its honest risk."""
    best, honest = tour["search"].selected_risk_.value, tour["search"].risk_
    return draw_intervals(
        [
            Row("errors, by the best score", best, best, best),
            Row("errors to expect", honest.value, honest.interval.low, honest.interval.high),
        ],
        (0.2, 0.45),
    )


def make_auc_row(label: str, tour: dict[str, Any], key: str) -> Row:
    """Return an AUC of the tour's assessment by the name that `to_metrics` gives it."""
    metrics = tour["found"].to_metrics()
    return Row(label, *(metrics[f"{key}{end}"] for end in ("", ".low", ".high")))


def draw_learners(tour: dict[str, Any]) -> str:
    """Draw the honest AUC of the tour's learners."""
    names = tour["found"].ranking
    rows = [make_auc_row(f"AUC of the {name} model", tour, f"{name}/roc_auc") for name in names]
    return draw_intervals(rows, (0.5, 0.8))


def draw_gate(tour: dict[str, Any]) -> str:
    """Draw the bound that the assessment keeps in the tour's last step."""
    tour["found"].require(roc_auc=BOUND)
    return draw_intervals([make_auc_row("AUC to expect", tour, "roc_auc")], (0.5, 0.8), BOUND)


PICTURES = {"honest": draw_honest_risk, "learners": draw_learners, "gate": draw_gate}


def run_tour(app: Any) -> None:
    """Run the tour once, before any page is read."""
    app.tour = tour_results(Path(app.srcdir))


def write_page(app: Any, error: Exception | None) -> None:
    """Put the report beside the style sheets of the built documentation."""
    if error is None and app.builder.format == "html":
        place = Path(app.outdir) / "_static" / PAGE
        place.parent.mkdir(exist_ok=True)
        place.write_text(app.tour["page"], encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Register `{example-report}` and `{card-picture}`."""
    app.add_directive("example-report", ExampleReport)
    app.add_directive("card-picture", CardPicture)
    app.connect("builder-inited", run_tour)
    app.connect("build-finished", write_page)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
