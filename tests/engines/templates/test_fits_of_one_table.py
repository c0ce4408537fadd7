"""Many fits answered as weights equal the same fits one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.engines import LinearDiscriminants, LogisticPaths
from truerisk.engines.templates import fits_of_one_table
from truerisk.engines.templates.fits_of_one_table import WeightedFits, find_single_row_fits
from truerisk.extend import ALL, PlanBuilder
from truerisk.methods import Bootstrap, Nested, Swapping
from truerisk.plan.extras.flips import get_label_flips
from truerisk.testing.strategies import any_plans, data_sets

RNG = np.random.default_rng(0)
EXACT = LogisticRegression(solver="newton-cholesky", tol=1e-9)
MINIMISER = LogisticPaths(minimiser=True)
LDA, LSQR = LinearDiscriminantAnalysis(), LinearDiscriminantAnalysis(solver="lsqr")


def problem(n=60, p=4, classes=2, in_line=False):
    """Columns of very different size and place, some signal; means of classes on a line or not."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, p)) * rng.uniform(0.1, 10, p) + rng.normal(0, 5, p)
    X[:, 0] += y
    if in_line:
        X[:, 1:] -= X[:, 1:].mean(axis=0)
    return X, y


@pytest.fixture
def counted(monkeypatch):
    """How many fits were answered together, call by call."""
    found = []
    some = WeightedFits.some

    def spied(*arguments):
        for batch in some(*arguments):
            found.append(len(batch.fits))
            yield batch

    monkeypatch.setattr(WeightedFits, "some", spied)
    return found


def both(model, X, y, method, engine="discriminant", grid=None, **options):
    """Answers of the engine and of scikit-learn itself."""
    return [
        tr.risk_curve(model, grid, X, y, cv=method, engine=e, **options).evaluation.answers.values
        for e in (engine, "generic")
    ]


@pytest.mark.parametrize("loss", ["zero-one", "log", "auc"])
@pytest.mark.parametrize(
    ("model", "classes"),
    [
        (LDA, 2),
        (LSQR, 2),
        (LinearDiscriminantAnalysis(solver="eigen"), 2),
        (LinearDiscriminantAnalysis(solver="lsqr", priors=[0.3, 0.7]), 2),
        (make_pipeline(StandardScaler(), LDA), 2),
        (tr.models.LinearDiscriminant(), 2),
        (LDA, 3),
        (LSQR, 3),
    ],
    ids=["svd", "lsqr", "eigen", "priors", "scaled", "own", "svd of three", "lsqr of three"],
)
def test_samples_of_discriminants_are_single_fits(model, classes, loss, counted):
    if classes == 3 and loss == "auc":
        loss = "brier"
    X, y = problem(30 * classes, 4 if classes == 2 else 3, classes, in_line=classes == 3)
    found, wanted = both(model, X, y, Bootstrap("bootstrap", 20), scoring=loss)
    assert found == pytest.approx(wanted, rel=1e-8, abs=1e-10)
    assert sum(counted) == 20


SHRUNK = {
    "lsqr": LSQR,
    "eigen": LinearDiscriminantAnalysis(solver="eigen"),
    "priors": LinearDiscriminantAnalysis(solver="lsqr", priors=[0.3, 0.5, 0.2]),
    "own": tr.models.LinearDiscriminant(solver="lsqr", divisor="n-K"),
}
SHRINKAGES = {"shrinkage": [None, 0.0, 0.01, 0.4, 1.0]}
TOLS = {"lineardiscriminantanalysis__tol": [1e-4, 1e-3, 1e-2]}


@pytest.mark.parametrize(
    ("model", "grid", "shape", "method", "loss", "batches"),
    [
        *(
            pytest.param(model, SHRINKAGES, (90, 3, 3), "6-fold", loss, [6], id=f"{name}-{loss}")
            for name, model in SHRUNK.items()
            for loss in ("zero-one", "log")
        ),
        *(
            pytest.param(
                make_pipeline(StandardScaler(), model),
                TOLS,
                (1500, 15, 3),
                "pairs",
                "log",
                [5, 10],
                id=f"pairs-{model.solver}",
            )
            for model in (LDA, LSQR)
        ),
    ],
)
def test_samples_have_every_shrinkage_and_tol_from_the_same_scatters(
    model, grid, shape, method, loss, batches, counted, monkeypatch
):
    """The fits of the method `pairs` are made once for all values of tol."""
    monkeypatch.setattr(LinearDiscriminants, "fit_pass", None)
    found, wanted = both(model, *problem(*shape), method, scoring=loss, grid=grid)
    assert found == pytest.approx(wanted, rel=1e-8, abs=1e-10)
    assert counted == batches


WIDE = RNG.normal(size=(400, 150)), np.arange(400) % 2


@pytest.mark.parametrize(
    ("model", "data", "method", "grid", "batches"),
    [
        (LSQR, problem(), Bootstrap("bootstrap", 6), None, []),
        (LSQR, problem(), Bootstrap("bootstrap", 6), {"shrinkage": [0.1, 0.2, 0.3]}, [6]),
        (LSQR, problem(), "6-fold", None, [6]),
        (LDA, problem(), Bootstrap("oob", 15), None, []),
        (LDA, problem(), Bootstrap("oob", 16), None, [16]),
        (LDA, WIDE, Bootstrap("oob", 16), None, []),
        (LDA, problem(40, 2), Swapping(n0=np.inf), None, []),
    ],
    ids=["few", "many settings", "folds", "15", "16", "many columns", "swapped labels"],
)
def test_samples_are_batched_where_that_pays(model, data, method, grid, batches, counted):
    found, wanted = both(model, *data, method, grid=grid)
    assert (found == wanted).all()
    assert counted == batches


