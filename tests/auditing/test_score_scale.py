"""Scores become risks."""

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

from truerisk.extend import Data
from truerisk.search.claim import Claim, make_score_scale


def claim_of(scoring, estimator=None):
    """Return a claim of one candidate."""
    model = SVC() if estimator is None else estimator
    return Claim("GridSearchCV", "best_score_", 0.9, 0, ({},), model, scoring, 5)


def profit(model, X, y):
    return 12.0


@pytest.mark.parametrize(
    ("scoring", "estimator", "word", "risk"),
    [
        ("accuracy", None, "zero-one", 0.1),
        ("balanced_accuracy", None, "1 − balanced_accuracy", 0.1),
        ("r2", None, "1 − r2", 0.1),
        ("roc_auc", None, "auc", 0.1),
        ("f1_macro", None, "1 − f1_macro", 0.1),
        ("neg_mean_squared_error", None, "squared", -0.9),
        ("neg_log_loss", None, "log", -0.9),
        ("neg_root_mean_squared_error", None, "root_mean_squared_error", -0.9),
        (get_scorer("neg_brier_score"), None, "brier", -0.9),
        (make_scorer(accuracy_score), None, "zero-one", 0.1),
        (make_scorer(f1_score, average="macro", pos_label=None), None, "1 − f1_macro", 0.1),
        # The model's own score is accuracy or R² where it is scikit-learn's; a deviance is neither.
        (None, SVC(), "zero-one", 0.1),
        (None, make_pipeline(StandardScaler(), KNeighborsClassifier()), "zero-one", 0.1),
        (None, Ridge(), "1 − r2", 0.1),
        (None, DummyRegressor(), "1 − r2", 0.1),
        (None, PoissonRegressor(), "−PoissonRegressor.score", -0.9),
        (profit, None, "−profit", -0.9),
    ],
)
def test_scale_of_a_score_says_what_is_perfect(scoring, estimator, word, risk):
    scale = make_score_scale(claim_of(scoring, estimator))
    assert scale.risk_name == word
    assert scale.risk(0.9) == pytest.approx(risk)
    assert scale.score(scale.risk(0.9)) == pytest.approx(0.9)
    assert scale.is_known or not scale.is_mean_over_rows


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
        (profit, None),
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
def test_scale_does_not_recognise_namesakes(scoring, estimator):
    assert not make_score_scale(claim_of(scoring, estimator)).is_known


def test_claim_knows_leave_one_out_by_its_class():
    data = Data.check(np.arange(6.0)[:, None], [0, 1] * 3, task="classification")

    class LeaveOneOut(model_selection.LeaveOneOut):
        def split(self, X, y=None, groups=None):
            yield from list(super().split(X, y, groups))[:2]

    claim, own = (
        replace(claim_of(None), cv=cv()) for cv in (model_selection.LeaveOneOut, LeaveOneOut)
    )
    assert claim.has_single_row_test_sets
    assert not own.has_single_row_test_sets
    assert (claim.plan(data).n_fits, own.plan(data).n_fits) == (6, 2)
