"""The bootstrap family: what it is good for, what a result says, and what goes wrong."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import BadData, FitFailedWarning, Refusal, UnknownName
from truerisk.data.data import Data
from truerisk.methods import Bootstrap
from truerisk.methods.bootstrap import weight_632_plus
from truerisk.plan.leaks import leaks_of
from truerisk.results.results import RiskEstimate

KINDS = ("bootstrap", "oob", ".632", ".632+", "optimism")
RNG = np.random.default_rng(0)
N, B = 24, 12
X = RNG.normal(size=(N, 2))
CODES = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
NUMBERS = X[:, 0] + RNG.normal(size=N)
SAMPLES = RNG.integers(N, size=(B, N))


# -- what it is good for ------------------------------------------------------------------------


def test_pure_noise_of_one_neighbour() -> None:
    """Balanced noise, n = 60, 1-NN: .632+ near the truth .5, where .632 says about .32."""
    rng = np.random.default_rng(1)
    y, found = np.arange(60) % 2, []
    for seed in range(15):
        rows = rng.normal(size=(60, 5))
        found.append(
            [
                tr.estimate_risk(
                    KNeighborsClassifier(1), rows, y, cv=Bootstrap(kind), random_state=seed
                ).value
                for kind in (".632+", ".632")
            ]
        )
    plus, point = np.mean(found, axis=0)
    assert plus == pytest.approx(0.5, abs=0.04)
    assert point == pytest.approx(0.32, abs=0.03)


# -- what a result says -------------------------------------------------------------------------


def test_optimism_has_the_table_of_rms() -> None:
    """Apparent, training, test, optimism, corrected, n; printed, framed and in JSON."""
    method = Bootstrap("optimism", samples=SAMPLES)
    found = tr.estimate_risk(KNeighborsClassifier(3), X, CODES, cv=method)
    table = found.table
    assert list(table) == ["apparent", "training", "test", "optimism", "corrected", "n"]
    assert table["optimism"] == table["test"] - table["training"]
    assert table["corrected"] == found.value == table["apparent"] + table["optimism"]
    assert table["n"] == B
    assert str(table).splitlines()[0].split() == list(table)
    frame = found.to_frame()
    assert frame["optimism"].tolist() == [table["optimism"]]
    assert "<td>optimism</td>" in found._repr_html_()
    back = RiskEstimate.from_json(found.to_json())
    assert back.table == table
    old = found.to_dict()
    del old["table"]  # written before there were tables
    assert RiskEstimate.from_dict(old).table is None


def test_row_losses_add_up() -> None:
    """The mean of the row losses of oob, .632 and .632+ is the risk, cut or not."""
    noise = np.random.default_rng(5).normal(size=(N, 2))
    for rows in (X, noise):
        for kind in ("bootstrap", "oob", ".632", ".632+"):
            for convention in ("clipped", "ipred"):
                method = Bootstrap(kind, replicates=60, convention=convention)
                found = tr.estimate_risk(KNeighborsClassifier(1), rows, CODES, cv=method)
                assert found.losses.mean() == pytest.approx(found.value, abs=1e-12)
                assert found.loss_rows.tolist() == list(range(N))
    assert found.table["oob"] > found.table["no_information"]  # the last was cut


def test_the_jackknife_error_of_err_1() -> None:
    """Over 60 samples of a problem, the mean standard error is the spread of Err₁."""
    found = []
    for seed in range(60):
        rows, y = tr.datasets.make_simple(40, random_state=seed)
        method = Bootstrap("oob", replicates=300)
        found.append(tr.estimate_risk(KNeighborsClassifier(5), rows, y, cv=method))
    spread = np.std([f.value for f in found], ddof=1)
    assert all(f.interval is None for f in found)
    errors = [f.std_error for f in found if f.std_error is not None]
    assert len(errors) == 60
    assert np.mean(errors) == pytest.approx(spread, rel=0.35)


def test_no_error_where_no_formula_holds() -> None:
    """Other kinds, weights, groups, strata, unequal samples have none and say why."""
    model, short = LinearRegression(), SAMPLES[:, :-1]
    for kind in set(KINDS) - {"oob"}:
        found = tr.estimate_risk(model, X, NUMBERS, cv=Bootstrap(kind, samples=SAMPLES))
        assert found.std_error is None
        assert "no formula is known" in found.notes[-1]
    groups = np.arange(N) // 2
    for method, options, why in [
        (Bootstrap("oob"), {"groups": groups}, "groups, weights or strata"),
        (Bootstrap("oob"), {"sample_weight": np.ones(N)}, "groups, weights or strata"),
        (Bootstrap("oob", samples=short), {}, "needs samples of n rows"),
        (Bootstrap("oob", replicates=3), {}, "too few|never left out"),
    ]:
        found = tr.estimate_risk(model, X, NUMBERS, cv=method, **options)
        assert found.std_error is None
        assert found.interval is None
        assert any(note for note in found.notes if why.split("|")[0] in note or "never" in note)


def test_rows_never_left_out_are_told() -> None:
    """They do not count, as the document says, and a note says how many they are."""
    samples = np.array([[0, 0, 1, 2], [0, 1, 1, 3]])
    rows, y = np.arange(4.0)[:, None], np.array([0.0, 1.0, 2.0, 6.0])
    method = Bootstrap("oob", samples=samples)
    found = tr.estimate_risk(DummyRegressor(), rows, y, cv=method)
    assert found.value == ((6 - 3 / 4) ** 2 + (2 - 2) ** 2) / 2
    assert found.loss_rows.tolist() == [2, 3]
    assert found.notes[0].startswith("2 rows are in every sample and were never left out")


def test_cuts_are_told() -> None:
    """Err₁ above the no-information risk, and a no-information risk not above the apparent."""
    found = tr.estimate_risk(
        KNeighborsClassifier(1), X[::-1], CODES, cv=Bootstrap(samples=SAMPLES[:, ::-1])
    )
    table = found.table
    assert ("is cut to it" in " ".join(found.notes)) == (table["oob"] > table["no_information"])
    constant = tr.estimate_risk(DummyRegressor(), X, NUMBERS, cv=Bootstrap(replicates=20))
    assert constant.table["no_information"] == pytest.approx(constant.table["apparent"])
    assert constant.table["overfitting"] in (0.0, 1.0)


def test_groups_are_drawn_whole() -> None:
    """No group is on both sides, so nothing is warned of; oob of rows would leak."""
    groups = np.arange(N) // 3
    data = Data.check(X, NUMBERS, task="regression", groups=groups)
    plan = Bootstrap("oob").plan(data, Streams(0))
    assert not len(leaks_of(data, plan, "groups")["groups"])
    for kind in KINDS:
        tr.estimate_risk(Ridge(), X, NUMBERS, cv=Bootstrap(kind, 20), groups=groups)


def test_strata_and_words() -> None:
    """The method's word says what is not usual."""
    assert Bootstrap().word == ".632+"
    assert Bootstrap("oob", 50, stratify=True).word == "oob (bootstrap, B=50, stratified)"
    assert Bootstrap(samples=SAMPLES, convention="ipred").word == ".632+ (given samples, ipred)"
    data = Data.check(X, CODES, task="classification")
    plan = Bootstrap("optimism", 9, stratify=True).plan(data, Streams(0))
    sizes = np.bincount(CODES)
    for f in range(9):
        rows, times = plan.train_rows(f)
        assert np.bincount(CODES[rows], weights=times).tolist() == sizes.tolist()


