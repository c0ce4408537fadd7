"""The bootstrap family equals its formulas row by row, R's ipred, and what simulation says."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import truerisk as tr
from truerisk.core.contracts import Streams
from truerisk.core.errors import BadData, FitFailedWarning, Refusal, UnknownName
from truerisk.core.plan.leaks import across
from truerisk.core.results import RiskEstimate
from truerisk.core.table.data import Data
from truerisk.methods import Bootstrap, KFold, Nested
from truerisk.methods.bootstrap import weight_632_plus
from truerisk.testing import method_checks

KINDS = ("bootstrap", "oob", ".632", ".632+", "optimism")
SLOW = ("same_result_in_another_process", "same_result_on_any_executor")
RNG = np.random.default_rng(0)
N, B = 24, 12
X = RNG.normal(size=(N, 2))
CODES = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
NUMBERS = X[:, 0] + RNG.normal(size=N)
SAMPLES = RNG.integers(N, size=(B, N))


def checks() -> list:
    """All checks for two kinds; for the others those that start no process."""
    found = []
    for kind in KINDS:
        some = method_checks(Bootstrap(kind, replicates=8))
        usual = kind in (".632+", "optimism")
        found += [pytest.param(c, id=f"{kind} {c}") for c in some if usual or str(c) not in SLOW]
    return found


@pytest.mark.parametrize("check", checks())
def test_conforms(check) -> None:
    """The published checks of any method."""
    check()


# -- formulas -----------------------------------------------------------------------------------


def by_the_book(kind, fitted, loss, y, samples, weights=None) -> float:
    """The estimate one observation, and one pair, at a time; `fitted(rows)` gives all answers."""
    n = len(y)
    weights = np.ones(n) if weights is None else weights
    answers = [fitted(rows) for rows in samples]
    own = fitted(np.arange(n))
    costs = np.array([[loss(y[i], f[i]) for i in range(n)] for f in answers])
    err = np.average([loss(y[i], own[i]) for i in range(n)], weights=weights)
    if kind == "bootstrap":
        return float(np.average(costs.mean(axis=0), weights=weights))
    if kind == "optimism":
        training = [
            sum(weights[i] * c[i] for i in rows) / sum(weights[i] for i in rows)
            for rows, c in zip(samples, costs, strict=True)
        ]
        return float(err + np.average(costs.mean(axis=0), weights=weights) - np.mean(training))
    of_rows, counted = [], []
    for i in range(n):
        out = [c[i] for rows, c in zip(samples, costs, strict=True) if i not in rows]
        if out:
            of_rows.append(np.mean(out))
            counted.append(weights[i])
    first = np.average(of_rows, weights=counted)
    if kind == "oob":
        return float(first)
    if kind == ".632":
        return float(0.368 * err + 0.632 * first)
    pairs = [[loss(y[i], own[j]) for j in range(n)] for i in range(n)]
    gamma = weights @ np.array(pairs) @ weights / weights.sum() ** 2
    cut = min(first, gamma)
    ratio = (cut - err) / (gamma - err) if first > err and gamma > err else 0
    weight = 0.632 / (1 - 0.368 * ratio)
    return float((1 - weight) * err + weight * cut)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_zero_one_loss_row_by_row(kind, seed) -> None:
    """Naive Bayes on samples drawn by the method itself, also with weights of the rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(15, 30))
    rows, y = rng.normal(size=(n, 2)), rng.integers(2, size=n)
    weights = rng.uniform(0.5, 2, n) if seed % 2 else None
    method = Bootstrap(kind, replicates=7)
    data = Data.check(rows, y, task="classification")
    plan = method.plan(data, Streams(seed))
    samples = [np.repeat(*plan.train_rows(f)) for f in range(7)]

    def fitted(drawn):
        given = None if weights is None else weights[drawn]
        return GaussianNB().fit(rows[drawn], y[drawn], sample_weight=given).predict(rows)

    wanted = by_the_book(kind, fitted, lambda a, b: float(a != b), y, samples, weights)
    found = tr.estimate_risk(
        GaussianNB(), rows, y, method=method, sample_weight=weights, random_state=seed
    )
    assert found.value == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("loss", "cost"),
    [("squared", lambda a, b: (a - b) ** 2), ("absolute", lambda a, b: abs(a - b))],
)
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_row_by_row(kind, loss, cost) -> None:
    """Least squares on given samples, squared and absolute loss, for every kind."""

    def fitted(drawn):
        return LinearRegression().fit(X[drawn], NUMBERS[drawn]).predict(X)

    wanted = by_the_book(kind, fitted, cost, NUMBERS, SAMPLES)
    method = Bootstrap(kind, samples=SAMPLES)
    found = tr.estimate_risk(LinearRegression(), X, NUMBERS, method=method, loss=loss)
    assert found.value == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_brier_row_by_row(kind) -> None:
    """Probabilities of naive Bayes, for every kind."""

    def fitted(drawn):
        return GaussianNB().fit(X[drawn], CODES[drawn]).predict_proba(X)[:, 1]

    wanted = by_the_book(kind, fitted, lambda y, p: (p - y) ** 2, CODES, SAMPLES)
    method = Bootstrap(kind, samples=SAMPLES)
    found = tr.estimate_risk(GaussianNB(), X, CODES, method=method, loss="brier")
    assert found.value == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize(
    ("err", "out", "gamma", "value"),
    [
        (0.1, 0.2, 0.5, 0.16960),
        (0.3, 0.25, 0.5, 0.2684),
        (0.0, 0.5, 0.5, 0.5),
        (0.0, 0.3, 0.48, 0.24623),
    ],
)
def test_golden_values(err, out, gamma, value) -> None:
    """Efron and Tibshirani's .632+ from (apparent risk, Err₁, no-information risk)."""
    used, _, weight = weight_632_plus(err, out, gamma)
    assert (1 - weight) * err + weight * used == pytest.approx(value, abs=5e-6)


