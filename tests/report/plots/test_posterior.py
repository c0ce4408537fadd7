"""Posterior densities are drawn as they are, and say what they are of."""

import numpy as np
import pytest

from truerisk.results.error_posterior import ErrorPosterior


def test_the_line_is_the_density(axes):
    """Heights are the density; the mean is marked; all but 1e-4 of the mass at either end shown."""
    post = ErrorPosterior(6, 60)
    assert post.plot(ax=axes) is axes
    line, mean = axes.lines
    x = line.get_xdata()
    np.testing.assert_array_equal(line.get_ydata(), post.pdf(x))
    assert (x[0], x[-1]) == pytest.approx((post.quantile(1e-4), post.quantile(1 - 1e-4)))
    assert mean.get_xydata().tolist() == [[post.mean, post.pdf(post.mean)]]
    assert axes.get_legend().get_texts()[0].get_text() == "6 errors in 60"


def test_the_mass_beyond_the_bound_is_shaded(axes):
    """The shade begins at the one-sided bound of the level."""
    post = ErrorPosterior(6, 60)
    post.plot(ax=axes, level=0.9)
    (shade,) = axes.collections
    assert shade.get_paths()[0].vertices[:, 0].min() == pytest.approx(post.upper(0.9))


def test_several_are_drawn_together_and_labelled(axes):
    """One line per posterior; one that is of no single rule says so in the title."""
    folds = ErrorPosterior(9, 90, of="no single rule: folds")
    ErrorPosterior(6, 60).plot(ax=axes, others={"folds": folds})
    assert len(axes.get_legend().get_texts()) == 2
    assert axes.get_title() == "no single rule: folds"


def test_an_infinite_density_is_cut(axes):
    """Without errors and with Jeffreys' prior the density at 0 is infinite: the line is finite."""
    ErrorPosterior(0, 20, prior=(0.5, 0.5)).plot(ax=axes)
    assert np.isfinite(axes.lines[0].get_ydata()).all()
