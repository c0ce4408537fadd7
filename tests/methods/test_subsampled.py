"""Training sets cut to a size: exact against plain loops, nested, and tuned anew."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.data.data import Data
from truerisk.methods.subsampled import Subsampled
from truerisk.plan.leaks import leaks_of
from truerisk.testing import method_checks

X, Y = tr.datasets.make_difficult(60, random_state=0)
DATA = Data.check(X, Y, task="classification")


@pytest.mark.parametrize("check", method_checks(Subsampled(9, "4-fold")))
def test_conforms(check) -> None:
    """The published checks of any method."""
    check()


@pytest.mark.parametrize("n_train", [7, 20, 40])
@pytest.mark.parametrize(
    "model", [KNeighborsClassifier(3), DecisionTreeClassifier(random_state=0)], ids=["fast", "slow"]
)
def test_it_is_a_plain_loop_over_the_plan(model, n_train) -> None:
    """Each question is a fit on its subsample; a row's loss is the mean of its tests."""
    method = Subsampled(n_train, "5-fold")
    found = tr.estimate_risk(model, X, Y, cv=method)
    plan = method.plan(DATA, Streams(0))
    wrong, times = np.zeros(60), np.zeros(60)
    for q in range(plan.n_questions):
        train, test = plan.train_rows(int(plan.fit[q]))[0], plan.test_rows(q)[0]
        assert len(train) == n_train
        assert not set(train) & set(test)
        wrong[test] += model.fit(X[train], Y[train]).predict(X[test]) != Y[test]
        times[test] += 1
    assert (times == min(10, 48 // n_train)).all()
    assert found.losses == pytest.approx(wrong / times)
    assert found.value == pytest.approx((wrong / times).mean())
    assert found.n_fits == 5 * times[0]


def test_all_training_rows_are_the_method_itself() -> None:
    """With as many rows as there are the plan is that of the method, fold by fold."""
    whole = tr.methods.KFold(5).plan(DATA, Streams(0))
    assert Subsampled(48, "5-fold").plan(DATA, Streams(0)).fingerprint == whole.fingerprint
    assert Subsampled(47, "5-fold").plan(DATA, Streams(0)).fingerprint != whole.fingerprint


def test_sizes_are_nested_on_the_same_test_sets() -> None:
    """The first subsample of each fold is within that of a larger size; the tests are the same."""
    small, large = (Subsampled(n, "5-fold").plan(DATA, Streams(0)) for n in (10, 30))
    for fold in range(5):
        q, r = (int(np.flatnonzero(p.fold == fold)[0]) for p in (small, large))
        assert small.test_rows(q)[0].tolist() == large.test_rows(r)[0].tolist()
        mine, theirs = (p.train_rows(int(p.fit[x]))[0] for p, x in ((small, q), (large, r)))
        assert set(mine) < set(theirs)


def test_draws_of_a_training_set_are_disjoint() -> None:
    """No row is in two subsamples of one fold."""
    plan = Subsampled(12, "5-fold").plan(DATA, Streams(0))
    for fold in range(5):
        fits = plan.fit[plan.fold == fold]
        rows = np.concatenate([plan.train_rows(int(fit))[0] for fit in fits])
        assert len(fits) == 4
        assert len(np.unique(rows)) == len(rows)


def test_a_number_of_draws_can_be_asked_for() -> None:
    """One, or more than there are disjoint ones, which is refused."""
    plan = Subsampled(12, "5-fold", draws=1).plan(DATA, Streams(0))
    assert plan.n_fits == 5
    with pytest.raises(BadData, match="48 training rows hold 4 disjoint subsamples of 12"):
        Subsampled(12, "5-fold", draws=5).plan(DATA, Streams(0))


def test_groups_stay_whole() -> None:
    """No group is on both sides of a split, and none is cut by a subsample."""
    groups = np.arange(60) // 4
    data = Data.check(X, Y, task="classification", groups=groups)
    plan = Subsampled(14, "5-fold").plan(data, Streams(0))
    assert not len(leaks_of(data, plan, "groups")["groups"])
    for fit in range(plan.n_fits):
        held = np.bincount(groups[plan.train_rows(fit)[0]], minlength=15)
        assert set(held) == {0, 4}


def test_settings_are_chosen_anew_in_every_subsample() -> None:
    """Nested over it equals a loop of searches by the inner folds of each small training set."""
    grid = {"n_neighbors": [1, 3, 5]}
    method = tr.methods.Nested(Subsampled(15, "4-fold"), "3-fold")
    found = tr.risk_curve(KNeighborsClassifier(), grid, X, Y, cv=method)
    plan = method.plan(DATA, Streams(0))
    outer, wrong = plan.questions("outer"), []
    for q in outer:
        fit = int(plan.fit[q])
        train, test = plan.train_rows(fit)[0], plan.test_rows(q)[0]
        inner = np.flatnonzero((plan.part == 1) & (plan.unit == fit))
        place = {int(row): j for j, row in enumerate(train)}
        folds = [
            tuple(
                [place[int(r)] for r in rows]
                for rows in (plan.train_rows(int(plan.fit[i]))[0], plan.test_rows(i)[0])
            )
            for i in inner
        ]
        assert len(train) == 15
        search = GridSearchCV(KNeighborsClassifier(), grid, cv=folds).fit(X[train], Y[train])
        wrong.append((search.predict(X[test]) != Y[test]).tolist())
    assert len(outer) == 4 * 3
    assert found.procedure.value == pytest.approx(np.concatenate(wrong).mean())


@pytest.mark.parametrize("of", ["pairs", "nested", ".632", "loo", "aic"])
def test_what_cannot_be_cut_is_refused(of) -> None:
    """Methods that tune, sample, or make one fit have no training sets to cut; loo has."""
    if of == "loo":
        assert Subsampled(10, of).plan(DATA, Streams(0)).n_questions == 60 * 5
        return
    with pytest.raises(Refusal, match="cannot be cut to a size: use a method"):
        Subsampled(10, of).plan(DATA, Streams(0))


def test_a_splitter_can_be_cut() -> None:
    """Random splits of scikit-learn, too."""
    method = Subsampled(10, ShuffleSplit(3, random_state=0), draws=2)
    assert method.plan(DATA, Streams(0)).train_sizes.tolist() == [10] * 6


def test_no_number_of_rows_is_refused() -> None:
    """Shares and words are no numbers of rows."""
    with pytest.raises(BadArgument, match=r"n_train=0\.5: a whole number is wanted"):
        Subsampled(0.5)
    with pytest.raises(BadArgument, match="draws=0"):
        Subsampled(5, draws=0)
