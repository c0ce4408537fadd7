"""Risk curves are drawn as they are."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import BadData


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
    return tr.risk_curve(model or KNeighborsClassifier(), grid, X, y, cv="5-fold", **options)


def test_the_points_are_the_risks_at_their_parameter(axes):
    """The line goes through (parameter, risk) of every candidate, sorted along the axis."""
    curve = curve_of({"n_neighbors": np.array([9, 1, 5])})
    curve.plot(ax=axes)
    ((line,), _) = drawn_on(axes)
    assert list(line.get_xdata()) == [1, 5, 9]
    np.testing.assert_array_equal(line.get_ydata(), curve.values[[1, 2, 0]])
    assert axes.get_xlabel() == "n_neighbors"
    assert axes.get_ylabel() == "risk (zero-one)"


def test_the_chosen_candidate_is_named(axes):
    """The legend names the chosen setting, a ring is around it; the band is a standard error."""
    curve = curve_of({"n_neighbors": [1, 5]})
    curve.plot(ax=axes)
    chosen = curve.best_params["n_neighbors"]
    named = f"{curve.common.method} → n_neighbors={chosen}"
    assert texts(axes) == [named, "chosen by the criterion", "± 1 standard error"]
    (_, (ring,)) = drawn_on(axes)
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (chosen, curve.values[curve.best])
    heights = axes.patches[0].get_path().vertices[:, 1]
    assert heights.max() == pytest.approx((curve.values + curve.std_errors).max())


def test_what_is_drawn_later_hides_nothing(axes):
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


def test_a_wide_range_is_drawn_on_a_logarithmic_axis(axes):
    """A parameter over more than two decades gets a logarithmic axis."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X[:, 0] + rng.normal(size=30)
    tr.risk_curve(Ridge(), {"alpha": np.logspace(-3, 3, 5)}, X, y).plot(ax=axes)
    assert axes.get_xscale() == "log"


def test_settings_that_are_no_numbers_stand_in_grid_order(axes):
    """Words and mixed grids are placed by their position and written under the axis."""
    curve_of({"weights": ["uniform", "distance"]}).plot(ax=axes)
    labels = [t.get_text() for t in axes.get_xticklabels()]
    assert labels == ["weights=uniform", "weights=distance"]


def test_without_axes_a_figure_is_made():
    """plot() makes its own figure and returns the axes."""
    ax = curve_of({"n_neighbors": [1, 3]}).plot(label="mine")
    assert texts(ax)[0].startswith("mine → ")


def test_criteria_are_drawn_together(axes):
    """One line per criterion through its risks, a ring at its choice, named in the legend."""
    grid = {"n_neighbors": [9, 1, 5]}
    X, y = tr.datasets.make_simple(40, random_state=0)
    words = ("loo", "apparent", "swapping", "complete")
    curves = {w: tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv=w) for w in words}
    first, *others = curves.values()
    first.plot(ax=axes, others=others)
    drawn, rings = drawn_on(axes)
    *labels, _ = texts(axes)
    assert len(drawn) == len(rings) == len(labels) == 4
    for word, line, ring, label in zip(words, drawn, rings, labels):
        curve, chosen = curves[word], curves[word].best_params["n_neighbors"]
        assert list(line.get_xdata()) == [1, 5, 9]
        np.testing.assert_array_equal(line.get_ydata(), curve.values[[1, 2, 0]])
        assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (chosen, curve.values[curve.best])
        assert ring.get_color() == line.get_color()
        assert label == f"{word} → n_neighbors={chosen}"
    assert len({line.get_color() for line in drawn}) == 4


def test_names_can_be_given_to_the_criteria(axes):
    """A mapping and `label` name the lines."""
    curve, other = (curve_of({"n_neighbors": [1, 5]}) for _ in range(2))
    curve.plot(ax=axes, label="mine", others={"yours": other})
    assert [text.partition(" →")[0] for text in texts(axes)[:2]] == ["mine", "yours"]


def test_curves_of_other_candidates_are_not_drawn_together(axes):
    """Risks at different candidates share no axis: the odd curve is named."""
    curve = curve_of({"n_neighbors": [1, 5]})
    with pytest.raises(BadData, match="curve 'odd' has other candidates"):
        curve.plot(ax=axes, others={"odd": curve_of({"n_neighbors": [1, 3]})})


def test_another_loss_has_its_scale_on_the_right(axes):
    """An AIC beside a squared error: on axes of its own, in one legend; no third loss."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X[:, 0] + rng.normal(size=30)
    grid = {"alpha": [0.1, 1.0, 10.0]}
    curves = [tr.risk_curve(Ridge(), grid, X, y, cv=w) for w in ("loo", "cp", "aic", "bic")]
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
    assert [text.partition(" →")[0] for text in labels] == ["loo", "cp", "aic", "bic"]
    assert [text.endswith("(right)") for text in labels] == [False, False, True, True]
    third = tr.risk_curve(Ridge(), grid, X, y, scoring="absolute")
    with pytest.raises(BadData, match="3 losses"):
        curves[0].plot(ax=axes, others=[curves[2], third])
