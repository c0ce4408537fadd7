"""Intervals of scores of labels and of R²: pooled and by fold, by hand, repeated and grouped."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import rankdata
from sklearn import metrics
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.methods import KFold

RNG = np.random.default_rng(8)
N = 90
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0.6).astype(int)
THREE = np.digitize(X[:, 0] + RNG.normal(size=N), [-0.5, 0.7])
VALUES = X[:, 0] + RNG.normal(size=N)
FOLDS = np.argsort(np.argsort(RNG.random(N) + 10 * Y)) % 4
WEIGHTS = RNG.integers(1, 4, size=N).astype(float)
Z = 1.959963984540054
GRID = {"C": [0.01, 1.0]}
POOLED = KFold(folds=FOLDS, average="pooled")


def out_of_fold(model, y, folds=FOLDS, weights=None):
    """Every row's answer by the model that lacks its fold."""
    said = np.empty(N, dtype=float)
    for fold in np.unique(folds):
        out = fold == folds
        given = {} if weights is None else {"sample_weight": weights[~out]}
        said[out] = model.fit(X[~out], y[~out], **given).predict(X[out])
    return said


def variance_of(influences, weights, n):
    share = weights / weights.sum()
    return n / (n - 1) * np.sum((share * influences) ** 2)


def logit_ends(value, variance, worst=0.0):
    """Return both ends on the logit's scale, of a score between the worst one and 1."""
    span = 1 - worst
    share = (value - worst) / span
    half = Z * (1.8 * variance) ** 0.5 / span / (share * (1 - share))
    return worst + span * expit(logit(share) + np.array([-half, half]))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_f1_of_all_answers_has_the_interval_of_its_influences(weights) -> None:
    """1 − 2h/(t + s): a row does W ((t ∨ s) − 2 hit − loss ((t) + (s)))/(t + s) to it."""
    model, w = GaussianNB(), np.ones(N) if weights is None else weights
    found = tr.estimate_risk(
        model, X, Y, cv=POOLED, scoring="f1", interval="logit-cv",
        sample_weight=weights,
    )  # fmt: skip
    said = out_of_fold(model, Y, weights=weights)
    value = metrics.f1_score(Y, said, sample_weight=w)
    assert found.value == pytest.approx(value)
    both = w @ (Y + said)
    influences = w.sum() * (Y + said - 2 * Y * said - (1 - value) * (Y + said)) / both
    V = variance_of(influences, w, N)
    assert found.std_error == pytest.approx(V**0.5)
    ends = logit_ends(value, V)
    assert [found.interval.low, found.interval.high] == pytest.approx(ends)
    folds = [
        1 - metrics.f1_score(Y[k == FOLDS], said[k == FOLDS], sample_weight=w[k == FOLDS])
        for k in range(4)
    ]
    assert found.split_risks == pytest.approx(folds)


def test_f1_is_the_mean_over_folds_unless_all_answers_are_asked_for() -> None:
    """Another value, whose rows do what they do to the score of all answers."""
    folds = KFold(folds=FOLDS)
    asked = {"scoring": "f1", "interval": "logit-cv"}
    found = tr.estimate_risk(GaussianNB(), X, Y, cv=folds, **asked)
    pooled = tr.estimate_risk(GaussianNB(), X, Y, cv=POOLED, **asked)
    assert found.value == pytest.approx(1 - found.split_risks.mean())
    assert found.value != pooled.value
    assert found.std_error == pytest.approx(pooled.std_error, rel=0.1)
    assert found.interval.low < found.value < found.interval.high


def moved_by_hand(half, gap):
    """Return how far the ends lie from the value: √(half² + gap²) on the side of the gap."""
    return np.array([-np.hypot(half, min(gap, 0)), np.hypot(half, max(gap, 0))])


def logit_ends_with_gap(value, pooled, variance, worst=0.0):
    span = 1 - worst
    share = (value - worst) / span
    half = Z * variance**0.5 / span / (share * (1 - share))
    gap = Z * (logit((pooled - worst) / span) - logit(share))
    return worst + span * expit(logit(share) + moved_by_hand(half, gap))


@pytest.mark.parametrize("loss", ["f1", "balanced-accuracy", "mcc"])
def test_mean_over_folds_reaches_farther_towards_score_of_all_answers(loss) -> None:
    """By the gap between both on the logit's scale, which estimates the bias of small test sets."""
    asked = {"scoring": loss, "interval": "logit-cv"}
    folds = KFold(folds=FOLDS)
    found = tr.estimate_risk(GaussianNB(), X, Y, cv=folds, **asked)
    pooled = tr.estimate_risk(GaussianNB(), X, Y, cv=POOLED, **asked)
    assert abs(pooled.value - found.value) > 1e-4
    worst = -1.0 if loss == "mcc" else 0.0
    ends = logit_ends_with_gap(found.value, pooled.value, 1.8 * found.std_error**2, worst)
    assert [found.interval.low, found.interval.high] == pytest.approx(ends)


