"""The logit interval of AUC: influences are derivatives, the interval is its formula."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import truerisk as tr
from truerisk.contracts import Streams
from truerisk.core.errors import Refusal
from truerisk.data.data import Data
from truerisk.losses.loss_words import as_loss
from truerisk.losses.rank_scores import AUC
from truerisk.methods import KFold
from truerisk.methods.parts.averages import losses_by_influence, split_risks
from truerisk.plan.answers import Answers

RNG = np.random.default_rng(3)
N = 60
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0.4).astype(int)
FOLDS = np.argsort(np.argsort(RNG.random(N) + 10 * Y)) % 4


@pytest.mark.parametrize("weighted", [False, True])
def test_an_influence_is_a_derivative_by_the_weight_of_a_row(weighted) -> None:
    """About the score of the set itself, times the weight of all rows; ties count half."""
    data, loss, rows = Data.check(X, Y, task="classification"), AUC(), np.arange(25)
    answers = np.round(RNG.normal(size=(2, 25)), 1)
    weights = RNG.random(25) + 0.1 if weighted else np.ones(25)
    given = weights if weighted else None
    found = loss.influences(data, rows, answers, given, loss.of_set(data, rows, answers, given))
    step = 1e-6
    for i in range(25):
        more, less = weights.copy(), weights.copy()
        more[i] += step
        less[i] -= step
        by_hand = loss.of_set(data, rows, answers, more) - loss.of_set(data, rows, answers, less)
        assert found[:, i] == pytest.approx(by_hand / (2 * step) * weights.sum(), abs=1e-6)
    assert found @ weights == pytest.approx(0, abs=1e-10)


def test_the_only_positive_row_of_a_fold_has_an_influence_about_the_mean() -> None:
    """About the score of its own set it would have none, and the interval would not see it."""
    data, rows = (
        Data.check(X, Y, task="classification"),
        np.r_[np.flatnonzero(Y)[:1], np.flatnonzero(1 - Y)[:5]],
    )
    answers = np.array([[0.5, 0.1, 0.9, 0.2, 0.8, 0.3]])
    own = AUC().of_set(data, rows, answers, None)
    assert AUC().influences(data, rows, answers, None, own)[0, 0] == pytest.approx(0)
    assert AUC().influences(data, rows, answers, None, own - 0.1)[0, 0] == pytest.approx(0.6)


def test_a_loss_that_tells_none_says_so() -> None:
    """Asked all the same, it is a sentence."""
    data = Data.check(X, Y, task="classification")
    with pytest.raises(
        Refusal, match="loss 'f1_micro' has no formula for what a single row does to it"
    ):
        as_loss("f1_micro", data).influences(
            data, np.arange(3), np.zeros((1, 3)), None, np.zeros(1)
        )


def test_it_is_its_formula() -> None:
    """C = 1.8, V from what four folds' rows do to their scores, pairs once, the logit's scale."""
    model, folds = LogisticRegression(), KFold(folds=FOLDS)
    found = tr.estimate_risk(model, X, Y, cv=folds, scoring="auc", interval="logit-cv")
    placed, scores, pairs = np.empty(N), [], []
    for fold in range(4):
        test = fold == FOLDS
        said = model.fit(X[~test], Y[~test]).decision_function(X[test])
        y = Y[test]
        risk = 1 - roc_auc_score(y, said)
        for i, row in enumerate(np.flatnonzero(test)):
            others = said[y != y[i]]
            wrong = others > said[i] if y[i] else others < said[i]
            placed[row] = (wrong + (others == said[i]) / 2).mean()
        scores.append(risk)
        wrong = said[None, y == 0] - said[y == 1, None]
        pairs.append((np.sign(wrong) + 1) / 2)
    value = np.mean(scores)
    of_class = np.array([[np.sum(Y[f == FOLDS] == c) for c in (0, 1)] for f in range(4)])
    twice = sum(np.mean((wrong - value) ** 2) / wrong.size for wrong in pairs) / 16
    V = N / (N - 1) * (np.sum(((placed - value) / (4 * of_class[FOLDS, Y])) ** 2) - twice)
    assert found.value == pytest.approx(1 - value)
    assert found.std_error == pytest.approx(V**0.5)
    half = 1.959963984540054 * (1.8 * V) ** 0.5 / (value * (1 - value))
    ends = expit(logit(1 - value) + np.array([-half, half]))
    assert [found.interval.low, found.interval.high] == pytest.approx(ends)
    assert found.losses is None


@pytest.mark.parametrize("weighted", [False, True])
def test_small_folds_have_no_larger_variance_than_they_have(weighted) -> None:
    """Ten folds of two and three rows: the mean of V is the variance of the mean of their AUCs."""
    rng, draws, y = np.random.default_rng(4), 400, np.tile([1, 1, 0, 0, 0], 10)
    weights = rng.choice([1.0, 3.0], 50) if weighted else None
    data = Data.check(np.zeros((50, 1)), y, task="classification", sample_weight=weights)
    plan = KFold(folds=np.repeat(np.arange(10), 5)).plan(data, Streams(0))
    scores, seconds = rng.normal(y, 1.0, (draws, 50)).round(1), np.zeros((draws, 10))
    answers = Answers(plan, "score", scores, np.ones((draws, 10), bool), "", seconds, seconds)
    values = split_risks(answers, data, AUC()).mean(axis=1)
    around = np.full(draws, values.mean())  # the value itself is estimated well by fifty rows
    losses = losses_by_influence(answers, data, AUC(), around, weights)
    w = np.ones(50) if weights is None else weights
    share = w / w.reshape(10, 5).sum(axis=1).repeat(5) / 10
    V = (((losses - around[:, None]) * share) ** 2).sum(axis=1)
    assert V.mean() == pytest.approx(values.var(), rel=0.1)


def test_groups_are_added_up() -> None:
    """Rows that come twice make nobody surer: the variance is that of half as many units."""
    groups = np.repeat(np.arange(N // 2), 2)
    x, y = np.repeat(X[::2], 2, axis=0), np.repeat(Y[::2], 2)
    model, asked = LogisticRegression(), {"scoring": "auc", "interval": "logit-cv"}
    folds = KFold(folds=np.repeat(FOLDS[::2], 2))
    twice = tr.estimate_risk(model, x, y, groups=groups, cv=folds, **asked)
    alone = tr.estimate_risk(model, x, y, cv=folds, **asked)
    assert twice.interval.method == "logit-cv-grouped"
    m, n = N // 2, N
    more = 2 * m / (m - 1) * (n - 1) / n
    assert twice.std_error**2 == pytest.approx(more * alone.std_error**2)


def test_a_tuned_learner_has_it_by_default() -> None:
    """By pairs with their instability, by other folds with the factor of one drawing."""
    grid = {"C": [0.01, 1.0]}
    pairs = tr.HonestSearchCV(LogisticRegression(), grid, scoring="auc", cv="5-fold").fit(X, Y)
    assert pairs.risk_.interval.method == "logit-cv"
    assert any("(instability 0." in note for note in pairs.risk_.notes)
    ten = tr.HonestSearchCV(LogisticRegression(), grid, scoring="auc", outer="5-fold").fit(X, Y)
    assert ten.risk_.interval.method == "logit-cv"
    found = tr.assess({"l": (LogisticRegression(), grid)}, X, Y, scoring="auc", cv=["5-fold"])
    assert found.risks["l"].interval.method == "logit-cv"


def test_no_wrong_pair_at_all_leaves_room() -> None:
    """Perfect ranks have no spread: no standard error, and an interval up to 1."""
    x = np.r_[np.linspace(-3, -2, 20), np.linspace(2, 3, 20)][:, None]
    y = np.repeat([0, 1], 20)
    found = (
        tr.HonestSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring="auc").fit(x, y).risk_
    )
    assert (found.value, found.std_error) == (1, None)
    assert 0.5 < found.interval.low < found.interval.high == 1


def test_a_scorer_of_models_tells_no_influences() -> None:
    """A score that is no function of answers has none, and the sentence says what has."""
    with pytest.raises(
        Refusal, match="needs a loss with a formula for what a single row does to it"
    ):
        tr.estimate_risk(LogisticRegression(), X, Y, scoring="f1_micro", interval="logit-cv")
