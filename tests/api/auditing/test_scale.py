"""Scores become risks."""

from __future__ import annotations

import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import PoissonRegressor, Ridge
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from truerisk.api.auditing.claim import Claim
from truerisk.api.auditing.scale import scale_of, word_of


def claim_of(scoring, estimator=None):
    """A claim of one candidate."""
    model = SVC() if estimator is None else estimator
    return Claim("GridSearchCV", "best_score_", 0.9, 0, ({},), model, scoring, 5)


@pytest.mark.parametrize(
    ("scoring", "word", "risk"),
    [
        ("accuracy", "zero-one", 0.1),
        ("balanced_accuracy", "1 − balanced_accuracy", 0.1),
        ("r2", "1 − r2", 0.1),
        ("roc_auc", "auc", 0.1),
        ("f1_macro", "1 − f1_macro", 0.1),
        ("neg_mean_squared_error", "squared", -0.9),
        ("neg_log_loss", "log", -0.9),
        ("neg_root_mean_squared_error", "root_mean_squared_error", -0.9),
    ],
)
def test_a_scorers_word_says_what_is_perfect(scoring, word, risk):
    """1 is perfect for shares and correlations, 0 for negative errors."""
    scale = scale_of(claim_of(scoring))
    assert scale.word == word
    assert scale.risk(0.9) == pytest.approx(risk)
    assert scale.score(scale.risk(0.9)) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("estimator", "word"),
    [
        (SVC(), "accuracy"),
        (KNeighborsClassifier(), "accuracy"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), "accuracy"),
        (Ridge(), "r2"),
        (DummyRegressor(), "r2"),
        (PoissonRegressor(), "PoissonRegressor.score"),
    ],
)
def test_no_scoring_is_the_models_own(estimator, word):
    """Accuracy and R² where the model's score is scikit-learn's; a deviance is not renamed."""
    assert word_of(claim_of(None, estimator)) == word


def test_scorers_are_recognised():
    """The scorer object of a word, and one made from the same function."""
    assert word_of(claim_of(get_scorer("neg_brier_score"))) == "neg_brier_score"
    assert word_of(claim_of(make_scorer(accuracy_score))) == "accuracy"


def test_an_unknown_score_keeps_its_scale():
    """Its sign is turned, nothing else is assumed."""

    def profit(model, X, y):
        return 12.0

    scale = scale_of(claim_of(profit))
    assert (scale.word, scale.known, scale.by_rows) == ("−profit", False, False)
    assert scale.score(scale.risk(12.0)) == 12.0
