"""The three-way split, redone by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.contracts import Streams
from truerisk.core.errors import BadData
from truerisk.core.table.data import Data
from truerisk.methods import ThreeWay

RNG = np.random.default_rng(1)
N = 60
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
GRID = [1, 3, 5, 9, 15]


def parts(seed: int, groups=None):
    """Training, validation and test rows, read from the plan."""
    data = Data.check(X, Y, task="classification", groups=groups)
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
            KNeighborsClassifier(k).fit(X[train], Y[train]).predict(X[validation]) != Y[validation]
        ).mean()
        for k in GRID
    ]
    winner = int(np.argmin(risks))
    model = KNeighborsClassifier(GRID[winner]).fit(X[both], Y[both])
    curve = tr.risk_curve(
        KNeighborsClassifier(),
        {"n_neighbors": GRID},
        X,
        Y,
        method=ThreeWay(0.25, 0.3),
        random_state=seed,
    )
    assert curve.values == pytest.approx(risks)
    assert curve.best == winner
    assert curve.procedure.value == pytest.approx((model.predict(X[test]) != Y[test]).mean())
    assert curve.procedure.params == {"n_neighbors": GRID[winner]}
    assert curve.procedure.loss_rows.tolist() == test.tolist()
    assert curve.procedure.n_fits == len(GRID) + 1
    assert curve.procedure.target == "Err_XY"


def test_groups_stay_whole() -> None:
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
        tr.estimate_risk(KNeighborsClassifier(), X, Y, method="three-way", groups=Y)
