"""The bootstrap family: what it is good for, what a result says, inside searches, refusals."""

from itertools import count

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tests.support.data import checked, normal_rows
from tests.support.plans import drawn, drawn_with_copies

import truerisk as tr
from truerisk.methods import Bootstrap, KFold, Nested
from truerisk.methods.bootstrap import weight_632_plus

KINDS = ("bootstrap", "oob", ".632", ".632+", "optimism")
N, B = 24, 12
X, CODES, NUMBERS = normal_rows(N, seed=0)
SAMPLES = np.random.default_rng(0).integers(N, size=(B, N))
DATA = checked(X, CODES)


def test_bootstrap_632_plus_of_noise_is_near_a_half():
    """Balanced noise, n = 60, 1-NN: .632 says about .32."""
    rng, y, found = np.random.default_rng(1), np.arange(60) % 2, []
    for seed in range(15):
        given = {"X": rng.normal(size=(60, 5)), "y": y, "random_state": seed}
        kinds = (Bootstrap(kind, replicates=80) for kind in (".632+", ".632"))
        found.append(
            [tr.estimate_risk(KNeighborsClassifier(1), cv=k, **given).value for k in kinds]
        )
    assert np.mean(found, axis=0) == pytest.approx([0.5, 0.32], abs=0.04)


def test_bootstrap_optimism_has_the_table_of_rms():
    """Apparent, training, test, optimism, corrected, n; printed and framed."""
    method = Bootstrap("optimism", samples=SAMPLES)
    found = tr.estimate_risk(KNeighborsClassifier(3), X, CODES, cv=method)
    table = found.table
    assert list(table) == ["apparent", "training", "test", "optimism", "corrected", "n"]
    assert table["optimism"] == table["test"] - table["training"]
    assert table["corrected"] == found.value == table["apparent"] + table["optimism"]
    assert table["n"] == B
    assert str(table).splitlines()[0].split() == list(table)
    assert found.to_frame()["optimism"].tolist() == [table["optimism"]]
    assert ">optimism</td>" in found._repr_html_()


def test_bootstrap_row_losses_add_up_to_the_risk():
    """Of oob, .632 and .632+, cut or not."""
    for rows in (X, np.random.default_rng(5).normal(size=(N, 2))):
        for kind in ("bootstrap", "oob", ".632", ".632+"):
            for convention in ("clipped", "ipred"):
                method = Bootstrap(kind, replicates=60, convention=convention)
                found = tr.estimate_risk(KNeighborsClassifier(1), rows, CODES, cv=method)
                assert found.losses.mean() == pytest.approx(found.value, abs=1e-12)
                assert found.loss_rows.tolist() == list(range(N))
    assert found.table["oob"] > found.table["no_information"]  # the last was cut


def test_bootstrap_jackknife_error_is_the_spread_of_err_1():
    """Over 60 samples of a problem."""
    method, found = Bootstrap("oob", replicates=300), []
    for seed in range(60):
        rows, y = tr.datasets.make_simple(40, random_state=seed)
        found.append(tr.estimate_risk(KNeighborsClassifier(5), rows, y, cv=method))
    spread = np.std([f.value for f in found], ddof=1)
    assert all(f.interval is None for f in found)
    assert np.mean([f.std_error for f in found]) == pytest.approx(spread, rel=0.35)


