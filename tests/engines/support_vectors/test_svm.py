"""The minimiser of the support vector engine is what SVC answers at a tight tolerance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from tests.engines.closed_forms import both, counted, data_of, drawn, family_of
from tests.support.fitted_once import fitted_once

import truerisk as tr
from truerisk.core.contracts import Request, RunOptions, Streams
from truerisk.core.errors import FitFailed
from truerisk.core.family import Family
from truerisk.core.plan.builder import PlanBuilder
from truerisk.core.plan.plan import ALL
from truerisk.engines.support_vectors.svm import SupportVectors
from truerisk.engines.templates.task import Task
from truerisk.methods.holdout import MonteCarlo
from truerisk.testing import engine_checks

ENGINE = SupportVectors(minimiser=True)
CS = [0.003, 0.1, 1.0, 30.0, 1000.0]
LABEL, SCORE = Request("label"), Request("score")


@dataclass(frozen=True)
class Labels(SupportVectors):
    """Labels only: decision values of libsvm are right to six digits, and the kit wants nine."""

    def more_refusals(self, family, data, plan, request):
        if request.response == "score":
            return "decision values are compared elsewhere."
        return super().more_refusals(family, data, plan, request)


def exact(**setting):
    return SVC(tol=1e-8, **setting)


FAMILIES = {
    "linear": Family.of(exact(kernel="linear"), {"C": [0.1, 1.0]}),
    "rbf": Family.of(exact(), {"C": [0.5, 10.0], "gamma": ["scale", "auto", 0.7]}),
    "poly": Family.of(exact(kernel="poly", coef0=1.0), {"C": [1.0], "degree": [2, 3]}),
    "balanced": Family.of(exact(class_weight="balanced"), {"C": [1.0, 4.0]}),
    "prepared": Family.of(
        make_pipeline(StandardScaler(), exact()), {"svc__C": [1.0, 10.0], "svc__gamma": [0.3]}
    ),
}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{word}-{check}")
        for word, family in FAMILIES.items()
        for check in engine_checks(Labels(minimiser=True), family, examples=8)
    ],
)
def test_conforms(check):
    """The published checks of any engine."""
    check()


MODELS = {
    "linear": (exact(kernel="linear"), {"C": CS}),
    "scale": (exact(), {"C": CS}),
    "several gammas": (exact(), {"C": CS, "gamma": [0.01, "auto", 0.3, "scale"]}),
    "several kernels": (exact(gamma=0.2), {"C": CS, "kernel": ["linear", "poly", "rbf"]}),
    "class weights": (exact(gamma=0.2, class_weight={"a": 2.0, "b": 0.7}), {"C": CS}),
    "prepared": (make_pipeline(StandardScaler(), SelectKBest(k=3), exact()), {"svc__C": CS}),
}


class Samples:
    """Four bootstrap samples, tested on what they left out."""

    def plan(self, data, streams):
        rng, builder = streams.get("samples"), PlanBuilder(data.n_rows)
        for repeat in range(4):
            sample = builder.block(rng.integers(data.n_rows, size=data.n_rows))
            builder.ask((sample, ()), (ALL, (sample,)), repeat=repeat)
        return builder.build()


METHODS = {
    "5-fold": tr.methods.KFold(5),
    "loo": tr.methods.LeaveOneOut(),
    "bootstrap": Samples(),
    "monte-carlo": MonteCarlo(3),
}


@pytest.mark.parametrize("how", METHODS)
@pytest.mark.parametrize("word", MODELS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_equals_svc_at_a_tight_tolerance(n_classes, word, how):
    """Labels to the letter for two classes and four, decision values to 1e-5, in every plan."""
    estimator, grid = MODELS[word]
    if word == "class weights" and n_classes == 4:
        grid = {**grid, "class_weight": [{"a": 2.0, "b": 0.7, "c": 1.0, "d": 3.0}, "balanced"]}
    X, y = drawn(28, 5, n_classes, seed=3)
    data, family = data_of(X, y), family_of(estimator, grid)
    plan = METHODS[how].plan(data, Streams(0))
    with fitted_once(SVC):
        found, expected = both(ENGINE, family, data, plan, LABEL)
        assert (found == expected).all()
        if n_classes == 2:
            found, expected = both(ENGINE, family, data, plan, SCORE)
            assert np.allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_nested_cross_validation_chooses_as_svc_does():
    """Inner folds, choices and outer answers of winners alone are those of the generic engine."""
    X, y = drawn(50, 3, 2, seed=1)
    grid = {"C": CS, "gamma": [0.05, 0.5]}
    curves = [
        tr.risk_curve(exact(), grid, X, y, method=tr.methods.Nested(4, 3), engine=engine)
        for engine in (ENGINE, "generic")
    ]
    assert curves[0].procedure.value == curves[1].procedure.value
    assert (curves[0].values == curves[1].values).all()


def test_weights_widen_boxes():
    """Weights reach libsvm's boxes with their rows."""
    X, y = drawn(40, 4, 2, seed=5)
    weights = np.random.default_rng(0).uniform(0.5, 3.0, 40)
    data = data_of(X, y, sample_weight=weights)
    family = family_of(exact(), {"C": CS})
    plan = tr.methods.KFold(4).plan(data, Streams(0))
    found, expected = both(ENGINE, family, data, plan, SCORE)
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_leaves_out_for_nothing_what_is_no_support_vector(monkeypatch):
    """With few support vectors leave-one-out solves few problems more, and none for the others."""
    from truerisk.engines.support_vectors import left_out as svm_left_out

    X, y = make_blobs(60, 2, centers=[[-4, 0], [4, 0]], random_state=0)
    data = data_of(X, np.array(["a", "b"])[y])
    family = family_of(exact(kernel="linear"), {"C": [1.0, 30.0]})  # with free rows
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    solved, solve = [], svm_left_out.machines

    def counting(*arguments):
        solved.append(1)
        return solve(*arguments)

    monkeypatch.setattr(svm_left_out, "machines", counting)
    found, expected = both(ENGINE, family, data, plan, SCORE)
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert 2 <= len(solved) < 20


