"""Risk curves are drawn as they are."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr


@pytest.fixture
def axes():
    _, ax = plt.subplots()
    yield ax
    plt.close("all")


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
    plt.close("all")
