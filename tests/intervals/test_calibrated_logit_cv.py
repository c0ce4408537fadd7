"""Intervals of scores of whole test sets: influences are derivatives, intervals their formulas."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import rankdata
from sklearn import metrics
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from tests.support.data import checked, normal_rows
from tests.support.plans import drawn

import truerisk as tr
from truerisk.extend import Answers, Refusal
from truerisk.losses import AUC
from truerisk.losses.loss_words import as_loss
from truerisk.methods import KFold
from truerisk.methods.parts.averages import losses_from_influences, split_risks

N = 90
X, _, NUMBERS = normal_rows(N, seed=8)
Y = (NUMBERS > 0.6).astype(int)
THREE = np.digitize(NUMBERS, [-0.5, 0.7])
RNG = np.random.default_rng(8)
FOLDS = np.argsort(np.argsort(RNG.random(N) + 10 * Y)) % 4
WEIGHTS = RNG.integers(1, 4, size=N).astype(float)
Z = 1.959963984540054
BY_FOLD, POOLED = KFold(folds=FOLDS), KFold(folds=FOLDS, average="pooled")
BAYES, LOGISTIC, GRID = GaussianNB(), LogisticRegression(), {"C": [0.01, 1.0]}
DATA = checked(X, Y)


def scored(loss, model=BAYES, X=X, y=Y, cv=POOLED, **more):
    word = "log-cv" if loss == "r2" else "logit-cv"
    return tr.estimate_risk(model, X, y, cv=cv, scoring=loss, interval=word, **more)


def ends(found):
    return [found.interval.low, found.interval.high]


def out_of_fold(model, y, folds=FOLDS, weights=None):
    """Every row's answer by the model that lacks its fold."""
    said = np.empty(N, dtype=float)
    for fold in np.unique(folds):
        out = fold == folds
        given = {} if weights is None else {"sample_weight": weights[~out]}
        said[out] = model.fit(X[~out], y[~out], **given).predict(X[out])
    return said


def variance_of(influences, weights):
    return N / (N - 1) * np.sum((weights / weights.sum() * influences) ** 2)


def reaching(half, gap):
    """How far the ends lie from the value: √(half² + gap²) on the side of the gap."""
    return np.array([-np.hypot(half, min(gap, 0)), np.hypot(half, max(gap, 0))])


def logit_ends(value, variance, worst=0.0, pooled=None):
    """Both ends on the logit's scale, of a score between the worst one and 1."""
    span = 1 - worst
    share = (value - worst) / span
    half = Z * (1.8 * variance) ** 0.5 / span / (share * (1 - share))
    gap = 0 if pooled is None else Z * (logit((pooled - worst) / span) - logit(share))
    return pytest.approx(worst + span * expit(logit(share) + reaching(half, gap)))


# ---------------- what a row does to a score


@pytest.mark.parametrize("weighted", [False, True])
def test_influence_is_the_derivative_by_the_weight_of_a_row(weighted):
    """About the score of the set itself, times the weight of all rows; ties count half."""
    rows, loss, answers = np.arange(25), AUC(), np.round(RNG.normal(size=(2, 25)), 1)
    weights = RNG.random(25) + 0.1 if weighted else np.ones(25)

    def of_set(weights):
        return loss.of_set(DATA, rows, answers, weights)

    found = loss.influences(DATA, rows, answers, weights if weighted else None, of_set(weights))
    for i in range(25):
        step = 1e-6 * (rows == i)
        slope = (of_set(weights + step) - of_set(weights - step)) / 2e-6
        assert found[:, i] == pytest.approx(slope * weights.sum(), abs=1e-6)
    assert found @ weights == pytest.approx(0, abs=1e-10)


