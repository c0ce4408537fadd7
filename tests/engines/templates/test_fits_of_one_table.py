"""Many fits answered as weights equal the same fits one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.data.data import Data
from truerisk.engines.discriminants.discriminant import LinearDiscriminants
from truerisk.engines.templates import fits_of_one_table
from truerisk.engines.templates.fits_of_one_table import Samples, single_row_fits
from truerisk.methods import Bootstrap, Nested
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.flips import flips_of
from truerisk.testing.strategies import data_sets, plans

RNG = np.random.default_rng(0)
EXACT = LogisticRegression(solver="newton-cholesky", tol=1e-9)
MINIMISER = tr.engines.LogisticPaths(minimiser=True)


def problem(n=60, p=4, classes=2, seed=0):
    """Columns of very different size and place, some signal."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, p)) * rng.uniform(0.1, 10, p) + rng.normal(0, 5, p)
    X[:, 0] += y
    return X, y


@pytest.fixture
def counted(monkeypatch) -> list[int]:
    """How many fits were answered together, call by call."""
    found: list[int] = []
    some = Samples.some

    def spied(*arguments):
        for batch in some(*arguments):
            found.append(len(batch.fits))
            yield batch

    monkeypatch.setattr(Samples, "some", spied)
    return found


def both(model, X, y, method, engine, **options) -> tuple[np.ndarray, np.ndarray]:
    """Answers of the engine and of scikit-learn itself."""
    given = {"cv": method, **options}
    grid = options.pop("grid", None)
    given.pop("grid", None)
    curves = [tr.risk_curve(model, grid, X, y, engine=e, **given) for e in (engine, "generic")]
    return curves[0].evaluation.answers.values, curves[1].evaluation.answers.values


LINEAR = {
    "svd": LinearDiscriminantAnalysis(),
    "lsqr": LinearDiscriminantAnalysis(solver="lsqr"),
    "eigen": LinearDiscriminantAnalysis(solver="eigen"),
    "priors": LinearDiscriminantAnalysis(solver="lsqr", priors=[0.3, 0.7]),
    "scaled": make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
    "own": tr.models.LinearDiscriminant(),
}


@pytest.mark.parametrize("loss", ["zero-one", "log", "auc"])
@pytest.mark.parametrize("name", LINEAR)
def test_linear_discriminants(name, loss, counted) -> None:
    """Labels, probabilities and scores of every solver, copies counted."""
    X, y = problem()
    method = Bootstrap("bootstrap", 20)
    found, wanted = both(LINEAR[name], X, y, method, "discriminant", scoring=loss)
    assert found == pytest.approx(wanted, rel=1e-8, abs=1e-10)
    assert sum(counted) == 20


def test_discriminants_of_three_classes(counted) -> None:
    """More classes than two, also where the means lie on a line."""
    X, y = problem(90, 3, 3)
    X[:, 1:] -= X[:, 1:].mean(axis=0)
    method = Bootstrap("oob", 20)
    for solver in ("svd", "lsqr"):
        model = LinearDiscriminantAnalysis(solver=solver)
        found, wanted = both(model, X, y, method, "discriminant", scoring="log")
        assert found == pytest.approx(wanted, rel=1e-8, abs=1e-10)
    assert sum(counted) == 40


SHRUNK = {
    "lsqr": LinearDiscriminantAnalysis(solver="lsqr"),
    "eigen": LinearDiscriminantAnalysis(solver="eigen"),
    "priors": LinearDiscriminantAnalysis(solver="lsqr", priors=[0.3, 0.5, 0.2]),
    "own": tr.models.LinearDiscriminant(solver="lsqr", divisor="n-K"),
}


@pytest.mark.parametrize("loss", ["zero-one", "log"])
@pytest.mark.parametrize("name", SHRUNK)
def test_every_shrinkage_from_the_same_scatters(name, loss, counted, monkeypatch) -> None:
    """Nothing, a little and all of it shrunk: no fit by itself, and each is scikit-learn's."""
    monkeypatch.setattr(LinearDiscriminants, "fit_pass", None)
    X, y = problem(90, 3, 3)
    grid = {"shrinkage": [None, 0.0, 0.01, 0.4, 1.0]}
    found, wanted = both(SHRUNK[name], X, y, "6-fold", "discriminant", scoring=loss, grid=grid)
    assert found == pytest.approx(wanted, rel=1e-8, abs=1e-10)
    assert counted == [6]


