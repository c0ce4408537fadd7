"""The interval `bbc`: percentiles of bootstrapped losses, the choice included."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.core.table.marks import row_marks
from truerisk.methods.bootstrapped_choice import corrected_in_any_order
from truerisk.selection.minimum import Minimum

RNG = np.random.default_rng(1)
N = 40
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
GRID = {"n_neighbors": [1, 3, 5, 9]}


@pytest.mark.parametrize("rule", ["min", "1-se"])
def test_the_chosen_one_counts_the_choice(rule):
    """The rule's candidate gets the percentiles of all candidates, another those of its own."""
    given = {"method": "5-fold", "rule": rule, "interval": "bbc"}
    curve = tr.risk_curve(KNeighborsClassifier(), GRID, X, Y, **given)
    losses = np.array([one.losses for one in curve])
    shares = np.full(N, 1 / N)
    marks = row_marks(X, Y, None)
    whole = corrected_in_any_order(losses, shares, None, tr.selection.as_rule(rule), marks)
    assert curve[curve.best].interval == whole.interval()
    assert any("counts the choice among 4" in note for note in curve[curve.best].notes)
    other = (curve.best + 1) % 4
    alone = corrected_in_any_order(losses[other : other + 1], shares, None, None, marks)
    assert curve[other].interval == alone.interval()


def test_the_order_of_rows_does_not_matter():
    """Rows, and groups, in another order are the same bootstrap samples."""
    losses, groups, marks = RNG.random((3, N)), RNG.integers(9, size=N), row_marks(X, Y, None)
    order = RNG.permutation(N)
    shares = np.full(N, 1 / N)
    for given in (None, groups):
        moved = None if given is None else given[order]
        first = corrected_in_any_order(losses, shares, given, Minimum(), marks)
        second = corrected_in_any_order(losses[:, order], shares, moved, Minimum(), marks[order])
        np.testing.assert_allclose(first.replicates, second.replicates, rtol=1e-10)


def test_groups_are_drawn_whole():
    """Doubled rows in groups of two are as uncertain as the rows alone."""
    losses, shares = RNG.random((1, 15)), np.full(30, 1 / 30)
    marks, pairs = np.arange(15), np.arange(30) // 2
    doubled = corrected_in_any_order(
        np.repeat(losses, 2, axis=1), shares, pairs, None, np.repeat(marks, 2)
    )
    alone = corrected_in_any_order(losses, np.full(15, 1 / 15), None, None, marks)
    assert doubled.interval().width == pytest.approx(alone.interval().width, rel=0.1)


def test_a_search_keeps_it_for_the_selected_risk():
    """HonestSearchCV(interval="bbc"): `selected_risk_` counts the choice, `risk_` is nested."""
    search = tr.HonestSearchCV(KNeighborsClassifier(), GRID, interval="bbc", select_by="5-fold")
    search.fit(X, Y)
    assert search.selected_risk_.interval.method == "bbc"
    assert search.risk_.interval.method == "bbc"
    assert any("counts the choice" in note for note in search.selected_risk_.notes)


def test_no_spread_and_no_losses():
    """Equal losses have no interval; a loss of whole sets is refused."""
    x = np.sign(X[:, :1]) * (50 + RNG.random((N, 1)))
    found = tr.estimate_risk(
        KNeighborsClassifier(3), x, X[:, 0] > 0, method="4-fold", interval="bbc"
    )
    assert (found.interval, found.std_error) == (None, None)
    with pytest.raises(Refusal, match="no"):
        tr.estimate_risk(KNeighborsClassifier(3), X, Y, interval="bbc", loss="auc")