def test_samples_are_cut_to_memory(monkeypatch, counted):
    X, y = problem()
    whole = tr.estimate_risk(LDA, X, y, cv=Bootstrap("oob", 50)).value
    monkeypatch.setattr(fits_of_one_table, "MOST_WEIGHTS", 60 * 20)
    assert tr.estimate_risk(LDA, X, y, cv=Bootstrap("oob", 50)).value == whole
    assert counted == [50, 20, 20, 10]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["constant", "twin", "far", "alone", "rare"])
def test_samples_that_lose_digits_are_left_to_single_fits(kind, counted):
    X, y = problem()
    methods = [Bootstrap("bootstrap", 20), "20-fold"]
    if kind == "constant":
        X[:, 1] = 3.0
    if kind == "twin":
        X[:, 1] = X[:, 0] + 1e-9 * X[:, 2]
    if kind == "far":
        X[:, 1] = 1e7 + 1e-3 * X[:, 1]
    if kind == "alone":  # what is left without its block has lost its digits
        X[0, 1] = 1e9
    if kind == "rare":  # samples without one class; a single class cannot be fitted at all
        y = np.array([0] * 57 + [1, 1, 2])
        times = np.stack([RNG.integers(60, size=60) for _ in range(20)])
        times[:, 0] = 58
        methods = [Bootstrap("bootstrap", samples=times)]
    for method in methods:
        found, wanted = both(LDA, X, y, method)
        assert (found == wanted).all()
    assert sum(counted) == 20 * len(methods)


@pytest.mark.parametrize("loss", ["zero-one", "log", "auc"])
@pytest.mark.parametrize("weighted", [False, True])
def test_samples_of_logistic_regression_end_where_scikit_learn_does(loss, weighted, counted):
    X, y = problem()
    options = {"scoring": loss, "grid": {"C": [0.1, 1.0]}}
    if weighted:
        options["sample_weight"] = RNG.uniform(0.5, 2, len(y))
    found, wanted = both(EXACT, X, y, Bootstrap("bootstrap", 20), MINIMISER, **options)
    assert found == pytest.approx(wanted, abs=2e-6)
    assert sum(counted) == 20


def test_samples_of_logistic_regression_equal_its_path(monkeypatch):
    """Also for classes that can be separated, where the minimum is far away."""
    X = np.random.default_rng(3).normal(size=(40, 2))
    y, grid = (X[:, 0] > 0).astype(int), {"C": [1.0, 1e3, 1e6]}

    def scores():
        method = Bootstrap("bootstrap", 20)
        curve = tr.risk_curve(LogisticRegression(), grid, X, y, cv=method, engine=MINIMISER)
        return curve.evaluation.answers.values

    together = scores()
    monkeypatch.setattr(fits_of_one_table, "FEWEST", 10**9)
    assert (scores() == together).all()


@pytest.mark.parametrize(
    ("model", "grid", "engine"),
    [
        (LSQR, {"shrinkage": [None, 0.5], "tol": [1e-4, 1e-3]}, "discriminant"),
        (EXACT, {"C": [0.01, 1.0, 100.0]}, MINIMISER),
    ],
    ids=["discriminant", "logistic-path"],
)
def test_samples_are_tuned_inside_a_bootstrap(model, grid, engine, counted):
    X, y = problem()
    method = Nested(Bootstrap(".632+", 16), "3-fold")
    fast, slow = (
        tr.risk_curve(model, grid, X, y, cv=method, engine=e) for e in (engine, "generic")
    )
    assert fast.procedure.value == pytest.approx(slow.procedure.value, abs=1e-12)
    chosen = [[unit.candidate for unit in one.evaluation.units] for one in (fast, slow)]
    assert chosen[0] == chosen[1]
    assert sum(counted) == 3 * (16 + 1) + 16 + 1


# ---------------- Which fits differ from all rows by one row, found from the codes of the plan


def test_single_row_fits_leave_out_or_flip_the_row_that_they_are_asked_about():
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
    single, row = find_single_row_fits(builder.build())
    assert single.tolist() == [True, True] + [False] * 7
    assert row.tolist() == [3, 3] + [-1] * 7
    asked_twice = PlanBuilder(5)
    blocks = asked_twice.partition(np.arange(5))
    for block in blocks:
        asked_twice.ask((ALL, (block,)), (block, ()))
    asked_twice.ask((ALL, (blocks[2],)), (ALL, ()), part="all")
    found = find_single_row_fits(asked_twice.build())[0]
    assert found.tolist() == [True, True, False, True, True]


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_single_row_fits_of_any_plan_lack_or_flip_one_row(data):
    plan = data.draw(any_plans(data.draw(data_sets())))
    single, row = find_single_row_fits(plan)
    for fit in np.flatnonzero(single):
        rows, counts = plan.train_rows(int(fit))
        missing = np.setdiff1d(np.arange(plan.n_rows), rows)
        changed = np.concatenate([missing, get_label_flips(plan, int(fit))[0]])
        assert changed.tolist() == [row[fit]]
        assert counts is None
        for question in np.flatnonzero(plan.fit == fit):
            assert plan.test_rows(int(question))[0].tolist() == [row[fit]]
