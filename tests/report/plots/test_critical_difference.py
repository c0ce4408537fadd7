"""The critical-difference diagram in matplotlib."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.demsar import C45, METHODS

import truerisk as tr
from truerisk.core.errors import BadData


def test_ranks_and_bars_are_those_of_the_comparison():
    """The best on top; one bar per group that is not told apart."""
    values = np.hstack([C45, C45[:, :1] - 0.2])
    found = tr.compare_many(values, better="higher", methods=[*METHODS, "worse"])
    ax = found.plot()
    names = [text.get_text() for text in ax.get_yticklabels()]
    together = ["not told apart"] * len(found.alike)
    assert names == [*(name for name, _ in found.ordered), *together, "critical difference"]
    points = next(line for line in ax.get_lines() if line.get_marker() == "o")
    assert list(points.get_xdata()) == [rank for _, rank in found.ordered]
    bars = [line.get_xdata() for line in ax.get_lines() if line.get_marker() == "|"]
    ranks = dict(found.ordered)
    ends = [[min(ranks[m] for m in group), max(ranks[m] for m in group)] for group in found.alike]
    assert [list(bar) for bar in bars] == [*ends, [1, 1 + found.critical_difference]]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["ranks within 1.63 of each other", "critical difference 1.63"]


def test_four_data_sets_have_no_diagram():
    """Ranks over fewer than five say too little: there is a table of values in their place."""
    found = tr.compare_many(C45[:4], better="higher", methods=METHODS)
    with pytest.raises(BadData, match=r"has no picture; .* too few to rank methods"):
        found.plot()
    assert tr.compare_many(C45[:5], better="higher", methods=METHODS).plot() is not None