def test_influence_of_the_only_positive_row_of_a_fold_is_about_the_mean():
    """About the score of its own set it would have none, and the interval would not see it."""
    rows = np.r_[np.flatnonzero(Y)[:1], np.flatnonzero(1 - Y)[:5]]
    answers = np.array([[0.5, 0.1, 0.9, 0.2, 0.8, 0.3]])
    own = AUC().of_set(DATA, rows, answers, None)
    for around, expected in ((own, 0), (own - 0.1, 0.6)):
        found = AUC().influences(DATA, rows, answers, None, around)
        assert found[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_influences_of_small_folds_have_the_variance_of_their_mean(weighted):
    """Ten folds of two and three rows: the mean of V is the variance of the mean of their AUCs."""
    rng, draws, y = np.random.default_rng(4), 400, np.tile([1, 1, 0, 0, 0], 10)
    weights = rng.choice([1.0, 3.0], 50) if weighted else None
    data = checked(np.zeros((50, 1)), y, sample_weight=weights)
    plan = drawn(KFold(folds=np.repeat(np.arange(10), 5)), data)
    scores, seconds = rng.normal(y, 1.0, (draws, 50)).round(1), np.zeros((draws, 10))
    answers = Answers(plan, "score", scores, np.ones((draws, 10), bool), "", seconds, seconds)
    values = split_risks(answers, data, AUC()).mean(axis=1)
    around = np.full(draws, values.mean())  # the value itself is estimated well by fifty rows
    losses = losses_from_influences(answers, data, AUC(), around, weights)
    w = np.ones(50) if weights is None else weights
    share = w / w.reshape(10, 5).sum(axis=1).repeat(5) / 10
    V = (((losses - around[:, None]) * share) ** 2).sum(axis=1)
    assert V.mean() == pytest.approx(values.var(), rel=0.1)


def test_influence_of_a_scorer_is_refused():
    loss, one = as_loss("f1_micro", DATA), np.zeros((1, 3))
    with pytest.raises(Refusal, match="'f1_micro' has no formula for what a single row does to it"):
        loss.influences(DATA, np.arange(3), one, None, np.zeros(1))


# ---------------- the interval of one score


def test_logit_cv_of_auc_is_its_formula():
    """C = 1.8, V from what four folds' rows do to their scores, pairs once, the logit's scale."""
    found = scored("auc", LOGISTIC, cv=BY_FOLD)
    placed, scores, twice = np.empty(N), [], 0.0
    for fold in range(4):
        test = fold == FOLDS
        said = LOGISTIC.fit(X[~test], Y[~test]).decision_function(X[test])
        more, less = said[Y[test] == 1], said[Y[test] == 0]
        wrong = (np.sign(less - more[:, None]) + 1) / 2
        placed[np.flatnonzero(test)[Y[test] == 1]] = wrong.mean(axis=1)
        placed[np.flatnonzero(test)[Y[test] == 0]] = wrong.mean(axis=0)
        scores.append(wrong)
    value = np.mean([wrong.mean() for wrong in scores])
    of_class = np.array([[np.sum(Y[f == FOLDS] == c) for c in (0, 1)] for f in range(4)])
    twice = sum(np.mean((wrong - value) ** 2) / wrong.size for wrong in scores) / 16
    V = N / (N - 1) * (np.sum(((placed - value) / (4 * of_class[FOLDS, Y])) ** 2) - twice)
    assert found.value == pytest.approx(1 - value)
    assert found.std_error == pytest.approx(V**0.5)
    assert ends(found) == logit_ends(1 - value, V)
    assert found.losses is None


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_logit_cv_of_f1_of_all_answers_is_its_formula(weights):
    """1 − 2h/(t + s): a row does W ((t ∨ s) − 2 hit − loss ((t) + (s)))/(t + s) to it."""
    w = np.ones(N) if weights is None else weights
    found, said = scored("f1", sample_weight=weights), out_of_fold(BAYES, Y, weights=weights)
    value = metrics.f1_score(Y, said, sample_weight=w)
    assert found.value == pytest.approx(value)
    influences = (Y + said - 2 * Y * said - (1 - value) * (Y + said)) / (w @ (Y + said))
    V = variance_of(w.sum() * influences, w)
    assert found.std_error == pytest.approx(V**0.5)
    assert ends(found) == logit_ends(value, V)
    folds = [
        1 - metrics.f1_score(*(a[k == FOLDS] for a in (Y, said)), sample_weight=w[k == FOLDS])
        for k in range(4)
    ]
    assert found.split_risks == pytest.approx(folds)


def test_logit_cv_of_correlations_is_fishers_z():
    """MCC lies between -1 and 1, and so does its interval: tanh of the z-scale."""
    found = scored("mcc")
    assert found.value == pytest.approx(metrics.matthews_corrcoef(Y, out_of_fold(BAYES, Y)))
    assert ends(found) == logit_ends(found.value, found.std_error**2, worst=-1.0)
    assert np.arctanh(ends(found)).mean() == pytest.approx(np.arctanh(found.value))


def test_log_cv_of_r2_is_its_formula():
    """1 − R² = MSE/S: a row does (e² − m (y − ȳ)²)/S to it."""
    found, said = (
        scored("r2", LinearRegression(), y=NUMBERS),
        out_of_fold(LinearRegression(), NUMBERS),
    )
    value = metrics.r2_score(NUMBERS, said)
    assert found.value == pytest.approx(value)
    missing, away = 1 - value, NUMBERS - NUMBERS.mean()
    V = variance_of(((NUMBERS - said) ** 2 - missing * away**2) / NUMBERS.var(), np.ones(N))
    factor = np.exp(Z * (1.8 * V) ** 0.5 / missing)
    assert ends(found) == pytest.approx([1 - missing * factor, 1 - missing / factor])
    search = tr.HonestSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, scoring="r2", cv="4-fold")
    assert search.fit(X, NUMBERS).risk_.interval.method == "log-cv"


