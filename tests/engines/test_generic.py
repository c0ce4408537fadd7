"""The generic engine is clone, fit, predict: on any plan, with any executor."""

from __future__ import annotations

import tracemalloc
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.errors import TrueRiskWarning
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.methods import KFold, LeaveOneOut, Nested
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.flips import flips_of
from truerisk.plan.extras.model_facts import ModelFacts, rules_of

RNG = np.random.default_rng(4)
N = 36
X = RNG.normal(size=(N, 3))
Y = np.array(["no", "so", "yes"])[RNG.integers(3, size=N)]
DATA = Data.check(X, Y, task="classification")


def any_plan():
    """Counts in training and test, overlaps, flips, two questions to one fit."""
    builder = PlanBuilder(N)
    sample = builder.block(RNG.integers(N, size=N))
    folds = builder.partition(np.arange(N) % 3)
    builder.ask((sample, ()), (ALL, (sample,)), part="outer")
    builder.ask((ALL, (folds[0], folds[1])), (folds[0], ()))
    builder.ask((ALL, (folds[0], folds[1])), (ALL, ()), part="apparent")
    builder.ask((ALL, (folds[2],)), (folds[2], ()), flips=[(0, 2), (1, 0), (4, 1)])
    builder.ask((sample, (folds[2],)), (folds[2], ()))
    return builder.build()


@pytest.mark.parametrize("response", ["label", "probability"])
def test_answers_on_any_plan_are_those_of_plain_fits(response) -> None:
    """Copies are fitted as copies, flipped labels are shown, every question is answered."""
    plan = any_plan()
    family = Family.of(DecisionTreeClassifier(random_state=0), {"max_depth": [2, 4]})
    answers = Generic().run(family, DATA, plan, Request(response), RunOptions())
    for q in range(plan.n_questions):
        fit = int(plan.fit[q])
        rows, counts = plan.train_rows(fit)
        y = Y.copy()
        row, code = flips_of(plan, fit)
        y[row] = np.array(["no", "so", "yes"])[code]
        rows = np.repeat(rows, 1 if counts is None else counts)
        test = plan.test_rows(q)[0]
        for c, depth in enumerate((2, 4)):
            model = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X[rows], y[rows])
            if response == "label":
                assert (DATA.classes[answers.of(q)[c]] == model.predict(X[test])).all()
            else:
                assert np.array_equal(answers.of(q)[c], model.predict_proba(X[test]))
    assert answers.n_fits == 2 * plan.n_fits == 8
    assert answers.answered.all()


def test_one_candidate_per_fit() -> None:
    """With `only`, fit f is made by candidate only[f] alone: the outer pass of nested."""
    plan = KFold(3).plan(DATA, Streams(0))
    family = Family.of(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 5]})
    everyone = Generic().run(family, DATA, plan, Request("label"), RunOptions())
    chosen = np.array([2, 0, 1])
    some = Generic().run(family, DATA, plan, Request("label"), RunOptions(only=chosen))
    assert some.n_candidates == 1
    assert some.n_fits == 3
    for q in range(3):
        assert np.array_equal(some.of(q)[0], everyone.of(q)[chosen[plan.fit[q]]])


EXECUTORS = {
    "loky": lambda: 2,
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
}


@pytest.mark.parametrize("name", EXECUTORS)
def test_the_executor_changes_nothing(name) -> None:
    """Models without a random state give bit for bit the same answers wherever they run."""
    model = make_pipeline(StandardScaler(), ExtraTreesClassifier(n_estimators=3))
    grid = {"extratreesclassifier__max_depth": [1, 3]}

    def curve(executor):
        method = Nested("3-fold", "2-fold")
        return tr.risk_curve(model, grid, X, Y, cv=method, n_jobs=executor, random_state=5)

    alone, executor = curve(None), EXECUTORS[name]()
    try:
        there = curve(executor)
    finally:
        if not isinstance(executor, int):
            executor.shutdown()
    assert there.values.tolist() == alone.values.tolist()
    assert np.array_equal(there.procedure.losses, alone.procedure.losses)
    assert there.evaluation.units == alone.evaluation.units


