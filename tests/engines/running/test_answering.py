"""However many scores read them, predictions of each kind are made once for a test set."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.assessment.pace import pace_of
from truerisk.contracts import Streams
from truerisk.core.family import Family
from truerisk.engines.running.several_scores import asked_once
from truerisk.estimation.problem import pose
from truerisk.methods.kfold import KFold

N = 60
Y = np.arange(N) % 2
X = np.random.default_rng(0).normal(size=(N, 3)) + Y[:, None]
SCORES = ["brier", "auc", "zero-one", "f1", "roc_auc", "jaccard", "accuracy"]
CALLS: Counter[str] = Counter()


class Slow(ClassifierMixin, BaseEstimator):
    """Counts what it is asked: it learns when it predicts, as TabPFN does."""

    def __init__(self, prior=0.5):
        self.prior = prior

    def fit(self, X, y):
        CALLS["fit"] += 1
        self.model_ = GaussianNB(priors=[1 - self.prior, self.prior]).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        CALLS["predict"] += 1
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        CALLS["predict_proba"] += 1
        return self.model_.predict_proba(X)


@pytest.fixture(autouse=True)
def _from_0():
    CALLS.clear()


@pytest.mark.parametrize(
    ("model", "times"), [(Slow(), 3), (make_pipeline(StandardScaler(), Slow()), 6)]
)
def test_probabilities_are_made_once_for_all_scores(model, times):
    """Losses of ours and scorers of scikit-learn read the same ones, and are as they are alone.

    In a pipeline, `predict` makes its own: it is asked about rows that the steps made anew.
    """
    found = tr.estimate_risk(model, X, Y, cv="3-fold", scoring=["log", *SCORES])
    assert {"fit": 3, "predict": 3, "predict_proba": times} == CALLS
    for word in SCORES:
        alone = tr.estimate_risk(model, X, Y, cv="3-fold", scoring=word)
        assert found.scores[word].value == alone.value


def test_settings_that_share_steps_are_asked_once_as_well():
    """A scorer asks the pipeline, a loss its learner: the learner answers both, once."""
    piped = make_pipeline(StandardScaler(), Slow())
    grid = {"slow__prior": [0.3, 0.5]}
    found = tr.risk_curve(piped, grid, X, Y, cv="3-fold", scoring=["log", *SCORES])
    assert CALLS == {"fit": 6, "predict": 6, "predict_proba": 6}
    alone = tr.risk_curve(piped, grid, X, Y, cv="3-fold", scoring="jaccard")
    assert np.array_equal(found.scores["jaccard"].values, alone.values)


def test_a_search_asks_as_often_as_grid_search():
    """Six metrics of three folds: once the labels, once the probabilities."""
    words = ["accuracy", "roc_auc", "f1", "neg_log_loss", "jaccard", "average_precision"]
    given = {"scoring": words, "refit": "accuracy", "cv": 3}
    theirs = GridSearchCV(Slow(), {"prior": [0.3, 0.5]}, **given).fit(X, Y)
    asked = Counter(CALLS)
    CALLS.clear()
    ours = tr.HonestSearchCV(Slow(), {"prior": [0.3, 0.5]}, outer=None, **given).fit(X, Y)
    assert CALLS["predict"] == asked["predict"]
    assert CALLS["predict_proba"] <= asked["predict_proba"]
    for word in words:
        name = f"mean_test_{word}"
        assert ours.cv_results_[name] == pytest.approx(theirs.cv_results_[name], abs=1e-12)


def test_a_function_of_the_user_is_given_the_model_itself():
    """It may look at the model, or ask it about other rows: nothing stands in its place."""

    def score(model, X, y):
        assert "predict" not in vars(model)
        return float((model.predict(X) == y).mean())

    found = tr.estimate_risk(
        Slow(), X, Y, cv="3-fold", scoring={"log": "log", "own": score, "zero-one": "zero-one"}
    )
    assert found.scores["own"].value == pytest.approx(1 - found.scores["zero-one"].value)
    assert CALLS["predict"] == 6


def test_other_rows_are_asked_about_anew():
    """Only the very rows of the test are remembered, and answers are nobody's to write into."""
    model = Slow().fit(X, Y)
    with asked_once((model, X), (model, X)):
        first = model.predict_proba(X)
        first[:] = 0
        assert model.predict_proba(X).sum() == pytest.approx(N)
        assert model.predict_proba(X[:5]).shape == (5, 2)
        assert get_scorer("neg_log_loss")(model, X, Y) > -1
    assert CALLS["predict_proba"] == 2
    assert not {"predict", "predict_proba"} & set(vars(model))


def test_a_model_that_fails_is_left_as_it_was():
    """Also where it raises in between."""
    model = Slow().fit(X, Y)
    with pytest.raises(ZeroDivisionError), asked_once((model, X), (model, X)):
        raise ZeroDivisionError
    assert "predict" not in vars(model)


def test_a_forecast_counts_predicting():
    """By a clock that runs while probabilities are made: fits of no time, answers that take it."""
    problem = pose(Family.of(Slow(), {"prior": [0.3, 0.5]}), X, Y, scoring=["log", *SCORES])
    plan = KFold(10).plan(problem.data, Streams(0))
    pace = pace_of(problem, plan, clock=lambda: float(CALLS["predict_proba"]))
    CALLS.clear()
    problem.asking()(plan)
    assert CALLS["predict_proba"] == 20
    assert pace.seconds(plan.n_fits) == 20