def test_mean_of_r2_over_folds_reaches_farther_towards_r2_of_all_answers() -> None:
    """By the gap between both on the scale of the logarithm of 1 − R²."""
    asked = {"scoring": "r2", "interval": "log-cv"}
    folds = KFold(folds=FOLDS)
    found = tr.estimate_risk(LinearRegression(), X, VALUES, cv=folds, **asked)
    pooled = tr.estimate_risk(LinearRegression(), X, VALUES, cv=POOLED, **asked)
    missing, missing_pooled = 1 - found.value, 1 - pooled.value
    half = Z * 1.8**0.5 * found.std_error / missing
    low, high = missing * np.exp(moved_by_hand(half, Z * np.log(missing_pooled / missing)))
    assert [found.interval.low, found.interval.high] == pytest.approx([1 - high, 1 - low])


def test_average_precision_reaches_farther_towards_that_of_ranks_within_folds() -> None:
    """Decision values of several models do not compare: ranks within the folds are pooled."""
    model, asked = GaussianNB(), {"scoring": "average-precision", "interval": "logit-cv"}
    found = tr.estimate_risk(model, X, Y, cv=KFold(folds=FOLDS), **asked)
    placed = np.empty(N)
    for fold in range(4):
        out = fold == FOLDS
        said = model.fit(X[~out], Y[~out]).predict_proba(X[out])[:, 1]
        placed[out] = (rankdata(said) - 0.5) / out.sum()
    pooled = metrics.average_precision_score(Y, placed)
    assert abs(pooled - found.value) > 1e-3
    ends = logit_ends_with_gap(found.value, pooled, 1.8 * found.std_error**2)
    assert [found.interval.low, found.interval.high] == pytest.approx(ends)


def test_correlations_have_fishers_z() -> None:
    """MCC lies between -1 and 1, and so does its interval: tanh of the z-scale."""
    found = tr.estimate_risk(GaussianNB(), X, Y, cv=POOLED, scoring="mcc", interval="logit-cv")
    said = out_of_fold(GaussianNB(), Y)
    assert found.value == pytest.approx(metrics.matthews_corrcoef(Y, said))
    ends = logit_ends(found.value, found.std_error**2, worst=-1.0)
    assert [found.interval.low, found.interval.high] == pytest.approx(ends)
    assert np.arctanh(ends).mean() == pytest.approx(np.arctanh(found.value))


def test_r2_has_the_interval_of_the_logarithm() -> None:
    """1 − R² = MSE/S: a row does (e² − m (y − ȳ)²)/S to it."""
    found = tr.estimate_risk(
        LinearRegression(), X, VALUES, cv=POOLED, scoring="r2", interval="log-cv"
    )
    said = out_of_fold(LinearRegression(), VALUES)
    value = metrics.r2_score(VALUES, said)
    assert found.value == pytest.approx(value)
    missing = 1 - value
    influences = ((VALUES - said) ** 2 - missing * (VALUES - VALUES.mean()) ** 2) / VALUES.var()
    V = variance_of(influences, np.ones(N), N)
    factor = np.exp(Z * (1.8 * V) ** 0.5 / missing)
    assert [found.interval.low, found.interval.high] == pytest.approx(
        [1 - missing * factor, 1 - missing / factor]
    )
    search = tr.HonestSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, scoring="r2", cv="4-fold")
    assert search.fit(X, VALUES).risk_.interval.method == "log-cv"


@pytest.mark.parametrize("loss", ["f1", "balanced-accuracy", "kappa", "g-mean", "precision"])
@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
def test_a_tuned_learner_has_it_by_default(loss, y) -> None:
    """By pairs with their instability, also where every row is a fold; of two or three classes."""
    given = {"scoring": loss, "cv": "4-fold"}
    found = tr.HonestSearchCV(LogisticRegression(), GRID, **given).fit(X, y).risk_
    assert found.interval.method == "logit-cv"
    assert found.interval.low < found.value < found.interval.high
    assert any("(instability 0." in note for note in found.notes)
    if loss == "f1":
        single = tr.HonestSearchCV(LogisticRegression(), GRID, outer="loo", **given).fit(X, y)
        assert single.risk_.interval.method == "logit-cv"


def test_repetitions_are_averaged_and_their_rows_too() -> None:
    """The value is the mean of the repetitions' scores."""
    twice = np.stack([FOLDS, RNG.permutation(N) % 4])
    found = tr.estimate_risk(
        GaussianNB(), X, Y, cv=KFold(folds=twice), scoring="f1 pooled", interval="logit-cv"
    )
    each = [metrics.f1_score(Y, out_of_fold(GaussianNB(), Y, folds)) for folds in twice]
    assert found.value == pytest.approx(np.mean(each))
    assert any("times the variance of independent rows" in note for note in found.notes)


