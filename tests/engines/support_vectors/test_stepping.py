"""The support vector engine answers as SVC does at every tolerance, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from tests.engines.closed_forms import both, counted, data_of, drawn, family_of

import truerisk as tr
from truerisk.contracts import Request, Streams
from truerisk.core.errors import FitFailed
from truerisk.engines.support_vectors import stepping
from truerisk.engines.support_vectors.svm import SupportVectors
from truerisk.engines.support_vectors.svm_steps import products_between, steps_of_each
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder

ENGINE = SupportVectors()
LABEL, SCORE = Request("label"), Request("score")


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
    return tr.methods.as_method(method).plan(data, Streams(seed))


@pytest.mark.parametrize("part", range(3))
@pytest.mark.filterwarnings("ignore::truerisk.core.errors.TrueRiskWarning")
def test_hostile_tables_are_answered_to_the_last_bit(part):
    """Labels and decision values are those of clone, fit and predict, at whatever tolerance."""
    served = 0
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
        data, family = data_of(X, y, **weights), family_of(model, grid)
        plan = plan_of(rng, data, seed)
        request = SCORE if n_classes == 2 and rng.random() < 0.4 else LABEL
        if any(len(np.unique(y[plan.train_rows(fit)[0]])) < 2 for fit in range(plan.n_fits)):
            continue
        assert ENGINE.refuse(family, data, plan, request) is None
        found, expected = both(ENGINE, family, data, plan, request)
        np.testing.assert_array_equal(found, expected)
        served += 1
    assert served >= 3


@pytest.mark.parametrize("gamma", [0.01, 1.0, "scale"])
def test_rows_far_from_0_are_answered_as_svc_answers_them(gamma):
    """A d² from inner products may be negative there, and a cell of the matrix more than 1."""
    X, y = drawn(37, 40, 2)
    family, data = family_of(SVC(), {"gamma": [gamma]}), data_of(X + 1e8, y)
    plan = tr.methods.MonteCarlo(4).plan(data, Streams(0))
    np.testing.assert_array_equal(*both(ENGINE, family, data, plan, SCORE))


@pytest.mark.parametrize("engine", [ENGINE, "generic"])
def test_a_matrix_that_overflows_far_from_0_is_left_to_svc(engine):
    """SVC itself says that there is no solution."""
    X, y = drawn(37, 40, 2)
    with pytest.raises(FitFailed, match="not finite"):
        tr.risk_curve(SVC(gamma=1.0), None, X + 1e9, y, cv="4-fold", engine=engine)


def test_an_answer_that_overflows_is_left_to_svc(monkeypatch):
    """The rows that are fitted on are of usual size; one that is asked about is not."""
    X, y = drawn(40, 2, 2)
    X[0] = 1e55, -1e55
    model = make_pipeline(StandardScaler(), SVC(kernel="poly", degree=6, gamma=1.0, coef0=1.0))
    data, family = data_of(X, y), family_of(model)
    builder = PlanBuilder(40)
    train, test = builder.block(np.arange(10, 40)), builder.block(np.arange(10))
    builder.ask((train, ()), (test, ()))
    with counted(monkeypatch) as seen:
        found, expected = both(ENGINE, family, data, builder.build(), LABEL)
    np.testing.assert_array_equal(found, expected)
    assert seen["asked"] == 1


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_products_with_rows_asked_about_are_those_of_support_vectors(kernel, monkeypatch):
    """Of the others no decision value has a part, whatever C."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:150, :5], y[:150]
    model = make_pipeline(StandardScaler(), SVC(kernel=kernel))
    data, family = data_of(X, y), family_of(model, {"svc__C": [1.0, 30.0]})
    builder = PlanBuilder(150)
    train, test = builder.block(np.arange(100)), builder.block(np.arange(100, 150))
    builder.ask((train, ()), (test, ()))
    seen = []

    def kept(rows, others, **options):
        seen.append((rows.shape, others.shape))
        return products_between(rows, others, **options)

    monkeypatch.setattr("truerisk.engines.support_vectors.gram.products_between", kept)
    found, expected = both(ENGINE, family, data, builder.build(), SCORE)
    np.testing.assert_array_equal(found, expected)
    used = {
        row
        for C in (1.0, 30.0)
        for row in model.set_params(svc__C=C).fit(X[:100], y[:100])[-1].support_
    }
    assert len(used) < 60
    assert seen == [((len(used), 5), (50, 5))]


