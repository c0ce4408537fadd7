"""What choosing the best of many answers costs: bootstrap-bias-corrected cross-validation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import BadData, Refusal
from truerisk.data.row_marks import row_marks
from truerisk.intervals.bootstrapped_choice import (
    corrected_by_bootstrap,
    corrected_by_splits,
    corrected_in_any_order,
)
from truerisk.selection.rules import Minimum, OneStandardError


def by_loop(losses, rng, replicates, groups, weights, rule):
    """BBC-CV written as the document writes it, one sample after the other."""
    n = losses.shape[1]
    member = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    n_units = member.max() + 1
    risks = []
    for draw in rng.integers(n_units, size=(replicates, n_units)):
        rows = np.concatenate([np.flatnonzero(member == unit) for unit in draw])
        missed = np.setdiff1d(np.arange(n), rows)
        if not len(missed):
            continue
        w = weights[rows]
        means = np.array([np.average(loss[rows], weights=w) for loss in losses])
        spread = np.array(
            [np.average((loss[rows] - m) ** 2, weights=w) for loss, m in zip(losses, means)]
        )
        c = rule.choose(means, np.sqrt(spread / w.sum()))
        risks.append(np.average(losses[c, missed], weights=weights[missed]))
    return np.array(risks)


@pytest.mark.parametrize("rule", [None, Minimum(), OneStandardError()], ids=["none", "min", "1-se"])
@pytest.mark.parametrize("kind", ["plain", "groups", "weights"])
def test_equals_a_loop(rule, kind):
    """Counts times losses in one product are the loop: plain, by groups, and weighted."""
    rng = np.random.default_rng(0)
    losses = rng.integers(0, 2, size=(6, 24)).astype(float)
    groups = rng.integers(0, 7, size=24) if kind == "groups" else None
    weights = rng.integers(1, 4, size=24).astype(float) if kind == "weights" else np.ones(24)
    found = corrected_by_bootstrap(
        losses,
        np.random.default_rng(3),
        replicates=60,
        groups=groups,
        weights=weights,
        rule=rule,
    )
    risks = by_loop(losses, np.random.default_rng(3), 60, groups, weights, rule or Minimum())
    np.testing.assert_allclose(found.replicates, risks, atol=1e-12)
    assert found.value == pytest.approx(risks.mean(), abs=1e-12)
    assert found.frequencies.sum() == len(risks)
    low, high = np.quantile(risks, [0.025, 0.975])
    assert (found.interval().low, found.interval().high) == pytest.approx((low, high))


def test_blocks_change_nothing(monkeypatch):
    """Replicates in blocks of seven are those of one block."""
    losses = np.random.default_rng(0).random((3, 11))
    whole = corrected_by_bootstrap(losses, np.random.default_rng(1), replicates=40)
    monkeypatch.setattr("truerisk.intervals.bootstrapped_choice.CELLS", 7 * 11)
    parts = corrected_by_bootstrap(losses, np.random.default_rng(1), replicates=40)
    np.testing.assert_array_equal(whole.replicates, parts.replicates)


def test_guesses_are_unmasked():
    """Of 200 coin tossers the best seems good; corrected, it is a coin tosser."""
    losses = np.random.default_rng(5).integers(0, 2, size=(200, 100)).astype(float)
    found = corrected_by_bootstrap(losses, np.random.default_rng(0))
    assert found.selected < 0.4
    assert found.value == pytest.approx(0.5, abs=0.03)
    assert found.optimism == pytest.approx(found.value - found.selected)


def test_a_single_candidate_is_not_corrected():
    """With nothing to choose the corrected risk is the mean loss, up to the drawing."""
    losses = np.random.default_rng(0).random((1, 50))
    found = corrected_by_bootstrap(losses, np.random.default_rng(0), replicates=4000)
    assert found.value == pytest.approx(losses.mean(), abs=0.004)


def test_failed_candidates_are_not_chosen():
    """A candidate with a NaN never wins; when all have one, there is no answer."""
    losses = np.full((2, 10), 0.5)
    losses[0, 3] = np.nan
    found = corrected_by_bootstrap(losses, np.random.default_rng(0), replicates=50)
    assert found.frequencies.tolist() == [0, 50]
    with pytest.raises(Refusal, match="failed"):
        corrected_by_bootstrap(losses[:1], np.random.default_rng(0))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"replicates": 0}, "replicates"), ({"groups": np.zeros(5)}, "two rows or groups")],
)
def test_what_cannot_be_drawn_is_refused(options, message):
    """No replicates, or a single group, is refused in words."""
    with pytest.raises(BadData, match=message):
        corrected_by_bootstrap(np.zeros((1, 5)), np.random.default_rng(0), **options)


def test_no_weight_outside_is_refused():
    """Where only one row counts, no sample has a counting row on both sides."""
    with pytest.raises(Refusal, match="nothing to test"):
        corrected_by_bootstrap(
            np.zeros((1, 3)), np.random.default_rng(0), weights=np.array([1.0, 0, 0])
        )


def test_the_correction_by_splits():
    """Mean of the winner plus its mean distance to each split's own winner."""
    risks = np.array([[0.1, 0.3, 0.2], [0.3, 0.1, 0.3], [np.nan, 0, 0]])
    assert corrected_by_splits(risks) == pytest.approx(0.2 + (0 + 0.3 + 0.2) / 3)
    assert corrected_by_splits(risks, 1) == pytest.approx(0.7 / 3 + (0.2 + 0.1 + 0.3) / 3)
    with pytest.raises(Refusal, match="failed"):
        corrected_by_splits([[np.nan, 1.0]])


