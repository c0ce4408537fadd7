"""Turned rows have the lengths and inner products that they had, and what lies across is known."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.engines.templates.turned import is_wide, turned


@pytest.mark.parametrize("kind", ["plain", "copied", "flat", "far", "scales"])
@pytest.mark.parametrize("p", [14, 300])
def test_inner_products_about_the_mean_stay(kind: str, p: int) -> None:
    """Of rows shown with all rows and the origin, also of copied rows and columns far from 0."""
    rng = np.random.default_rng(0)
    X, T = rng.normal(size=(12, p)), rng.normal(size=(5, p))
    if kind == "copied":
        X[6:] = X[:6]
    if kind == "flat":
        X[:, 3:] = 0.5
    if kind == "far":
        X, T = X + 1e6, T + 1e6
    if kind == "scales":
        X, T = X * np.logspace(-8, 3, p), T * np.logspace(-8, 3, p)
    found, centre = turned(X, [T, T[:0]]), X.mean(axis=0)
    near = {"rtol": 1e-9, "atol": 1e-12 * np.abs(X - centre).max() * np.abs(X).max() * p}
    every = np.vstack([X - centre, T - centre, -centre])
    turned_rows = np.vstack([found.shown, found.asked[0], found.origin])
    assert turned_rows.shape[1] == 13
    np.testing.assert_allclose(found.shown @ turned_rows.T, (X - centre) @ every.T, **near)
    squares = (found.asked[0] ** 2).sum(axis=1) + found.across[0] ** 2
    np.testing.assert_allclose(squares, ((T - centre) ** 2).sum(axis=1), rtol=1e-9)
    assert (found.n_features, found.farthest) == (p, np.abs(X).max())
    assert found.asked[1].shape == (0, 13)


def test_rows_of_the_span_have_nothing_across() -> None:
    """A mean of rows shown lies among them, up to rounding; another row does not."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 40))
    asked = np.vstack([X[:3].mean(axis=0), rng.normal(size=40)])
    (across,) = turned(X, [asked]).across
    assert across[0] < 1e-6 < 1 < across[1]


def test_the_table_stays_as_it_was() -> None:
    """Neither the rows shown nor those asked about are written to."""
    X = np.random.default_rng(2).normal(size=(4, 30))
    before = X.copy()
    turned(X, [X])
    assert (before == X).all()


def test_it_is_wide_where_turning_makes_it_narrower() -> None:
    """The rows and the origin span one direction less than there are columns."""
    assert is_wide(np.zeros((5, 7)))
    assert not is_wide(np.zeros((5, 6)))