def test_a_left_out_row_may_be_the_last_of_its_class():
    """Where leaving a row out takes a class away, the fit is made on the classes that are left."""
    X, y = drawn(25, 3, 3, seed=2, sizes=[12, 12, 1])
    data, family = data_of(X, y), family_of(exact(), {"C": CS, "gamma": [0.3]})
    plan = tr.methods.LeaveOneOut().plan(data, Streams(0))
    found, expected = both(ENGINE, family, data, plan, LABEL)
    assert (found == expected).all()


def test_rows_with_opposite_labels_and_constant_columns():
    """Equal rows of both classes and columns that say nothing are no special case."""
    X, y = drawn(30, 3, 2, seed=4)
    X = np.vstack([X, X[:10]])
    y = np.concatenate([y, np.where(y[:10] == "a", "b", "a")])
    X = np.column_stack([X, np.full(len(X), 7.0)])
    data, family = data_of(X, y), family_of(exact(), {"C": CS, "kernel": ["linear", "rbf"]})
    plan = tr.methods.KFold(4).plan(data, Streams(0))
    found, expected = both(ENGINE, family, data, plan, LABEL)
    assert (found == expected).all()


def test_more_columns_than_rows():
    """With more columns than rows every C that separates has the same solution, SVC's."""
    X, y = drawn(24, 80, 3, seed=6)
    data, family = data_of(X, y), family_of(exact(kernel="linear"), {"C": CS})
    plan = tr.methods.KFold(4).plan(data, Streams(0))
    found, expected = both(ENGINE, family, data, plan, LABEL)
    assert (found == expected).all()
    assert (found[-1] == found[-2]).all()


@pytest.mark.parametrize("middle", [0.0, 1e-8])
def test_a_tie_is_asked_of_svc(middle, monkeypatch):
    """A row (all but) halfway between the classes has no sure label: SVC itself says it."""
    X = np.array([[-1.0], [1.0], [middle], [-2.0], [2.0], [0.0]])
    data = data_of(X, np.array(["a", "b", "a", "a", "b", "b"]))
    family = family_of(exact(kernel="linear"), {"C": [1.0, 50.0]})
    builder = PlanBuilder(6)
    train, tie, clear = (builder.block(np.array(rows)) for rows in ([0, 1, 3, 4], [2], [0]))
    builder.ask((train, ()), (tie, ()))
    builder.ask((train, ()), (clear, ()))
    with counted(monkeypatch) as seen:
        ENGINE.run(family, data, builder.build(), LABEL, RunOptions())
    assert seen["asked"] == 2
    builder = PlanBuilder(6)
    train, clear = (builder.block(np.array(rows)) for rows in ([0, 1, 3, 4], [0]))
    builder.ask((train, ()), (clear, ()))
    with counted(monkeypatch) as seen:
        ENGINE.run(family, data, builder.build(), LABEL, RunOptions())
    assert seen["asked"] == 0


