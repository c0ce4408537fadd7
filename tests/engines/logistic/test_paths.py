"""The path engine: LogisticPath's answers, and the minimum of LogisticRegression."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.closed_forms import both, data_of, family_of, plan_of, refusal_of
from tests.support.missing import output_without

import truerisk as tr
from truerisk.engines import LogisticPaths
from truerisk.extend import ALL, PlanBuilder, Request
from truerisk.methods import Nested
from truerisk.models import LogisticPath
from truerisk.testing import engine_checks

FAMILIES = [
    family_of(LogisticPath(n_lambdas=8, least_ratio=0.05), {"at": [0, 3, 0.02, 7, 0.1]}),
    family_of(LogisticPath(0.5, lambdas=[0.2, 0.05, 0.01], standardize=False), {"at": [0, 1, 2]}),
    family_of(
        make_pipeline(StandardScaler(), LogisticPath(0.0, n_lambdas=5, least_ratio=0.01)),
        {"logisticpath__at": [1, 4]},
    ),
    family_of(LogisticRegression(), {"C": [0.3, 1.0]}),
]
ENGINE, MINIMISER = LogisticPaths(), LogisticPaths(minimiser=True)
LABEL, PROBABILITY = Request("label"), Request("probability")
CHECKS = [
    pytest.param(check, id=f"{number}-{check}")
    for number, family in enumerate(FAMILIES)
    for check in engine_checks(ENGINE, family, examples=3 if number else 6)
]
OWN_RATIO = LogisticRegression().l1_ratio == 0.0  # from scikit-learn 1.8 on


@pytest.mark.parametrize("check", CHECKS)
def test_logistic_paths_conform(check):
    check()


def regression(l1_ratio=0.0, **options):
    """A LogisticRegression of that penalty, in the words of the installed scikit-learn."""
    named = {"l1_ratio": l1_ratio}
    if not OWN_RATIO:
        penalty = {0.0: "l2", 1.0: "l1"}.get(l1_ratio, "elasticnet")
        named = {"penalty": penalty} | (named if penalty == "elasticnet" else {})
    return LogisticRegression(**{"tol": 1e-13, "max_iter": 200_000, **named, **options})


def classes(n=45, p=5, n_classes=2, make=np.asarray, **fit_params):
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, p)) + rng.normal(size=(n_classes, p))[y]
    return data_of(make(X), y, **fit_params)


SOLVERS = [(0.0, "lbfgs"), (0.0, "newton-cg"), (0.0, "sag"), (1.0, "saga"), (0.5, "saga")]
TO_THE_END = [(k, ratio, {"solver": solver}, 1e-6) for k in (2, 3) for ratio, solver in SOLVERS]
STOPS_SHORT = 2, 0.0, {"tol": 1e-4, "max_iter": 100}, 1e-3  # as it does by default


@pytest.mark.parametrize(("n_classes", "l1_ratio", "options", "atol"), [*TO_THE_END, STOPS_SHORT])
def test_minimiser_equals_the_solvers_of_scikit_learn(n_classes, l1_ratio, options, atol):
    """Every solver that minimises the same objective, C fixed while folds change the size of X."""
    family = family_of(regression(l1_ratio, random_state=0, **options), {"C": [2.0, 0.08, 0.4]})
    ours, theirs = both(MINIMISER, family, classes(n_classes=n_classes), "3-fold", PROBABILITY)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol)
    assert atol < 1e-3 or not np.allclose(ours, theirs, rtol=1e-9)


def test_minimiser_weighs_copies_and_rows_in_the_objective():
    """λ is 1 / (C Σ w): bootstrap counts and sample weights change Σ w, and C stays."""
    data = classes(sample_weight=np.random.default_rng(4).uniform(0.2, 3.0, 45))
    family = family_of(regression(solver="newton-cholesky"), {"C": [0.1, 1.0]})
    ours, theirs = both(MINIMISER, family, data, "bootstrap", PROBABILITY)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("request_", [LABEL, PROBABILITY], ids=["label", "probability"])
@pytest.mark.parametrize(
    ("engine", "model", "grid"),
    [
        (ENGINE, LogisticPath(n_lambdas=6), {"at": [1, 5]}),
        (ENGINE, LogisticRegression(), {"C": [0.1, 1.0]}),
        (MINIMISER, regression(solver="newton-cholesky"), {"C": [0.1, 1.0]}),
    ],
)
def test_logistic_paths_give_no_share_to_a_class_that_a_fold_lacks(engine, model, grid, request_):
    data = classes(n=30, n_classes=3)
    builder = PlanBuilder(30)
    for label in range(3):
        block = builder.block(np.flatnonzero(data.codes == label))
        builder.ask((ALL, (block,)), (ALL, ()), fold=label)
    ours, theirs = both(engine, family_of(model, grid), data, builder.build(), request_)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_paths_answer_logistic_path_to_the_bit(n_classes):
    """Leave-one-out, nested folds, copies and one winner per fit, at a loose tolerance."""
    family = family_of(LogisticPath(0.9, n_lambdas=12, tol=1e-4), {"at": [11, 0, 0.03, 6, 0.2]})
    data = classes(n_classes=n_classes)
    for method in ("loo", Nested("3-fold", "3-fold"), "bootstrap"):
        plan = plan_of(method, data)
        for only in (None, np.arange(plan.n_fits) % len(family)):
            ours, theirs = both(ENGINE, family, data, plan, PROBABILITY, only)
            np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_matrix, np.float32])
def test_logistic_paths_take_sparse_tables_and_single_precision(make):
    data = classes(make=lambda X: make(np.where(X > 0, X, 0)))
    family = family_of(LogisticPath(n_lambdas=10), {"at": list(range(10))})
    ours, theirs = both(ENGINE, family, data, "4-fold", PROBABILITY)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


ONE_CLASS = data_of(np.arange(10.0)[:, None], [0] * 8 + [1] * 2, sample_weight=[1] * 8 + [0] * 2)
WITHOUT = PlanBuilder(10)
LAST = WITHOUT.block(np.array([8, 9]))
WITHOUT.ask((ALL, (LAST,)), (LAST, ()))
LACKING = data_of(np.arange(10.0)[:, None], [0] * 8 + [1] * 2), WITHOUT.build()


@pytest.mark.parametrize(
    ("engine", "model", "given", "reason"),
    [
        (ENGINE, LogisticRegression(solver="liblinear"), (), "solver='liblinear': it follows the"),
        (ENGINE, LogisticRegression(solver="newton-cholesky"), (), "it follows the solver lbfgs"),
        (ENGINE, LogisticRegression(fit_intercept=False), (), "fit_intercept=False: it follows"),
        (ENGINE, LogisticRegression(class_weight="balanced"), (), "class_weight='balanced': it"),
        (ENGINE, LogisticRegression(tol=0), (), "tol=0 is no bound"),
        (ENGINE, LogisticRegression(max_iter=0), (), "max_iter=0 is no number of steps"),
        (ENGINE, LogisticRegression(C=np.inf), (), "is no finite penalty"),
        (ENGINE, LogisticRegression(C=-1), (), "is no finite penalty"),
        (ENGINE, LogisticPath(at=7, n_lambdas=5), (), "LogisticPath cannot be set so: at=7"),
        (ENGINE, LogisticPath(2.0), (), "LogisticPath cannot be set so: l1_ratio=2.0"),
        (ENGINE, StandardScaler(), (), "the learner is StandardScaler"),
        (ENGINE, LogisticPath(), LACKING, "a fit sees one class only."),
        (ENGINE, LogisticPath(), (ONE_CLASS, "apparent"), "a fit sees one class only."),
        (MINIMISER, regression(tol=0.01), (), "tol=0.01 does not ask for the minimum"),
        (MINIMISER, regression(solver="liblinear"), (), "penalises the intercept"),
        (MINIMISER, regression(max_iter=10), (), "max_iter=10 stops the solver short"),
        (MINIMISER, regression(fit_intercept=False), (), "fit_intercept=False is not served"),
        (MINIMISER, regression(class_weight="balanced"), (), "'balanced' is not served"),
        (MINIMISER, regression(1.0), (), "solver='lbfgs' has no L1 penalty"),
        (MINIMISER, LogisticPath(), (classes(n_classes=3), "alo"), "two classes only"),
        (MINIMISER, regression(1.0, solver="saga"), (classes(), "alo"), "up to the solver"),
        (
            MINIMISER,
            make_pipeline(StandardScaler(), LogisticPath()),
            (classes(), "alo"),
            "after other steps",
        ),
    ],
)
def test_logistic_paths_refuse_what_they_do_not_answer(engine, model, given, reason):
    assert reason in refusal_of(engine, model, *(given or (classes(), "3-fold")))


def test_logistic_paths_that_do_not_converge_are_said():
    data, model = classes(), LogisticPath(n_lambdas=20, tol=1e-16, max_iter=3)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        curve = tr.risk_curve(model, {"at": [3, 19]}, data.X, data.y, cv="3-fold")
    assert curve[0].engine == "logistic-path"


@pytest.mark.parametrize("method", ["bee", "bee-improper", "ebic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_paths_give_rules_and_degrees_of_freedom_as_single_fits(method, n_classes):
    data = classes(60, 6, n_classes)
    path, grid = LogisticPath(n_lambdas=8, least_ratio=0.05), {"at": [0, 3, 0.02, 7]}
    fast, slow = (
        tr.risk_curve(path, grid, data.X, data.y, cv=method, engine=engine)
        for engine in ("logistic-path", "generic")
    )
    np.testing.assert_allclose(fast.values, slow.values, rtol=1e-12)


X, Y = classes(40, 6).X, np.array(["a", "b"] * 20)
ATS = {"at": [0, 3, 9, 19]}
TOLD = {
    "lasso": (LogisticPath(n_lambdas=20), ATS),
    "elastic net": (LogisticPath(0.5, n_lambdas=20), ATS),
    "ridge": (LogisticPath(0.0, n_lambdas=20), ATS),
    "not standardised": (LogisticPath(0.5, n_lambdas=20, standardize=False), ATS),
    "regression": (regression(solver="newton-cholesky", tol=1e-10), {"C": [0.1, 1.0, 10.0]}),
}


@pytest.mark.parametrize("what", TOLD)
@pytest.mark.parametrize("response", ["label", "probability", "score"])
@pytest.mark.parametrize("given", ["dense", "sparse", "weighted", "inside folds"])
def test_alo_takes_rows_out_of_a_path_as_out_of_each_model(what, response, given):
    params = {"sample_weight": np.linspace(0.5, 2, 40)} if given == "weighted" else {}
    data = data_of(sparse.csr_matrix(X) if given == "sparse" else X, Y, **params)
    method = Nested("3-fold", "alo") if given == "inside folds" else "alo"
    fast, slow = both(MINIMISER, family_of(*TOLD[what]), data, method, Request(response))
    if response == "label":
        assert np.array_equal(fast, slow)
    else:
        np.testing.assert_allclose(fast, slow, rtol=1e-6, atol=1e-9)


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
