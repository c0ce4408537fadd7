"""Which support vector problems the engine serves, and what it leaves to SVC itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from tests.engines.closed_forms import both, data_of, drawn, family_of

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.errors import FitFailed
from truerisk.core.family import Family
from truerisk.engines.support_vectors.svm import SupportVectors
from truerisk.engines.templates.task import Task
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.testing import engine_checks

ENGINE = SupportVectors()
CS = [0.003, 0.1, 1.0, 30.0]
LABEL, SCORE = Request("label"), Request("score")

FAMILIES = {
    "linear": Family.of(SVC(kernel="linear"), {"C": [0.1, 1.0, 5.0]}),
    "rbf": Family.of(SVC(), {"C": [0.5, 10.0], "gamma": ["scale", 0.7]}),
    "poly": Family.of(SVC(kernel="poly", coef0=-1.0), {"C": [1.0], "degree": [2, 3]}),
    "balanced": Family.of(SVC(class_weight="balanced", tol=0.1), {"C": [1.0, 4.0]}),
    "prepared": Family.of(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 10.0]}),
}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{word}-{check}")
        for word, family in FAMILIES.items()
        for check in engine_checks(ENGINE, family, examples=4 if word == "linear" else 2)
    ],
)
def test_conforms(check):
    """The published checks of any engine, decision values included."""
    check()


def test_a_left_out_row_may_be_the_last_of_its_class():
    """Where leaving a row out takes a class away, the fit is made on the classes that are left."""
    X, y = drawn(25, 3, 3, seed=2, sizes=[12, 12, 1])
    data, family = data_of(X, y), family_of(SVC(), {"C": CS, "gamma": [0.3]})
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    found, expected = both(ENGINE, family, data, plan, LABEL)
    assert (found == expected).all()


def test_rows_with_opposite_labels_and_constant_columns():
    """Equal rows of both classes and columns that say nothing are no special case."""
    X, y = drawn(30, 3, 2, seed=4)
    X = np.vstack([X, X[:10]])
    y = np.concatenate([y, np.where(y[:10] == "a", "b", "a")])
    X = np.column_stack([X, np.full(len(X), 7.0)])
    data, family = data_of(X, y), family_of(SVC(), {"C": CS, "kernel": ["linear", "rbf"]})
    plan = tr.methods.KFold(4).plan(data, Streams(0))
    found, expected = both(ENGINE, family, data, plan, LABEL)
    assert (found == expected).all()


def test_a_gram_matrix_that_overflows_is_left_to_svc(monkeypatch):
    """Inner products beyond single precision give no answer of ours, in folds and leave-one-out."""
    X, y = drawn(12, 2, 2)
    family = family_of(SVC(kernel="linear"), {"C": [1.0]})
    for method in (tr.methods.KFold(3), tr.methods.LeaveOneOut()):
        data = data_of(X * 1e25, y)
        plan = method.plan(data, Streams(0))
        monkeypatch.setattr(
            "truerisk.engines.templates.task.Task.ask_the_learner", lambda task: None
        )
        for request in (LABEL, SCORE):
            left = []

            def leaving(task, fit, candidates, left=left):
                left.extend([fit] * len(list(candidates)))

            with monkeypatch.context() as patch:
                patch.setattr(Task, "leave_open", leaving)
                ENGINE.run(family, data, plan, request, RunOptions())
            assert sorted(set(left)) == list(range(plan.n_fits))


SPLITS = {
    "folds": tr.methods.KFold(3),
    "loo": tr.methods.LeaveOneOut(),
    "bootstrap": tr.methods.Bootstrap(kind="oob", replicates=6),
}


@pytest.mark.parametrize("method", SPLITS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_given_gram_matrix_is_cut_by_rows_and_columns(method, n_classes):
    """The answers of SVC on the rows themselves, by this engine and by the generic one."""
    X, y = drawn(30, 3, n_classes)
    grid = {"C": [0.1, 1.0, 10.0]}
    plan = SPLITS[method].plan(data_of(X, y), Streams(0))
    data = data_of(X @ X.T, y)
    family = family_of(SVC(kernel="precomputed"), grid)
    fast, slow = both(ENGINE, family, data, plan, LABEL)
    direct = ENGINE.run(
        family_of(SVC(kernel="linear"), grid), data_of(X, y), plan, LABEL, RunOptions()
    )
    assert np.array_equal(fast, slow)
    assert np.array_equal(fast, direct.values)


def test_a_grid_may_hold_the_matrix_and_its_rows():
    """kernel='precomputed' reads X as a Gram matrix where 'linear' reads it as a table."""
    X, y = drawn(24, 3, 2)
    data, grid = data_of(X @ X.T, y), {"kernel": ["linear", "precomputed"], "C": [0.01, 1.0]}
    plan = tr.methods.KFold(3).plan(data, Streams(0))
    fast, slow = both(ENGINE, family_of(SVC(), grid), data, plan, LABEL)
    assert np.array_equal(fast, slow)
    assert not np.array_equal(fast[0], fast[1])


def test_a_matrix_that_is_not_symmetric_or_is_piped_is_refused():
    """SVC reads one half of it; steps before the machine may make it anything."""
    X, y = drawn(20, 3, 2)
    gram = X @ X.T
    data, skew = data_of(gram, y), data_of(gram + np.triu(np.ones((20, 20)), 1), y)
    plan = tr.methods.KFold(4).plan(data, Streams(0))
    alone = family_of(SVC(kernel="precomputed"))
    piped = family_of(make_pipeline(KernelCenterer(), SVC(kernel="precomputed")))
    assert ENGINE.refuse(alone, data, plan, LABEL) is None
    assert "not symmetric" in ENGINE.refuse(alone, skew, plan, LABEL)
    assert "other steps" in ENGINE.refuse(piped, data, plan, LABEL)


def test_one_class_in_a_fit_fails_as_svc_does():
    """A train set of one class is no problem with an answer: SVC's own error comes through."""
    X, y = drawn(10, 2, 2)
    data, family = data_of(X, y), family_of(SVC(), {"C": [1.0]})
    builder = PlanBuilder(10)
    train, test = builder.block(np.arange(0, 10, 2)), builder.block(np.array([1]))
    builder.ask((train, ()), (test, ()))
    builder.ask((ALL, (test,)), (test, ()))
    with pytest.raises(FitFailed, match="greater than one"):
        ENGINE.run(family, data, builder.build(), LABEL, RunOptions())