def park_miller(m: int) -> np.ndarray:
    """Uniform numbers that R can draw as well."""
    state, found = 1, []
    for _ in range(m):
        state = state * 16807 % 2147483647
        found.append(state / 2147483647)
    return np.array(found)


# R 4.2 with ipred 0.9-13:
#   library(ipred); library(MASS); n <- 30; B <- 25; s <- 1
#   draw <- function() { s <<- (s * 16807) %% 2147483647; s / 2147483647 }
#   u <- function(m) replicate(m, draw())
#   x1 <- u(n); x2 <- u(n); z <- u(n); tindx <- lapply(1:B, function(b) floor(n * u(n)) + 1)
#   p <- control.errorest(list.tindx = tindx)
#   pred <- function(object, newdata) predict(object, newdata = newdata)$class
#   errorest(y ~ ., data.frame(y, x1, x2), model = lda, predict = pred, estimator = "boot",
#            est.para = p)$error                                       # and "632plus"
# for y <- factor(x1 + x2 + z > 1.5) and y <- factor(z > .6), then with model = lm and
# y <- x1 - x2 + z. ipred's .632+ of the second is larger than 1: it does not cut Err₁ in R.
IPRED = {
    "signal": (0.2235449735449735, 0.2050222432987828),
    "noise": (0.5551647426647427, 1.418220473846197),
}
IPRED_LM = 0.3366368564015881


def with_ipred() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, noise and samples of the R session."""
    u = park_miller(30 * (3 + 25))
    samples = np.floor(30 * u[90:]).astype(int).reshape(25, 30)
    return u[:60].reshape(2, 30).T, u[60:90], samples


@pytest.mark.parametrize("name", IPRED)
def test_equals_ipred(name) -> None:
    """R's numbers with the same samples; its uncut Err₁ is an option, ours is cut."""
    rows, z, samples = with_ipred()
    y = (rows.sum(axis=1) + z > 1.5) if name == "signal" else z > 0.6
    lda = tr.models.LinearDiscriminant()

    def value(kind, **options):
        method = Bootstrap(kind, samples=samples, **options)
        return tr.estimate_risk(lda, rows, y.astype(int), method=method).value

    first, plus = IPRED[name]
    assert value("oob") == pytest.approx(first, rel=1e-12)
    assert value(".632+", convention="ipred") == pytest.approx(plus, rel=1e-10)
    assert value(".632+") == pytest.approx(plus if name == "signal" else 0.5, rel=1e-12)


