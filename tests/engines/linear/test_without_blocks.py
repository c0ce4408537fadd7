"""Many fits without blocks are answered as scikit-learn answers them, or left alone."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from tests.engines.closed_forms import both, family_of
from tests.support.data import checked

import truerisk as tr
from truerisk.engines import LeastSquares
from truerisk.engines.linear import without_blocks as linear_blocks
from truerisk.extend import ALL, PlanBuilder, Request
from truerisk.methods import KFold, NestedInterval

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 4)) * [1, 3, 0.5, 10] + [0, 5, 100, -3]
Y = X[:, 0] + 7 + RNG.normal(size=N)
HIGH = (Y > 7).astype(int)
METHOD, ONCE, SIX = NestedInterval(6, repeats=2), NestedInterval(6, repeats=1), KFold(6)
PLAIN = LinearRegression()


@pytest.fixture
def counted(monkeypatch):
    """How many fits each call of the fast path answered."""
    found = []

    def count(*given, **further):
        done = linear_blocks.predict_without_blocks(*given, **further)
        found.append(int(done.sum()))
        return done

    monkeypatch.setattr("truerisk.engines.linear.least_squares.predict_without_blocks", count)
    return found


def require_equal(model, data, plan, *, grid=None, response="value", rtol=1e-10, atol=1e-10):
    """The answers are scikit-learn's. Return those of both."""
    fast, slow = both(LeastSquares(), family_of(model, grid), data, plan, Request(response))
    np.testing.assert_allclose(fast, slow, rtol=rtol, atol=atol)
    return fast, slow


def behind(scaler, column=X[:, 0]):
    """Ridge behind a scaler, its grid, and a table whose first column is given."""
    grid = {"ridge__alpha": [0.1, 10.0]}
    return make_pipeline(scaler, Ridge()), grid, np.column_stack([column, X[:, 1:]]), Y


MIDDLE = np.vstack([X[:-1], 0.5 * (X[HIGH == 1].mean(axis=0) + X[HIGH == 0].mean(axis=0))])
CLASSES = {"ridgeclassifier__alpha": [0.1, 10.0]}
AS_IT_IS = make_pipeline(None, RidgeClassifier()), CLASSES, MIDDLE, HIGH
STANDARDISED = make_pipeline(StandardScaler(), RidgeClassifier()), CLASSES, MIDDLE, HIGH
THREE = RidgeClassifier(), None, X, np.arange(N) % 3
RANDOM = NestedInterval(6, folds=np.array([RNG.permutation(np.arange(N) % 6) for _ in range(6)]))
OUTSIDE = np.where(RANDOM.folds[0] == 0, RNG.normal(size=N), 0.0)  # constant outside one fold


@pytest.mark.parametrize(
    ("given", "method", "n_answered"),
    [
        ((PLAIN, None, X, Y), METHOD, 42),
        ((Ridge(), {"alpha": [0.01, 1.0, 100.0]}, X, Y), METHOD, 42),
        (behind(StandardScaler()), METHOD, 42),
        (behind(StandardScaler()), ONCE, 21),
        (behind(StandardScaler(with_std=False)), ONCE, 0),
        (behind(MinMaxScaler()), ONCE, 0),
        (behind(StandardScaler(), np.arange(N) == 0), ONCE, 15),  # constant in some fits
        (AS_IT_IS, METHOD, 42),
        (STANDARDISED, METHOD, 42),
        ((PLAIN, None, np.c_[X[:, :3], OUTSIDE], Y), RANDOM, 126 - 6 - 6 * 0),
        ((LinearRegression(fit_intercept=False), None, X, Y), METHOD, 0),
        ((PLAIN, None, X, np.column_stack([Y, -Y])), METHOD, 0),
        (THREE, METHOD, 0),
        ((PLAIN, None, X + 1e3, Y), SIX, 6),
        ((Ridge(), None, X + 1e3, Y), SIX, 6),
        ((PLAIN, None, X + 1e7, Y), SIX, 0),  # the learner's own rounding decides its digits
        ((Ridge(), None, X + 1e7, Y), SIX, 0),
    ],
)
def test_answer_blocks_equals_the_fits_that_it_answers(given, method, n_answered, counted):
    """Every pair of folds left out, by one penalty or several; the others go their usual way."""
    model, grid, table, y = given
    data = checked(table, y)
    for response in ("value",) if data.codes is None else ("label", "score")[: 4 - data.n_classes]:
        counted.clear()
        require_equal(model, data, method, grid=grid, response=response)
        assert sum(counted) == n_answered


