"""Held-out parts: once, many times, in disjoint halves, and a third part to choose by."""

from itertools import count

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from tests.support.data import checked, normal_rows
from tests.support.plans import drawn, splits_of

import truerisk as tr
from truerisk.extend import BadData
from truerisk.methods import Holdout, MonteCarlo, Nested, PairedHalves, ThreeWay

N = 60
X, Y, _ = normal_rows(N, seed=1)
DATA = checked(X, Y)
GRID = [1, 3, 5, 9, 15]
HALVES = PairedHalves(3, pairs=2, test_share=0.2)


@pytest.mark.parametrize("method", [Holdout(0.3), MonteCarlo(7, 0.2)], ids=str)
def test_holdout_is_a_plain_fit_on_the_drawn_rows(method):
    found = tr.estimate_risk(KNeighborsClassifier(3), X, Y, cv=method)
    expected = []
    for train, test in splits_of(drawn(method, DATA)):
        assert sorted([*train, *test]) == list(range(N))
        assert len(test) == round(N * method.test_share)
        model = KNeighborsClassifier(3).fit(X[train], Y[train])
        expected.append((model.predict(X[test]) != Y[test]).mean())
    assert found.split_risks == pytest.approx(expected)
    assert found.value == pytest.approx(np.mean(expected))
    assert found.n_fits == len(expected)
    assert found.target == ("Err_XY" if len(expected) == 1 else "Err")


def test_holdout_words_hold_out_a_third():
    one, many = (
        tr.estimate_risk(KNeighborsClassifier(), X, Y, cv=m) for m in ("holdout", "monte-carlo")
    )
    assert "sees 67% of the rows" in one.bias
    assert len(many.split_risks) == 25


def three_parts(seed, groups=None):
    """Training, validation and test rows, and the rows of the last fit, read from the plan."""
    plan = drawn(ThreeWay(0.25, 0.3), checked(X, Y, groups=groups), seed)
    ((train, validation),) = splits_of(plan, "inner")
    ((both, test),) = splits_of(plan, "outer")
    return train, validation, test, both


@pytest.mark.parametrize("seed", range(3))
def test_three_way_chooses_on_validation_rows_and_tests_once(seed):
    """Fit on train, compare on validation, refit the first best on both, test once."""
    train, validation, test, both = three_parts(seed)
    assert sorted([*train, *validation, *test]) == list(range(N))
    assert sorted([*train, *validation]) == both.tolist()
    assert (len(validation), len(test)) == (15, 18)

    def error(k, seen, asked):
        return (KNeighborsClassifier(k).fit(X[seen], Y[seen]).predict(X[asked]) != Y[asked]).mean()

    risks = [error(k, train, validation) for k in GRID]
    winner = int(np.argmin(risks))
    given = {"cv": ThreeWay(0.25, 0.3), "random_state": seed}
    curve = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": GRID}, X, Y, **given)
    assert curve.values == pytest.approx(risks)
    assert curve.best == winner
    found = curve.procedure
    assert found.value == pytest.approx(error(GRID[winner], both, test))
    assert found.params == {"n_neighbors": GRID[winner]}
    assert found.loss_rows.tolist() == test.tolist()
    assert (found.n_fits, found.target) == (len(GRID) + 1, "Err_XY")


def test_paired_halves_are_disjoint_with_test_sets_of_one_size():
    """Repetition 0 splits all rows; each pair cuts them in two, with as many test rows."""
    plan = drawn(HALVES, DATA)
    assert plan.n_questions == 3 + 2 * 2 * 3
    rows = {r: set() for r in range(5)}
    for q, (train, test) in enumerate(splits_of(plan)):
        assert not set(train) & set(test)
        assert len(test) == 12
        rows[int(plan.repeat[q])] |= {*train, *test}
    assert len(rows[0]) == N
    for one, other in ((1, 2), (3, 4)):
        assert not rows[one] & rows[other]
        assert len(rows[one]) == len(rows[other]) == N // 2


def test_paired_halves_tune_in_each_split_of_nested_validation():
    method = Nested(PairedHalves(3, pairs=2), "3-fold")
    found = tr.risk_curve(LogisticRegression(), {"C": [0.1, 1.0]}, X, Y, cv=method).procedure
    assert found.interval.method == "conservative-z"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Holdout(0.0), "0 < test_share < 1"),
        (lambda: Holdout(1.0), "0 < test_share < 1"),
        (lambda: MonteCarlo(0), "at least one"),
        (lambda: ThreeWay(0.5, 0.5), "all three parts need rows"),
        (lambda: ThreeWay(0, 0.5), "use a share of the rows|all three parts"),
        (lambda: ThreeWay(0.5, 0), "use a share of the rows|all three parts"),
        (lambda: ThreeWay(0.9, 0.3), "all three parts need rows"),
        (lambda: PairedHalves(0), "splits_drawn=0"),
        (lambda: PairedHalves(pairs=0), "pairs=0"),
        (lambda: PairedHalves(test_share=0.5), "test_share=0.5"),
        (lambda: drawn(PairedHalves(), checked(X[:6], Y[:6])), "too small"),
        (lambda: drawn(ThreeWay(), checked(X, Y, groups=Y)), "more groups are needed"),
    ],
    ids=count(),
)
def test_holdout_refuses_parts_without_rows(make, message):
    with pytest.raises(BadData, match=message):
        make()