def test_equals_ipred_for_numbers() -> None:
    """The root of the leave-one-out bootstrap of a linear model is R's."""
    rows, z, samples = with_ipred()
    method = Bootstrap("oob", samples=samples)
    found = tr.estimate_risk(LinearRegression(), rows, rows[:, 0] - rows[:, 1] + z, method=method)
    assert found.value**0.5 == pytest.approx(IPRED_LM, rel=1e-12)


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
                    KNeighborsClassifier(1), rows, y, method=Bootstrap(kind), random_state=seed
                ).value
                for kind in (".632+", ".632")
            ]
        )
    plus, point = np.mean(found, axis=0)
    assert plus == pytest.approx(0.5, abs=0.04)
    assert point == pytest.approx(0.32, abs=0.03)


def test_a_tuned_rule_inside_the_bootstrap() -> None:
    """Pure noise: inner folds by row identity keep the inner risk honest, and the outer at .5.

    Folds of the copies would say .24 inside, since the copy of a row is its nearest neighbour.
    """
    rng = np.random.default_rng(0)
    y, found = np.arange(60) % 2, []
    grid = {"n_neighbors": [1, 3, 5, 7, 9, 11, 15]}
    method = Nested(Bootstrap("oob", replicates=30), "5-fold")
    for seed in range(12):
        rows = rng.normal(size=(60, 5))
        curve = tr.risk_curve(
            KNeighborsClassifier(), grid, rows, y, method=method, random_state=seed
        )
        inner = np.mean([unit.inner_risk for unit in curve.evaluation.units])
        found.append([curve.procedure.value, inner])
    outer, inner = np.mean(found, axis=0)
    assert outer == pytest.approx(0.5, abs=0.03)
    assert inner == pytest.approx(0.42, abs=0.03)


def test_copies_never_straddle_inner_folds() -> None:
    """No inner fit sees a copy of a row that it is asked about."""
    data = Data.check(X, CODES, task="classification")
    plan = Nested(Bootstrap(".632+", replicates=5), "3-fold").plan(data, Streams(0))
    inner = plan.questions("inner")
    assert len(inner) == 3 * (5 + 1)
    for q in inner:
        seen = plan.train_rows(int(plan.fit[q]))[0]
        assert not set(seen) & set(plan.test_rows(int(q))[0])
    assert any(plan.train_rows(int(plan.fit[q]))[1] is not None for q in inner)


@pytest.mark.parametrize("inner", [*KINDS, "3-fold", "reversed 3-fold"])
def test_inner_questions_never_count_copies(inner) -> None:
    """Apparent, training and left-out means inside a sample are over rows of equal weight.

    With copies counted in one of them, .632 would add risks of two populations, and the optimism
    be a difference of two.
    """
    data = Data.check(X, CODES, task="classification")
    chosen = Bootstrap(inner, replicates=5) if inner in KINDS else inner
    plan = Nested(Bootstrap("oob", replicates=3), chosen).plan(data, Streams(0))
    questions = plan.questions("inner")
    assert all(plan.test_rows(int(q))[1] is None for q in questions)
    whole = [set(plan.train_rows(fit)[0]) for fit in range(3)]
    assert all(set(plan.test_rows(int(q))[0]) <= whole[plan.unit[q]] for q in questions)