@pytest.mark.parametrize(
    ("method", "options", "why"),
    [
        *((Bootstrap(k, samples=SAMPLES), {}, "no formula") for k in KINDS if k != "oob"),
        (Bootstrap("oob"), {"groups": np.arange(N) // 2}, "groups, weights or strata"),
        (Bootstrap("oob"), {"sample_weight": np.ones(N)}, "groups, weights or strata"),
        (Bootstrap("oob", samples=SAMPLES[:, :-1]), {}, "needs samples of n rows"),
        (Bootstrap("oob", replicates=3), {}, "never left out"),
    ],
    ids=count(),
)
def test_bootstrap_says_why_no_formula_gives_an_error(method, options, why):
    found = tr.estimate_risk(LinearRegression(), X, NUMBERS, cv=method, **options)
    assert (found.std_error, found.interval) == (None, None)
    assert any(why in note for note in found.notes)


def test_bootstrap_gives_an_error_to_each_setting_by_itself():
    rng, y = np.random.default_rng(3), np.repeat([0, 1], 6)
    rows = rng.normal(size=(12, 1)) + 20 * y[:, None]
    both, alone = (
        tr.risk_curve(KNeighborsClassifier(12), grid, rows, y, cv=Bootstrap("oob", 400))
        for grid in ({"n_neighbors": [1, 12]}, None)
    )
    assert both[0].std_error is None
    assert both[1].std_error == alone[0].std_error is not None


def test_bootstrap_leaves_out_rows_that_are_in_every_sample():
    method = Bootstrap("oob", samples=np.array([[0, 0, 1, 2], [0, 1, 1, 3]]))
    y = np.array([0.0, 1.0, 2.0, 6.0])
    found = tr.estimate_risk(DummyRegressor(), np.arange(4.0)[:, None], y, cv=method)
    assert found.value == ((6 - 3 / 4) ** 2 + (2 - 2) ** 2) / 2
    assert found.loss_rows.tolist() == [2, 3]
    assert found.notes[0].startswith("2 rows are in every sample and were never left out")


def test_bootstrap_notes_tell_where_err_1_is_cut():
    noise = np.random.default_rng(5).normal(size=(N, 2))
    for rows in (X, noise):
        found = tr.estimate_risk(
            KNeighborsClassifier(1), rows, CODES, cv=Bootstrap(samples=SAMPLES)
        )
        is_cut = found.table["oob"] > found.table["no_information"]
        assert ("is cut to it" in " ".join(found.notes)) == is_cut


@pytest.mark.parametrize("moved", [0.0, 1e-14, -1e-14])
def test_weight_632_plus_of_equal_risks_is_that_of_no_overfitting(moved):
    """Of a constant target the no-information risk is the apparent one in another order."""
    assert weight_632_plus(0.3, 0.5, 0.3 * (1 + moved))[1:] == (0.0, 0.632)


@pytest.mark.parametrize("seed", range(6))
def test_bootstrap_of_a_constant_target_has_no_overfitting(seed):
    """Whatever rounding says, also where neighbours miss it by a last bit, or not."""
    rows, y = np.random.default_rng(seed).normal(size=(9, 2)), np.full(9, 0.1)
    for model, value in (
        (DummyRegressor(), 0.1),
        (KernelRidge(alpha=1e-3), 0.1),
        (KNeighborsRegressor(weights="distance"), -0.95),
    ):
        for engine in ("auto", "generic"):
            method = Bootstrap(".632+", replicates=6)
            found = tr.estimate_risk(model, rows, y + value - 0.1, cv=method, engine=engine)
            assert found.table["overfitting"] == 0.0


def test_bootstrap_strata_keep_the_sizes_of_classes_and_words_say_so():
    assert Bootstrap().name == ".632+"
    assert Bootstrap("oob", 50, stratify=True).name == "oob (bootstrap, B=50, stratified)"
    assert Bootstrap(samples=SAMPLES, convention="ipred").name == ".632+ (given samples, ipred)"
    plan = drawn(Bootstrap("optimism", 9, stratify=True), DATA)
    for fit in range(9):
        sizes = np.bincount(CODES[drawn_with_copies(plan, fit)])
        assert sizes.tolist() == np.bincount(CODES).tolist()


def test_bootstrap_auc_leaves_out_samples_where_it_does_not_exist():
    """A left-out part of one class has no AUC: the mean is over the others, and a note says so."""
    y = np.array([0] * 20 + [1] * 4)
    found = tr.estimate_risk(GaussianNB(), X, y, cv=Bootstrap("oob", 40), scoring="auc")
    assert 0 <= found.value <= 1
    assert any("does not exist on what" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["bootstrap", "oob", ".632"])
def test_bootstrap_scorer_rates_each_model(kind):
    method = Bootstrap(kind, samples=SAMPLES)
    share = tr.estimate_risk(GaussianNB(), X, CODES, cv=method, scoring="f1_micro")
    assert 0 < share.value < 1


# ---------------- tuned rules inside samples, and samples inside a search


def test_bootstrap_of_a_tuned_rule_keeps_noise_at_a_half():
    """Inner folds by row identity keep the inner risk honest, and the outer at .5.

    Folds of the copies would say .24 inside, since the copy of a row is its nearest neighbour.
    """
    rng, y, found = np.random.default_rng(0), np.arange(60) % 2, []
    grid = {"n_neighbors": [1, 3, 5, 7, 9, 11, 15]}
    method = Nested(Bootstrap("oob", replicates=30), "5-fold")
    for seed in range(12):
        rows = rng.normal(size=(60, 5))
        curve = tr.risk_curve(KNeighborsClassifier(), grid, rows, y, cv=method, random_state=seed)
        inner = np.mean([unit.inner_risk for unit in curve.evaluation.units])
        found.append([curve.procedure.value, inner])
    assert np.mean(found, axis=0) == pytest.approx([0.5, 0.42], abs=0.03)


@pytest.mark.parametrize("inner", [*KINDS, "3-fold", "reversed 3-fold"])
def test_bootstrap_inner_questions_never_count_copies(inner):
    """Apparent, training and left-out means inside a sample are over rows of equal weight.

    With copies counted in one of them, .632 would add risks of two populations, and the optimism
    be a difference of two.
    """
    chosen = Bootstrap(inner, replicates=5) if inner in KINDS else inner
    plan = drawn(Nested(Bootstrap("oob", replicates=3), chosen), DATA)
    whole = [set(plan.train_rows(fit)[0]) for fit in range(3)]
    for q in plan.questions("inner"):
        rows, counts = plan.test_rows(int(q))
        assert counts is None
        assert set(rows) <= whole[plan.unit[q]]
        if inner == "3-fold":
            assert not set(rows) & set(plan.train_rows(int(plan.fit[q]))[0])


@pytest.mark.parametrize("kind", KINDS)
def test_bootstrap_serves_both_loops_of_a_search(kind):
    method, grid = Bootstrap(kind, replicates=5), {"n_neighbors": [1, 3, 5]}
    outside, inside = (
        tr.HonestSearchCV(KNeighborsClassifier(), grid, cv=cv, outer=outer).fit(X, CODES)
        for cv, outer in ((KFold(3), method), (method, KFold(3)))
    )
    assert outside.risk_.method == f"nested ({method.name}, inner 3-fold)"
    assert (len(outside.outer_), len(inside.outer_)) == (5, 3)
    nested = Nested(KFold(3), method)
    again = tr.risk_curve(KNeighborsClassifier(), grid, X, CODES, cv=nested)
    assert inside.risk_.value == again.procedure.value


def test_bootstrap_inner_risks_are_those_of_the_training_rows_alone():
    folds, model = np.arange(N) % 2, KNeighborsClassifier(3)
    method = Nested(KFold(folds=folds), Bootstrap(replicates=6), compare=True)
    curve = tr.risk_curve(model, None, X, CODES, cv=method)
    plan = curve.evaluation.plan
    for unit, told in enumerate(curve.evaluation.units):
        train = np.flatnonzero(folds != unit)
        fits = plan.fit[np.flatnonzero(plan.unit == unit)[:-1]]
        samples = [np.searchsorted(train, drawn_with_copies(plan, fit)) for fit in fits]
        own = tr.estimate_risk(model, X[train], CODES[train], cv=Bootstrap(samples=samples))
        assert told.inner_risk == pytest.approx(own.value, abs=1e-12)