def test_the_seed_makes_random_models() -> None:
    """The same seed twice gives the same number, another seed another, and fits differ."""
    model = ExtraTreesClassifier(n_estimators=1, max_depth=2)
    plan = KFold(3).plan(DATA, Streams(0))
    builder = PlanBuilder(N)
    for test in range(2):
        builder.ask((ALL, ()), (builder.block(np.arange(test, N)), ()))
    same_rows = builder.build()
    one, again, other = (
        Generic()
        .run(Family.of(model), DATA, plan, Request("probability"), RunOptions(seed=s))
        .values
        for s in (0, 0, 1)
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert same_rows.n_fits == 1


def test_candidates_of_a_fit_share_their_random_numbers() -> None:
    """Two equal settings of a forest without a seed answer alike, in any place of the grid."""
    plan = KFold(3).plan(DATA, Streams(0))
    family = Family.of(ExtraTreesClassifier(n_estimators=3), {"max_depth": [2, 1, 2]})
    values = Generic().run(family, DATA, plan, Request("probability"), RunOptions(seed=1)).values
    assert np.array_equal(values[0], values[2])
    assert not np.array_equal(values[0], values[1])


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_the_batch_changes_nothing(batch) -> None:
    """How many fits a task holds is no matter of results."""
    model = ExtraTreesClassifier(n_estimators=2)
    plain = tr.estimate_risk(model, X, Y, cv="4-fold")
    batched = tr.estimate_risk(model, X, Y, cv="4-fold", engine=Generic(batch=batch))
    assert np.array_equal(plain.losses, batched.losses)


FOLDS = np.arange(N) % 4


def test_a_warning_of_many_fits_is_said_once() -> None:
    """The same warning of several fits is said once, with how often."""
    model = MLPClassifier((2,), max_iter=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tr.estimate_risk(model, X, Y, cv="3-fold")
    assert "[3 times in 3 fits]" in str(caught[0].message)
    assert caught[0].category is ConvergenceWarning
    assert len(caught) == 1


def unsorted():
    """A model whose classes are not in sorted order, and that never saw one of them."""

    class Unsorted(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.array(["yes", "no"])
            return self

        def predict(self, X):
            return np.full(len(X), "maybe")

        def predict_proba(self, X):
            return np.tile([0.9, 0.1], (len(X), 1))

    return Unsorted()


def test_probabilities_are_put_under_their_classes() -> None:
    """Columns go by the model's own classes_, whatever their order; others have probability 0."""
    plan = KFold(2).plan(DATA, Streams(0))
    found = Generic().run(Family.of(unsorted()), DATA, plan, Request("probability"), RunOptions())
    assert (found.values == [0.1, 0.0, 0.9]).all()
    two = Data.check(X, np.where(Y == "so", "yes", Y), task="classification")
    scores = Generic().run(Family.of(unsorted()), two, plan, Request("score"), RunOptions())
    assert (scores.values == 0.9).all()


def test_a_label_that_y_does_not_hold_is_minus_one() -> None:
    """An unknown label is no class; it counts as wrong, which is said."""
    said = r"labels that y does not hold .*'maybe', for \d+ of \d+ rows: each counts as wrong"
    with pytest.warns(TrueRiskWarning, match=said):
        found = tr.estimate_risk(unsorted(), X, Y, cv="3-fold")
    assert found.value == 1


def test_several_targets() -> None:
    """Two targets are answered as two numbers per row."""
    targets = RNG.normal(size=(N, 2))
    found = tr.estimate_risk(Ridge(), X, targets, cv=KFold(folds=FOLDS))
    expected = np.full(N, np.nan)
    for k in range(4):
        model = Ridge().fit(X[k != FOLDS], targets[k != FOLDS])
        wrong = model.predict(X[k == FOLDS]) - targets[k == FOLDS]
        expected[k == FOLDS] = (wrong**2).mean(axis=1)
    assert found.losses == pytest.approx(expected)


class Constant(ClassifierMixin, BaseEstimator):
    """The cheapest model there is."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


def peak_of_leave_one_out(n: int) -> int:
    """The least peak of three runs, since other threads and first imports add to one."""
    data = Data.check(np.zeros((n, 2)), np.arange(n) % 2, task="classification")
    plan = LeaveOneOut().plan(data, Streams(0))
    peaks = []
    for _ in range(3):
        family, request = Family.of(Constant()), Request("label")
        tracemalloc.start()
        Generic().run(family, data, plan, request, RunOptions())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return min(peaks)


def test_memory_of_leave_one_out_grows_with_n() -> None:
    """Twice the rows take about twice the memory, not four times."""
    few, many = peak_of_leave_one_out(1000), peak_of_leave_one_out(2000)
    assert many < 2.6 * few
    assert many < 2e6  # n² booleans are 4 MB


def test_linear_rules_come_with_rows_held_once():
    """Of each candidate in the fits asked; equal rows after a step are one array."""
    model = make_pipeline(StandardScaler(), LogisticRegression())
    family = Family.of(model, {"logisticregression__C": [0.1, 1.0, 10.0]})
    data = Data.check(X, Y, task="classification")
    plan = KFold(folds=FOLDS).plan(data, Streams(0))
    plan = replace(plan, extra=ModelFacts(rules=np.array([1], dtype=np.int32)))
    for executor in (None, 2):
        answers = Generic().run(family, data, plan, Request("label"), RunOptions(executor=executor))
        assert len(rules_of(answers)) == 1
        rules = rules_of(answers)[0]
        assert (rules.fit, rules.candidates.tolist()) == (1, [0, 1, 2])
        rows, _ = plan.train_rows(1)
        fitted = model.set_params(logisticregression__C=1.0).fit(X[rows], Y[rows])
        assert rules.coefficients[1] == pytest.approx(fitted[-1].coef_)
        assert rules.rows == pytest.approx(fitted[:-1].transform(X[rows]))
    assert (
        Generic().run(family, data, replace(plan, extra=None), Request("label"), RunOptions()).extra
        is None
    )
    only = Generic().run(
        family, data, plan, Request("label"), RunOptions(only=np.full(plan.n_fits, 2))
    )
    assert rules_of(only)[0].candidates.tolist() == [0]
    cut = answers.only(np.array([1]))
    assert (rules_of(cut)[0].fit, answers.only(np.array([0])).extra) == (0, None)