def precision_of_ranks():
    """Return the average precision of ranks within the folds, pooled over all folds.

    Decision values of different models are not comparable, but their ranks are.
    """
    placed = np.empty(N)
    for fold in range(4):
        out = fold == FOLDS
        said = BAYES.fit(X[~out], Y[~out]).predict_proba(X[out])[:, 1]
        placed[out] = (rankdata(said) - 0.5) / out.sum()
    return metrics.average_precision_score(Y, placed)


@pytest.mark.parametrize("loss", ["f1", "balanced-accuracy", "mcc", "average-precision"])
def test_logit_cv_of_a_mean_over_folds_reaches_farther_towards_the_score_of_all_answers(loss):
    """By the gap between both on the logit's scale, which estimates the bias of small test sets."""
    found = scored(loss, cv=BY_FOLD)
    pooled = precision_of_ranks() if loss == "average-precision" else scored(loss).value
    assert found.value == pytest.approx(1 - found.split_risks.mean())
    assert abs(pooled - found.value) > 1e-3
    worst = -1.0 if loss == "mcc" else 0.0
    assert ends(found) == logit_ends(found.value, found.std_error**2, worst, pooled)


def test_log_cv_of_a_mean_of_r2_reaches_farther_towards_that_of_all_answers():
    """By the gap between both on the scale of the logarithm of 1 − R²."""
    found, pooled = (scored("r2", LinearRegression(), y=NUMBERS, cv=cv) for cv in (BY_FOLD, POOLED))
    missing, gap = 1 - found.value, np.log((1 - pooled.value) / (1 - found.value))
    low, high = missing * np.exp(reaching(Z * 1.8**0.5 * found.std_error / missing, Z * gap))
    assert ends(found) == pytest.approx([1 - high, 1 - low])


def test_logit_cv_of_repeated_folds_is_about_the_mean_of_their_scores():
    twice = np.stack([FOLDS, RNG.permutation(N) % 4])
    found = scored("f1 pooled", cv=KFold(folds=twice))
    each = [metrics.f1_score(Y, out_of_fold(BAYES, Y, folds)) for folds in twice]
    assert found.value == pytest.approx(np.mean(each))
    assert any("because folds share training rows" in note for note in found.notes)