@pytest.mark.parametrize("rule", [None, Minimum(), OneStandardError()], ids=["none", "min", "1-se"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", ["zero-one", "twelfths", "real"])
def test_the_last_bits_of_losses_do_not_matter(rule, grouped, kind):
    """Losses moved by one part in 10^15 move nothing by more than 10^-12; many of them are tied."""
    rng = np.random.default_rng(7)
    shape = (8, 60)
    losses = {
        "zero-one": rng.integers(0, 2, size=shape).astype(float),
        "twelfths": rng.integers(0, 12, size=shape) / 12,
        "real": np.repeat(rng.random((4, 60)), 2, axis=0),
    }[kind]
    groups = rng.integers(12, size=60) if grouped else None
    weights, marks = (
        rng.integers(1, 4, size=60) / 100,
        row_marks(rng.random((60, 2)), np.arange(60), None),
    )
    first = corrected_in_any_order(losses, weights, groups, rule, marks)
    for _ in range(5):
        moved = losses * (1 + 1e-15 * rng.uniform(-1, 1, size=shape))
        again = corrected_in_any_order(moved, weights, groups, rule, marks)
        np.testing.assert_allclose(again.replicates, first.replicates, rtol=1e-12, atol=1e-12)
        assert again.frequencies.tolist() == first.frequencies.tolist()


def test_the_correction_by_splits_knows_ties():
    """Equal means summed in another order choose the first."""
    risks = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.9, 0.9, 0.9]]
    means = np.array(risks).mean(axis=1)
    assert means[0] != means[1]
    assert corrected_by_splits(risks) == pytest.approx(corrected_by_splits(risks, 0), abs=1e-15)


RNG = np.random.default_rng(1)
N = 40
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
GRID = {"n_neighbors": [1, 3, 5, 9]}


@pytest.mark.parametrize("rule", ["min", "1-se"])
def test_the_chosen_one_counts_the_choice(rule):
    """The rule's candidate gets the percentiles of all candidates, another those of its own."""
    given = {"cv": "5-fold", "rule": rule, "interval": "bbc"}
    curve = tr.risk_curve(KNeighborsClassifier(), GRID, X, Y, **given)
    losses = np.array([one.losses for one in curve])
    shares = np.full(N, 1 / N)
    marks = row_marks(X, Y, None)
    chosen_by = tr.selection.as_rule(rule, curve.candidates)
    whole = corrected_in_any_order(losses, shares, None, chosen_by, marks)
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
    search = tr.HonestSearchCV(KNeighborsClassifier(), GRID, interval="bbc", cv="5-fold")
    search.fit(X, Y)
    assert search.selected_risk_.interval.method == "bbc"
    assert search.risk_.interval.method == "bbc"
    assert any("counts the choice" in note for note in search.selected_risk_.notes)


def test_no_spread_and_no_losses():
    """Equal losses have no interval; a loss of whole sets is refused."""
    x = np.sign(X[:, :1]) * (50 + RNG.random((N, 1)))
    found = tr.estimate_risk(KNeighborsClassifier(3), x, X[:, 0] > 0, cv="4-fold", interval="bbc")
    assert (found.interval, found.std_error) == (None, None)
    with pytest.raises(Refusal, match="no"):
        tr.estimate_risk(KNeighborsClassifier(3), X, Y, interval="bbc", scoring="auc")
