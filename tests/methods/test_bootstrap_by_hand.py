"""The bootstrap family equals its formulas, one row at a time, and R's ipred."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.methods.test_bootstrap import CODES, KINDS, NUMBERS, SAMPLES, N, X

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.data.data import Data
from truerisk.methods import Bootstrap, Nested
from truerisk.methods.bootstrap import weight_632_plus


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
        GaussianNB(), rows, y, cv=method, sample_weight=weights, random_state=seed
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
    found = tr.estimate_risk(LinearRegression(), X, NUMBERS, cv=method, scoring=loss)
    assert found.value == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_brier_row_by_row(kind) -> None:
    """Probabilities of naive Bayes, for every kind."""

    def fitted(drawn):
        return GaussianNB().fit(X[drawn], CODES[drawn]).predict_proba(X)[:, 1]

    wanted = by_the_book(kind, fitted, lambda y, p: (p - y) ** 2, CODES, SAMPLES)
    method = Bootstrap(kind, samples=SAMPLES)
    found = tr.estimate_risk(GaussianNB(), X, CODES, cv=method, scoring="brier")
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
        return tr.estimate_risk(lda, rows, y.astype(int), cv=method).value

    first, plus = IPRED[name]
    assert value("oob") == pytest.approx(first, rel=1e-12)
    assert value(".632+", convention="ipred") == pytest.approx(plus, rel=1e-10)
    assert value(".632+") == pytest.approx(plus if name == "signal" else 0.5, rel=1e-12)


def test_equals_ipred_for_numbers() -> None:
    """The root of the leave-one-out bootstrap of a linear model is R's."""
    rows, z, samples = with_ipred()
    method = Bootstrap("oob", samples=samples)
    found = tr.estimate_risk(LinearRegression(), rows, rows[:, 0] - rows[:, 1] + z, cv=method)
    assert found.value**0.5 == pytest.approx(IPRED_LM, rel=1e-12)


def test_a_tuned_rule_has_the_same_estimate_by_hand() -> None:
    """.632+ of "choose k by 3-fold, then fit": each sample tunes on its distinct rows."""
    grid = {"n_neighbors": [1, 7]}
    method = Nested(Bootstrap(replicates=6), "3-fold")
    curve = tr.risk_curve(KNeighborsClassifier(), grid, X, CODES, cv=method)
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


def test_auc_is_averaged_over_samples() -> None:
    """Err₁ = 1 − AUC is the mean over samples, no information's ½; training AUC counts copies."""
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
        found = tr.estimate_risk(GaussianNB(), X, CODES, cv=method, scoring="auc")
        assert found.value == pytest.approx(1 - value, abs=1e-12)
        assert found.table is None or found.table["corrected"] == found.value
        assert found.losses is None
        assert "averaged over the samples" in " ".join(found.notes)
