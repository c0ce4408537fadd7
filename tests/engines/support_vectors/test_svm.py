"""The support vector engine answers as SVC does at every tolerance, to the last bit."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from tests.engines.closed_forms import both, counted, data_of, drawn, family_of

import truerisk as tr
from truerisk.contracts import RunOptions
from truerisk.engines import SupportVectors
from truerisk.engines.support_vectors import stepping
from truerisk.engines.support_vectors.svm_steps import solve_binary_problems
from truerisk.exceptions import FitFailed
from truerisk.extend import ALL, Family, PlanBuilder, Request, Streams, Task
from truerisk.methods import Bootstrap, KFold, LeaveOneOut, MonteCarlo, Nested, as_method
from truerisk.testing import engine_checks

ENGINE = SupportVectors()
LABEL, SCORE = Request("label"), Request("score")

FAMILIES = {
    "linear": Family.from_grid(SVC(kernel="linear"), {"C": [0.1, 1.0, 5.0]}),
    "rbf": Family.from_grid(SVC(), {"C": [0.5, 10.0], "gamma": ["scale", 0.7]}),
    "poly": Family.from_grid(SVC(kernel="poly", coef0=-1.0), {"C": [1.0], "degree": [2, 3]}),
    "balanced": Family.from_grid(SVC(class_weight="balanced", tol=0.1), {"C": [1.0, 4.0]}),
    "prepared": Family.from_grid(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 10.0]}),
}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{word}-{check}")
        for word, family in FAMILIES.items()
        for check in engine_checks(ENGINE, family, examples=4 if word == "linear" else 2)
    ],
)
def test_svm_conforms(check):
    check()


# ---------------- Answers to the last bit


def hostile(rng, n, d, n_classes):
    """Ties, copies, constants, columns of unequal sizes, far from 0, large, small, of any type."""
    y = np.arange(n) % n_classes
    if rng.random() < 0.2:
        y[y == n_classes - 1], y[0] = 0, n_classes - 1  # a class of one row
    X = rng.normal(size=(n, d)) + rng.choice([0.0, 0.5, 2.0]) * rng.normal(size=(n_classes, d))[y]
    kind = rng.choice(["plain", "grid", "copies", "unequal", "far", "constant", "whole", "huge"])
    if kind == "grid":
        X = np.round(X)
    elif kind == "copies":
        X = X[rng.integers(0, n, n)]
    elif kind == "unequal":
        X = X * 10 ** rng.uniform(-1, 1, d)
    elif kind == "far":
        X = X + rng.choice([10.0, 1e3, 1e6])
    elif kind == "constant":
        X[:] = 2.5
    elif kind == "whole":
        X = np.round(3 * X).astype(rng.choice([np.int64, np.int8]))
    elif kind == "huge":
        X = X * rng.choice([1e15, 1e-12])
    return np.asfortranarray(X) if rng.random() < 0.2 else X, y, kind in ("unequal", "far", "huge")


def machine(rng, wide):
    """SVC over C, gamma and kernel; what would take it minutes is left out."""
    kernel = str(rng.choice(["rbf", "rbf", "linear", "poly"]))
    largest = 3.5 if kernel == "rbf" else (-4.0 if wide else 0.0)
    options = {"kernel": kernel, "shrinking": bool(rng.random() < 0.7)}
    options["tol"] = float(rng.choice([1e-3, 1e-3, 0.01, 1e-5]))
    options["class_weight"] = None if rng.random() < 0.75 else "balanced"
    grid = {"C": [float(10**at) for at in rng.uniform(largest - 5, largest, 3)]}
    if kernel == "rbf":
        grid["gamma"] = ["scale", "auto", float(10 ** rng.uniform(-3, 1))]
    if kernel == "poly":
        options.update(
            degree=int(rng.integers(1, 4)), coef0=float(rng.choice([0.0, 1.0, -1.0, 0.3]))
        )
    return options, grid


def plan_of(rng, data, seed):
    if rng.random() < 0.4:
        builder = PlanBuilder(data.n_rows)
        for _ in range(3):
            sample = builder.block(rng.integers(0, data.n_rows, data.n_rows))
            builder.ask((sample, ()), (ALL, (sample,)))
        return builder.build()
    method = str(rng.choice(["4-fold", "loo", "2x3-fold", "apparent"]))
    return as_method(method).plan(data, Streams(seed))


def is_answered(data, family, plan, request):
    """Compare the answers; False where some train set has one class, which nobody fits."""
    classes = (np.unique(data.codes[plan.train_rows(fit)[0]]) for fit in range(plan.n_fits))
    if any(len(one) < 2 for one in classes):
        return False
    np.testing.assert_array_equal(*both(ENGINE, family, data, plan, request))
    return True


@pytest.mark.parametrize("part", range(3))
@pytest.mark.filterwarnings("ignore::truerisk.exceptions.TrueRiskWarning")
def test_svm_answers_hostile_tables_to_the_last_bit(part):
    answered = 0
    for seed in range(7 * part, 7 * part + 7):
        rng = np.random.default_rng(seed)
        n, n_classes = int(rng.choice([10, 20, 40, 60])), int(rng.choice([2, 2, 3, 5]))
        X, y, wide = hostile(rng, n, int(rng.choice([1, 2, 3, 5, 10, 33, 64])), n_classes)
        options, grid = machine(rng, wide)
        model, weights = SVC(**options), {}
        if rng.random() < 0.3:
            scaler = StandardScaler() if rng.random() < 0.5 else MinMaxScaler()
            model = make_pipeline(scaler, model)
            grid = {f"svc__{name}": values for name, values in grid.items()}
        elif rng.random() < 0.3:
            weights = {"sample_weight": rng.uniform(0.2, 3.0, n)}
        data = data_of(X, y, **weights)
        plan = plan_of(rng, data, seed)
        request = SCORE if n_classes == 2 and rng.random() < 0.4 else LABEL
        answered += is_answered(data, family_of(model, grid), plan, request)
    assert answered >= 3


def plan_for(data, method):
    """The plan of a method, or of one fit on some rows that is asked about others."""
    if not isinstance(method, tuple):
        return method.plan(data, Streams(0))
    builder = PlanBuilder(data.n_rows)
    train, test = (builder.block(np.array(rows)) for rows in method)
    builder.ask((train, ()), (test, ()))
    return builder.build()


def opposite():
    """Equal rows of both classes, and a column that says nothing."""
    X, y = drawn(30, 3, 2, seed=4)
    X = np.vstack([X, X[:10]])
    y = np.concatenate([y, np.where(y[:10] == "a", "b", "a")])
    return np.column_stack([X, np.full(len(X), 7.0)]), y


def equal_rows():
    X, y = drawn(20, 2, 2)
    return np.repeat(X, 2, axis=0), np.concatenate([y, y[::-1]])


def one_far_row():
    X, y = drawn(40, 2, 2)
    X[0] = 1e55, -1e55
    return X, y


def far_from_0():
    """A d² from inner products may be negative there, and a cell of the matrix more than 1."""
    X, y = drawn(37, 40, 2)
    return X + 1e8, y


def gram_matrix(kind):
    X, y = drawn(40, 3, 3, seed=2)
    gram = X @ X.T / 10
    if kind == "indefinite":
        gram = gram - 2 * np.eye(40)
    if kind == "rounded":  # not symmetric to the last bits
        gram = gram * (1 + 1e-14 * np.random.default_rng(0).normal(size=gram.shape))
    return gram, y


POWERS = make_pipeline(StandardScaler(), SVC(kernel="poly", degree=6, gamma=1.0, coef0=1.0))
EXACT_0 = np.array([[-1.0], [1.0], [0.0], [-2.0], [2.0]]), np.array(["a", "b", "a", "a", "b"])
GIVEN = SVC(kernel="precomputed")
CASES = {
    "the last of its class is left out": (
        drawn(25, 3, 3, seed=2, sizes=[12, 12, 1]),
        (SVC(), {"C": [0.003, 0.1, 1.0, 30.0], "gamma": [0.3]}, LeaveOneOut(), LABEL, None),
    ),
    "opposite labels": (
        opposite(),
        (SVC(), {"C": [0.1, 30.0], "kernel": ["linear", "rbf"]}, KFold(4), LABEL, None),
    ),
    # followed to the last bit, no rounding is there to rank them
    "equal rows are ranked": (equal_rows(), (SVC(), {"C": [0.1, 1.0]}, KFold(3), SCORE, 0)),
    "far from 0": (
        far_from_0(),
        (SVC(), {"gamma": [0.01, 1.0, "scale"]}, MonteCarlo(4), SCORE, None),
    ),
    "an answer overflows": (
        one_far_row(),
        (POWERS, None, (range(10, 40), range(10)), LABEL, 1),
    ),
    # the first class has positive values only in libsvm
    "a value is exactly 0": (
        EXACT_0,
        (SVC(kernel="linear"), {"C": [1.0, 50.0]}, ([0, 1, 3, 4], [2]), LABEL, 0),
    ),
    **{
        f"a given matrix, {kind}": (
            gram_matrix(kind),
            (GIVEN, {"C": [0.01, 1.0]}, KFold(4), LABEL, 0),
        )
        for kind in ("definite", "indefinite", "rounded")
    },
}


@pytest.mark.parametrize("name", CASES)
def test_svm_answers_to_the_last_bit(name, monkeypatch):
    (X, y), (model, grid, method, request, n_asked) = CASES[name]
    data = data_of(X, y)
    plan = plan_for(data, method)
    with counted(monkeypatch) as seen:
        found, expected = both(ENGINE, family_of(model, grid), data, plan, request)
    np.testing.assert_array_equal(found, expected)
    assert n_asked is None or seen["asked"] == n_asked


@pytest.mark.parametrize("method", [KFold(3), LeaveOneOut(), Bootstrap("oob", 6)], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_svm_cuts_a_given_matrix_by_rows_and_columns(method, n_classes):
    """A grid may hold both: 'linear' reads the same X as a table."""
    X, y = drawn(30, 3, n_classes)
    data, table, grid = data_of(X @ X.T, y), data_of(X, y), {"C": [0.1, 1.0, 10.0]}
    plan = method.plan(table, Streams(0))
    fast, slow = both(ENGINE, family_of(GIVEN, grid), data, plan, LABEL)
    of_rows = ENGINE.run(family_of(SVC(kernel="linear"), grid), table, plan, LABEL, RunOptions())
    assert np.array_equal(fast, slow)
    assert np.array_equal(fast, of_rows.values)
    kernels = {"kernel": ["linear", "precomputed"]} | grid
    fast, slow = both(ENGINE, family_of(SVC(), kernels), data, plan, LABEL)
    assert np.array_equal(fast, slow)
    assert not np.array_equal(fast[:3], fast[3:])


def test_svm_in_nested_validation_has_the_risk_of_scikit_learn():
    """Labels near 0 decide a fold or two."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200], y[:200]
    pipe = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [1.0, 1000.0], "svc__gamma": [0.003, 0.3]}
    inner = StratifiedKFold(3, shuffle=True, random_state=1)
    outer = StratifiedKFold(4, shuffle=True, random_state=2)
    scores = cross_val_score(GridSearchCV(pipe, grid, cv=inner), X, y, cv=outer)
    curve = tr.risk_curve(pipe, grid, X, y, cv=Nested(outer, inner), engine="svm")
    assert curve.procedure.value == pytest.approx(1 - scores.mean(), abs=1e-12)


