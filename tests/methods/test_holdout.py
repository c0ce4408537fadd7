"""Held-out parts: once, many times (Monte Carlo), and a third part to choose by."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadData
from truerisk.data.data import Data
from truerisk.methods import ThreeWay
from truerisk.plan.leaks import leaks_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = (X[:, 0] + RNG.normal(size=40) > 0).astype(int)
DATA = Data.check(X, Y, task="classification")


@pytest.mark.parametrize("method", [tr.methods.Holdout(0.3), tr.methods.MonteCarlo(7, 0.2)])
def test_it_is_a_plain_fit_on_the_drawn_rows(method) -> None:
    """Every split's risk is that of a fit on its rows; the risk counts all tests alike."""
    found = tr.estimate_risk(KNeighborsClassifier(3), X, Y, cv=method)
    plan = method.plan(DATA, Streams(0))
    expected = []
    for q in range(plan.n_questions):
        train, test = plan.train_rows(int(plan.fit[q]))[0], plan.test_rows(q)[0]
        assert sorted([*train, *test]) == list(range(40))
        assert len(test) == round(40 * method.test_share)
        model = KNeighborsClassifier(3).fit(X[train], Y[train])
        expected.append((model.predict(X[test]) != Y[test]).mean())
    assert found.split_risks == pytest.approx(expected)
    assert found.value == pytest.approx(np.mean(expected))


def test_what_they_estimate() -> None:
    """A hold-out tests one rule; Monte-Carlo averages over training sets."""
    one, many = (
        tr.estimate_risk(KNeighborsClassifier(), X, Y, cv=m) for m in ("holdout", "monte-carlo")
    )
    assert (one.target, many.target) == ("Err_XY", "Err")
    assert one.n_fits == 1
    assert len(many.split_risks) == 25
    assert "sees 67% of the rows" in one.bias


def test_groups_stay_whole() -> None:
    """No group is on both sides of a drawn split."""
    groups = np.arange(40) // 4
    data = Data.check(X, Y, task="classification", groups=groups)
    plan = tr.methods.MonteCarlo(10).plan(data, Streams(0))
    assert not len(leaks_of(data, plan, "groups")["groups"])


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_an_impossible_share_is_refused(share) -> None:
    """Nothing, or everything, held out."""
    with pytest.raises(BadData, match="0 < test_share < 1"):
        tr.estimate_risk(DecisionTreeClassifier(), X, Y, cv=tr.methods.Holdout(share))


def test_at_least_one_split() -> None:
    """No split is no estimate."""
    with pytest.raises(BadData, match="at least one"):
        tr.methods.MonteCarlo(0)


RNG_THREE_WAY = np.random.default_rng(1)
N = 60
X_THREE_WAY = RNG_THREE_WAY.normal(size=(N, 2))
Y_THREE_WAY = (X_THREE_WAY[:, 0] + RNG_THREE_WAY.normal(size=N) > 0).astype(int)
GRID = [1, 3, 5, 9, 15]


def parts(seed: int, groups=None):
    """Training, validation and test rows, read from the plan."""
    data = Data.check(X_THREE_WAY, Y_THREE_WAY, task="classification", groups=groups)
    plan = ThreeWay(0.25, 0.3).plan(data, Streams(seed))
    inner, outer = plan.questions("inner")[0], plan.questions("outer")[0]
    train, both = (plan.train_rows(int(plan.fit[q]))[0] for q in (inner, outer))
    return train, plan.test_rows(int(inner))[0], plan.test_rows(int(outer))[0], both


@pytest.mark.parametrize("seed", range(4))
def test_it_is_done_by_hand(seed) -> None:
    """Fit on train, compare on validation, refit the first best on both, test once."""
    train, validation, test, both = parts(seed)
    assert sorted([*train, *validation, *test]) == list(range(N))
    assert sorted([*train, *validation]) == both.tolist()
    assert (len(validation), len(test)) == (15, 18)
    risks = [
        (
            KNeighborsClassifier(k)
            .fit(X_THREE_WAY[train], Y_THREE_WAY[train])
            .predict(X_THREE_WAY[validation])
            != Y_THREE_WAY[validation]
        ).mean()
        for k in GRID
    ]
    winner = int(np.argmin(risks))
    model = KNeighborsClassifier(GRID[winner]).fit(X_THREE_WAY[both], Y_THREE_WAY[both])
    curve = tr.risk_curve(
        KNeighborsClassifier(),
        {"n_neighbors": GRID},
        X_THREE_WAY,
        Y_THREE_WAY,
        cv=ThreeWay(0.25, 0.3),
        random_state=seed,
    )
    assert curve.values == pytest.approx(risks)
    assert curve.best == winner
    assert curve.procedure.value == pytest.approx(
        (model.predict(X_THREE_WAY[test]) != Y_THREE_WAY[test]).mean()
    )
    assert curve.procedure.params == {"n_neighbors": GRID[winner]}
    assert curve.procedure.loss_rows.tolist() == test.tolist()
    assert curve.procedure.n_fits == len(GRID) + 1
    assert curve.procedure.target == "Err_XY"


def test_groups_stay_whole_of_three_way() -> None:
    """No group is in two of the three parts."""
    groups = np.arange(N) // 5
    train, validation, test, _ = parts(0, groups)
    assert not set(groups[train]) & set(groups[validation])
    assert not set(groups[test]) & set(groups[np.r_[train, validation]])


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0, 0.5), (0.5, 0), (0.9, 0.3)])
def test_all_three_parts_need_rows(shares) -> None:
    """Shares that leave nothing to train, to validate or to test on are refused."""
    with pytest.raises(BadData, match="all three parts need rows|use a share of the rows"):
        ThreeWay(*shares)


def test_two_groups_are_too_few() -> None:
    """Three parts of whole groups need three groups: a sentence, not a crash."""
    with pytest.raises(BadData, match="more groups are needed"):
        tr.estimate_risk(
            KNeighborsClassifier(), X_THREE_WAY, Y_THREE_WAY, cv="three-way", groups=Y_THREE_WAY
        )
