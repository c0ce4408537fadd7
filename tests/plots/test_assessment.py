"""The figures of the page by matplotlib."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import BadData, Refusal, UnknownName
from truerisk.core.present import five_numbers
from truerisk.plots.assessment import draw_boxes, draw_ladder, draw_shares

X, Y = tr.datasets.make_difficult(40, random_state=1)
LEARNERS = {"knn": (KNeighborsClassifier(), {"n_neighbors": [1, 7]}), "bayes": GaussianNB()}


@pytest.fixture(scope="module")
def found():
    return tr.assess(LEARNERS, X, Y, methods=["3-fold", "loo"], outer="monte-carlo")


@pytest.fixture(scope="module")
def folded():
    """The same with folds, after which errors can be counted."""
    asked = {"methods": ["3-fold", "loo"], "outer": "4-fold", "learning_curve": "cheap"}
    return tr.assess(LEARNERS, X, Y, **asked)


def points(ax, label):
    """The x values drawn under a label."""
    (line,) = [one for one in ax.lines if one.get_label() == label]
    return line.get_xdata().tolist()


def test_the_ladder_is_at_the_risks(found):
    """Honest risks of all learners and of the whole search, from the best down."""
    ax = found.plot_ladder()
    order = found.ranking
    honest = [found.risks[name].value for name in order]
    assert points(ax, "honest") == [*honest, found.choice.value]
    tuned = [found.learners[name].selected for name in order if found.learners[name].selected]
    assert points(ax, "selected") == [selected.value for selected in tuned]
    assert points(ax, "apparent") == [found.learners[name].apparent.value for name in order]
    assert [t.get_text() for t in ax.get_yticklabels()] == [*order, "whole search"]


def test_every_plot_returns_its_axes(found, folded, tmp_path):
    """Each `plot_*()` draws on given axes, and its figure can be saved as SVG and PNG."""
    names = [name for name in dir(found) if name.startswith("plot_")]
    assert len(names) == 9
    for name in names:
        _, ax = plt.subplots()
        assert getattr(found if name == "plot_monte_carlo" else folded, name)(ax=ax) is ax
        for kind in ("svg", "png"):
            ax.figure.savefig(tmp_path / f"{name}.{kind}")
            assert (tmp_path / f"{name}.{kind}").stat().st_size > 1000


def test_what_is_not_there_is_refused_with_the_reason():
    """No random splits, no classes, no tuned learner, no such learner."""
    line = tr.assess({"bayes": GaussianNB()}, X, Y, methods=["3-fold"], outer="4-fold")
    with pytest.raises(Refusal, match="outer='monte-carlo'"):
        line.plot_monte_carlo()
    with pytest.raises(BadData, match="no learner was tuned"):
        line.plot_stability()
    with pytest.raises(Refusal, match=r"assess with learning_curve=\['bayes'\]"):
        line.plot_learning_curve()
    with pytest.raises(UnknownName, match="no learner 'bays'; did you mean 'bayes'"):
        line.plot_roc(learner="bays")
    from sklearn.linear_model import LinearRegression

    numbers = tr.assess({"line": LinearRegression()}, X, X[:, 0], outer="4-fold")
    for plot in (numbers.plot_roc, numbers.plot_precision_recall):
        with pytest.raises(Refusal, match="no ROC curve"):
            plot()
    with pytest.raises(Refusal, match="no calibration"):
        numbers.plot_calibration()
    with pytest.raises(Refusal, match="no posterior"):
        numbers.plot_posterior()


def test_boxes_have_their_quartiles_and_outliers():
    """The box spans the quartiles, and what lies beyond the whiskers is a point."""
    values = [*np.linspace(0, 1, 11), 9.0]
    ax = draw_boxes({"a": values})
    _, first, _, third, _ = five_numbers(values)
    (box,) = ax.patches
    assert (box.get_x(), box.get_x() + box.get_width()) == pytest.approx((first, third))
    assert ax.lines[-1].get_xdata().tolist() == [9.0]


def test_shares_start_with_the_chosen_setting(found):
    """The filled part is the agreement, also where it is none."""
    ax = found.plot_stability()
    assert ax.patches[0].get_width() == pytest.approx(found.learners["knn"].stability.agreement)
    ax = draw_shares({"a": [("k=1", 0.0), ("k=3", 1.0)]})
    assert [patch.get_width() for patch in ax.patches] == [0.0, 1.0]


@pytest.mark.parametrize("draw", [draw_boxes, draw_ladder, draw_shares])
def test_nothing_is_not_drawn(draw):
    """An empty mapping is refused."""
    with pytest.raises(BadData):
        draw({})
