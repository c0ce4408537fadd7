"""Training sets cut to a size: exact against plain loops, nested, and tuned anew."""

from itertools import count

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.support.data import checked
from tests.support.plans import drawn, splits_of

import truerisk as tr
from truerisk.extend import BadArgument, BadData, Refusal
from truerisk.methods import KFold, Nested, Subsampled
from truerisk.plan.leaks import find_leaks
from truerisk.testing import method_checks

X, Y = tr.datasets.make_difficult(60, random_state=0)
DATA = checked(X, Y)


@pytest.mark.parametrize("check", method_checks(Subsampled(9, "4-fold")))
def test_subsampled_conforms(check):
    check()


@pytest.mark.parametrize("n_train", [7, 20, 40])
@pytest.mark.parametrize(
    "model", [KNeighborsClassifier(3), DecisionTreeClassifier(random_state=0)], ids=["fast", "slow"]
)
def test_subsampled_is_a_plain_loop_over_the_plan(model, n_train):
    """Each question is a fit on its subsample; a row's loss is the mean of its tests."""
    method = Subsampled(n_train, "5-fold")
    found = tr.estimate_risk(model, X, Y, cv=method)
    wrong, times = np.zeros(60), np.zeros(60)
    for train, test in splits_of(drawn(method, DATA)):
        assert len(train) == n_train
        assert not set(train) & set(test)
        wrong[test] += model.fit(X[train], Y[train]).predict(X[test]) != Y[test]
        times[test] += 1
    assert (times == min(10, 48 // n_train)).all()
    assert found.losses == pytest.approx(wrong / times)
    assert found.value == pytest.approx((wrong / times).mean())
    assert found.n_fits == 5 * times[0]


def test_subsampled_to_all_training_rows_is_the_method_itself():
    whole = drawn(KFold(5), DATA)
    assert drawn(Subsampled(48, "5-fold"), DATA).fingerprint == whole.fingerprint
    assert drawn(Subsampled(47, "5-fold"), DATA).fingerprint != whole.fingerprint


def test_subsampled_sizes_are_nested_and_draws_of_a_fold_disjoint():
    """The first subsample of a fold is within that of a larger size; the tests are the same."""
    small, large = (drawn(Subsampled(n, "5-fold"), DATA) for n in (12, 30))
    for fold in range(5):
        mine, theirs = (np.array(splits_of(p), object)[p.fold == fold] for p in (small, large))
        assert mine[0][1].tolist() == theirs[0][1].tolist()
        assert set(mine[0][0]) < set(theirs[0][0])
        rows = np.concatenate([train for train, _ in mine])
        assert len(mine) == 4
        assert len(np.unique(rows)) == len(rows)


def test_subsampled_draws_as_often_as_asked_from_folds_and_splitters():
    assert drawn(Subsampled(12, "5-fold", draws=1), DATA).n_fits == 5
    splitter = Subsampled(10, ShuffleSplit(3, random_state=0), draws=2)
    assert drawn(splitter, DATA).train_sizes.tolist() == [10] * 6
    assert drawn(Subsampled(10, "loo"), DATA).n_questions == 60 * 5


def test_subsampled_keeps_groups_whole():
    groups = np.arange(60) // 4
    data = checked(X, Y, groups=groups)
    plan = drawn(Subsampled(14, "5-fold"), data)
    assert not len(find_leaks(data, plan, "groups")["groups"])
    for train, _ in splits_of(plan):
        assert set(np.bincount(groups[train], minlength=15)) == {0, 4}


def test_subsampled_tunes_anew_in_every_subsample():
    """Nested over it equals a loop of searches by the inner folds of each small training set."""
    grid = {"n_neighbors": [1, 3, 5]}
    method = Nested(Subsampled(15, "4-fold"), "3-fold")
    found = tr.risk_curve(KNeighborsClassifier(), grid, X, Y, cv=method)
    plan, wrong = drawn(method, DATA), []
    every = splits_of(plan)
    for q in plan.questions("outer"):
        train, test = every[q]
        inner = np.flatnonzero((plan.part == 1) & (plan.unit == plan.fit[q]))
        folds = [tuple(np.searchsorted(train, rows) for rows in every[i]) for i in inner]
        assert (len(train), len(folds)) == (15, 3)
        search = GridSearchCV(KNeighborsClassifier(), grid, cv=folds).fit(X[train], Y[train])
        wrong.append(search.predict(X[test]) != Y[test])
    assert len(wrong) == 4 * 3
    assert found.procedure.value == pytest.approx(np.concatenate(wrong).mean())


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        *(
            (lambda of=of: Subsampled(10, of), Refusal, "cannot be cut to a size: use a method")
            for of in ("pairs", "nested", ".632", "aic")
        ),
        (lambda: Subsampled(12, "5-fold", draws=5), BadData, "hold 4 disjoint subsamples of 12"),
        (lambda: Subsampled(0.5), BadArgument, r"n_train=0\.5: a whole number is wanted"),
        (lambda: Subsampled(5, draws=0), BadArgument, "draws=0"),
    ],
    ids=count(),
)
def test_subsampled_refuses_what_cannot_be_cut(make, error, message):
    with pytest.raises(error, match=message):
        drawn(make(), DATA)
