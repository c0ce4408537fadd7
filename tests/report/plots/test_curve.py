"""Risk curves are drawn as they are."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.extend import BadData


def drawn_on(axes):
    """The curves and the rings; the legend has lines of its own."""
    lines = [line for line in axes.lines if len(line.get_xdata())]
    curves = [line for line in lines if line.get_marker() == "None"]
    return curves, [line for line in lines if line.get_fillstyle() == "none"]


def texts(axes):
    """What the legend says."""
    return [text.get_text() for text in axes.get_legend().get_texts()]


def curve_of(grid, model=None, **options):
    X, y = tr.datasets.make_simple(40, random_state=0)
    return tr.risk_curve(model or KNeighborsClassifier(), grid, X, y, **{"cv": "5-fold", **options})


RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(30, 3))
NUMBERS = TABLE[:, 0] + RNG.normal(size=30)


def test_curve_plot_has_the_risks_and_the_choice(axes):
    """The line goes through (parameter, risk) of every candidate, sorted along the axis.

    The legend names the chosen setting, a ring is around it; the band is a standard error.
    """
    curve = curve_of({"n_neighbors": np.array([9, 1, 5])})
    curve.plot(ax=axes)
    (line,), (ring,) = drawn_on(axes)
    assert list(line.get_xdata()) == [1, 5, 9]
    np.testing.assert_array_equal(line.get_ydata(), curve.values[[1, 2, 0]])
    assert axes.get_xlabel() == "n_neighbors"
    assert axes.get_ylabel() == "risk (zero-one)"
    chosen = curve.best_params["n_neighbors"]
    named = f"{curve.common.method} → n_neighbors={chosen}"
    assert texts(axes) == [named, "chosen by the criterion", "± 1 standard error"]
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (chosen, curve.values[curve.best])
    heights = axes.patches[0].get_path().vertices[:, 1]
    assert heights.max() == pytest.approx((curve.values + curve.std_errors).max())


def test_curve_plot_on_used_axes_hides_nothing(axes):
    """Curves on the same axes have their colours, and limits that hold them all."""
    low, high = (curve_of({"n_neighbors": grid}) for grid in ([1, 3], [9, 29]))
    for curve in (low, high):
        curve.plot(ax=axes, label=str(curve.candidates))
    lines, _ = drawn_on(axes)
    assert lines[0].get_color() != lines[1].get_color()
    assert axes.get_xlim()[0] < 1 < 29 < axes.get_xlim()[1]
    everything = np.concatenate([low.values, high.values])
    assert axes.get_ylim()[0] < everything.min() < everything.max() < axes.get_ylim()[1]
    assert len(texts(axes)) == 4


def test_curve_plot_fits_the_axis_to_the_settings(axes):
    """More than two decades get a logarithmic axis; words stand in grid order, on new axes."""
    tr.risk_curve(Ridge(), {"alpha": np.logspace(-3, 3, 5)}, TABLE, NUMBERS).plot(ax=axes)
    assert axes.get_xscale() == "log"
    words = curve_of({"weights": ["uniform", "distance"]}).plot(label="mine")
    labels = [t.get_text() for t in words.get_xticklabels()]
    assert labels == ["weights=uniform", "weights=distance"]
    assert texts(words)[0].startswith("mine → ")


def test_curve_plot_of_several_criteria(axes):
    """One line per criterion through its risks, a ring at its choice, named in the legend."""
    words, grid = ("loo", "apparent", "swapping", "complete"), {"n_neighbors": [9, 1, 5]}
    curves = {word: curve_of(grid, cv=word) for word in words}
    first, *others = curves.values()
    first.plot(ax=axes, others=others)
    drawn, rings = drawn_on(axes)
    *labels, _ = texts(axes)
    assert len(drawn) == len(rings) == len(labels) == 4
    for word, line, ring, label in zip(words, drawn, rings, labels, strict=True):
        curve, chosen = curves[word], curves[word].best_params["n_neighbors"]
        assert list(line.get_xdata()) == [1, 5, 9]
        np.testing.assert_array_equal(line.get_ydata(), curve.values[[1, 2, 0]])
        assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (chosen, curve.values[curve.best])
        assert ring.get_color() == line.get_color()
        assert label == f"{word} → n_neighbors={chosen}"
    assert len({line.get_color() for line in drawn}) == 4
    named = first.plot(label="mine", others={"yours": others[0]})
    assert [text.partition(" →")[0] for text in texts(named)[:2]] == ["mine", "yours"]
    with pytest.raises(BadData, match="curve 'odd' has other candidates"):
        first.plot(ax=axes, others={"odd": curve_of({"n_neighbors": [1, 3]})})


def test_curve_plot_of_another_loss_has_its_scale_on_the_right(axes):
    """An AIC beside a squared error: on axes of its own, in one legend; no third loss."""
    grid = {"alpha": [0.1, 1.0, 10.0]}
    words = ("loo", "cp", "aic", "bic")
    curves = [tr.risk_curve(Ridge(), grid, TABLE, NUMBERS, cv=w) for w in words]
    curves[0].plot(ax=axes, others=curves[1:])
    (right,) = [other for other in axes.figure.axes if other is not axes]
    for side, mine in ((axes, curves[:2]), (right, curves[2:])):
        for line, curve in zip(drawn_on(side)[0], mine, strict=True):
            np.testing.assert_array_equal(line.get_ydata(), curve.values)
    colours = {line.get_color() for side in (axes, right) for line in drawn_on(side)[0]}
    assert len(colours) == 4
    assert (axes.get_ylabel(), right.get_ylabel()) == ("risk (squared)", "risk (-2 log L)")
    assert axes.get_legend() is None
    labels = [text for text in texts(right) if "→" in text]
    assert [text.partition(" →")[0] for text in labels] == list(words)
    assert [text.endswith("(right)") for text in labels] == [False, False, True, True]
    third = tr.risk_curve(Ridge(), grid, TABLE, NUMBERS, scoring="absolute")
    with pytest.raises(BadData, match="3 losses"):
        curves[0].plot(ax=axes, others=[curves[2], third])