@pytest.mark.parametrize(
    ("kind", "rtol"),
    [("collinear", 1e-6), ("constant", 1e-6), ("scales", 1e-6), ("wide", 1e-6), ("weights", 1e-9)],
)
def test_answer_blocks_leaves_alone_weights_and_what_rounding_could_move(kind, rtol, counted):
    Z, params = X.copy(), {}
    if kind == "collinear":
        Z[:, 3] = Z[:, 0] + 1e-7 * RNG.normal(size=N)
    elif kind == "constant":
        Z[:, 3] = 2.0
    elif kind == "scales":
        Z[:, 3] *= 1e5
    elif kind == "wide":
        Z = RNG.normal(size=(N, 50))
    else:
        params = {"sample_weight": RNG.random(N)}
    require_equal(PLAIN, checked(Z, Y, fit_params=params), METHOD, rtol=rtol)
    assert sum(counted) == 0


def test_answer_blocks_leaves_few_fits_and_many_penalties_alone(counted):
    """Five folds are solved side by side; four, and penalties beyond `MANY`, one by one."""
    tr.estimate_risk(PLAIN, X, Y, cv=KFold(5))
    assert counted == [5]
    tr.estimate_risk(PLAIN, X, Y, cv=KFold(4))
    most = linear_blocks.MAX_PENALTIES_TIMES_COLUMNS // X.shape[1]
    for n_penalties in (most, most + 1):
        grid = {"alpha": np.logspace(-3, 3, n_penalties)}
        tr.risk_curve(Ridge(), grid, X, Y, cv=KFold(5))
    assert counted == [5, 0, 5, 0]


def test_answer_blocks_leaves_overlapping_blocks_alone(counted):
    """Blocks that share rows are not subtracted twice."""
    builder = PlanBuilder(N)
    blocks = [builder.block(np.arange(start, start + 6)) for start in range(0, 40, 4)]
    for first, second in pairwise(blocks):
        builder.ask(train=(ALL, (first, second)), test=(first, ()))
    require_equal(PLAIN, checked(X, Y), builder.build(), atol=0)
    assert counted == [0]


@pytest.mark.parametrize("size", [1e2, 1e9])
def test_answer_blocks_loses_digits_to_targets_that_dwarf_those_of_a_fit(size, counted):
    """One target is huge: fits without it go their usual way, where it is too huge."""
    data = checked(X, np.r_[size, Y[1:]])
    plan = SIX.plan(data, tr.extend.Streams(0))
    fast, slow = require_equal(PLAIN, data, plan, rtol=0, atol=1e-9 * size)
    assert counted == [6 if size < 1e6 else 5]
    row, offsets = plan.positions[0], plan.test_offsets
    alone = int(np.searchsorted(offsets, np.flatnonzero(row == 0)[0], side="right")) - 1
    there = slice(offsets[alone], offsets[alone + 1])
    np.testing.assert_allclose(fast[:, there], slow[:, there], rtol=0, atol=1e-9)


def test_answer_blocks_without_the_compiled_module_is_noted(monkeypatch, counted):
    fast = tr.estimate_risk(PLAIN, X, Y, cv=METHOD, random_state=1)
    monkeypatch.setattr(linear_blocks, "unavailability_reason", lambda: "it is not here")
    slow = tr.estimate_risk(PLAIN, X, Y, cv=METHOD, random_state=1)
    assert counted == [42, 0]
    assert slow.value == pytest.approx(fast.value, rel=1e-12)
    assert any("one by one: it is not here" in note for note in slow.notes)
    assert not any("one by one" in note for note in fast.notes)
