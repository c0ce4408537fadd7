"""The critical-difference diagram in matplotlib."""

from __future__ import annotations

import numpy as np
from tests.support.demsar import C45, METHODS

import truerisk as tr


def test_ranks_and_bars_are_those_of_the_comparison():
    """The best on top; one bar per group that is not told apart."""
    values = np.hstack([C45, C45[:, :1] - 0.2])
    found = tr.compare_many(values, better="higher", methods=[*METHODS, "worse"])
    ax = found.plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == [name for name, _ in found.ordered]
    points = next(line for line in ax.get_lines() if line.get_marker() == "o")
    assert points.get_xdata().tolist() == [rank for _, rank in found.ordered]
    bars = [line for line in ax.get_lines() if line.get_linewidth() == 3]
    ranks = dict(found.ordered)
    ends = [[min(ranks[m] for m in group), max(ranks[m] for m in group)] for group in found.alike]
    assert [list(bar.get_xdata()) for bar in bars] == ends
    assert "critical difference 1.63" in ax.get_xlabel()