def test_a_tuned_rule_has_the_same_estimate_by_hand() -> None:
    """.632+ of "choose k by 3-fold, then fit": each sample tunes on its distinct rows."""
    grid = {"n_neighbors": [1, 7]}
    method = Nested(Bootstrap(replicates=6), "3-fold")
    curve = tr.risk_curve(KNeighborsClassifier(), grid, X, CODES, method=method)
    data = Data.check(X, CODES, task="classification")
    plan = curve.evaluation.plan
    outer = method.plan(data, Streams(0)).questions("outer")
    samples, answers = [], {}
    for q in outer:
        rows, times = plan.train_rows(int(plan.fit[q]))
        drawn = rows if times is None else np.repeat(rows, times)
        risks = []
        for k in grid["n_neighbors"]:
            wrong = []
            for i in np.flatnonzero(plan.unit == q):
                seen, copies = plan.train_rows(int(plan.fit[i]))
                seen = seen if copies is None else np.repeat(seen, copies)
                fit = KNeighborsClassifier(k).fit(X[seen], CODES[seen])
                asked = plan.test_rows(int(i))[0]
                wrong += list(fit.predict(X[asked]) != CODES[asked])
            risks.append(np.mean(wrong))
        best = grid["n_neighbors"][int(np.argmin(risks))]
        answers[drawn.tobytes()] = KNeighborsClassifier(best).fit(X[drawn], CODES[drawn]).predict(X)
        samples.append(drawn)
    answers[np.arange(N).tobytes()] = answers[samples[-1].tobytes()]
    wanted = by_the_book(
        ".632+",
        lambda drawn: answers[drawn.tobytes()],
        lambda a, b: float(a != b),
        CODES,
        samples[:-1],
    )
    assert curve.procedure.value == pytest.approx(wanted, abs=1e-12)
    assert curve.procedure.table["n"] == len(curve.evaluation.units) == 6


@pytest.mark.parametrize("kind", KINDS)
def test_inside_a_search(kind) -> None:
    """A search may choose by any kind, and have its honest risk by any kind."""
    grid = {"n_neighbors": [1, 3, 5]}
    options = {"select_by": KFold(3), "outer": Bootstrap(kind, replicates=5)}
    search = tr.HonestSearchCV(KNeighborsClassifier(), grid, **options).fit(X, CODES)
    assert search.risk_.method == f"nested ({kind_word(kind)}, inner 3-fold)"
    assert len(search.outer_) == 5
    chosen = tr.HonestSearchCV(
        KNeighborsClassifier(), grid, select_by=Bootstrap(kind, replicates=5), outer=KFold(3)
    ).fit(X, CODES)
    inner = Nested(KFold(3), Bootstrap(kind, replicates=5))
    again = tr.risk_curve(KNeighborsClassifier(), grid, X, CODES, method=inner)
    assert chosen.risk_.value == again.procedure.value
    assert len(chosen.outer_) == 3


def kind_word(kind: str) -> str:
    """How a bootstrap of five samples calls itself."""
    return "oob (bootstrap, B=5)" if kind == "oob" else f"{kind} (B=5)"


def test_inner_risks_are_those_of_the_training_rows() -> None:
    """What a fold chooses by is the .632+ of its training rows alone."""
    folds = np.arange(N) % 2
    method = Nested(KFold(folds=folds), Bootstrap(replicates=6), compare=True)
    curve = tr.risk_curve(KNeighborsClassifier(3), None, X, CODES, method=method)
    plan = curve.evaluation.plan
    for unit, told in enumerate(curve.evaluation.units):
        inside = np.flatnonzero(plan.unit == unit)
        train = np.flatnonzero(folds != unit)
        samples = []
        for q in inside[:-1]:
            rows, times = plan.train_rows(int(plan.fit[q]))
            samples.append(np.searchsorted(train, np.repeat(rows, times)))
        given = Bootstrap(samples=np.array(samples))
        own = tr.estimate_risk(KNeighborsClassifier(3), X[train], CODES[train], method=given)
        assert told.inner_risk == pytest.approx(own.value, abs=1e-12)


# -- what a result says -------------------------------------------------------------------------


def test_optimism_has_the_table_of_rms() -> None:
    """Apparent, training, test, optimism, corrected, n; printed, framed and in JSON."""
    method = Bootstrap("optimism", samples=SAMPLES)
    found = tr.estimate_risk(KNeighborsClassifier(3), X, CODES, method=method)
    table = found.table
    assert list(table) == ["apparent", "training", "test", "optimism", "corrected", "n"]
    assert table["optimism"] == table["test"] - table["training"]
    assert table["corrected"] == found.value == table["apparent"] + table["optimism"]
    assert table["n"] == B
    assert str(table).splitlines()[0].split() == list(table)
    frame = found.frame()
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
                found = tr.estimate_risk(KNeighborsClassifier(1), rows, CODES, method=method)
                assert found.losses.mean() == pytest.approx(found.value, abs=1e-12)
                assert found.loss_rows.tolist() == list(range(N))
    assert found.table["oob"] > found.table["no_information"]  # the last was cut


