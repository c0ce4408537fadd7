"""The coefficient path: a line per coefficient that is ever not zero, a panel per score."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.errors import BadData
from truerisk.models import LogisticPath

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = (X[:, 0] - X[:, 3] + RNG.normal(size=60) > 0).astype(int)


def test_each_coefficient_has_its_line():
    """The lines hold the coefficients against λ, the largest λ on the left, one mark at `at`."""
    model = LogisticPath(n_lambdas=20, at=10).fit(X, Y)
    axes = model.plot()
    lines = [line for line in axes.lines if len(line.get_xdata()) == 20]
    ever = model.coef_path_[:, model.coef_path_.any(axis=0)]
    np.testing.assert_array_equal(np.array([line.get_ydata() for line in lines]).T, ever)
    np.testing.assert_array_equal(lines[0].get_xdata(), model.lambdas_)
    assert axes.xaxis_inverted()
    assert axes.get_xscale() == "log"
    assert any(np.allclose(line.get_xdata(), model.lambda_) for line in axes.lines)
    named = {text.get_text() for text in axes.texts}
    assert named == {f"x{j}" for j in np.flatnonzero(model.coef_[0])}


def test_several_classes_have_a_panel_each():
    """One axes per class, in the order of the classes, also given ones."""
    model = LogisticPath(n_lambdas=5).fit(X, np.arange(60) % 3)
    panels = model.plot(names=list("abcde"))
    assert [axes.get_title() for axes in panels] == [f"score of class {c}" for c in range(3)]
    assert model.plot(ax=panels)[0] is panels[0]


def test_what_cannot_be_drawn_is_refused():
    """Too few axes or names are a sentence."""
    model = LogisticPath(n_lambdas=5).fit(X, np.arange(60) % 3)
    axes = LogisticPath(n_lambdas=5).fit(X, Y).plot()
    with pytest.raises(BadData, match="1 axes for 3 panels"):
        model.plot(ax=axes)
    with pytest.raises(BadData, match="2 names for 5 columns"):
        model.plot(names=["a", "b"])
