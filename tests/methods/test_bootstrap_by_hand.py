"""The bootstrap family equals its formulas, one row at a time, and R's ipred."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.support.data import checked, normal_rows
from tests.support.plans import drawn, drawn_with_copies

import truerisk as tr
from truerisk.methods import Bootstrap, Nested
from truerisk.methods.bootstrap import weight_632_plus

KINDS = ("bootstrap", "oob", ".632", ".632+", "optimism")
N, B = 24, 12
X, CODES, NUMBERS = normal_rows(N, seed=0)
SAMPLES = np.random.default_rng(0).integers(N, size=(B, N))


def is_wrong(y, answer):
    return float(y != answer)


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
            np.average(c[rows], weights=weights[rows])
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
def test_bootstrap_of_classes_is_the_book_row_by_row(kind, seed):
    """Naive Bayes on samples drawn by the method itself, also with weights of the rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(15, 30))
    rows, y = rng.normal(size=(n, 2)), rng.integers(2, size=n)
    weights = rng.uniform(0.5, 2, n) if seed % 2 else None
    method = Bootstrap(kind, replicates=7)
    plan = drawn(method, checked(rows, y), seed)
    samples = [drawn_with_copies(plan, f) for f in range(7)]

    def fitted(seen):
        given = None if weights is None else weights[seen]
        return GaussianNB().fit(rows[seen], y[seen], sample_weight=given).predict(rows)

    wanted = by_the_book(kind, fitted, is_wrong, y, samples, weights)
    given = {"cv": method, "sample_weight": weights, "random_state": seed}
    found = tr.estimate_risk(GaussianNB(), rows, y, **given)
    assert found.value == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("loss", "model", "y", "cost"),
    [
        ("squared", LinearRegression(), NUMBERS, lambda y, f: (y - f) ** 2),
        ("absolute", LinearRegression(), NUMBERS, lambda y, f: abs(y - f)),
        ("brier", GaussianNB(), CODES, lambda y, f: (y - f) ** 2),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_bootstrap_of_other_losses_is_the_book_row_by_row(kind, loss, model, y, cost):
    def fitted(seen):
        model.fit(X[seen], y[seen])
        return model.predict_proba(X)[:, 1] if loss == "brier" else model.predict(X)

    wanted = by_the_book(kind, fitted, cost, y, SAMPLES)
    method = Bootstrap(kind, samples=SAMPLES)
    found = tr.estimate_risk(model, X, y, cv=method, scoring=loss)
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
def test_weight_632_plus_gives_the_golden_values(err, out, gamma, value):
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
U = park_miller(30 * (3 + 25))
ROWS, Z = U[:60].reshape(2, 30).T, U[60:90]
DRAWN_BY_R = np.floor(30 * U[90:]).astype(int).reshape(25, 30)


@pytest.mark.parametrize("name", IPRED)
def test_bootstrap_of_classes_equals_ipred(name):
    """R's numbers with the same samples; its uncut Err₁ is an option, ours is cut."""
    y = (ROWS.sum(axis=1) + Z > 1.5) if name == "signal" else Z > 0.6

    def value(kind, **options):
        method = Bootstrap(kind, samples=DRAWN_BY_R, **options)
        lda = tr.models.LinearDiscriminant()
        return tr.estimate_risk(lda, ROWS, y.astype(int), cv=method).value

    first, plus = IPRED[name]
    assert value("oob") == pytest.approx(first, rel=1e-12)
    assert value(".632+", convention="ipred") == pytest.approx(plus, rel=1e-10)
    assert value(".632+") == pytest.approx(plus if name == "signal" else 0.5, rel=1e-12)


def test_bootstrap_of_numbers_equals_ipred():
    """The root of the leave-one-out bootstrap of a linear model is R's."""
    method, y = Bootstrap("oob", samples=DRAWN_BY_R), ROWS[:, 0] - ROWS[:, 1] + Z
    found = tr.estimate_risk(LinearRegression(), ROWS, y, cv=method)
    assert found.value**0.5 == pytest.approx(IPRED_LM, rel=1e-12)


def test_bootstrap_of_a_tuned_rule_is_the_book():
    """.632+ of "choose k by 3-fold, then fit": each sample tunes on its distinct rows."""
    ks, method = [1, 7], Nested(Bootstrap(replicates=6), "3-fold")
    curve = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": ks}, X, CODES, cv=method)
    plan, samples, answers = curve.evaluation.plan, [], {}
    for q in drawn(method, checked(X, CODES)).questions("outer"):
        sample, risks = drawn_with_copies(plan, plan.fit[q]), []
        for k in ks:
            wrong = []
            for i in np.flatnonzero(plan.unit == q):
                seen, asked = drawn_with_copies(plan, plan.fit[i]), plan.test_rows(int(i))[0]
                fit = KNeighborsClassifier(k).fit(X[seen], CODES[seen])
                wrong += list(fit.predict(X[asked]) != CODES[asked])
            risks.append(np.mean(wrong))
        best = KNeighborsClassifier(ks[int(np.argmin(risks))]).fit(X[sample], CODES[sample])
        answers[sample.tobytes()] = best.predict(X)
        samples.append(sample)
    answers[np.arange(N).tobytes()] = answers[samples[-1].tobytes()]
    wanted = by_the_book(
        ".632+", lambda seen: answers[seen.tobytes()], is_wrong, CODES, samples[:-1]
    )
    assert curve.procedure.value == pytest.approx(wanted, abs=1e-12)
    assert curve.procedure.table["n"] == len(curve.evaluation.units) == 6


def test_bootstrap_of_auc_is_averaged_over_samples():
    """Err₁ = 1 − AUC is the mean over samples, no information's ½; training AUC counts copies."""

    def lack(rows, asked):
        scores = GaussianNB().fit(X[rows], CODES[rows]).predict_proba(X[asked])[:, 1]
        return 1 - roc_auc_score(CODES[asked], scores)

    every = np.arange(N)
    err = lack(every, every)
    out, whole, training = np.mean(
        [[lack(s, np.setdiff1d(every, s)), lack(s, every), lack(s, s)] for s in SAMPLES], axis=0
    )
    used, _, weight = weight_632_plus(err, out, 0.5)
    wanted = {
        "bootstrap": whole,
        "oob": out,
        ".632": 0.368 * err + 0.632 * out,
        ".632+": (1 - weight) * err + weight * used,
        "optimism": err + whole - training,
    }
    for kind, value in wanted.items():
        method = Bootstrap(kind, samples=SAMPLES)
        found = tr.estimate_risk(GaussianNB(), X, CODES, cv=method, scoring="auc")
        assert found.value == pytest.approx(1 - value, abs=1e-12)
        assert found.table is None or found.table["corrected"] == found.value
        assert found.losses is None
        assert "averaged over the samples" in " ".join(found.notes)