# ---------------- What is left to SVC


@pytest.mark.parametrize("method", [KFold(3), LeaveOneOut()], ids=str)
@pytest.mark.parametrize("request_", [LABEL, SCORE])
def test_svm_leaves_a_matrix_beyond_single_precision_to_svc(method, request_, monkeypatch):
    X, y = drawn(12, 2, 2)
    data, left = data_of(X * 1e25, y), set()
    plan = method.plan(data, Streams(0))

    def leaving(task, fit, candidates):
        left.update([fit] * len(list(candidates)))

    monkeypatch.setattr(Task, "ask_the_learner", lambda task: None)
    monkeypatch.setattr(Task, "leave_open", leaving)
    family = family_of(SVC(kernel="linear"), {"C": [1.0]})
    ENGINE.run(family, data, plan, request_, RunOptions())
    assert left == set(range(plan.n_fits))


def test_svm_fails_as_svc_does():
    """Far from 0 there is no solution, and none of one class."""
    X, y = drawn(37, 40, 2)
    for engine in (ENGINE, "generic"):
        with pytest.raises(FitFailed, match="not finite"):
            tr.risk_curve(SVC(gamma=1.0), None, X + 1e9, y, cv="4-fold", engine=engine)
        with pytest.raises(FitFailed, match="greater than one"):
            tr.estimate_risk(SVC(), X, y, cv=[(np.arange(0, 36, 2), [1])], engine=engine)