def test_the_jackknife_error_of_err_1() -> None:
    """Over 60 samples of a problem, the mean standard error is the spread of Err₁."""
    found = []
    for seed in range(60):
        rows, y = tr.datasets.make_simple(40, random_state=seed)
        method = Bootstrap("oob", replicates=300)
        found.append(tr.estimate_risk(KNeighborsClassifier(5), rows, y, method=method))
    spread = np.std([f.value for f in found], ddof=1)
    assert all(f.interval is None for f in found)
    errors = [f.std_error for f in found if f.std_error is not None]
    assert len(errors) == 60
    assert np.mean(errors) == pytest.approx(spread, rel=0.35)


def test_no_error_where_no_formula_holds() -> None:
    """Other kinds, weights, groups, strata, unequal samples have none and say why."""
    model, short = LinearRegression(), SAMPLES[:, :-1]
    for kind in set(KINDS) - {"oob"}:
        found = tr.estimate_risk(model, X, NUMBERS, method=Bootstrap(kind, samples=SAMPLES))
        assert found.std_error is None
        assert "no formula is known" in found.notes[-1]
    groups = np.arange(N) // 2
    for method, options, why in [
        (Bootstrap("oob"), {"groups": groups}, "groups, weights or strata"),
        (Bootstrap("oob"), {"sample_weight": np.ones(N)}, "groups, weights or strata"),
        (Bootstrap("oob", samples=short), {}, "needs samples of n rows"),
        (Bootstrap("oob", replicates=3), {}, "too few|never left out"),
    ]:
        found = tr.estimate_risk(model, X, NUMBERS, method=method, **options)
        assert found.std_error is None
        assert found.interval is None
        assert any(note for note in found.notes if why.split("|")[0] in note or "never" in note)


def test_rows_never_left_out_are_told() -> None:
    """They do not count, as the document says, and a note says how many they are."""
    samples = np.array([[0, 0, 1, 2], [0, 1, 1, 3]])
    rows, y = np.arange(4.0)[:, None], np.array([0.0, 1.0, 2.0, 6.0])
    method = Bootstrap("oob", samples=samples)
    found = tr.estimate_risk(DummyRegressor(), rows, y, method=method)
    assert found.value == ((6 - 3 / 4) ** 2 + (2 - 2) ** 2) / 2
    assert found.loss_rows.tolist() == [2, 3]
    assert found.notes[0].startswith("2 rows are in every sample and were never left out")


def test_cuts_are_told() -> None:
    """Err₁ above the no-information risk, and a no-information risk not above the apparent."""
    found = tr.estimate_risk(
        KNeighborsClassifier(1), X[::-1], CODES, method=Bootstrap(samples=SAMPLES[:, ::-1])
    )
    table = found.table
    assert ("is cut to it" in " ".join(found.notes)) == (table["oob"] > table["no_information"])
    constant = tr.estimate_risk(DummyRegressor(), X, NUMBERS, method=Bootstrap(replicates=20))
    assert constant.table["no_information"] == pytest.approx(constant.table["apparent"])
    assert constant.table["overfitting"] in (0.0, 1.0)


def test_groups_are_drawn_whole() -> None:
    """No group is on both sides, so nothing is warned of; oob of rows would leak."""
    groups = np.arange(N) // 3
    data = Data.check(X, NUMBERS, task="regression", groups=groups)
    plan = Bootstrap("oob").plan(data, Streams(0))
    assert not len(across(plan, groups))
    for kind in KINDS:
        tr.estimate_risk(Ridge(), X, NUMBERS, method=Bootstrap(kind, 20), groups=groups)


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


