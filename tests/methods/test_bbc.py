"""cv="bbc": K-fold answers, and the risk of choosing by them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.intervals.bootstrapped_choice import corrected_by_bootstrap

RNG = np.random.default_rng(2)
N = 40
X = RNG.normal(size=(N, 3))
Y = RNG.integers(0, 2, size=N)
GRID = {"n_neighbors": [1, 3, 5, 7, 9]}


def test_candidates_are_those_of_k_fold_and_the_choice_is_corrected():
    """The curve is that of the same folds; the procedure is what bootstrapping its losses gives."""
    curve = tr.risk_curve(KNeighborsClassifier(), GRID, X, Y, cv="bbc")
    plain = tr.risk_curve(KNeighborsClassifier(), GRID, X, Y, cv="10-fold")
    np.testing.assert_array_equal(curve.values, plain.values)
    assert curve.best == plain.best
    found = curve.procedure
    losses = np.array([one.losses for one in plain])
    again = corrected_by_bootstrap(losses, np.random.default_rng(0), replicates=20_000)
    assert found.value == pytest.approx(again.value, abs=0.02)
    assert found.value > plain.values.min()
    assert found.interval.method == "bbc"
    assert found.interval.high == pytest.approx(again.interval().high, abs=0.05)
    assert found.params == {}


def test_a_single_candidate_is_plain_k_fold():
    """Where nothing is chosen there is nothing to correct."""
    found = tr.estimate_risk(KNeighborsClassifier(3), X, Y, cv="bbc")
    plain = tr.estimate_risk(KNeighborsClassifier(3), X, Y, cv="10-fold", interval="wald")
    assert (found.value, found.interval) == (plain.value, plain.interval)


def test_it_is_no_part_of_nested_validation_and_needs_losses_of_rows():
    """It is a search itself; AUC is refused."""
    with pytest.raises(Refusal, match="splits once"):
        tr.estimate_risk(KNeighborsClassifier(3), X, Y, cv=tr.methods.Nested("bbc"))
    with pytest.raises(Refusal, match="single rows"):
        tr.risk_curve(KNeighborsClassifier(), GRID, X, Y, cv="bbc", scoring="auc")


def test_settings_have_the_interval_that_is_asked_for():
    """As by K-fold with the same folds; without a word theirs is Wald's."""
    X, y = tr.datasets.make_difficult(40, random_state=1)
    grid = {"n_neighbors": [1, 3, 5]}
    given = {"cv": "bbc", "random_state": 0}
    asked = tr.risk_curve(KNeighborsClassifier(), grid, X, y, interval="bbc", **given)
    assert {point.interval.method for point in asked} == {"bbc"}
    given["cv"] = "10-fold"
    kfold = tr.risk_curve(KNeighborsClassifier(), grid, X, y, interval="bbc", **given)
    assert [point.interval for point in asked] == [point.interval for point in kfold]


def test_the_last_bit_of_a_number_does_not_move_the_interval():
    """On another processor drawn numbers differ in it; samples are of the same rows still."""
    model, grid, y = KNeighborsRegressor(), {"n_neighbors": [1, 5]}, X[:, 0] + RNG.normal(size=N)
    first, other = (
        tr.risk_curve(model, grid, table, target, cv="bbc", random_state=0).procedure
        for table, target in ((X, y), (np.nextafter(X, 9.0), np.nextafter(y, -9.0)))
    )
    assert other.value == pytest.approx(first.value, rel=1e-9)
    assert other.interval.low == pytest.approx(first.interval.low, rel=1e-9)
    assert other.interval.high == pytest.approx(first.interval.high, rel=1e-9)


@pytest.mark.parametrize("method", ["bbc", tr.methods.KFold(5)])
def test_the_engine_and_the_order_of_columns_do_not_matter(method):
    """The bootstrap samples are those of the rows, whoever answered and however columns stand."""
    given = {"cv": method, "scoring": "brier", "interval": "bbc"}
    first = tr.risk_curve(KNeighborsClassifier(), GRID, X, Y, **given)
    others = [
        tr.risk_curve(KNeighborsClassifier(), GRID, X, Y, engine="generic", **given),
        tr.risk_curve(KNeighborsClassifier(), GRID, X[:, ::-1], Y, **given),
        tr.risk_curve(KNeighborsClassifier(), GRID, X, np.array(["b", "a"])[Y], **given),
    ]
    for other in others:
        for one, two in zip(first, other, strict=True):
            assert two.value == pytest.approx(one.value, rel=1e-9)
            assert two.interval.low == pytest.approx(one.interval.low, rel=1e-9)
            assert two.interval.high == pytest.approx(one.interval.high, rel=1e-9)