def test_svm_steps_that_overflow_end_without_a_number():
    """Nothing compared with what is not a number would ever end."""
    gram, one = np.full((4, 4), np.inf, dtype=np.float32), np.ones(4)
    beta, intercept = solve_binary_problems(
        gram,
        np.diagonal(gram).astype(float),
        np.arange(4),
        np.array([0, 4]),
        np.array([1.0, 1.0, -1.0, -1.0]),
        (one, one),
        np.array([1.0]),
        tolerance=1e-3,
        shrinking=True,
    )
    assert np.isnan(beta).all()
    assert np.isnan(intercept).all()


def test_svm_is_compared_with_svc_to_the_last_bit(monkeypatch):
    stepping.solver_matches_svc.cache_clear()
    assert stepping.solver_matches_svc()
    solve = stepping.compute_decision_values

    def off(*arguments):
        told = solve(*arguments)
        told.values[0, 0, 0] = np.nextafter(told.values[0, 0, 0], np.inf)
        return told

    data, family = data_of(*drawn(20, 2, 2)), family_of(SVC())
    plan = KFold(2).plan(data, Streams(0))
    with monkeypatch.context() as patch:
        patch.setattr(stepping, "compute_decision_values", off)
        stepping.solver_matches_svc.cache_clear()
        assert not stepping.solver_matches_svc()
        assert "takes other steps" in ENGINE.refuse(family, data, plan, LABEL)
    stepping.solver_matches_svc.cache_clear()


