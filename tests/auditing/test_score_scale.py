"""Scores become risks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import PoissonRegressor, Ridge
from sklearn.metrics import accuracy_score, f1_score, get_scorer, make_scorer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from truerisk.data.data import Data
from truerisk.search.claim import Claim, scale_of


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
        (SVC(), "zero-one"),
        (KNeighborsClassifier(), "zero-one"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), "zero-one"),
        (Ridge(), "1 − r2"),
        (DummyRegressor(), "1 − r2"),
        (PoissonRegressor(), "−PoissonRegressor.score"),
    ],
)
def test_no_scoring_is_the_models_own(estimator, word):
    """Accuracy and R² where the model's score is scikit-learn's; a deviance is not renamed."""
    assert scale_of(claim_of(None, estimator)).word == word


def test_scorers_are_recognised():
    """The scorer object of a word, and one made from the same function."""
    assert scale_of(claim_of(get_scorer("neg_brier_score"))).word == "brier"
    assert scale_of(claim_of(make_scorer(accuracy_score))).word == "zero-one"
    macro = make_scorer(f1_score, average="macro", pos_label=None)
    assert scale_of(claim_of(macro)).word == "1 − f1_macro"


def own(name):
    """A function of that name that is not scikit-learn's."""
    return type(accuracy_score)((lambda *given: 2.0).__code__, {}, name)


class KNeighbors(KNeighborsClassifier):
    """It scores itself."""

    def score(self, X, y, sample_weight=None):
        return 2.0


class Scored(Pipeline):
    """It scores itself, and not by the last of its steps."""

    def score(self, X, y=None, sample_weight=None, **params):
        return 2.0


KNeighbors.__name__, KNeighbors.__module__ = "KNeighborsClassifier", "sklearn.neighbors"


@pytest.mark.parametrize(
    ("scoring", "estimator"),
    [
        (own("accuracy"), None),
        (own("r2"), None),
        (own("f1_of_mine"), None),
        (own("neg_mean_squared_error"), None),
        (own("roc_auc"), None),
        (make_scorer(own("accuracy_score")), None),
        (make_scorer(accuracy_score, greater_is_better=False), None),
        (make_scorer(accuracy_score, normalize=False), None),
        (None, KNeighbors()),
        (None, Scored([("last", KNeighborsClassifier())])),
    ],
)
def test_a_namesake_is_not_recognised(scoring, estimator):
    """A function or a class with the name of scikit-learn's is known by nothing but its scale."""
    assert not scale_of(claim_of(scoring, estimator)).is_known


def test_leave_one_out_is_known_by_its_class():
    """The splits of a subclass, or of a class of that name, are asked for."""
    data = Data.check(np.arange(6.0)[:, None], [0, 1] * 3, task="classification")

    class LeaveOneOut(model_selection.LeaveOneOut):
        def split(self, X, y=None, groups=None):
            yield from list(super().split(X, y, groups))[:2]

    claim, own = (
        replace(claim_of(None), cv=cv()) for cv in (model_selection.LeaveOneOut, LeaveOneOut)
    )
    assert claim.is_one_by_one
    assert not own.is_one_by_one
    assert (claim.plan(data).n_fits, own.plan(data).n_fits) == (6, 2)


def test_an_unknown_score_keeps_its_scale():
    """Its sign is turned, nothing else is assumed."""

    def profit(model, X, y):
        return 12.0

    scale = scale_of(claim_of(profit))
    assert (scale.word, scale.is_known, scale.by_rows) == ("−profit", False, False)
    assert scale.score(scale.risk(12.0)) == 12.0
