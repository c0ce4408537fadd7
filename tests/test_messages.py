"""Wrong calls raise an error of truerisk: those that the troubleshooting page quotes, and a few."""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LinearRegression, Perceptron
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import truerisk as tr
from truerisk.core import errors

X, Y = tr.datasets.make_simple(20, random_state=0)
NUMBERS = X[:, 0] + X[:, 1]
HOLES = np.where(np.arange(20)[:, None] == 3, np.nan, X)
KNN, GRID = KNeighborsClassifier(), {"n_neighbors": [1, 3]}
GROUPS = np.arange(20) // 2


class Answering(ClassifierMixin, BaseEstimator):
    """Answers labels of another kind."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), "0")


class Endless(LinearRegression):
    """Answers without bound."""

    def predict(self, X):
        return np.full(len(X), np.inf)


def strictly(call):
    """What is warned of is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()


def risk(model=KNN, X=X, y=Y, **options):
    return tr.estimate_risk(model, X, y, **options)


def curve(grid, model=KNN, **options):
    return tr.risk_curve(model, grid, X, Y, **options)


def searched(grid=GRID, model=KNN, **options):
    return tr.HonestSearchCV(model, grid, **options).fit(X, Y)


def assessed(learners, y=Y, **options):
    return tr.assess(learners, X, y, **{"cv": ["2-fold"], "outer": "2-fold", **options})


def learned(model=KNN, **options):
    return tr.learning_curve(model, X, Y, **{"cv": "4-fold", **options})


def finished(rows, y, **options):
    return tr.validate(GaussianNB().fit(X, Y), rows, y, prefit=True, **options)


CALLS = {
    "validate, without outer splits": lambda: tr.validate(searched(outer=None), X, Y),
    "validate, clip": lambda: tr.validate(KNN, X, Y, clip=0.7),
    "validate, thresholds": lambda: tr.validate(KNN, X, Y, thresholds=[1.0]),
    "validate, finished and not fitted": lambda: tr.validate(KNN, X, Y, prefit=True),
    "validate, other classes": lambda: finished(X, Y + 1),
    "subgroups, no such number": lambda: tr.validate(KNN, X, Y, subgroups=[9]),
    "subgroups, no columns": lambda: tr.validate(KNN, X, Y, subgroups=3.5),
    "subgroups, other rows": lambda: tr.validate(KNN, X, Y, subgroups={"sex": ["f", "m"]}),
    "subgroups, one level": lambda: tr.validate(KNN, X, Y, subgroups={"sex": ["f"] * 20}),
    "X is a text": lambda: risk(X="data.csv"),
    "y is None": lambda: risk(y=None),
    "y is too short": lambda: risk(y=Y[:5]),
    "y has one class": lambda: risk(y=np.zeros(20, int)),
    "rows that are copies": lambda: strictly(
        lambda: risk(X=np.vstack([X[:10]] * 2), y=np.hstack([Y[:10]] * 2), cv="5-fold")
    ),
    "a class of few rows": lambda: strictly(lambda: risk(y=np.r_[1, 1, 1, np.zeros(17, int)])),
    "groups are too few": lambda: risk(groups=GROUPS[:3]),
    "groups and single rows": lambda: risk(groups=GROUPS, cv="loo"),
    "weights that a model does not take": lambda: risk(sample_weight=np.ones(20)),
    "method, misspelt": lambda: risk(cv="10-flod"),
    "method, too many folds": lambda: risk(cv="40-fold"),
    "method, no such kind": lambda: tr.methods.Bootstrap("bot"),
    "labels of another kind": lambda: risk(Answering()),
    "splits within splits of copies": lambda: risk(
        StackingClassifier([("search", GridSearchCV(KNN, GRID))]), cv=".632"
    ),
    "loss of ranks, a class missing in a test set": lambda: risk(
        y=np.r_[1, np.zeros(19, int)], scoring="auc"
    ),
    "answers that are no numbers": lambda: risk(Endless(), y=NUMBERS),
    "loss that needs probabilities": lambda: risk(Perceptron(), scoring="log"),
    "interval that the loss has no rows for": lambda: risk(scoring="auc", interval="wald"),
    "grid with an unknown parameter": lambda: curve({"n_neighbor": [1]}),
    "grid of a plain value": lambda: curve({"n_neighbors": 3}),
    "model that is a class": lambda: risk(KNeighborsClassifier),
    "a hole that the model does not take": lambda: risk(X=HOLES, cv="2-fold"),
    "versions without a store": lambda: assessed({"knn": KNN}, mixed_versions=True),
    "search, a setting that a fold cannot fit": lambda: searched({"n_neighbors": [1, 50]}, cv=5),
    "search, an old name": lambda: searched(executor=2),
    "search, the honest risk left out": lambda: searched(outer=None).risk_,
    "search given, with words": lambda: searched(None, GridSearchCV(KNN, GRID), cv=5),
    "search given, its curve": lambda: searched(None, GridSearchCV(KNN, GRID, cv=2)).curve_,
    "data sets, methods that never meet": lambda: tr.compare_many(
        {"a": [0.1, 1, None, None], "b": [None, None, 1, 2]}, missing="last"
    ),
    "difference on other splits": lambda: risk() - risk(GaussianNB(), random_state=1),
    "comparison in a score that was not asked": lambda: tr.compare(risk(), risk(), score="auc"),
    "comparison of losses by halves": lambda: tr.compare(Y, Y, test="sharp"),
    "one-se over ordered splits": lambda: curve(GRID, rule="1-se", cv=TimeSeriesSplit(3)),
    "a learning curve of a search with its own seed": lambda: learned(
        tr.HonestSearchCV(KNN, GRID), random_state=3
    ),
    "a path by SVC": lambda: risk(SVC(), engine="logistic-path"),
}


@cache
def message_of(name):
    """Return the class and the words of the error that the named call raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            CALLS[name]()
        except Exception as error:  # noqa: BLE001  tests judge the class of the error
            return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("name", CALLS)
def test_message_of_a_wrong_call_is_a_sentence(name):
    """The error is one of truerisk's or scikit-learn's; its message ends a sentence or a quote."""
    kind, _, words = message_of(name).partition(": ")
    assert hasattr(errors, kind) or kind == "NotFittedError", message_of(name)
    assert words.endswith((".", "?", ")")) or "failed in the test split" in words, words