def test_a_step_that_overflows_ends_without_a_number():
    """Nothing compared with what is not a number would ever end."""
    gram = np.full((4, 4), np.inf, dtype=np.float32)
    one = np.ones(4)
    beta, intercept = steps_of_each(
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


@pytest.mark.parametrize("kind", ["definite", "indefinite", "rounded"])
def test_a_given_matrix_is_taken_as_it_is(kind, monkeypatch):
    """Also with a negative eigenvalue, or with unlike last bits on both sides of its diagonal."""
    X, y = drawn(40, 3, 3, seed=2)
    gram = X @ X.T / 10
    if kind == "indefinite":
        gram = gram - 2 * np.eye(40)
    if kind == "rounded":  # not symmetric to the last bits
        gram = gram * (1 + 1e-14 * np.random.default_rng(0).normal(size=gram.shape))
    data = data_of(gram, y)
    family = family_of(SVC(kernel="precomputed"), {"C": [0.01, 1.0]})
    plan = tr.methods.KFold(4).plan(data, Streams(0))
    with counted(monkeypatch) as seen:
        found, expected = both(ENGINE, family, data, plan, LABEL)
    np.testing.assert_array_equal(found, expected)
    assert seen["asked"] == 0


def test_nested_validation_of_breast_cancer_is_that_of_scikit_learn():
    """Labels near 0 decide a fold or two; cross_val_score of GridSearchCV has the same risk."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200], y[:200]
    pipe = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [1.0, 1000.0], "svc__gamma": [0.003, 0.3]}
    inner = StratifiedKFold(3, shuffle=True, random_state=1)
    outer = StratifiedKFold(4, shuffle=True, random_state=2)
    scores = cross_val_score(GridSearchCV(pipe, grid, cv=inner), X, y, cv=outer)
    curve = tr.risk_curve(pipe, grid, X, y, cv=tr.methods.Nested(outer, inner), engine="svm")
    assert curve.procedure.value == pytest.approx(1 - scores.mean(), abs=1e-12)


def test_equal_rows_of_both_classes_are_ranked_without_svc(monkeypatch):
    """Where it is followed to the last bit, no rounding is there to rank them."""
    X, y = drawn(20, 2, 2)
    X, y = np.repeat(X, 2, axis=0), np.concatenate([y, y[::-1]])
    data, family = data_of(X, y), family_of(SVC(), {"C": [0.1, 1.0]})
    plan = tr.methods.KFold(3).plan(data, Streams(0))
    with counted(monkeypatch) as seen:
        found, expected = both(ENGINE, family, data, plan, SCORE)
    np.testing.assert_array_equal(found, expected)
    assert seen["asked"] == 0


def test_other_steps_are_refused(monkeypatch):
    """Where SVC does not agree to the last bit, the engine leaves it to fits."""
    monkeypatch.setattr("truerisk.engines.support_vectors.svm.takes_the_same_steps", lambda: False)
    data, family = data_of(*tr.datasets.make_simple(30, random_state=0)), family_of(SVC())
    plan = tr.methods.KFold(3).plan(data, Streams(0))
    assert "takes other steps" in ENGINE.refuse(family, data, plan, LABEL)


def test_the_comparison_notices_a_last_bit(monkeypatch):
    """A product that is rounded otherwise, a solver that stops elsewhere: not the same steps."""
    stepping.takes_the_same_steps.cache_clear()
    assert stepping.takes_the_same_steps()
    solve = stepping.stepped

    def off(*arguments):
        told = solve(*arguments)
        told.values[0, 0, 0] = np.nextafter(told.values[0, 0, 0], np.inf)
        return told

    with monkeypatch.context() as patch:
        patch.setattr(stepping, "stepped", off)
        stepping.takes_the_same_steps.cache_clear()
        assert not stepping.takes_the_same_steps()
    stepping.takes_the_same_steps.cache_clear()


def test_a_value_of_exactly_0_is_of_the_second_class(monkeypatch):
    """The first class has positive values only in libsvm; here the middle is exactly 0."""
    X = np.array([[-1.0], [1.0], [0.0], [-2.0], [2.0]])
    data = data_of(X, np.array(["a", "b", "a", "a", "b"]))
    family = family_of(SVC(kernel="linear"), {"C": [1.0, 50.0]})
    builder = PlanBuilder(5)
    train, middle = builder.block(np.array([0, 1, 3, 4])), builder.block(np.array([2]))
    builder.ask((train, ()), (middle, ()))
    with counted(monkeypatch) as seen:
        found, expected = both(ENGINE, family, data, builder.build(), LABEL)
    assert (found == expected).all()
    assert seen["asked"] == 0
