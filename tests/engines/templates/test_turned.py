"""Turned rows have the lengths and inner products that they had, and what lies across is known."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.engines.templates.turned import is_wide, turned, turned_about_mean


@pytest.mark.parametrize("kind", ["plain", "copied", "flat", "far", "scales"])
@pytest.mark.parametrize("p", [14, 300])
@pytest.mark.parametrize("about", [turned, turned_about_mean])
def test_inner_products_stay(kind: str, p: int, about) -> None:
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
    found = about(X)
    centre = X.mean(axis=0) if about is turned_about_mean else np.zeros(p)
    inside, across = found.turn(T)
    every = np.vstack([X - centre, T - centre, -centre])
    here = np.vstack([found.shown, inside, found.origin])
    assert here.shape[1] == (13 if about is turned_about_mean else 12)
    largest = np.abs(X - centre).max() * np.abs(X).max() * p
    near = {"rtol": 1e-9, "atol": 1e-12 * largest}
    np.testing.assert_allclose(found.shown @ here.T, (X - centre) @ every.T, **near)
    squares = (inside**2).sum(axis=1) + across**2
    np.testing.assert_allclose(squares, ((T - centre) ** 2).sum(axis=1), rtol=1e-9)
    assert found.n_features == p
    back = found.shown @ found.directions.T
    np.testing.assert_allclose(back, X - centre, atol=1e-12 * np.abs(X).max())


def test_rows_of_the_span_have_nothing_across() -> None:
    """A mean of rows shown lies among them, up to rounding; another row does not."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 40))
    _, across = turned_about_mean(X).turn(np.vstack([X[:3].mean(axis=0), rng.normal(size=40)]))
    assert across[0] < 1e-6 < 1 < across[1]


@pytest.mark.parametrize("about", [turned, turned_about_mean])
def test_the_table_stays_as_it_was(about) -> None:
    """Neither the rows shown nor those asked about are written to."""
    X = np.random.default_rng(2).normal(size=(4, 30))
    before = X.copy()
    about(X).turn(X)
    assert (before == X).all()


def test_it_is_wide_where_turning_makes_it_narrower() -> None:
    """The rows and the origin span one direction less than there are columns."""
    assert is_wide(np.zeros((5, 7)))
    assert not is_wide(np.zeros((5, 6)))
