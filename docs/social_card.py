"""The picture beside a link to these pages: `python docs/social_card.py` draws it anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from pictures import MOST, searches

PLACE = Path(__file__).parent / "_static" / "social-card.png"
INK, SOFT, BAR, HONEST, BEST = "#1f2328", "#6a737d", "#b9cce2", "#0b5cad", "#c2410c"


def card(found: np.ndarray) -> Figure:
    """1200 by 630 points: the question, and forty searches by their best score."""
    found = found[np.lexsort((found[:, 1], found[:, 0]))]
    best, honest, low, high, truth = found.T
    place = np.arange(len(found))
    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="white")
    figure.text(0.05, 0.86, "truerisk", fontsize=44, weight="bold", color=INK)
    figure.text(0.05, 0.765, "How wrong is a tuned model, really?", fontsize=28, color=INK)
    axes = figure.add_axes((0.05, 0.16, 0.9, 0.54))
    axes.vlines(place, low, np.minimum(high, MOST), color=BAR, linewidth=9)
    axes.hlines(truth, place - 0.4, place + 0.4, color=INK, linewidth=2.5)
    axes.plot(place, honest, "o", color=HONEST, markersize=9)
    axes.plot(place, best, "o", color=BEST, markersize=9)
    axes.set(xlim=(-0.8, len(found) - 0.2), ylim=(0, MOST))
    axes.axis("off")
    words = {
        f"best score: {best.mean():.0%} errors": BEST,
        f"honest risk: {honest.mean():.0%}": HONEST,
        f"truth: {truth.mean():.0%}": INK,
    }
    for at, (text, colour) in zip((0.05, 0.46, 0.79), words.items(), strict=True):
        figure.text(at, 0.06, text, fontsize=24, color=colour)
    return figure


if __name__ == "__main__":
    card(searches()).savefig(PLACE, metadata={"Software": None})
