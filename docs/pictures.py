"""The pictures of the pages: `python docs/pictures.py` makes that of the first page anew (a
minute), `python docs/pictures.py WORD ...` those of experiments on documents' pages.

Sixty patients are drawn forty times. Each search has its best score, its honest risk with the
interval, and the risk of its fitted model on 10,000 further patients.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import truerisk as tr
from truerisk.experiments.figures import Report
from truerisk.report.page import picture as drawn

EXPERIMENTS = Path(__file__).parent / "documents" / "pictures"
PAGES = EXPERIMENTS.with_name("pages")
STATIC = Path(__file__).parent / "_static"
PLACE = STATIC / "selected-honest.svg"
N_SEARCHES = 40
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 430, 52, 8, 94, 34
LEGEND = 29  # from line to line
MOST = 0.8
STYLE = """
.searches { --ink: #1f2328; --soft: #6a737d; --bar: #9db7d5; --honest: #0b5cad; --best: #c2410c; }
@media (prefers-color-scheme: dark) { .searches {
  --ink: #e6edf3; --soft: #9198a1; --bar: #37567c; --honest: #79b8ff; --best: #ff9d5c; } }
html[data-theme="light"] .searches {
  --ink: #1f2328; --soft: #6a737d; --bar: #9db7d5; --honest: #0b5cad; --best: #c2410c; }
html[data-theme="dark"] .searches {
  --ink: #e6edf3; --soft: #9198a1; --bar: #37567c; --honest: #79b8ff; --best: #ff9d5c; }
.searches text { font: 16px system-ui, sans-serif; fill: var(--ink); }
.searches .soft { fill: var(--soft); } .searches .grid { stroke: var(--soft); opacity: .25; }
.searches .bar { stroke: var(--bar); stroke-width: 5; } .searches .honest { fill: var(--honest); }
.searches .best { fill: var(--best); } .searches .truth { stroke: var(--ink); stroke-width: 2; }
@media (max-width: 640px) { .searches .tick, .searches .legend text { font-size: 18px; } }
"""


def patients(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Half of them ill; five genes of 200 know something of it."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 200))
    X[:, :5] += 0.6 * y[:, None]
    return X, y


def searches() -> np.ndarray:
    """Best score, honest risk, the ends of its interval and the truth, one row for each search."""
    model = make_pipeline(SelectKBest(), KNeighborsClassifier())
    grid = {
        "selectkbest__k": [1, 2, 5, 10, 20, 50],
        "kneighborsclassifier__n_neighbors": [1, 3, 5, 9, 15],
    }
    found = []
    for seed in range(N_SEARCHES):
        search = tr.HonestSearchCV(model, grid).fit(*patients(60, seed))
        X, y = patients(10_000, 1_000 + seed)
        honest, interval = search.risk_, search.risk_.interval
        truth = np.mean(search.predict(X) != y)
        best = search.selected_risk_.value
        found.append((best, honest.value, interval.low, interval.high, truth))
    return np.array(found)


def picture(found: np.ndarray) -> str:
    """The searches from left to right, sorted by their best score."""
    found = found[np.lexsort((found[:, 1], found[:, 0]))]
    step = (WIDTH - LEFT - RIGHT) / len(found)
    best, honest, truth = (found[:, column].mean() for column in (0, 1, 4))
    held = int(((found[:, 2] <= found[:, 4]) & (found[:, 4] <= found[:, 3])).sum())
    said = (
        f"In {len(found)} searches the best score promises {best:.0%} errors on average, the "
        f"honest risk {honest:.0%}, and the models make {truth:.0%}; {held} of the intervals hold "
        "the truth."
    )
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    about = f'{size} role="img" aria-label="{said}"'
    head = f'<svg class="searches" xmlns="http://www.w3.org/2000/svg" {about}>'
    marks = [_marks(LEFT + step * (place + 0.5), *row) for place, row in enumerate(found)]
    foot = f"{len(found)} searches, each on 60 patients; {held} intervals hold the truth"
    place = f'<text class="soft foot" x="{LEFT}" y="{HEIGHT - 10}">'
    parts = [
        f"{head}<style>{STYLE}</style>",
        *(_grid(share) for share in (0, 0.2, 0.4, 0.6, 0.8)),
        *marks,
        *_legend(best, honest, truth),
        f"{place}{foot}</text>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _grid(share: float) -> str:
    y, text = _y(share), f'<text class="soft tick" x="{LEFT - 8}"'
    return (
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
        f'{text} y="{y + 4}" text-anchor="end">{share:.0%}</text>'
    )


def _marks(x: float, best: float, honest: float, low: float, high: float, truth: float) -> str:
    return (
        f'<line class="bar" x1="{x:.1f}" x2="{x:.1f}" y1="{_y(low)}" y2="{_y(min(high, MOST))}"/>'
        f'<circle class="honest" cx="{x:.1f}" cy="{_y(honest)}" r="4"/>'
        f'<path class="truth" d="M{x - 6:.1f} {_y(truth)}h12"/>'
        f'<circle class="best" cx="{x:.1f}" cy="{_y(best)}" r="4"/>'
    )


def _legend(best: float, honest: float, truth: float) -> list[str]:
    circle = '<circle class="{}" cx="6" cy="14" r="5"/>'
    line = '<path class="truth" d="M0 14h12"/>'
    bar = '<line class="bar" x1="6" x2="6" y1="4" y2="24"/>'
    lines = {
        f"the best score, mean {best:.0%}": circle.format("best"),
        f"the honest risk and its interval, mean {honest:.0%}": bar + circle.format("honest"),
        f"errors on 10,000 further patients, mean {truth:.0%}": line,
    }
    return [
        f'<g class="legend" transform="translate({LEFT} {row * LEGEND - 2})">{mark}'
        f'<text x="22" y="20">{words}</text></g>'
        for row, (words, mark) in enumerate(lines.items())
    ]


def _y(share: float) -> float:
    return round(HEIGHT - BOTTOM - share / MOST * (HEIGHT - TOP - BOTTOM), 1)


def keep(report: Report) -> None:
    """The picture of an experiment as a notebook shows it, without the style of the marks.

    Where a slider goes through it, its page without its looks and its script.
    """
    if any(panel.steps for one in report.figures for panel in one.panels):
        bare = re.sub(
            r"(<(style|script)\b[^>]*>).*?(</\2>)", r"\1\3", report.to_html(), flags=re.DOTALL
        )
        (PAGES / f"{report.name}.html").write_text(bare, encoding="utf-8")
        return
    shown = re.sub("<style>.*?</style>", "", drawn(report), flags=re.DOTALL)
    (EXPERIMENTS / f"{report.name}.html").write_text(shown, encoding="utf-8")


if __name__ == "__main__":
    for word in sys.argv[1:]:
        keep(tr.experiments.reproduce(word))
    if not sys.argv[1:]:
        PLACE.write_text(picture(searches()), encoding="utf-8")
