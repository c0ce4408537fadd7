"""What choosing the best of many answers costs: bootstrap-bias-corrected cross-validation."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from tests.support.data import normal_rows

import truerisk as tr
from truerisk.data.row_marks import hash_rows
from truerisk.extend import BadData, Refusal
from truerisk.intervals.bootstrapped_choice import (
    correct_risk_by_bootstrap,
    correct_risk_by_splits,
    order_free_corrected_risk,
)
from truerisk.selection import Minimum, OneStandardError, as_rule

RULES = pytest.mark.parametrize(
    "rule", [None, Minimum(), OneStandardError()], ids=["none", "min", "1-se"]
)


def rng(seed=0):
    return np.random.default_rng(seed)


def by_loop(losses, rng, replicates, groups, weights, rule):
    """BBC-CV written as the document writes it, one sample after the other."""
    n = losses.shape[1]
    member = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    n_units, risks = member.max() + 1, []
    for draw in rng.integers(n_units, size=(replicates, n_units)):
        rows = np.concatenate([np.flatnonzero(member == unit) for unit in draw])
        missed = np.setdiff1d(np.arange(n), rows)
        if not len(missed):
            continue
        w = weights[rows]
        means = np.array([np.average(loss[rows], weights=w) for loss in losses])
        away = (losses[:, rows] - means[:, None]) ** 2
        spread = np.average(away, weights=w, axis=1)
        c = rule.choose(means, np.sqrt(spread / w.sum()))
        risks.append(np.average(losses[c, missed], weights=weights[missed]))
    return np.array(risks)


@RULES
@pytest.mark.parametrize("kind", ["plain", "groups", "weights"])
def test_corrected_by_bootstrap_equals_a_loop(rule, kind, monkeypatch):
    """Counts times losses in one product, also in blocks of replicates."""
    losses = rng().integers(0, 2, size=(6, 24)).astype(float)
    groups = rng(1).integers(0, 7, size=24) if kind == "groups" else None
    weights = rng(2).integers(1, 4, size=24).astype(float) if kind == "weights" else np.ones(24)
    given = {"replicates": 60, "groups": groups, "weights": weights, "rule": rule}
    found = correct_risk_by_bootstrap(losses, rng(3), **given)
    risks = by_loop(losses, rng(3), 60, groups, weights, rule or Minimum())
    np.testing.assert_allclose(found.bootstrap_risks, risks, atol=1e-12)
    assert found.value == pytest.approx(risks.mean(), abs=1e-12)
    assert found.selection_counts.sum() == len(risks)
    interval = found.interval()
    assert (interval.low, interval.high) == pytest.approx(np.quantile(risks, [0.025, 0.975]))
    monkeypatch.setattr("truerisk.intervals.bootstrapped_choice.MAX_CELLS_PER_BATCH", 7 * 24)
    parts = correct_risk_by_bootstrap(losses, rng(3), **given)
    np.testing.assert_array_equal(found.bootstrap_risks, parts.bootstrap_risks)


def test_corrected_by_bootstrap_unmasks_guesses():
    """Of 200 coin tossers the best seems good; corrected, it is a coin tosser."""
    found = correct_risk_by_bootstrap(rng(5).integers(0, 2, size=(200, 100)).astype(float), rng())
    assert found.selected_mean_loss < 0.4
    assert found.value == pytest.approx(0.5, abs=0.03)
    assert found.optimism == pytest.approx(found.value - found.selected_mean_loss)


def test_corrected_by_bootstrap_leaves_a_single_candidate_as_it_is():
    losses = rng().random((1, 50))
    found = correct_risk_by_bootstrap(losses, rng(), replicates=4000)
    assert found.value == pytest.approx(losses.mean(), abs=0.004)


def test_corrected_by_bootstrap_never_chooses_failed_candidates():
    losses = np.full((2, 10), 0.5)
    losses[0, 3] = np.nan
    assert correct_risk_by_bootstrap(losses, rng(), replicates=50).selection_counts.tolist() == [
        0,
        50,
    ]


@pytest.mark.parametrize(
    ("losses", "options", "error", "message"),
    [
        (np.full((1, 5), np.nan), {}, Refusal, "failed"),
        (np.zeros((1, 5)), {"replicates": 0}, BadData, "replicates"),
        (np.zeros((1, 5)), {"groups": np.zeros(5)}, BadData, "two rows or groups"),
        (np.zeros((1, 3)), {"weights": np.array([1.0, 0, 0])}, Refusal, "nothing to test"),
    ],
)
def test_corrected_by_bootstrap_refuses_what_cannot_be_drawn(losses, options, error, message):
    with pytest.raises(error, match=message):
        correct_risk_by_bootstrap(losses, rng(), **options)


def test_corrected_by_splits_adds_the_distance_to_each_splits_own_winner():
    """Equal means summed in another order choose the first."""
    risks = np.array([[0.1, 0.3, 0.2], [0.3, 0.1, 0.3], [np.nan, 0, 0]])
    assert correct_risk_by_splits(risks) == pytest.approx(0.2 + (0 + 0.3 + 0.2) / 3)
    assert correct_risk_by_splits(risks, 1) == pytest.approx(0.7 / 3 + (0.2 + 0.1 + 0.3) / 3)
    with pytest.raises(Refusal, match="failed"):
        correct_risk_by_splits([[np.nan, 1.0]])
    tied = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.9, 0.9, 0.9]]
    assert np.mean(tied, axis=1)[0] != np.mean(tied, axis=1)[1]
    assert correct_risk_by_splits(tied) == pytest.approx(correct_risk_by_splits(tied, 0), abs=1e-15)


N = 40
X, Y, _ = normal_rows(N, seed=1)
MARKS, SHARES = hash_rows(X, Y, None), np.full(N, 1 / N)
KNN, GRID = KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9]}


@RULES
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", ["zero-one", "twelfths", "real"])
def test_corrected_in_any_order_does_not_depend_on_last_bits_and_order(rule, grouped, kind):
    """Losses moved by one part in 10^15 move nothing by more than 10^-12; many of them are tied."""
    draw, shape = rng(7), (8, N)
    losses = {
        "zero-one": draw.integers(0, 2, size=shape).astype(float),
        "twelfths": draw.integers(0, 12, size=shape) / 12,
        "real": np.repeat(draw.random((4, N)), 2, axis=0),
    }[kind]
    groups, weights = draw.integers(12, size=N) if grouped else None, draw.integers(1, 4, N) / 100
    first = order_free_corrected_risk(losses, weights, groups, rule, MARKS)
    for _ in range(3):
        moved, order = losses * (1 + 1e-15 * draw.uniform(-1, 1, size=shape)), draw.permutation(N)
        by = None if groups is None else groups[order]
        again = order_free_corrected_risk(moved[:, order], weights[order], by, rule, MARKS[order])
        np.testing.assert_allclose(
            again.bootstrap_risks, first.bootstrap_risks, rtol=1e-10, atol=1e-12
        )
        assert again.selection_counts.tolist() == first.selection_counts.tolist()


def test_corrected_in_any_order_draws_groups_whole():
    """Doubled rows in groups of two are as uncertain as the rows alone."""
    losses, marks, shares = rng().random((1, 15)), np.arange(15), np.full(15, 1 / 15)
    twice = [np.repeat(a, 2, axis=-1) for a in (losses, shares / 2, marks, marks)]
    doubled = order_free_corrected_risk(*twice[:3], None, twice[3]).interval()
    alone = order_free_corrected_risk(losses, shares, None, None, marks).interval()
    assert doubled.width == pytest.approx(alone.width, rel=0.1)


@pytest.mark.parametrize("rule", ["min", "1-se"])
def test_bbc_interval_of_the_chosen_setting_counts_the_choice(rule):
    """The rule's candidate gets the percentiles of all candidates, another those of its own."""
    curve = tr.risk_curve(KNN, GRID, X, Y, cv="5-fold", rule=rule, interval="bbc")
    losses = np.array([one.losses for one in curve])
    chosen_by = as_rule(rule, curve.candidates)
    whole = order_free_corrected_risk(losses, SHARES, None, chosen_by, MARKS)
    assert curve[curve.best].interval == whole.interval()
    assert any("counts the choice among 4" in note for note in curve[curve.best].notes)
    other = (curve.best + 1) % 4
    alone = order_free_corrected_risk(losses[other : other + 1], SHARES, None, None, MARKS)
    assert curve[other].interval == alone.interval()


def test_bbc_interval_of_a_search_counts_the_choice_for_the_selected_risk():
    search = tr.HonestSearchCV(KNN, GRID, interval="bbc", cv="5-fold").fit(X, Y)
    assert search.selected_risk_.interval.method == search.risk_.interval.method == "bbc"
    assert any("counts the choice" in note for note in search.selected_risk_.notes)


def test_bbc_interval_of_equal_losses_is_none():
    x = np.sign(X[:, :1]) * (50 + np.abs(X[:, 1:]))
    found = tr.estimate_risk(KNN, x, X[:, 0] > 0, cv="4-fold", interval="bbc")
    assert (found.interval, found.std_error) == (None, None)
