"""Many fits without blocks are answered as scikit-learn answers them, or left alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import truerisk as tr
from truerisk.contracts import Request, RunOptions, Streams
from truerisk.core.family import Family
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.engines.linear import without_blocks as linear_blocks
from truerisk.engines.linear.least_squares import LeastSquares
from truerisk.methods import KFold, NestedInterval
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 4)) * [1, 3, 0.5, 10] + [0, 5, 100, -3]
Y = X[:, 0] + 7 + RNG.normal(size=N)
METHOD = NestedInterval(6, repeats=2)


def answers(engine, model, grid, data, plan, only=None):
    family = Family.of(model, grid)
    loss_response = "value" if data.task == "regression" else "label"
    return engine.run(family, data, plan, Request(loss_response), RunOptions(only=only)).values


@pytest.fixture
def counted(monkeypatch):
    """How many fits each call of the fast path answered."""
    found = []

    def count(*given, **further):
        done = linear_blocks.answer_blocks(*given, **further)
        found.append(int(done.sum()))
        return done

    monkeypatch.setattr("truerisk.engines.linear.least_squares.answer_blocks", count)
    return found


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (LinearRegression(), {}),
        (Ridge(), {"alpha": [0.01, 1.0, 100.0]}),
        (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.01, 1.0, 100.0]}),
    ],
    ids=["plain", "ridge", "standardised"],
)
def test_equals_the_fits(model, grid, counted):
    """Every pair of folds left out, by one penalty or several: scikit-learn's answers."""
    data = Data.check(X, Y, task="regression")
    plan = METHOD.plan(data, Streams(0))
    fast = answers(LeastSquares(), model, grid, data, plan)
    slow = answers(Generic(), model, grid, data, plan)
    np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-10)
    assert counted == [plan.n_fits] * len(counted)


@pytest.mark.parametrize(
    ("scaler", "column", "n_answered"),
    [
        (StandardScaler(), X[:, 0], 21),
        (StandardScaler(with_std=False), X[:, 0], 0),
        (MinMaxScaler(), X[:, 0], 0),
        (StandardScaler(), np.arange(N) == 0, 15),
    ],
    ids=["standardised", "only moved", "by its ends", "constant in some"],
)
def test_deviations_of_each_fit_are_those_of_its_rows(scaler, column, n_answered, counted):
    """Behind a scaler that divides by them; a fit in which a column is constant is left."""
    data = Data.check(np.column_stack([column, X[:, 1:]]), Y, task="regression")
    plan = NestedInterval(6, repeats=1).plan(data, Streams(0))
    model, grid = make_pipeline(scaler, Ridge()), {"ridge__alpha": [0.1, 10.0]}
    fast = answers(LeastSquares(), model, grid, data, plan)
    slow = answers(Generic(), model, grid, data, plan)
    np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-10)
    assert sum(counted) == n_answered


@pytest.mark.parametrize("scaler", [None, StandardScaler()], ids=["as it is", "standardised"])
@pytest.mark.parametrize("response", ["label", "score"])
def test_two_classes_are_one_target(scaler, response, counted):
    """Labels are scikit-learn's; a row at which both classes are equal is asked of it."""
    middle = 0.5 * (X[Y > 7].mean(axis=0) + X[Y <= 7].mean(axis=0))
    data = Data.check(np.vstack([X[:-1], middle]), (Y > 7).astype(int), task="classification")
    plan = METHOD.plan(data, Streams(0))
    model, grid = make_pipeline(scaler, RidgeClassifier()), {"ridgeclassifier__alpha": [0.1, 10.0]}
    fast, slow = (
        engine.run(Family.of(model, grid), data, plan, Request(response), RunOptions()).values
        for engine in (LeastSquares(), Generic())
    )
    np.testing.assert_allclose(fast, slow, rtol=1e-10, atol=1e-10)
    assert sum(counted) == plan.n_fits


def test_few_fits_and_many_penalties_are_left_alone(counted):
    """Five folds are solved side by side; four, and penalties beyond `MANY`, one by one."""
    tr.estimate_risk(LinearRegression(), X, Y, cv=KFold(5))
    assert counted == [5]
    tr.estimate_risk(LinearRegression(), X, Y, cv=KFold(4))
    most = linear_blocks.MANY // X.shape[1]
    for n_penalties in (most, most + 1):
        grid = {"alpha": np.logspace(-3, 3, n_penalties)}
        tr.risk_curve(Ridge(), grid, X, Y, cv=KFold(5))
    assert counted == [5, 0, 5, 0]


def test_overlapping_blocks_are_left_alone(counted):
    """Blocks that share rows are not subtracted twice."""
    builder = PlanBuilder(N)
    blocks = [builder.block(np.arange(start, start + 6)) for start in range(0, 40, 4)]
    for first, second in pairwise(blocks):
        builder.ask(train=(ALL, (first, second)), test=(first, ()))
    plan, data = builder.build(), Data.check(X, Y, task="regression")
    fast = answers(LeastSquares(), LinearRegression(), {}, data, plan)
    assert counted == [0]
    slow = answers(Generic(), LinearRegression(), {}, data, plan)
    np.testing.assert_allclose(fast, slow, rtol=1e-10)


