"""Standard errors and intervals are those of the textbook, or there is none and a reason."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import RepeatedKFold
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

RNG = np.random.default_rng(5)
N = 48
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
NUMBERS = X[:, 0] + RNG.normal(size=N)
GROUPS = np.arange(N) // 3


def estimate(method, **more):
    return tr.estimate_risk(KNeighborsClassifier(3), X, Y, cv=method, **more)


@pytest.mark.parametrize("level", [0.95, 0.8])
@pytest.mark.parametrize("method", ["6-fold", "loo", "nested"])
def test_wald_is_the_normal_interval_of_the_mean(method, level) -> None:
    """Standard error s/√n of the losses, and ± z times it."""
    given = {"cv": method, "confidence_level": level, "interval": "wald"}
    found = tr.estimate_risk(Ridge(), X, NUMBERS, **given)
    assert found.value == pytest.approx(found.losses.mean())
    assert found.std_error == pytest.approx(stats.sem(found.losses))
    z = stats.norm.ppf((1 + level) / 2)
    assert found.interval.low == pytest.approx(found.value - z * found.std_error)
    assert found.interval.high == pytest.approx(found.value + z * found.std_error)
    assert (found.interval.method, found.interval.confidence_level) == ("wald", level)


def test_grouped_wald_adds_up_groups_first() -> None:
    """With groups, residuals are summed by group before they are squared."""
    found = estimate("4-fold", groups=GROUPS, interval="wald")
    residuals = found.losses - found.losses.mean()
    sums = np.array([residuals[g == GROUPS].sum() for g in range(16)])
    assert found.std_error == pytest.approx(np.sqrt(16 / 15 * (sums**2).sum()) / N)
    assert found.interval.method == "wald-grouped"


def test_weighted_wald_is_the_error_of_a_weighted_mean() -> None:
    """With weights w that sum to 1: se² = m/(m−1) Σ w² (ℓ − mean)²."""
    weights = RNG.random(N)
    model = LogisticRegression()
    found = tr.estimate_risk(model, X, Y, cv="4-fold", sample_weight=weights)
    w = weights / weights.sum()
    mean = (w * found.losses).sum()
    assert found.value == pytest.approx(mean)
    expected = np.sqrt(N / (N - 1) * (w**2 * (found.losses - mean) ** 2).sum())
    assert found.std_error == pytest.approx(expected)


@pytest.mark.parametrize(
    ("method", "ratio", "j"),
    [
        ("5x4-fold", 12 / 36, 20),
        (RepeatedKFold(n_splits=3, n_repeats=4, random_state=0), 16 / 32, 12),
        (tr.methods.MonteCarlo(15, test_share=0.25), 12 / 36, 15),
    ],
    ids=str,
)
def test_corrected_t_is_that_of_nadeau_and_bengio(method, ratio, j) -> None:
    """se² = s²(1/J + n_test/n_train) over the splits, t with J − 1 degrees of freedom."""
    given = {"cv": method, "confidence_level": 0.9, "interval": "corrected-t"}
    found = tr.estimate_risk(Ridge(), X, NUMBERS, **given)
    splits = found.split_risks
    assert len(splits) == j
    expected = np.sqrt(splits.var(ddof=1) * (1 / j + ratio))
    assert found.std_error == pytest.approx(expected)
    low, high = stats.t.interval(0.9, j - 1, loc=found.value, scale=expected)
    assert found.interval.high == pytest.approx(high)
    assert found.interval.low == pytest.approx(max(low, 0))
    assert found.interval.method == "corrected-t"


@pytest.mark.parametrize("method", ["holdout", "three-way"])
def test_a_hold_out_has_the_beta_posterior(method) -> None:
    """Errors e of n test rows: equal-tailed quantiles of Beta(e + 1, n − e + 1)."""
    found = estimate(method)
    e, n = found.losses.sum(), len(found.losses)
    expected = stats.beta.interval(0.95, e + 1, n - e + 1)
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)
    assert found.interval.method == "beta"
    assert found.std_error == pytest.approx(stats.sem(found.losses))


def test_a_perfect_hold_out_still_has_an_interval() -> None:
    """No errors in n rows: no standard error, and the posterior says how sure that is."""
    X, y = np.arange(60.0)[:, None], np.arange(60) >= 30
    found = tr.estimate_risk(KNeighborsClassifier(1), X, y.astype(int), cv="holdout")
    assert (found.value, found.std_error) == (0, None)
    assert found.interval.low == pytest.approx(stats.beta.ppf(0.025, 1, 21))
    assert found.interval.high == pytest.approx(stats.beta.ppf(0.975, 1, 21))
    assert len(found.notes) == 1


@pytest.mark.parametrize("more", [{"groups": GROUPS}, {"sample_weight": RNG.random(N)}])
def test_dependent_or_weighted_tests_have_no_binomial_posterior(more) -> None:
    """With groups or weights the error count is not binomial: Wald instead."""
    found = tr.estimate_risk(LogisticRegression(), X, Y, cv="holdout", **more)
    assert found.interval.method.startswith("wald")


@pytest.mark.parametrize(
    ("method", "loss", "reason"),
    [
        ("apparent", None, "no estimate of a true risk"),
        ("reversed 4-fold", None, "overlap"),
        ("loo", "auc", "no per-row losses"),
        ("holdout", "auc", "no per-row losses"),
        ("4-fold", "f1_micro", "no per-row losses"),
    ],
)
def test_without_a_formula_there_is_a_reason(method, loss, reason) -> None:
    """None, never an invented number, and a note that says why."""
    found = tr.estimate_risk(LogisticRegression(), X, Y, cv=method, scoring=loss)
    assert (found.std_error, found.interval) == (None, None)
    assert any(reason in note for note in found.notes)
    assert np.isfinite(found.value)


@pytest.mark.parametrize("method", ["4-fold", "3x4-fold"])
def test_no_spread_says_nothing(method) -> None:
    """If every row or split has the same loss there is no standard error, and a note."""
    model = DummyClassifier(strategy="constant", constant=1)
    found = tr.estimate_risk(model, X, Y, cv=method, scoring=lambda y, f: np.full(len(y), 0.5))
    assert found.value == pytest.approx(0.5)
    assert (found.std_error, found.interval) == (None, None)
    assert "spread is 0" in found.notes[0]


def test_one_tested_row_has_no_spread() -> None:
    """One row, or one split of repeated rows, has no standard error."""
    found = tr.estimate_risk(Ridge(), X, NUMBERS, cv=[(np.arange(1, N), [0])])
    assert (found.std_error, found.interval) == (None, None)
    assert "one tested row has no spread" in found.notes[0]


def test_intervals_stay_where_the_loss_can_be() -> None:
    """An interval of a share of errors stays in [0, 1]; one of a free loss may be negative."""
    model = KNeighborsClassifier(3)
    given = {"cv": "3-fold", "confidence_level": 1 - 1e-9, "interval": "wald"}
    found = tr.estimate_risk(model, X[:12], Y[:12], **given)
    assert (found.interval.low, found.interval.high) == (0, 1)
    free = tr.estimate_risk(Ridge(), X, NUMBERS, scoring=lambda y, f: y - f)
    assert free.interval.low < 0


@pytest.mark.parametrize("interval", ["wald", "log-cv", "ncv"])
@pytest.mark.parametrize("grouped", [False, True])
def test_what_has_no_weight_does_not_count(interval, grouped) -> None:
    """Rows, or whole groups, of weight 0 leave the value and the interval as if they were gone."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(36, 2)), rng.normal(size=36)
    groups = np.arange(36) // 3 if grouped else None
    folds, weight = np.arange(36) // 3 % 4, np.ones(36)
    weight[[3, 4, 5, 21, 22, 23]] = 0
    own = weight > 0

    def estimate(some):
        given = {"groups": None if groups is None else groups[some], "interval": interval}
        method = tr.methods.KFold(folds=folds[some])
        if interval == "ncv":
            method = tr.methods.NestedInterval(repeats=1, folds=folds[some])
        given |= {"cv": method, "sample_weight": weight[some]}
        return tr.estimate_risk(Ridge(), rows[some], y[some], **given)

    here, there = estimate(weight >= 0), estimate(own)
    assert here.value == pytest.approx(there.value)
    assert here.std_error == pytest.approx(there.std_error)
    assert (here.interval.low, here.interval.high) == pytest.approx(
        (there.interval.low, there.interval.high)
    )