REFUSED = {
    "precomputed": (SVC(kernel="precomputed"), "X is not square"),
    "sigmoid": (SVC(kernel="sigmoid"), "not linear, rbf, poly or precomputed"),
    "callable": (SVC(kernel=np.dot), "not linear, rbf, poly or precomputed"),
    "fractional degree": (SVC(kernel="poly", degree=1.5), "whole number"),
    "no gamma": (SVC(gamma=0.0), "neither a positive number"),
    "early stop": (SVC(max_iter=100), "at any step"),
    "no tolerance": (SVC(tol=0.0), "no positive number"),
    "ties": (SVC(break_ties=True), "ties of votes"),
    "no C": (SVC(C=-1.0), "no positive number"),
    "probability": (SVC(probability=True), "random folds"),
    "LinearSVC": (LinearSVC(), "not SVC"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_refuses(why):
    """What it does not follow to the last bit is refused with the reason."""
    estimator, reason = REFUSED[why]
    data = data_of(*drawn(20, 2, 2))
    plan = tr.methods.KFold(2).plan(data, Streams(0))
    assert reason in ENGINE.refuse(family_of(estimator), data, plan, LABEL)


def test_refuses_what_it_has_no_answer_for():
    """No probabilities, no single score of three classes, no weight of 0."""
    family = family_of(SVC())
    two, three = data_of(*drawn(20, 2, 2)), data_of(*drawn(21, 2, 3))
    plan = tr.methods.KFold(2).plan(two, Streams(0))
    assert "no probabilities" in ENGINE.refuse(family, two, plan, Request("probability"))
    other = tr.methods.KFold(2).plan(three, Streams(0))
    assert "more classes than two" in ENGINE.refuse(family, three, other, SCORE)
    weighted = data_of(*drawn(20, 2, 2), sample_weight=np.r_[0.0, np.ones(19)])
    assert "finite and positive" in ENGINE.refuse(family, weighted, plan, LABEL)