TWO, THREE = drawn(20, 2, 2), drawn(21, 2, 3)
GRAM = TWO[0] @ TWO[0].T, TWO[1]
SKEW = GRAM[0] + np.triu(np.ones((20, 20)), 1), TWO[1]


@pytest.mark.parametrize(
    ("model", "data", "request_", "reason"),
    [
        (SVC(kernel="precomputed"), TWO, LABEL, "X is not square"),
        (SVC(kernel="sigmoid"), TWO, LABEL, "not linear, rbf, poly or precomputed"),
        (SVC(kernel=np.dot), TWO, LABEL, "not linear, rbf, poly or precomputed"),
        (SVC(kernel="poly", degree=1.5), TWO, LABEL, "whole number"),
        (SVC(gamma=0.0), TWO, LABEL, "neither a positive number"),
        (SVC(max_iter=100), TWO, LABEL, "at any step"),
        (SVC(tol=0.0), TWO, LABEL, "no positive number"),
        (SVC(break_ties=True), TWO, LABEL, "ties of votes"),
        (SVC(C=-1.0), TWO, LABEL, "no positive number"),
        (SVC(probability=True), TWO, LABEL, "random folds"),
        (LinearSVC(), TWO, LABEL, "not SVC"),
        (SVC(), TWO, Request("probability"), "no probabilities"),
        (SVC(), THREE, SCORE, "more classes than two"),
        (SVC(), (*TWO, np.r_[0.0, np.ones(19)]), LABEL, "finite and positive"),
        (GIVEN, SKEW, LABEL, "not symmetric"),
        (make_pipeline(KernelCenterer(), GIVEN), GRAM, LABEL, "other steps"),
    ],
)
def test_svm_refuses_what_it_does_not_follow_to_the_last_bit(model, data, request_, reason):
    X, y, *weights = data
    data = data_of(X, y, **({"sample_weight": weights[0]} if weights else {}))
    plan = KFold(2).plan(data, Streams(0))
    assert reason in ENGINE.refuse(family_of(model), data, plan, request_)
