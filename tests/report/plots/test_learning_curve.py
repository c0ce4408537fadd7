"""A learning curve is drawn as it is: the risks, the law, its band, and where it is carried on."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from truerisk.core.errors import BadArgument

X, Y = tr.datasets.make_difficult(100, random_state=0)


def lines_of(axes):
    """Measured points, and the law inside and beyond the sizes; the legend has lines of its own."""
    lines = [line for line in axes.lines if len(line.get_xdata()) and line.get_color() != "0.55"]
    points = [line for line in lines if line.get_marker() == "o"]
    upright = [line for line in lines if len({*line.get_xdata()}) == 1]
    return points, [line for line in lines if line not in points and line not in upright]


@pytest.fixture(scope="module")
def curve():
    return tr.learning_curve(GaussianNB(), X, Y, sizes=[12, 24, 45, 80])


def test_points_law_and_band(curve, axes):
    """Measured risks as points; the law through all sizes and twice as far; its band around it."""
    assert curve.plot(ax=axes) is axes
    (points,), (inside, beyond) = lines_of(axes)
    np.testing.assert_array_equal(points.get_xdata(), curve.sizes)
    np.testing.assert_array_equal(points.get_ydata(), curve.values)
    assert (inside.get_linestyle(), beyond.get_linestyle()) == ("-", "--")
    x, y = inside.get_data()
    assert y == pytest.approx([curve.at(n).value for n in x])
    assert (x[-1], beyond.get_xdata()[0], beyond.get_xdata()[-1]) == pytest.approx((80, 80, 160))
    band = axes.patches[0].get_path().vertices
    assert band[:, 1].max() == pytest.approx(curve.at(12).interval.high)
    assert (axes.get_xlabel(), axes.get_ylabel()) == (
        "training rows, logarithmic",
        "risk (zero-one)",
    )


def test_how_far_can_be_said(curve, axes):
    """Up to four times the rows, and no further."""
    curve.plot(ax=axes, to=320)
    assert lines_of(axes)[1][-1].get_xdata()[-1] == pytest.approx(320)
    with pytest.raises(BadArgument, match="to=321: .* extrapolated to 320 at most"):
        curve.plot(ax=axes, to=321)


def test_a_score_is_drawn_as_a_score(axes):
    """AUC rises, and its axis says that larger is better."""
    auc = tr.learning_curve(GaussianNB(), X, Y, scoring="auc", sizes=[12, 24, 45, 80])
    auc.plot(ax=axes)
    assert lines_of(axes)[0][0].get_ydata() == pytest.approx(auc.values)
    assert lines_of(axes)[1][-1].get_ydata()[-1] == pytest.approx(auc.at(160).value)
    assert "larger is better" in axes.get_ylabel()


def test_without_a_law_there_are_points_alone(axes):
    """No band is made up."""

    def first(model, X, y):
        return float(model.predict(X[:1])[0] == y[0])

    bare = tr.learning_curve(GaussianNB(), X, Y, scoring=first, sizes=[12, 24, 45, 80])
    bare.plot(ax=axes)
    assert lines_of(axes)[1] == []