@pytest.mark.parametrize(
    ("model", "y", "more"),
    [
        (LinearRegression(fit_intercept=False), Y, {}),
        (LinearRegression(), np.column_stack([Y, -Y]), {}),
        (LinearRegression(), Y, {"sample_weight": RNG.random(N)}),
        (RidgeClassifier(), np.arange(N) % 3, {}),
    ],
    ids=["no intercept", "two targets", "weights", "three classes"],
)
def test_other_cases_go_their_usual_way(model, y, more, counted):
    """Nothing is answered here, and the result is that of the generic engine."""
    found = tr.estimate_risk(model, X, y, cv=METHOD, **more)
    assert sum(counted) == 0
    slow = tr.estimate_risk(model, X, y, cv=METHOD, engine="generic", **more)
    assert found.value == pytest.approx(slow.value, rel=1e-9)


@pytest.mark.parametrize("kind", ["collinear", "constant", "scales", "wide"])
def test_what_rounding_could_move_is_left_alone(kind, counted):
    """Collinear or constant columns, scales far apart, and more columns than rows."""
    Z = X.copy()
    if kind == "collinear":
        Z[:, 3] = Z[:, 0] + 1e-7 * RNG.normal(size=N)
    elif kind == "constant":
        Z[:, 3] = 2.0
    elif kind == "scales":
        Z[:, 3] *= 1e5
    else:
        Z = RNG.normal(size=(N, 50))
    found = tr.estimate_risk(LinearRegression(), Z, Y, cv=METHOD)
    assert sum(counted) == 0
    slow = tr.estimate_risk(LinearRegression(), Z, Y, cv=METHOD, engine="generic")
    assert found.value == pytest.approx(slow.value, rel=1e-6)


@pytest.mark.parametrize("size", [1e2, 1e9])
def test_targets_that_dwarf_those_of_a_fit_cost_it_its_digits(size, counted):
    """One target is huge: fits without it go their usual way, where it is too huge."""
    y = Y.copy()
    y[0] = size
    data = Data.check(X, y, task="regression")
    plan = KFold(6).plan(data, Streams(0))
    fast = answers(LeastSquares(), LinearRegression(), {}, data, plan)
    assert counted == [6 if size < 1e6 else 5]
    slow = answers(Generic(), LinearRegression(), {}, data, plan)
    row, offsets = plan.positions[0], plan.test_offsets
    alone = int(np.searchsorted(offsets, np.flatnonzero(row == 0)[0], side="right")) - 1
    there = slice(offsets[alone], offsets[alone + 1])
    np.testing.assert_allclose(fast[:, there], slow[:, there], rtol=0, atol=1e-9)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize(("far", "answered"), [(1e3, 6), (1e7, 0)])
@pytest.mark.parametrize("model", [LinearRegression(), Ridge()], ids=["plain", "ridge"])
def test_columns_far_from_zero_are_left_to_the_learner(model, far, answered, counted):
    """The learner's own rounding decides its digits there: the answers are its own."""
    data = Data.check(X + far, Y, task="regression")
    plan = KFold(6).plan(data, Streams(0))
    fast = answers(LeastSquares(), model, {}, data, plan)
    assert counted == [answered]
    slow = answers(Generic(), model, {}, data, plan)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-10)


def test_only_the_fits_whose_system_is_singular_are_left_alone(counted):
    """A column that is constant outside one fold: fits without it go their usual way."""
    folds = np.array([RNG.permutation(np.arange(N) % 6) for _ in range(6)])
    Z, first = X.copy(), folds[0] == 0
    Z[:, 3] = np.where(first, RNG.normal(size=N), 0.0)
    method = NestedInterval(6, folds=folds)
    found = tr.estimate_risk(LinearRegression(), Z, Y, cv=method)
    lacking = 1 + 5  # that fold alone, and with each other
    plan = method.plan(Data.check(Z, Y, task="regression"), Streams(0))
    assert sum(counted) == plan.n_fits - lacking
    slow = tr.estimate_risk(LinearRegression(), Z, Y, cv=method, engine="generic")
    assert found.value == pytest.approx(slow.value, rel=1e-10)


def test_without_the_compiled_module_the_result_says_so(monkeypatch, counted):
    """The same numbers one by one, and a note that names the reason."""
    fast = tr.estimate_risk(LinearRegression(), X, Y, cv=METHOD, random_state=1)
    monkeypatch.setattr(linear_blocks, "why_not", lambda: "it is not here")
    slow = tr.estimate_risk(LinearRegression(), X, Y, cv=METHOD, random_state=1)
    assert counted == [42, 0]
    assert slow.value == pytest.approx(fast.value, rel=1e-12)
    assert any("one by one: it is not here" in note for note in slow.notes)
    assert not any("one by one" in note for note in fast.notes)
