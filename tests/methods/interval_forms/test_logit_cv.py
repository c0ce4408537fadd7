"""The logit interval of AUC: influences are derivatives, the interval is its formula."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.core.losses import AUC, Brier, ZeroOne
from truerisk.core.table.data import Data
from truerisk.methods import KFold

RNG = np.random.default_rng(3)
N = 60
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0.4).astype(int)
FOLDS = np.argsort(np.argsort(RNG.random(N) + 10 * Y)) % 4


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [AUC, Brier, ZeroOne])
def test_an_influence_is_a_derivative_by_the_weight_of_a_row(kind, weighted) -> None:
    """Times the weight of all rows; ties count half, and the weighted mean is 0."""
    data, loss = Data.check(X, Y, task="classification"), kind()
    rows = np.arange(25)
    answers = {
        "score": np.round(RNG.normal(size=(2, 25)), 1),
        "probability": RNG.dirichlet([1, 1], size=(2, 25)),
        "label": RNG.integers(0, 2, size=(2, 25)),
    }[loss.response]
    weights = RNG.random(25) + 0.1 if weighted else np.ones(25)
    found = loss.influences(data, rows, answers, weights if weighted else None)
    step = 1e-6
    for i in range(25):
        more, less = weights.copy(), weights.copy()
        more[i] += step
        less[i] -= step
        by_hand = loss.of_set(data, rows, answers, more) - loss.of_set(data, rows, answers, less)
        assert found[:, i] == pytest.approx(by_hand / (2 * step) * weights.sum(), abs=1e-6)
    assert found @ weights == pytest.approx(0, abs=1e-10)


def test_it_is_its_formula() -> None:
    """C = 1.8, V from what four folds' rows do to their scores, the logit's scale."""
    model, folds = LogisticRegression(), KFold(folds=FOLDS)
    found = tr.estimate_risk(model, X, Y, method=folds, loss="auc", interval="logit-cv")
    placed, scores = np.empty(N), []
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
    value = np.mean(scores)
    of_class = np.array([[np.sum(Y[f == FOLDS] == c) for c in (0, 1)] for f in range(4)])
    V = N / (N - 1) * np.sum(((placed - value) / (4 * of_class[FOLDS, Y])) ** 2)
    assert found.value == pytest.approx(value)
    assert found.std_error == pytest.approx(V**0.5)
    half = 1.959963984540054 * (1.8 * V) ** 0.5 / (value * (1 - value))
    ends = expit(logit(value) + np.array([-half, half]))
    assert [found.interval.low, found.interval.high] == pytest.approx(ends)
    assert found.losses is None


def test_groups_are_added_up() -> None:
    """The name says so, and more rows of a group make nobody surer."""
    groups = np.repeat(np.arange(N // 2), 2)
    x, y = np.repeat(X[::2], 2, axis=0), np.repeat(Y[::2], 2)
    model, asked = LogisticRegression(), {"loss": "auc", "interval": "logit-cv", "method": "3-fold"}
    twice = tr.estimate_risk(model, x, y, groups=groups, **asked)
    assert twice.interval.method == "logit-cv-grouped"
    blind = tr.estimate_risk(model, x, y, method=KFold(folds=groups % 3), loss="auc", interval=None)
    assert blind.interval is None
    assert twice.interval.width > 0


def test_a_tuned_learner_has_it_by_default() -> None:
    """By pairs with their instability, by other folds with the factor of one drawing."""
    grid = {"C": [0.01, 1.0]}
    pairs = tr.HonestSearchCV(LogisticRegression(), grid, loss="auc", select_by="5-fold").fit(X, Y)
    assert pairs.risk_.interval.method == "logit-cv"
    assert any(note.startswith("instability") for note in pairs.risk_.notes)
    ten = tr.HonestSearchCV(LogisticRegression(), grid, loss="auc", outer="5-fold").fit(X, Y)
    assert ten.risk_.interval.method == "logit-cv"
    found = tr.assess({"l": (LogisticRegression(), grid)}, X, Y, loss="auc", methods=["5-fold"])
    assert found.risks["l"].interval.method == "logit-cv"


def test_no_wrong_pair_at_all_leaves_room() -> None:
    """Perfect ranks have no spread: no standard error, and an interval of half a row from 0."""
    x = np.r_[np.linspace(-3, -2, 20), np.linspace(2, 3, 20)][:, None]
    y = np.repeat([0, 1], 20)
    found = tr.HonestSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, loss="auc").fit(x, y).risk_
    assert (found.value, found.std_error) == (0, None)
    assert 0 < found.interval.low < found.interval.high < 0.5


def test_a_scorer_of_models_tells_no_influences() -> None:
    """A score that is no function of answers has none, and the sentence says what has."""
    with pytest.raises(Refusal, match="needs a loss that tells what each row does to it"):
        tr.estimate_risk(LogisticRegression(), X, Y, loss="f1_macro", interval="logit-cv")
