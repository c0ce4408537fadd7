"""Textbook intervals of held-out rows: normal, corrected t, Beta; or a reason for none."""

from itertools import count

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import RepeatedKFold
from sklearn.neighbors import KNeighborsClassifier
from tests.support.data import normal_rows

import truerisk as tr
from truerisk.extend import Refusal
from truerisk.methods import KFold, MonteCarlo, NestedInterval

N = 48
X, Y, NUMBERS = normal_rows(N, seed=5)
GROUPS = np.arange(N) // 3
WEIGHTS = np.random.default_rng(5).random(N)
KNN, LINE = KNeighborsClassifier(3), Ridge()


def ends(found):
    return found.interval.low, found.interval.high


def signed(y, answers):
    """A loss that may be negative, for which no interval was calibrated."""
    return y - answers


@pytest.mark.parametrize("level", [0.95, 0.8])
@pytest.mark.parametrize("method", ["6-fold", "loo", "nested"])
def test_wald_is_the_normal_interval_of_the_mean(method, level):
    """Standard error s/√n of the losses, and ± z times it."""
    given = {"cv": method, "confidence_level": level, "interval": "wald"}
    found = tr.estimate_risk(LINE, X, NUMBERS, **given)
    assert found.value == pytest.approx(found.losses.mean())
    assert found.std_error == pytest.approx(stats.sem(found.losses))
    expected = stats.norm.interval(level, found.value, found.std_error)
    assert ends(found) == pytest.approx(expected)
    assert (found.interval.method, found.interval.confidence_level) == ("wald", level)


def test_wald_is_the_usual_interval_of_losses_below_0():
    usual, asked = (
        tr.estimate_risk(LINE, X, NUMBERS, cv="5-fold", scoring=signed, interval=word)
        for word in (None, "wald")
    )
    assert (asked.interval, asked.std_error) == (usual.interval, usual.std_error)
    assert usual.interval.low < 0


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_wald_is_the_error_of_a_weighted_mean_of_groups(weights, groups):
    """With weights w that sum to 1, residuals added up by group: se² = m/(m−1) Σ (Σ w r)²."""
    given = {"sample_weight": weights, "groups": groups, "interval": "wald", "cv": "4-fold"}
    found = tr.estimate_risk(LogisticRegression(), X, Y, **given)
    w = np.ones(N) / N if weights is None else weights / weights.sum()
    assert found.value == pytest.approx(w @ found.losses)
    parts = w * (found.losses - found.value)
    sums = parts if groups is None else np.bincount(groups, parts)
    m = len(sums)
    assert found.std_error == pytest.approx(np.sqrt(m / (m - 1) * (sums**2).sum()))
    assert found.interval.method == ("wald" if groups is None else "wald-grouped")


@pytest.mark.parametrize(
    ("method", "ratio", "j"),
    [
        ("6-fold", 8 / 40, 6),
        ("5x4-fold", 12 / 36, 20),
        (RepeatedKFold(n_splits=3, n_repeats=4, random_state=0), 16 / 32, 12),
        (MonteCarlo(15, test_share=0.25), 12 / 36, 15),
    ],
    ids=str,
)
def test_corrected_t_is_that_of_nadeau_and_bengio(method, ratio, j):
    """se² = s²(1/J + n_test/n_train) over the splits, t with J − 1 degrees of freedom."""
    given = {"cv": method, "confidence_level": 0.9}
    found = tr.estimate_risk(LINE, X, NUMBERS, interval="corrected-t", **given)
    splits = found.split_risks
    assert len(splits) == j
    expected = np.sqrt(splits.var(ddof=1) * (1 / j + ratio))
    assert found.std_error == pytest.approx(expected)
    low, high = stats.t.interval(0.9, j - 1, loc=found.value, scale=expected)
    assert ends(found) == pytest.approx((max(low, 0), high))
    assert found.interval.method == "corrected-t"
    if isinstance(method, MonteCarlo):  # random splits have it unasked
        assert tr.estimate_risk(LINE, X, NUMBERS, **given).interval == found.interval


@pytest.mark.parametrize(
    ("method", "asked", "groups"),
    [
        pytest.param("holdout", None, None, id="holdout"),
        pytest.param("three-way", None, None, id="three-way"),
        pytest.param("6-fold", "beta", None, id="folds"),
        pytest.param("loo", "beta", None, id="leave-one-out"),
        pytest.param("4-fold", "beta", GROUPS, id="groups"),
    ],
)
def test_beta_is_the_posterior_of_an_error_count(method, asked, groups):
    """The ends are equal-tailed quantiles of Beta(e + 1, n − e + 1) for e errors in n test rows.

    Rows in groups count as n/max(1, d) rows. The factor d is that by which the groups enlarge the
    variance of the mean.
    """
    found = tr.estimate_risk(KNN, X, Y, cv=method, interval=asked, groups=groups)
    residuals, n = found.losses - found.losses.mean(), len(found.losses)
    sums = residuals if groups is None else np.bincount(groups, residuals)
    error, m = stats.sem(found.losses), len(sums)
    d = 1 if groups is None else m / (m - 1) * (sums**2).sum() / (n * error) ** 2
    size = n / max(1, d)
    e = size * found.value
    assert ends(found) == pytest.approx(stats.beta.interval(0.95, e + 1, size - e + 1))
    assert found.interval.method == ("beta" if groups is None else "beta-grouped")
    assert found.std_error == pytest.approx(error * d**0.5)
    assert any("different models" in note for note in found.notes) == (asked == "beta")