# -- losses of whole sets -----------------------------------------------------------------------


def test_samples_without_the_loss_do_not_count() -> None:
    """A left-out part of one class has no AUC: the mean is over the others, and a note says so."""
    y = np.array([0] * 20 + [1] * 4)
    found = tr.estimate_risk(GaussianNB(), X, y, cv=Bootstrap("oob", 40), scoring="auc")
    assert 0 <= found.value <= 1
    assert any("does not exist on what" in note for note in found.notes)


def test_scorers() -> None:
    """A scorer rates each model; where y has to be moved against answers it is refused."""
    for kind in ("bootstrap", "oob", ".632"):
        method = Bootstrap(kind, samples=SAMPLES)
        share = tr.estimate_risk(GaussianNB(), X, CODES, cv=method, scoring="f1_micro")
        assert 0 < share.value < 1
    for kind in (".632+", "optimism"):
        with pytest.raises(Refusal, match="cannot use the scorer f1_micro"):
            tr.estimate_risk(GaussianNB(), X, CODES, cv=kind, scoring="f1_micro")


# -- what goes wrong ----------------------------------------------------------------------------


def test_failed_fits_have_no_value() -> None:
    """A sample of one class fails the fit of logistic regression, and the candidate has no risk."""
    samples = np.vstack([SAMPLES, np.full((1, N), int(np.flatnonzero(CODES)[0]))])
    engine = tr.engines.Generic(error="warn")
    for kind in KINDS:
        with pytest.warns(FitFailedWarning, match="1 of"):
            found = tr.estimate_risk(
                LogisticRegression(),
                X,
                CODES,
                cv=Bootstrap(kind, samples=samples),
                engine=engine,
            )
        assert found.value is None
        assert "1 of" in found.notes[0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kind": "632"}, UnknownName, "kind='632' is unknown"),
        ({"replicates": 0}, BadData, "replicates=0"),
        ({"convention": "r"}, UnknownName, "convention='r' is unknown"),
    ],
)
def test_bad_options(options, error, message) -> None:
    """Unknown kinds and conventions, no replicates."""
    with pytest.raises(error, match=message):
        Bootstrap(**options)


