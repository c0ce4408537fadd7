"""The coverage of every interval, one point a problem, as an SVG in the page's colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from benchmarks.calibration.battery import Cell
from benchmarks.calibration.summary import Total, by_interval, rows
from truerisk.results.writing import write_text

__all__ = ["draw"]

LEFT, RIGHT, TOP, STEP, WIDTH = 150, 660, 62, 26, 840
BAND = (0.93, 0.98)
LEAST = 0.7  # of the axis; what is below stands at its edge
STYLE = """
.coverage text { fill: var(--pst-color-text-base, #222); font: 14px system-ui, sans-serif; }
.coverage .muted { fill: var(--pst-color-text-muted, #666); }
.coverage .band { fill: var(--pst-color-surface, #eee); }
.coverage .line { stroke: var(--pst-color-border, #bbb); fill: none; }
.coverage .dot { fill: var(--pst-color-primary, #0a7d91); fill-opacity: 0.45; }
.coverage .all { stroke: var(--pst-color-text-base, #222); stroke-width: 2.5; }
.coverage .chosen { font-weight: 700; }
"""


def draw(lines: Iterable[dict[str, Any]], cells: Sequence[Cell], path: Path) -> None:
    """Coverages of Err with the band that is asked for; to the right widths as shares of NCV's.

    "at 95 %" is the width after stretching, as in the table.
    """
    totals = by_interval(rows(lines, cells))
    write_text("\n".join(_svg(totals)) + "\n", path)


def _svg(totals: Sequence[Total]) -> Iterator[str]:
    height = TOP + STEP * len(totals) + 12
    foot = height - 14
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="coverage" role="img" '
        f'viewBox="0 0 {WIDTH} {height}" style="width: 100%; max-width: {WIDTH}px; height: auto">'
    )
    yield "<title>Coverage of Err by intervals of nominal 95 %</title>"
    yield f"<style>{STYLE}</style>"
    left, right = _x(BAND[0]), _x(BAND[1])
    yield _box(left, TOP - 14, right - left, foot - TOP + 14)
    for percent in range(70, 101, 5):
        x = _x(percent / 100)
        yield f'<path class="line" d="M{x:.1f},{TOP - 14} V{foot}"/>'
        yield _text(x, TOP - 20, f"{percent}", "muted", "middle")
    yield _text(0, 18, "interval")
    yield _text((LEFT + RIGHT) / 2, 18, "% of data sets whose interval holds Err", "", "middle")
    yield _text(WIDTH, 18, "width / ncv", "", "end")
    yield _text(WIDTH - 80, TOP - 20, "as it is", "muted", "end")
    yield _text(WIDTH, TOP - 20, "at 95 %", "muted", "end")
    for place, one in enumerate(totals):
        yield from _line(one, TOP + STEP * place)
    yield "</svg>"


def _line(one: Total, y: float) -> Iterator[str]:
    """A point a problem, a bar for all data sets."""
    style = "chosen" if one.word == "default" else ""
    yield _text(0, y + 5, one.word, style)
    for share, error, problem in one.by_problem:
        said = f"{problem}: {100 * share:.1f} ± {100 * error:.1f} %"
        point = f'<circle class="dot" cx="{_x(share):.1f}" cy="{y}" r="5">'
        yield f"{point}<title>{escape(said)}</title></circle>"
    x = _x(one.covers)
    said = f"all: {100 * one.covers:.1f} ± {100 * one.error:.1f} %"
    yield f'<path class="all" d="M{x:.1f},{y - 9} V{y + 9}"><title>{escape(said)}</title></path>'
    yield _text(WIDTH - 80, y + 5, f"{one.width:.2f}", style, "end")
    nominal = f"{one.nominal:.2f}" if np.isfinite(one.nominal) else "–"
    yield _text(WIDTH, y + 5, nominal, style, "end")


def _x(share: float) -> float:
    return LEFT + (RIGHT - LEFT) * (max(share, LEAST) - LEAST) / (1 - LEAST)


def _box(x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="band" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}">'
        f"<title>{BAND[0]:.0%} to {BAND[1]:.0%}</title></rect>"
    )


def _text(x: float, y: float, said: str, style: str = "", anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y}" text-anchor="{anchor}">{escape(said)}</text>'