@pytest.mark.parametrize(
    ("options", "n"), [({"cv": "4-fold", "groups": GROUPS}, 16), ({"cv": "holdout"}, 16)]
)
def test_beta_of_no_errors_counts_the_groups_or_rows_that_were_tested(options, n):
    """No standard error, and the posterior says how sure that is."""
    x = np.sign(X[:, :1]) * (50 + WEIGHTS[:, None])
    found = tr.estimate_risk(KNN, x, X[:, 0] > 0, interval="beta", **options)
    assert (found.value, found.std_error) == (0, None)
    assert ends(found) == pytest.approx(stats.beta.ppf([0.025, 0.975], 1, n + 1))


@pytest.mark.parametrize("more", [{"groups": GROUPS}, {"sample_weight": WEIGHTS}], ids=count())
def test_wald_takes_the_place_of_beta_for_dependent_or_weighted_tests(more):
    found = tr.estimate_risk(LogisticRegression(), X[:, 1:], Y, cv="holdout", **more)
    assert found.interval.method.startswith("wald")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"interval": "wald", "cv": "2x5-fold"}, "tested once.*corrected-t"),
        ({"scoring": "brier"}, "a loss that counts errors, which loss 'brier' cannot give"),
        ({"sample_weight": WEIGHTS}, "rows that count alike, which data with sample_weight"),
        ({"cv": "2x4-fold"}, "tested once"),
        ({"scoring": "auc"}, "loss 'auc'"),
    ],
    ids=count(),
)
def test_classical_interval_is_refused_where_its_formula_does_not_hold(more, message):
    with pytest.raises(Refusal, match=message):
        tr.estimate_risk(LogisticRegression(), X, Y, **{"cv": "4-fold", "interval": "beta"} | more)


def half(y, answers):
    return np.full(len(y), 0.5)


LOGISTIC, ONES = LogisticRegression(), DummyClassifier(strategy="constant", constant=1)


@pytest.mark.parametrize(
    ("model", "method", "loss", "reason"),
    [
        pytest.param(LOGISTIC, "apparent", None, "no estimate of a true risk", id="apparent"),
        pytest.param(LOGISTIC, "reversed 4-fold", None, "overlap", id="reversed"),
        pytest.param(LOGISTIC, "loo", "auc", "computed from whole test sets", id="auc"),
        pytest.param(LOGISTIC, "holdout", "auc", "computed from whole test sets", id="one auc"),
        pytest.param(LOGISTIC, "4-fold", "f1_micro", "computed from whole test sets", id="scorer"),
        pytest.param(
            LOGISTIC, [(np.arange(1, N), [0])], None, "one tested row has no spread", id="one row"
        ),
        pytest.param(ONES, "4-fold", half, "spread is 0", id="rows alike"),
        pytest.param(ONES, "3x4-fold", half, "spread is 0", id="splits alike"),
    ],
)
def test_interval_without_a_formula_or_spread_is_none_and_a_note_says_why(
    model, method, loss, reason
):
    found = tr.estimate_risk(model, X, Y, cv=method, scoring=loss)
    assert (found.std_error, found.interval) == (None, None)
    assert any(reason in note for note in found.notes)
    if loss is half:
        assert reason in found.notes[0]
        assert found.value == 0.5
    assert np.isfinite(found.value)


def test_interval_stays_where_the_loss_can_be():
    given = {"cv": "3-fold", "confidence_level": 1 - 1e-9, "interval": "wald"}
    assert ends(tr.estimate_risk(KNN, X[:12], Y[:12], **given)) == (0, 1)


@pytest.mark.parametrize("interval", ["wald", "log-cv", "ncv"])
@pytest.mark.parametrize("grouped", [False, True])
def test_interval_does_not_count_what_has_no_weight(interval, grouped):
    """Rows, or whole groups, of weight 0 leave the value and the interval as if they were gone."""
    folds, weight = np.arange(N) // 3 % 4, np.ones(N)
    weight[[3, 4, 5, 21, 22, 23]] = 0

    def estimate(some):
        method = KFold(folds=folds[some])
        if interval == "ncv":
            method = NestedInterval(repeats=1, folds=folds[some])
        given = {"groups": GROUPS[some] if grouped else None, "sample_weight": weight[some]}
        found = tr.estimate_risk(
            LINE, X[some], NUMBERS[some], cv=method, interval=interval, **given
        )
        return found.value, found.std_error, *ends(found)

    assert estimate(weight >= 0) == pytest.approx(estimate(weight > 0))