@pytest.mark.parametrize("loss", ["auc", "kappa"])
def test_logit_cv_adds_up_groups(loss):
    """Rows that come twice make nobody surer: the variance is that of half as many units."""
    groups = np.repeat(np.arange(N // 2), 2)
    given = {"X": np.repeat(X[::2], 2, axis=0), "y": np.repeat(Y[::2], 2)}
    given["cv"] = KFold(folds=np.repeat(FOLDS[::2], 2))
    twice, alone = scored(loss, groups=groups, **given), scored(loss, **given)
    assert twice.interval.method == "logit-cv-grouped"
    more = 2 * (N // 2) / (N // 2 - 1) * (N - 1) / N
    assert twice.std_error**2 == pytest.approx(more * alone.std_error**2)


@pytest.mark.parametrize(
    ("loss", "y", "options"),
    [
        *((loss, THREE, {}) for loss in ("f1", "kappa", "precision")),
        *((loss, Y, {}) for loss in ("f1", "auc", "balanced-accuracy", "g-mean")),
        ("f1", Y, {"outer": "loo"}),
        ("auc", Y, {"outer": "5-fold"}),
    ],
)
def test_logit_cv_is_the_usual_interval_of_a_tuned_learner(loss, y, options):
    """By pairs with their instability, by other folds with the factor of one drawing."""
    given = {"scoring": loss, "cv": "4-fold"} | options
    found = tr.HonestSearchCV(LOGISTIC, GRID, **given).fit(X, y).risk_
    assert found.interval.method == "logit-cv"
    assert found.interval.low < found.value < found.interval.high
    if not options:
        assert any("the instability of the losses is 0." in note for note in found.notes)


def test_logit_cv_is_the_usual_interval_of_an_assessment():
    found = tr.assess({"l": (LOGISTIC, GRID)}, X, Y, scoring="auc", cv=["5-fold"])
    assert found.risks["l"].interval.method == "logit-cv"


# ---------------- scores at their edges, and none


def test_recall_of_a_fold_without_a_positive_row_is_refused_only_where_folds_are_averaged():
    """Pooled, its own risk is NaN and the value that of all answers."""
    y = (np.arange(N) < 10).astype(int)
    folds = np.r_[np.arange(10) % 3, 3, np.arange(N - 11) % 4]
    found = tr.estimate_risk(BAYES, X, y, cv=KFold(folds=folds), scoring="recall pooled")
    assert found.value == pytest.approx(metrics.recall_score(y, out_of_fold(BAYES, y, folds)))
    assert np.isnan(found.split_risks).tolist() == [False, False, False, True]
    with pytest.raises(Refusal, match="which takes all answers as one set. It is fold 3"):
        tr.estimate_risk(BAYES, X, y, cv=KFold(folds=folds), scoring="recall")


def test_logit_cv_of_few_positive_rows_none_of_which_is_found_leaves_room():
    """They have no spread; the error is that of one of them being found, as a share of 1."""
    y, half = (np.arange(N) < 6).astype(int), Z * (1 / 12) / 0.25
    found = scored("balanced-accuracy", DummyClassifier(), y=y, cv="3-fold")
    assert (found.value, found.std_error) == (0.5, None)
    assert ends(found) == pytest.approx(expit([-half, half]))


def test_logit_cv_of_a_constant_predictor_has_no_spread():
    """The interval is that of one row, or none is claimed to be sure; it starts at the value."""
    found = scored("recall", DummyClassifier(), cv="4-fold")
    assert (found.value, found.std_error, found.interval.low) == (0.0, None, 0.0)
    assert 0.1 < found.interval.high < 1
    assert any("spread is 0" in note for note in found.notes)


def test_logit_cv_of_a_perfect_score_is_surer_than_of_one_with_a_miss():
    """Thirty of three hundred rows are positive; the interval holds the score, a miss widens it."""
    y = np.array([1] * 30 + [0] * 270)
    x = y[:, None] * 9.0 + np.random.default_rng(5).normal(size=(300, 1)) * 0.15
    names = ("recall", "f1", "mcc", "balanced-accuracy", "auc")
    perfect = tr.estimate_risk(BAYES, x, y, scoring=["zero-one", *names])
    x[0] = 0.0
    missed = tr.estimate_risk(BAYES, x, y, scoring=["zero-one", *names])
    for name in names:
        best, one = perfect.scores[name].interval, missed.scores[name].interval
        assert perfect.scores[name].value == best.high == 1
        assert 0 < one.low < best.low
        assert one.low < missed.scores[name].value < one.high


def test_calibration_error_has_an_interval_only_if_it_is_asked_for():
    """Its bias with few rows is no matter of spread; by name it has what its influences say."""
    found = tr.HonestSearchCV(LOGISTIC, GRID, scoring="ece", cv="4-fold").fit(X, Y).risk_
    assert (found.std_error, found.interval) == (None, None)
    assert any("of few rows it is too large" in note for note in found.notes)
    assert scored("ece", cv="4-fold").interval is not None


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ("average-precision", "a score of all folds at once cannot give"),
        ("f1_micro", "needs a loss with a formula for what a single row does to it"),
    ],
)
def test_logit_cv_is_refused_for_pooled_ranks_and_scorers_of_models(loss, message):
    cv = POOLED if loss == "average-precision" else "4-fold"
    with pytest.raises(Refusal, match=message):
        scored(loss, cv=cv)
