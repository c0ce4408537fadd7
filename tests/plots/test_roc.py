"""Precision-recall curves are drawn as the values they are."""

import numpy as np
import pytest

from truerisk.core.statistics.roc import RocCurve
from truerisk.plots.roc import draw_precision_recall

Y = np.tile([0, 1], 20)
SCORES = np.round(Y + np.random.default_rng(0).normal(size=40), 1)


def test_precision_is_drawn_in_steps(axes):
    """Precision holds back to the recall before: the area under the steps is the average."""
    curve = RocCurve.of(Y, SCORES).precision_recall()
    draw_precision_recall(curve, ax=axes)
    line = axes.lines[0]
    assert line.get_drawstyle() == "steps-pre"
    x, height = line.get_xdata(), line.get_ydata()
    assert (np.diff(x) * height[1:]).sum() == pytest.approx(curve.average_precision)
    assert axes.get_ylabel() == "precision"
