"""ROC and precision-recall curves are drawn as the values they are."""

import numpy as np
import pytest

from truerisk.core.statistics.roc import RocCurve
from truerisk.plots.roc import draw_precision_recall

Y = np.tile([0, 1], 20)
SCORES = np.round(Y + np.random.default_rng(0).normal(size=40), 1)


def test_the_line_goes_through_every_point(axes):
    """Each threshold is a point, from (0, 0) to (1, 1); the legend says the area."""
    roc = RocCurve.of(Y, SCORES)
    assert roc.plot(ax=axes, label="knn") is axes
    line = axes.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), roc.fpr)
    np.testing.assert_array_equal(line.get_ydata(), roc.tpr)
    assert axes.get_legend().get_texts()[0].get_text() == f"knn: {roc.auc:.3f} {roc.interval}"


def test_several_curves_and_points_are_drawn_together(axes):
    """One line per learner and the diagonal; an operating point stands where its rates are."""
    roc = RocCurve.of(Y, SCORES)
    point = roc.at_rate(sensitivity=0.9)
    roc.plot(ax=axes, others={"other": RocCurve.of(Y, -SCORES)}, points=[point])
    assert len(axes.get_legend().get_texts()) == 2
    (marker,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert marker.get_xydata().tolist() == [[1 - point.specificity, point.sensitivity]]


def test_precision_is_drawn_in_steps(axes):
    """Precision holds back to the recall before: the area under the steps is the average."""
    curve = RocCurve.of(Y, SCORES).precision_recall()
    draw_precision_recall(curve, ax=axes)
    line = axes.lines[0]
    assert line.get_drawstyle() == "steps-pre"
    x, height = line.get_xdata(), line.get_ydata()
    assert (np.diff(x) * height[1:]).sum() == pytest.approx(curve.average_precision)
    assert axes.get_ylabel() == "precision"