def test_samples_that_miss_nothing() -> None:
    """Permutations leave no row out: there is no leave-one-out bootstrap of them."""
    method = Bootstrap("oob", samples=np.arange(N)[None, :])
    with pytest.raises(BadData, match="none of the 1 samples misses a row"):
        tr.estimate_risk(Ridge(), X, NUMBERS, cv=method)
    with pytest.raises(BadData, match="one row leaves none out"):
        tr.estimate_risk(Ridge(), X[:1], NUMBERS[:1], cv="oob")


@pytest.mark.parametrize("moved", [0.0, 1e-14, -1e-14])
def test_a_no_information_risk_equal_but_for_rounding_is_no_overfitting(moved):
    """Of a constant target it is the apparent risk, summed in another order: R is 0 either way."""
    assert weight_632_plus(0.3, 0.5, 0.3 * (1 + moved))[1:] == (0.0, 0.632)


def test_losses_of_a_constant_target_do_not_hang_on_the_order_of_sums():
    """Rows that are never left out take the losses away, whatever rounding says of R."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(9, 2)), np.full(9, 0.1)
        method = Bootstrap(".632+", replicates=6)
        curve = tr.risk_curve(KernelRidge(), {"alpha": [1e-3, 1.0]}, X, y, cv=method)
        times = [estimate.table["overfitting"] for estimate in curve]
        assert times == [0.0, 0.0]


def test_losses_that_are_rounding_alone_have_no_overfitting():
    """Neighbours weighed by distance miss a constant target by a last bit, or not."""
    X, y = np.array([[3.0], [5.0], [7.0], [2.0], [0.0]]), np.full(5, -0.95)
    model, method = KNeighborsRegressor(weights="distance"), Bootstrap(".632+", replicates=8)
    for engine in ("auto", "generic"):
        found = tr.estimate_risk(model, X, y, cv=method, engine=engine)
        assert found.table["overfitting"] == 0.0
        assert found.value == pytest.approx(0, abs=1e-25)


def test_a_setting_without_spread_takes_no_error_from_another():
    """Whether there is a standard error is said of each setting by itself."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 1)), np.r_[np.zeros(6), np.ones(6)].astype(int)
    X[:, 0] += 20 * y
    grid = {"n_neighbors": [1, 12]}
    both = tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv=Bootstrap("oob", 400))
    alone = tr.risk_curve(KNeighborsClassifier(12), None, X, y, cv=Bootstrap("oob", 400))
    assert both[0].std_error is None
    assert both[1].std_error == alone[0].std_error is not None
