"""The path engine: LogisticPath's answers, LogisticRegression's, and the minimum of the latter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.support.missing import output_without

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.logistic.paths import LogisticPaths
from truerisk.models import LogisticPath
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.testing import engine_checks

FAMILIES = [
    Family.of(LogisticPath(n_lambdas=8, least_ratio=0.05), {"at": [0, 3, 0.02, 7, 0.1]}),
    Family.of(LogisticPath(0.5, lambdas=[0.2, 0.05, 0.01], standardize=False), {"at": [0, 1, 2]}),
    Family.of(
        make_pipeline(StandardScaler(), LogisticPath(0.0, n_lambdas=5, least_ratio=0.01)),
        {"logisticpath__at": [1, 4]},
    ),
    Family.of(LogisticRegression(), {"C": [0.3, 1.0]}),
]
MINIMISER = LogisticPaths(minimiser=True)


CHECKS = [
    pytest.param(check, id=f"{number}-{check}")
    for number, family in enumerate(FAMILIES)
    for check in engine_checks(LogisticPaths(), family, examples=3 if number else 6)
]


@pytest.mark.parametrize("check", CHECKS)
def test_conforms(check):
    """The published checks of any engine."""
    check()


OWN_RATIO = LogisticRegression().l1_ratio == 0.0  # from scikit-learn 1.8 on


def regression(l1_ratio=0.0, **options):
    """A LogisticRegression of that penalty, in the words of the installed scikit-learn."""
    named = {"l1_ratio": l1_ratio}
    if not OWN_RATIO:
        penalty = {0.0: "l2", 1.0: "l1"}.get(l1_ratio, "elasticnet")
        named = {"penalty": penalty} | (named if penalty == "elasticnet" else {})
    return LogisticRegression(**{"tol": 1e-13, "max_iter": 200_000, **named, **options})


def data_of(n=45, p=5, n_classes=2, seed=0, **options):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, p)) + rng.normal(size=(n_classes, p))[y]
    return Data.check(X, y, task="classification", **options)


def both(family, data, plan, response="probability", engine=None, **run):
    """The answers of this engine and of the generic one."""
    engine = LogisticPaths() if engine is None else engine
    request = Request(response)
    assert engine.refuse(family, data, plan, request) is None
    return [e.run(family, data, plan, request, RunOptions(**run)) for e in (engine, Generic())]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("l1_ratio", "solver"),
    [(0.0, "lbfgs"), (0.0, "newton-cg"), (0.0, "sag"), (1.0, "saga"), (0.5, "saga")],
)
def test_it_equals_the_solvers_of_scikit_learn_run_to_the_end(n_classes, l1_ratio, solver):
    """Every solver that minimises the same objective, C fixed while folds change the size of X."""
    family = Family.of(regression(l1_ratio, solver=solver, random_state=0), {"C": [2.0, 0.08, 0.4]})
    data = data_of(n_classes=n_classes)
    plan = tr.methods.KFold(3).plan(data, Streams(0))
    ours, theirs = both(family, data, plan, engine=MINIMISER)
    np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=1e-6)
    assert ours.engine == "logistic-path"


def test_weights_and_copies_are_part_of_the_objective():
    """λ is 1 / (C Σ w): bootstrap counts and sample weights change Σ w, and C stays."""
    rng = np.random.default_rng(4)
    weights = rng.uniform(0.2, 3.0, 45)
    data = data_of(fit_params={"sample_weight": weights})
    builder = PlanBuilder(45)
    for _ in range(3):
        sample = builder.block(rng.integers(0, 45, 60))
        builder.ask((sample, ()), (ALL, (sample,)))
    family = Family.of(regression(solver="newton-cholesky"), {"C": [0.1, 1.0]})
    ours, theirs = both(family, data, builder.build(), engine=MINIMISER)
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-9)


@pytest.mark.parametrize("response", ["label", "probability"])
def test_a_class_that_a_fold_lacks_has_no_share(response):
    """A train set without one of the classes is a problem of the others, down to two."""
    data = data_of(n=30, n_classes=3)
    builder = PlanBuilder(30)
    for label in range(3):
        block = builder.block(np.flatnonzero(data.codes == label))
        builder.ask((ALL, (block,)), (ALL, ()), fold=label)
    newton = Family.of(regression(solver="newton-cholesky"), {"C": [0.1, 1.0]})
    for family, engine in (
        (Family.of(LogisticPath(n_lambdas=6), {"at": [1, 5]}), None),
        (Family.of(LogisticRegression(), {"C": [0.1, 1.0]}), None),
        (newton, MINIMISER),
    ):
        ours, theirs = both(family, data, builder.build(), response, engine)
        np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_answers_of_logistic_path_are_its_own_to_the_bit(n_classes):
    """Leave-one-out, nested folds, copies and one winner per fit, at a loose tolerance."""
    family = Family.of(LogisticPath(0.9, n_lambdas=12, tol=1e-4), {"at": [11, 0, 0.03, 6, 0.2]})
    data = data_of(n_classes=n_classes)
    rng = np.random.default_rng(1)
    builder = PlanBuilder(45)
    for _ in range(3):
        sample = builder.block(rng.integers(0, 45, 45))
        builder.ask((sample, ()), (ALL, (sample,)))
    for plan in (
        tr.methods.LeaveOneOut().plan(data, Streams(0)),
        tr.methods.Nested("3-fold", "3-fold").plan(data, Streams(0)),
        builder.build(),
    ):
        only = np.arange(plan.n_fits) % len(family)
        for run in ({}, {"only": only}):
            ours, theirs = both(family, data, plan, **run)
            np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_matrix, np.float32])
def test_sparse_and_single_precision_x_are_served(make):
    """LogisticPath takes them as they are, and so does the engine."""
    data = data_of()
    data = Data.check(make(np.where(data.X > 0, data.X, 0)), data.y, task="classification")
    family = Family.of(LogisticPath(n_lambdas=10), {"at": list(range(10))})
    ours, theirs = both(family, data, tr.methods.KFold(4).plan(data, Streams(0)))
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-12, atol=1e-14)


def test_the_default_tolerance_is_served_when_the_minimiser_is_asked_for():
    """LogisticPaths(minimiser=True) answers LogisticRegression() within what its `tol` allows."""
    family = Family.of(LogisticRegression(), {"C": [0.1, 1.0]})
    data = data_of()
    plan = tr.methods.KFold(4).plan(data, Streams(0))
    ours, theirs = both(family, data, plan, engine=MINIMISER)
    np.testing.assert_allclose(ours.values, theirs.values, atol=1e-3)
    assert not np.allclose(ours.values, theirs.values, rtol=1e-9)  # it does stop short


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (LogisticRegression(solver="liblinear"), "solver='liblinear': it follows the solver lbfgs"),
        (LogisticRegression(solver="newton-cholesky"), "it follows the solver lbfgs"),
        (LogisticRegression(fit_intercept=False), "fit_intercept=False: it follows"),
        (LogisticRegression(class_weight="balanced"), "class_weight='balanced': it follows"),
        (LogisticRegression(tol=0), "tol=0 is no bound"),
        (LogisticRegression(max_iter=0), "max_iter=0 is no number of steps"),
        (LogisticRegression(C=np.inf), "is no finite penalty"),
        (LogisticRegression(C=-1), "is no finite penalty"),
        (LogisticPath(at=7, n_lambdas=5), "LogisticPath cannot be set so: at=7"),
        (LogisticPath(2.0), "LogisticPath cannot be set so: l1_ratio=2.0"),
        (StandardScaler(), "the learner is StandardScaler"),
    ],
)
def test_what_it_does_not_answer_it_refuses_with_the_reason(model, reason):
    """Another objective, a solver that stops early, and settings that cannot be."""
    data = data_of()
    plan = tr.methods.KFold(3).plan(data, Streams(0))
    found = LogisticPaths().refuse(Family.of(model), data, plan, Request("label"))
    assert found is not None
    assert reason in found


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (regression(tol=0.01), "tol=0.01 does not ask for the minimum"),
        (regression(solver="liblinear"), "penalises the intercept"),
        (regression(max_iter=10), "max_iter=10 stops the solver short"),
        (regression(fit_intercept=False), "fit_intercept=False is not served"),
        (regression(class_weight="balanced"), "class_weight='balanced' is not served"),
        (regression(1.0), "solver='lbfgs' has no L1 penalty"),
    ],
)
def test_a_minimum_that_is_not_asked_for_is_refused(model, reason):
    """Another objective, or a solver that is told to stop far away."""
    data = data_of()
    plan = tr.methods.KFold(3).plan(data, Streams(0))
    found = MINIMISER.refuse(Family.of(model), data, plan, Request("label"))
    assert found is not None
    assert reason in found


def test_a_fit_of_one_class_is_refused_and_the_learner_says_why():
    """Without a second class there is nothing to fit; weights of zero count as absence."""
    y = [0] * 8 + [1] * 2
    X = np.arange(10.0)[:, None]
    family = Family.of(LogisticPath(n_lambdas=3), {"at": [0, 1]})
    builder = PlanBuilder(10)
    last = builder.block(np.array([8, 9]))
    builder.ask((ALL, (last,)), (last, ()))
    data = Data.check(X, y, task="classification")
    said = LogisticPaths().refuse(family, data, builder.build(), Request("label"))
    assert said == "a fit sees one class only."
    weights = np.array([1.0] * 8 + [0.0] * 2)
    data = Data.check(X, y, task="classification", fit_params={"sample_weight": weights})
    plan = tr.methods.Apparent().plan(data, Streams(0))
    assert LogisticPaths().refuse(family, data, plan, Request("label")) == said


def test_paths_that_do_not_converge_are_said():
    """The engine repeats the warning of the fits it stands for."""
    data = data_of()
    model = LogisticPath(n_lambdas=20, tol=1e-16, max_iter=3)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        curve = tr.risk_curve(model, {"at": [3, 19]}, data.X, data.y, cv="3-fold")
    assert curve[0].engine == "logistic-path"


# The path engine states rules and degrees of freedom of LogisticPath, from one path


GRID = {"at": [0, 3, 0.02, 7]}


def table(n_classes):
    generator = np.random.default_rng(0)
    y = np.arange(60) % n_classes
    return generator.normal(size=(60, 6)) + 1.5 * np.eye(6)[y], y


@pytest.mark.parametrize("method", ["bee", "bee-improper", "ebic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_methods_along_the_path_say_what_single_fits_say(method, n_classes):
    """Risks by coefficients or degrees of freedom are equal from one path and from the fits."""
    X, y = table(n_classes)
    path = LogisticPath(n_lambdas=8, least_ratio=0.05)
    fast = tr.risk_curve(path, GRID, X, y, cv=method, engine="logistic-path")
    slow = tr.risk_curve(path, GRID, X, y, cv=method, engine="generic")
    np.testing.assert_allclose(fast.values, slow.values, rtol=1e-12)


def test_minima_are_imported_for_learners_that_need_them():
    """Without them LogisticPath makes its own fits, and LogisticRegression is answered as ever."""
    code = """
import sys, truerisk as tr
from sklearn.linear_model import LogisticRegression
X, y = tr.datasets.make_simple(30, random_state=0)
regression = tr.estimate_risk(LogisticRegression(), X, y, cv="3-fold")
print(regression.value, regression.engine)
print({"truerisk.engines.logistic.minima", "truerisk.models.logistic_path"} & sys.modules.keys())
path = tr.estimate_risk(tr.models.LogisticPath(), X, y, cv="3-fold")
print(path.value, path.engine, path.refusals)
"""
    there = output_without(code=code)
    absent = output_without("truerisk.engines.logistic.minima", code=code)
    assert there[:2] == absent[:2]
    assert there[1] == "set()"
    value, engine, reason = absent[2].split(maxsplit=2)
    assert (there[2].split()[0], "generic") == (value, engine)
    assert "truerisk.engines.logistic.minima is missing" in reason
