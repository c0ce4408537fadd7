"""Hold-out and Monte-Carlo equal a plain fit on the drawn rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.core.contracts import Streams
from truerisk.core.errors import BadData
from truerisk.core.plan.leaks import across
from truerisk.core.table.data import Data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = (X[:, 0] + RNG.normal(size=40) > 0).astype(int)
DATA = Data.check(X, Y, task="classification")


@pytest.mark.parametrize("method", [tr.methods.Holdout(0.3), tr.methods.MonteCarlo(7, 0.2)])
def test_it_is_a_plain_fit_on_the_drawn_rows(method) -> None:
    """Every split's risk is that of a fit on its rows; the risk counts all tests alike."""
    found = tr.estimate_risk(KNeighborsClassifier(3), X, Y, method=method)
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
        tr.estimate_risk(KNeighborsClassifier(), X, Y, method=m) for m in ("holdout", "monte-carlo")
    )
    assert (one.target, many.target) == ("Err_XY", "Err")
    assert one.n_fits == 1
    assert len(many.split_risks) == 25
    assert "sees 67% of them" in one.bias


def test_groups_stay_whole() -> None:
    """No group is on both sides of a drawn split."""
    groups = np.arange(40) // 4
    data = Data.check(X, Y, task="classification", groups=groups)
    plan = tr.methods.MonteCarlo(10).plan(data, Streams(0))
    assert not len(across(plan, groups))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_an_impossible_share_is_refused(share) -> None:
    """Nothing, or everything, held out."""
    with pytest.raises(BadData, match="0 < test_share < 1"):
        tr.estimate_risk(DecisionTreeClassifier(), X, Y, method=tr.methods.Holdout(share))


def test_at_least_one_split() -> None:
    """No split is no estimate."""
    with pytest.raises(BadData, match="at least one"):
        tr.methods.MonteCarlo(0)