def test_few_fits_of_one_setting_are_answered_one_by_one(counted) -> None:
    """Six samples are worth it for many settings only; of six folds sums are taken once."""
    X, y = problem()
    drawn = Bootstrap("bootstrap", 6)
    both(LINEAR["lsqr"], X, y, drawn, "discriminant")
    assert counted == []
    both(LINEAR["lsqr"], X, y, drawn, "discriminant", grid={"shrinkage": [0.1, 0.2, 0.3]})
    both(LINEAR["lsqr"], X, y, "6-fold", "discriminant")
    assert counted == [6, 6]


@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_pairs_of_folds_of_many_rows(solver, counted, monkeypatch) -> None:
    """Rows less blocks of rows, also of three classes, winners and every tol in one group."""
    monkeypatch.setattr(LinearDiscriminants, "fit_pass", None)
    X, y = problem(3000, 20, 3)
    model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis(solver=solver))
    grid = {"lineardiscriminantanalysis__tol": [1e-4, 1e-3, 1e-2]}
    found, wanted = both(model, X, y, "pairs", "discriminant", scoring="log", grid=grid)
    assert found == pytest.approx(wanted, rel=1e-8, abs=1e-10)
    assert counted == [5, 10]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["constant", "twin", "far", "alone", "rare"])
def test_what_loses_digits_is_left_to_single_fits(kind, counted) -> None:
    """Constant and equal columns, columns far from zero or of one large cell, a missing class."""
    X, y = problem()
    if kind == "constant":
        X[:, 1] = 3.0
    if kind == "twin":
        X[:, 1] = X[:, 0] + 1e-9 * X[:, 2]
    if kind == "far":
        X[:, 1] = 1e7 + 1e-3 * X[:, 1]
    if kind == "alone":  # what is left without its block has lost its digits
        X[0, 1] = 1e9
    if kind == "rare":
        y = np.array([0] * 57 + [1, 1, 2])
    method = Bootstrap("bootstrap", 20)
    if kind == "rare":  # a single class cannot be fitted at all
        times = np.stack([RNG.integers(60, size=60) for _ in range(20)])
        times[:, 0] = 58
        method = Bootstrap("bootstrap", samples=times)
    model = LinearDiscriminantAnalysis()
    for one in (method, "20-fold") if kind != "rare" else (method,):
        found, wanted = both(model, X, y, one, "discriminant")
        assert (found == wanted).all()
    assert sum(counted) == 20 * (1 + (kind != "rare"))


@pytest.mark.parametrize("loss", ["zero-one", "log", "auc"])
@pytest.mark.parametrize("weighted", [False, True])
def test_logistic_regression(loss, weighted, counted) -> None:
    """The minimum at every C, with copies and weights, is where scikit-learn's solver ends."""
    X, y = problem()
    options = {"scoring": loss, "grid": {"C": [0.1, 1.0]}}
    if weighted:
        options["sample_weight"] = RNG.uniform(0.5, 2, len(y))
    found, wanted = both(EXACT, X, y, Bootstrap("bootstrap", 20), MINIMISER, **options)
    assert found == pytest.approx(wanted, abs=2e-6)
    assert sum(counted) == 20