def test_groups_are_added_up() -> None:
    """Rows that come twice make nobody surer: the variance is that of half as many units."""
    groups = np.repeat(np.arange(N // 2), 2)
    x, y = np.repeat(X[::2], 2, axis=0), np.repeat(Y[::2], 2)
    asked = {"scoring": "kappa", "interval": "logit-cv"}
    folds = KFold(folds=np.repeat(FOLDS[::2], 2))
    twice = tr.estimate_risk(GaussianNB(), x, y, groups=groups, cv=folds, **asked)
    alone = tr.estimate_risk(GaussianNB(), x, y, cv=folds, **asked)
    assert twice.interval.method == "logit-cv-grouped"
    more = 2 * (N // 2) / (N // 2 - 1) * (N - 1) / N
    assert twice.std_error**2 == pytest.approx(more * alone.std_error**2)


def test_a_fold_without_a_positive_row_is_refused_only_where_folds_are_averaged() -> None:
    """Pooled, its own risk is NaN and the value that of all answers."""
    y, folds = np.r_[np.ones(10, int), np.zeros(N - 10, int)], np.r_[np.arange(10) % 3, 3]
    folds = np.r_[folds, np.arange(N - 11) % 4]
    found = tr.estimate_risk(GaussianNB(), X, y, cv=KFold(folds=folds), scoring="recall pooled")
    said = out_of_fold(GaussianNB(), y, folds)
    assert found.value == pytest.approx(metrics.recall_score(y, said))
    assert np.isnan(found.split_risks).tolist() == [False, False, False, True]
    with pytest.raises(Refusal, match="which takes all answers as one set. It is fold 3"):
        tr.estimate_risk(GaussianNB(), X, y, cv=KFold(folds=folds), scoring="recall")


def test_few_positive_rows_none_of_which_is_found_leave_room() -> None:
    """They have no spread; the error is that of one of them being found, as a share of 1."""
    y = (np.arange(N) < 6).astype(int)
    found = tr.estimate_risk(
        DummyClassifier(), X, y, cv="3-fold", scoring="balanced-accuracy", interval="logit-cv"
    )
    assert (found.value, found.std_error) == (0.5, None)
    half = Z * (1 / 12) / 0.25
    assert [found.interval.low, found.interval.high] == pytest.approx(expit([-half, half]))


def test_a_constant_predictor_has_a_value_and_no_spread() -> None:
    """No standard error; the interval is that of one row, or none is claimed to be sure."""
    found = tr.estimate_risk(
        DummyClassifier(), X, Y, cv="4-fold", scoring="recall", interval="logit-cv"
    )
    assert (found.value, found.std_error) == (0.0, None)
    assert found.interval.high > 0.1
    assert any("spread is 0" in note for note in found.notes)


def test_a_calibration_error_has_none_unless_it_is_asked_for() -> None:
    """Its bias with few rows is no matter of spread; by name it has what its influences say."""
    search = tr.HonestSearchCV(LogisticRegression(), GRID, scoring="ece", cv="4-fold")
    found = search.fit(X, Y).risk_
    assert (found.std_error, found.interval) == (None, None)
    assert any("of few rows it is too large" in note for note in found.notes)
    asked = {"scoring": "ece", "cv": "4-fold", "interval": "logit-cv"}
    assert tr.estimate_risk(GaussianNB(), X, Y, **asked).interval is not None


def test_pooled_ranks_have_none() -> None:
    """Scores of different models do not compare: average precision by fold has one."""
    asked = {"scoring": "average-precision", "interval": "logit-cv"}
    assert tr.estimate_risk(GaussianNB(), X, Y, cv="4-fold", **asked).interval is not None
    with pytest.raises(Refusal, match="a score of all folds at once cannot give"):
        tr.estimate_risk(GaussianNB(), X, Y, cv=KFold(4, average="pooled"), **asked)


def test_a_perfect_score_is_surer_than_one_with_a_miss() -> None:
    """Thirty of three hundred rows are positive; the interval holds the score, a miss widens it."""
    y = np.array([1] * 30 + [0] * 270)
    x = y[:, None] * 9.0 + np.random.default_rng(5).normal(size=(300, 1)) * 0.15
    names = ("recall", "f1", "mcc", "balanced-accuracy", "auc")
    perfect = tr.estimate_risk(GaussianNB(), x, y, scoring=["zero-one", *names])
    x[0] = 0.0
    missed = tr.estimate_risk(GaussianNB(), x, y, scoring=["zero-one", *names])
    for name in names:
        best, one = perfect.scores[name].interval, missed.scores[name].interval
        assert perfect.scores[name].value == best.high == 1
        assert 0 < one.low < best.low
        assert one.low < missed.scores[name].value < one.high


def test_the_worst_score_is_in_its_interval_too() -> None:
    """Nobody is found: a recall of 0, and an interval that starts there."""
    x, y = np.arange(60.0)[:, None], np.array([1] * 12 + [0] * 48)
    found = tr.estimate_risk(
        DummyClassifier(strategy="most_frequent"), x, y, scoring=["zero-one", "recall"]
    )
    interval = found.scores["recall"].interval
    assert found.scores["recall"].value == interval.low == 0
    assert 0 < interval.high < 1
