"""cv="bbc": K-fold answers, and the risk of choosing by them."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tests.support.data import normal_rows

import truerisk as tr
from truerisk.intervals.bootstrapped_choice import correct_risk_by_bootstrap
from truerisk.methods import KFold

N = 40
X, _, NUMBERS = normal_rows(N, 3, seed=2)
Y = np.random.default_rng(2).integers(0, 2, size=N)
KNN, GRID = KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7, 9]}


def test_bbc_has_the_curve_of_kfold_and_corrects_the_choice():
    """The procedure is what bootstrapping the losses of the curve gives."""
    curve = tr.risk_curve(KNN, GRID, X, Y, cv="bbc")
    plain = tr.risk_curve(KNN, GRID, X, Y, cv="10-fold")
    np.testing.assert_array_equal(curve.values, plain.values)
    assert curve.best == plain.best
    losses, found = np.array([one.losses for one in plain]), curve.procedure
    again = correct_risk_by_bootstrap(losses, np.random.default_rng(0), replicates=20_000)
    assert found.value == pytest.approx(again.value, abs=0.02)
    assert found.value > plain.values.min()
    assert found.interval.method == "bbc"
    assert found.interval.high == pytest.approx(again.interval().high, abs=0.05)
    assert found.params == {}


def test_bbc_of_a_single_candidate_is_plain_kfold():
    model = KNeighborsClassifier(3)
    found = tr.estimate_risk(model, X, Y, cv="bbc")
    plain = tr.estimate_risk(model, X, Y, cv="10-fold", interval="wald")
    assert (found.value, found.interval) == (plain.value, plain.interval)


def test_bbc_gives_settings_the_interval_that_kfold_gives_them():
    asked, kfold = (
        tr.risk_curve(KNN, GRID, X, Y, cv=cv, interval="bbc") for cv in ("bbc", "10-fold")
    )
    assert {point.interval.method for point in asked} == {"bbc"}
    assert [point.interval for point in asked] == [point.interval for point in kfold]


def same(one, other):
    """Return True if two risks and their intervals are equal but for rounding."""
    ends = [(risk.value, risk.interval.low, risk.interval.high) for risk in (one, other)]
    return ends[0] == pytest.approx(ends[1], rel=1e-9)


def test_bbc_does_not_depend_on_the_last_bit_of_a_number():
    """On another processor drawn numbers differ in it; samples are of the same rows still."""
    first, other = (
        tr.risk_curve(KNeighborsRegressor(), {"n_neighbors": [1, 5]}, table, y, cv="bbc").procedure
        for table, y in ((X, NUMBERS), (np.nextafter(X, 9.0), np.nextafter(NUMBERS, -9.0)))
    )
    assert same(first, other)


@pytest.mark.parametrize("method", ["bbc", KFold(5)], ids=str)
def test_bbc_does_not_depend_on_engine_columns_or_names(method):
    """The bootstrap samples are those of the rows, whoever answered and however columns stand."""
    given = {"cv": method, "scoring": "brier", "interval": "bbc"}
    first = tr.risk_curve(KNN, GRID, X, Y, **given)
    for other in (
        tr.risk_curve(KNN, GRID, X, Y, engine="generic", **given),
        tr.risk_curve(KNN, GRID, X[:, ::-1], Y, **given),
        tr.risk_curve(KNN, GRID, X, np.array(["b", "a"])[Y], **given),
    ):
        assert all(same(one, two) for one, two in zip(first, other, strict=True))