def test_what_does_not_converge_is_asked_of_svc(monkeypatch):
    """A solution that stops short is never an answer."""
    from truerisk.engines.support_vectors import solving as svm_solving

    solve = svm_solving.support_vectors_of_each

    def short(*arguments, **options):
        return solve(*arguments, **{**options, "max_steps": 3})

    monkeypatch.setattr(svm_solving, "support_vectors_of_each", short)
    X, y = drawn(40, 3, 2, seed=7)
    data, family = data_of(X, y), family_of(exact(), {"C": CS, "gamma": [0.5]})
    plan = tr.methods.KFold(4).plan(data, Streams(0))
    for request in (LABEL, SCORE):
        with counted(monkeypatch) as seen:
            found = ENGINE.run(family, data, plan, request, RunOptions()).values
        assert seen["asked"] == 4 * len(CS)
    assert np.array_equal(found, both(ENGINE, family, data, plan, SCORE)[1])


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
    family = family_of(exact(kernel="precomputed"), grid)
    fast, slow = both(ENGINE, family, data, plan, LABEL)
    direct = ENGINE.run(
        family_of(exact(kernel="linear"), grid), data_of(X, y), plan, LABEL, RunOptions()
    )
    assert np.array_equal(fast, slow)
    assert np.array_equal(fast, direct.values)


def test_a_grid_may_hold_the_matrix_and_its_rows():
    """kernel='precomputed' reads X as a Gram matrix where 'linear' reads it as a table."""
    X, y = drawn(24, 3, 2)
    data, grid = data_of(X @ X.T, y), {"kernel": ["linear", "precomputed"], "C": [0.01, 1.0]}
    plan = tr.methods.KFold(3).plan(data, Streams(0))
    fast, slow = both(ENGINE, family_of(exact(), grid), data, plan, LABEL)
    assert np.array_equal(fast, slow)
    assert not np.array_equal(fast[0], fast[1])


def test_an_indefinite_matrix_is_left_to_svc(monkeypatch):
    """With a negative eigenvalue there may be several minima: every answer is SVC's own."""
    X, y = drawn(20, 3, 2)
    gram = X @ X.T
    data, family = data_of(gram - 2 * np.eye(20), y), family_of(SVC(kernel="precomputed"))
    plan = tr.methods.KFold(4).plan(data, Streams(0))
    with counted(monkeypatch) as seen:
        fast, slow = both(ENGINE, family, data, plan, LABEL)
    assert seen["asked"] == 4
    assert np.array_equal(fast, slow)


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


@pytest.mark.parametrize("method", ["5-fold", "loo"])
@pytest.mark.parametrize("prepared", [False, True])
def test_the_largest_duality_gap_is_noted(method, prepared):
    """One note for all fits, settings and kernels, with a gap far below that of libsvm's stop."""
    X, y = tr.datasets.make_simple(30, random_state=0)
    model = make_pipeline(StandardScaler(), SVC()) if prepared else SVC()
    name = "svc__kernel" if prepared else "kernel"
    grid = {name: ["linear", "rbf"]}
    curve = tr.risk_curve(model, grid, X, y, method=method, engine=ENGINE)
    notes = [note for note in curve[0].notes if "duality gap" in note]
    assert len(notes) == 1
    assert 0 <= float(notes[0].rsplit(" ", 1)[1]) < 1e-7
    assert [note for note in curve[1].notes if "duality gap" in note] == notes


def test_one_class_in_a_fit_fails_as_svc_does():
    """A train set of one class is no problem with an answer: SVC's own error comes through."""
    X, y = drawn(10, 2, 2)
    data, family = data_of(X, y), family_of(exact(), {"C": [1.0]})
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
    "negative coef0": (SVC(kernel="poly", coef0=-1.0), "indefinite"),
    "fractional degree": (SVC(kernel="poly", degree=1.5), "whole number"),
    "no gamma": (SVC(gamma=0.0), "neither a positive number"),
    "early stop": (SVC(max_iter=100), "at any step"),
    "no tolerance": (SVC(tol=0.0), "no positive number"),
    "ties": (SVC(break_ties=True), "ties of votes"),
    "no C": (SVC(C=-1.0), "no positive number"),
    "huge C": (SVC(C=1e12), "beyond 1e+08"),
    "probability": (SVC(probability=True), "random folds"),
    "LinearSVC": (LinearSVC(), "not SVC"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_refuses(why):
    """What has no one minimum, or another than SVC states, is refused with the reason."""
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
