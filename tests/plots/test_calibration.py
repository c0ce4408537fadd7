"""Calibration plots show the bins as they are."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from truerisk.core.statistics.calibration import Calibration

FOUND = Calibration.of([0, 0, 0, 1] * 10, np.repeat([0.1, 0.2, 0.3, 0.6], 10))


def test_points_are_the_bins():
    """Observed shares over mean probabilities, with bars where there are intervals."""
    ax = FOUND.plot()
    line = ax.containers[0].lines[0]
    np.testing.assert_array_equal(line.get_xdata(), FOUND.predicted)
    np.testing.assert_array_equal(line.get_ydata(), FOUND.observed)
    assert ax.containers[0].has_yerr


def test_several_are_drawn_by_name():
    """`others` stand in the legend, and those without intervals have no bars."""
    bare = Calibration.of([0, 1] * 5, [0.5] * 10, dependent=True)
    _, ax = plt.subplots()
    assert FOUND.plot(ax=ax, label="a", others={"b": bare}) is ax
    assert [t.get_text()[0] for t in ax.get_legend().get_texts()] == ["a", "b"]
    assert not ax.containers[1].has_yerr
