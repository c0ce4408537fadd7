"""Risk curves are drawn as they are."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import BadData
from truerisk.plots.curve import draw_curves


def curve_of(grid, model=None, **options):
    X, y = tr.datasets.make_simple(40, random_state=0)
    return tr.risk_curve(model or KNeighborsClassifier(), grid, X, y, method="5-fold", **options)


def test_the_points_are_the_risks_at_their_parameter(axes):
    """The line goes through (parameter, risk) of every candidate, sorted along the axis."""
    curve = curve_of({"n_neighbors": [9, 1, 5]})
    curve.plot(ax=axes)
    line = axes.containers[0].lines[0]
    assert line.get_xdata().tolist() == [1, 5, 9]
    np.testing.assert_array_equal(line.get_ydata(), curve.values[[1, 2, 0]])
    assert axes.get_xlabel() == "n_neighbors"
    assert axes.get_ylabel() == "risk (zero-one)"


def test_the_chosen_candidate_is_named(axes):
    """The annotation names the chosen setting."""
    curve = curve_of({"n_neighbors": [1, 5]})
    curve.plot(ax=axes)
    (text,) = [t.get_text() for t in axes.texts]
    assert text == f"chosen: n_neighbors={curve.best_params['n_neighbors']}"


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
    assert ax.get_legend_handles_labels()[1] == ["mine"]


def test_criteria_are_drawn_together(axes):
    """One line per criterion through its risks, a ring at its choice, named in the legend."""
    grid = {"n_neighbors": [9, 1, 5]}
    X, y = tr.datasets.make_simple(40, random_state=0)
    words = ("loo", "apparent", "swapping", "complete")
    curves = {w: tr.risk_curve(KNeighborsClassifier(), grid, X, y, method=w) for w in words}
    first, *others = curves.values()
    first.plot(ax=axes, others=others)
    drawn = [line for line in axes.lines if len(line.get_xdata()) > 1]
    rings = [line for line in axes.lines if len(line.get_xdata()) == 1]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert len(drawn) == len(rings) == len(labels) == 4
    for word, line, ring, label in zip(words, drawn, rings, labels):
        curve, chosen = curves[word], curves[word].best_params["n_neighbors"]
        assert line.get_xdata().tolist() == [1, 5, 9]
        np.testing.assert_array_equal(line.get_ydata(), curve.values[[1, 2, 0]])
        assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (chosen, curve.values[curve.best])
        assert ring.get_color() == line.get_color()
        assert label == f"{word} → {chosen}"


def test_names_can_be_given_to_the_criteria(axes):
    """A mapping and `label` name the lines."""
    curve, other = (curve_of({"n_neighbors": [1, 5]}) for _ in range(2))
    curve.plot(ax=axes, label="mine", others={"yours": other})
    labels = [text.get_text().partition(" →")[0] for text in axes.get_legend().get_texts()]
    assert labels == ["mine", "yours"]


def test_curves_of_other_candidates_are_not_drawn_together(axes):
    """Risks at different candidates share no axis: the odd curve is named."""
    curve = curve_of({"n_neighbors": [1, 5]})
    with pytest.raises(BadData, match="curve 'odd' has other candidates"):
        curve.plot(ax=axes, others={"odd": curve_of({"n_neighbors": [1, 3]})})
    with pytest.raises(BadData, match="no curve"):
        draw_curves({})


def test_another_loss_has_its_scale_on_the_right(axes):
    """An AIC beside a squared error: dashed, on axes of its own, in one legend; no third loss."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X[:, 0] + rng.normal(size=30)
    grid = {"alpha": [0.1, 1.0, 10.0]}
    curves = [tr.risk_curve(Ridge(), grid, X, y, method=w) for w in ("loo", "cp", "aic", "bic")]
    curves[0].plot(ax=axes, others=curves[1:])
    (right,) = [other for other in axes.figure.axes if other is not axes]
    for side, mine, style in ((axes, curves[:2], "-"), (right, curves[2:], "--")):
        drawn = [line for line in side.lines if len(line.get_xdata()) > 1]
        assert [line.get_linestyle() for line in drawn] == [style] * 2
        for line, curve in zip(drawn, mine):
            np.testing.assert_array_equal(line.get_ydata(), curve.values)
    assert (axes.get_ylabel(), right.get_ylabel()) == ("risk (squared)", "risk (-2 log L)")
    labels = [text.get_text().partition(" →")[0] for text in right.get_legend().get_texts()]
    assert labels == ["loo", "cp", "aic", "bic"]
    third = tr.risk_curve(Ridge(), grid, X, y, loss="absolute")
    with pytest.raises(BadData, match="3 losses"):
        curves[0].plot(ax=axes, others=[curves[2], third])