def test_logistic_regression_equals_the_path(monkeypatch) -> None:
    """The batch and the path find the same minimum, also of classes that can be separated."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    method, grid = Bootstrap("bootstrap", 20), {"C": [1.0, 1e3, 1e6]}
    engine = MINIMISER

    def scores():
        curve = tr.risk_curve(LogisticRegression(), grid, X, y, cv=method, engine=engine)
        return curve.evaluation.answers.values

    together = scores()
    monkeypatch.setattr(fits_of_one_table, "FEWEST", 10**9)
    assert (scores() == together).all()


@pytest.mark.parametrize("engine", ["discriminant", "logistic-path"])
def test_tuned_inside_a_bootstrap(engine, counted) -> None:
    """Inner folds of samples and the winners alone: the same choices, the same risk."""
    X, y = problem()
    fast = engine
    if engine == "discriminant":
        model = LinearDiscriminantAnalysis(solver="lsqr")
        grid = {"shrinkage": [None, 0.5], "tol": [1e-4, 1e-3]}
    else:
        model, grid, fast = EXACT, {"C": [0.01, 1.0, 100.0]}, MINIMISER
    method = Nested(Bootstrap(".632+", 16), "3-fold")
    first, second = (
        tr.risk_curve(model, grid, X, y, cv=method, engine=e) for e in (fast, "generic")
    )
    assert first.procedure.value == pytest.approx(second.procedure.value, abs=1e-12)
    assert [u.candidate for u in first.evaluation.units] == [
        u.candidate for u in second.evaluation.units
    ]
    assert sum(counted) == 3 * (16 + 1) + 16 + 1


def test_few_fits_or_many_columns_are_not_batched(counted) -> None:
    """Below 16 fits, or with too many products of columns, the fits go one by one."""
    X, y = problem()
    tr.estimate_risk(LinearDiscriminantAnalysis(), X, y, cv=Bootstrap("oob", 10))
    wide = RNG.normal(size=(400, 150))
    tr.estimate_risk(
        LinearDiscriminantAnalysis(), wide, np.arange(400) % 2, cv=Bootstrap("oob", 16)
    )
    assert counted == []


def test_batches_are_cut_to_memory(monkeypatch, counted) -> None:
    """Weights of many fits come in several batches with the same answers."""
    X, y = problem()
    model, method = LinearDiscriminantAnalysis(), Bootstrap("oob", 50)
    whole = tr.estimate_risk(model, X, y, cv=method).value
    monkeypatch.setattr(fits_of_one_table, "MOST_WEIGHTS", 60 * 20)
    assert tr.estimate_risk(model, X, y, cv=method).value == whole
    assert counted == [50, 20, 20, 10]


def test_swapped_labels_are_no_samples(counted) -> None:
    """Fits that are shown another label go their own way: the swapping criterion is the same."""
    X, y = problem(40, 2)
    model = LinearDiscriminantAnalysis()
    found, wanted = both_values(model, X, y)
    assert found == pytest.approx(wanted, abs=1e-12)
    assert counted == []


def both_values(model, X, y) -> tuple[float, float]:
    """Worst-case swapping by the engine and by scikit-learn's own fits."""
    method = tr.methods.Swapping(n0=np.inf)
    return tuple(
        tr.estimate_risk(model, X, y, cv=method, engine=e).value
        for e in ("discriminant", "generic")
    )


# ---------------- Which fits differ from all rows by one row, found from the codes of the plan


def test_rows_left_out_and_labels_flipped_are_found() -> None:
    """One row taken away or one label replaced, asked about that row alone; nothing else."""
    builder = PlanBuilder(5)
    one, two = builder.block(np.array([3])), builder.block(np.array([0, 1]))
    builder.ask((ALL, (one,)), (one, ()))  # left out
    builder.ask((ALL, ()), (one, ()), flips=[(3, 1)])  # flipped
    builder.ask((ALL, ()), (one, ()), flips=[(2, 1)])  # asked about another row
    builder.ask((ALL, ()), (ALL, ()), flips=[(1, 0)])  # asked about all rows
    builder.ask((ALL, ()), (one, ()), flips=[(3, 1), (2, 0)])  # two flipped
    builder.ask((ALL, (one,)), (one, ()), flips=[(0, 1)])  # both
    builder.ask((ALL, (two,)), (two, ()))  # two left out
    builder.ask((two, (one,)), (one, ()))  # not from all rows
    builder.ask((ALL, ()), (ALL, ()))  # nothing changed
    single, row = single_row_fits(builder.build())
    assert single.tolist() == [True, True] + [False] * 7
    assert row.tolist() == [3, 3] + [-1] * 7


def test_one_question_too_many_is_seen() -> None:
    """A fit that is also asked about other rows is none of these."""
    builder = PlanBuilder(5)
    blocks = builder.partition(np.arange(5))
    for block in blocks:
        builder.ask((ALL, (block,)), (block, ()))
    builder.ask((ALL, (blocks[2],)), (ALL, ()), part="all")
    assert single_row_fits(builder.build())[0].tolist() == [True, True, False, True, True]


@settings(deadline=None)
@given(st.data())
def test_what_is_found_holds_on_any_plan(data) -> None:
    """The rows of a fit that is found are all but one, or all with one label replaced."""
    problem: Data = data.draw(data_sets())
    plan = data.draw(plans(problem))
    single, row = single_row_fits(plan)
    for fit in np.flatnonzero(single):
        rows, counts = plan.train_rows(int(fit))
        missing = np.setdiff1d(np.arange(plan.n_rows), rows)
        changed = np.concatenate([missing, flips_of(plan, int(fit))[0]])
        assert changed.tolist() == [row[fit]]
        assert counts is None
        for question in np.flatnonzero(plan.fit == fit):
            assert plan.test_rows(int(question))[0].tolist() == [row[fit]]