def test_auc_is_averaged_over_samples() -> None:
    """Err₁ is the mean over samples, the no-information risk ½, the training AUC counts copies."""
    model = GaussianNB()
    own = model.fit(X, CODES).predict_proba(X)[:, 1]
    err = 1 - roc_auc_score(CODES, own)
    out, all_rows, training = [], [], []
    for rows in SAMPLES:
        scores = GaussianNB().fit(X[rows], CODES[rows]).predict_proba(X)[:, 1]
        left = np.setdiff1d(np.arange(N), rows)
        out.append(1 - roc_auc_score(CODES[left], scores[left]))
        all_rows.append(1 - roc_auc_score(CODES, scores))
        training.append(1 - roc_auc_score(CODES[rows], scores[rows]))
    used, _, weight = weight_632_plus(err, np.mean(out), 0.5)
    wanted = {
        "bootstrap": np.mean(all_rows),
        "oob": np.mean(out),
        ".632": 0.368 * err + 0.632 * np.mean(out),
        ".632+": (1 - weight) * err + weight * used,
        "optimism": err + np.mean(all_rows) - np.mean(training),
    }
    for kind, value in wanted.items():
        method = Bootstrap(kind, samples=SAMPLES)
        found = tr.estimate_risk(GaussianNB(), X, CODES, method=method, loss="auc")
        assert found.value == pytest.approx(value, abs=1e-12)
        assert found.losses is None
        assert "averaged over the samples" in " ".join(found.notes)


def test_samples_without_the_loss_do_not_count() -> None:
    """A left-out part of one class has no AUC: the mean is over the others, and a note says so."""
    y = np.array([0] * 20 + [1] * 4)
    found = tr.estimate_risk(GaussianNB(), X, y, method=Bootstrap("oob", 40), loss="auc")
    assert 0 <= found.value <= 1
    assert any("does not exist on what" in note for note in found.notes)


def test_scorers() -> None:
    """A scorer rates each model; where y has to be moved against answers it is refused."""
    for kind in ("bootstrap", "oob", ".632"):
        method = Bootstrap(kind, samples=SAMPLES)
        accuracy = tr.estimate_risk(GaussianNB(), X, CODES, method=method, loss="accuracy")
        assert 0 < accuracy.value < 1
    for kind in (".632+", "optimism"):
        with pytest.raises(Refusal, match="cannot use the scorer accuracy"):
            tr.estimate_risk(GaussianNB(), X, CODES, method=kind, loss="accuracy")


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
                method=Bootstrap(kind, samples=samples),
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
        tr.estimate_risk(Ridge(), X, NUMBERS, method=method)
    with pytest.raises(BadData, match="one row leaves none out"):
        tr.estimate_risk(Ridge(), X[:1], NUMBERS[:1], method="oob")


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
        curve = tr.risk_curve(KernelRidge(), {"alpha": [1e-3, 1.0]}, X, y, method=method)
        times = [estimate.table["overfitting"] for estimate in curve]
        assert times == [0.0, 0.0]


def test_losses_that_are_rounding_alone_have_no_overfitting():
    """Neighbours weighed by distance miss a constant target by a last bit, or not."""
    X, y = np.array([[3.0], [5.0], [7.0], [2.0], [0.0]]), np.full(5, -0.95)
    model, method = KNeighborsRegressor(weights="distance"), Bootstrap(".632+", replicates=8)
    for engine in ("auto", "generic"):
        found = tr.estimate_risk(model, X, y, method=method, engine=engine)
        assert found.table["overfitting"] == 0.0
        assert found.value == pytest.approx(0, abs=1e-25)


def test_a_setting_without_spread_takes_no_error_from_another():
    """Whether there is a standard error is said of each setting by itself."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 1)), np.r_[np.zeros(6), np.ones(6)].astype(int)
    X[:, 0] += 20 * y
    grid = {"n_neighbors": [1, 12]}
    both = tr.risk_curve(KNeighborsClassifier(), grid, X, y, method=Bootstrap("oob", 400))
    alone = tr.risk_curve(KNeighborsClassifier(12), None, X, y, method=Bootstrap("oob", 400))
    assert both[0].std_error is None
    assert both[1].std_error == alone[0].std_error is not None
