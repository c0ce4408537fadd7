"""Wrong calls raise an error of truerisk; the troubleshooting page quotes what they say."""

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, Perceptron, Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import truerisk as tr
from truerisk.core import errors

X, Y = tr.datasets.make_simple(20, random_state=0)
NUMBERS = X[:, 0] + X[:, 1]
HOLES = np.where(np.arange(20)[:, None] == 3, np.nan, X)
KNN, GRID = KNeighborsClassifier(), {"n_neighbors": [1, 3]}
GROUPS = np.arange(20) // 2
UNIFORM = scipy.stats.uniform()


class Broken(GaussianNB):
    """Cannot be fitted."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        raise RuntimeError("the disk is full")


class Answering(ClassifierMixin, BaseEstimator):
    """Answers what it is told to."""

    def __init__(self, said: Any = 0.5, columns: int = 2, classes: Any = (0, 1)) -> None:
        self.said, self.columns, self.classes = said, columns, classes

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_ = np.array(self.classes)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.said)

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), self.columns), self.said)


class Endless(LinearRegression):
    """Answers without bound."""

    def predict(self, X: Any) -> Any:
        return np.full(len(X), np.inf)


class Resampling(BaseEstimator):
    """A step that changes the rows, as those of imbalanced-learn."""

    def fit_resample(self, X: Any, y: Any) -> Any:
        return X, y


def strictly(call: Callable[[], Any]) -> Any:
    """What is warned of is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()


def risk(model: Any = KNN, X: Any = X, y: Any = Y, **options: Any) -> Any:
    return tr.estimate_risk(model, X, y, **options)


def curve(grid: Any, model: Any = KNN, **options: Any) -> Any:
    return tr.risk_curve(model, grid, X, Y, **options)


def searched(grid: Any = GRID, model: Any = KNN, **options: Any) -> Any:
    return tr.HonestSearchCV(model, grid, **options).fit(X, Y)


def raced(**options: Any) -> Any:
    grid = {"var_smoothing": [1e-9, 1.0]}
    return searched(grid, GaussianNB(), **{"cv": "racing", **options})


def assessed(learners: Any, y: Any = Y, **options: Any) -> Any:
    return tr.assess(learners, X, y, **{"cv": ["2-fold"], "outer": "2-fold", **options})


def learned(model: Any = KNN, **options: Any) -> Any:
    return tr.learning_curve(model, X, Y, **{"cv": "4-fold", **options})


def finished(rows: Any, y: Any, **options: Any) -> Any:
    return tr.validate(GaussianNB().fit(X, Y), rows, y, prefit=True, **options)


CALLS: Mapping[str, Callable[[], Any]] = {
    "validate, other rows": lambda: tr.validate(searched(), X[::-1], Y),
    "validate, without outer splits": lambda: tr.validate(searched(outer=None), X, Y),
    "validate, clip": lambda: tr.validate(KNN, X, Y, clip=0.7),
    "validate, thresholds": lambda: tr.validate(KNN, X, Y, thresholds=[1.0]),
    "validate, finished and not fitted": lambda: tr.validate(KNN, X, Y, prefit=True),
    "validate, finished on these rows": lambda: tr.validate(searched(), X, Y, prefit=True),
    "validate, other classes": lambda: finished(X, Y + 1),
    "validate, other columns": lambda: finished(X[:, :1], Y),
    "validate, samples of a finished model": lambda: finished(X, Y, replicates=9),
    "subgroups, unknown column": lambda: tr.validate(KNN, X, Y, subgroups=["sex"]),
    "subgroups, no such number": lambda: tr.validate(KNN, X, Y, subgroups=[9]),
    "subgroups, no columns": lambda: tr.validate(KNN, X, Y, subgroups=3.5),
    "subgroups, other rows": lambda: tr.validate(KNN, X, Y, subgroups={"sex": ["f", "m"]}),
    "subgroups, one level": lambda: tr.validate(KNN, X, Y, subgroups={"sex": ["f"] * 20}),
    "validate, no curve": lambda: tr.validate(KNN, X, Y, replicates=0).calibration.plot(None),
    "X is a text": lambda: risk(X="data.csv"),
    "X has one dimension": lambda: risk(X=X[:, 0]),
    "X is ragged": lambda: risk(X=[[1, 2], [3]], y=[0, 1]),
    "X has no rows": lambda: risk(X=X[:0], y=Y[:0]),
    "y is None": lambda: risk(y=None),
    "y is too short": lambda: risk(y=Y[:5]),
    "y has a hole": lambda: risk(Ridge(), y=np.where(np.arange(20) == 4, np.nan, NUMBERS)),
    "y has one class": lambda: risk(y=np.zeros(20, int)),
    "y holds fractions": lambda: risk(y=NUMBERS),
    "y holds words": lambda: risk(Ridge(), y=np.array(["a", "b"])[Y]),
    "rows that are copies": lambda: strictly(
        lambda: risk(X=np.vstack([X[:10]] * 2), y=np.hstack([Y[:10]] * 2), cv="5-fold")
    ),
    "a class of few rows": lambda: strictly(lambda: risk(y=np.r_[1, 1, 1, np.zeros(17, int)])),
    "y has two columns": lambda: risk(y=np.column_stack([Y, Y])),
    "groups are too few": lambda: risk(groups=GROUPS[:3]),
    "groups and single rows": lambda: risk(groups=GROUPS, cv="loo"),
    "one group": lambda: risk(groups=np.zeros(20)),
    "weights are negative": lambda: risk(GaussianNB(), sample_weight=-np.ones(20)),
    "weights that a model does not take": lambda: risk(sample_weight=np.ones(20)),
    "weights that one of the learners does not take": lambda: assessed(
        {"mine": KNN}, sample_weight=np.ones(20)
    ),
    "method, misspelt": lambda: risk(cv="10-flod"),
    "method, too many folds": lambda: risk(cv="40-fold"),
    "method, no such kind": lambda: tr.methods.Bootstrap("bot"),
    "loss, misspelt": lambda: risk(scoring="zero-on"),
    "loss of regression for classes": lambda: risk(scoring="squared"),
    "labels of another kind": lambda: risk(Answering(said="0")),
    "labels that are fractions": lambda: risk(Answering(said=0.5)),
    "probabilities above 1": lambda: risk(Answering(said=1.5), scoring="log"),
    "probabilities in one column": lambda: risk(Answering(columns=1), scoring="log"),
    "classes that y does not hold": lambda: risk(Answering(classes=("a", "b")), scoring="log"),
    "weights that need routing": lambda: risk(
        OneVsRestClassifier(GaussianNB()), sample_weight=np.ones(20)
    ),
    "weights behind a resampling step": lambda: risk(
        make_pipeline(Resampling(), GaussianNB()), sample_weight=np.ones(20)
    ),
    "splits within splits of copies": lambda: risk(
        StackingClassifier([("search", GridSearchCV(KNN, GRID))]), cv=".632"
    ),
    "a warning of a fitted part": lambda: strictly(
        lambda: risk(FrozenEstimator(GaussianNB().fit(X, Y)))
    ),
    "a warning of sums": lambda: strictly(lambda: risk(Answering(said=0.2), scoring="log")),
    "a warning of labels": lambda: strictly(lambda: risk(Answering(said=7))),
    "loss of ranks, a class missing in a test set": lambda: risk(
        y=np.r_[1, np.zeros(19, int)], scoring="auc"
    ),
    "answers that are no numbers": lambda: risk(Endless(), y=NUMBERS),
    "loss that needs probabilities": lambda: risk(Perceptron(), scoring="log"),
    "interval, misspelt": lambda: risk(interval="wal"),
    "interval that the loss has no rows for": lambda: risk(scoring="auc", interval="wald"),
    "interval that the method lacks": lambda: risk(cv="apparent", interval="corrected-t"),
    "confidence level": lambda: risk(confidence_level=95),
    "seed": lambda: risk(random_state=-1),
    "engine, misspelt": lambda: risk(engine="knm"),
    "engine that refuses": lambda: risk(GaussianNB(), engine="knn"),
    "executor": lambda: risk(n_jobs="four"),
    "rule, misspelt": lambda: curve(GRID, rule="1se"),
    "grid with an unknown parameter": lambda: curve({"n_neighbor": [1]}),
    "grid that is empty": lambda: curve({"n_neighbors": []}),
    "grid of a plain value": lambda: curve({"n_neighbors": 3}),
    "model that is a class": lambda: risk(KNeighborsClassifier),
    "model that is a word": lambda: risk("knn"),
    "fit that fails": lambda: risk(Broken(), cv="2-fold"),
    "a hole that the model does not take": lambda: risk(X=HOLES, cv="2-fold"),
    "learners that are a word": lambda: assessed("knn"),
    "learners, misspelt": lambda: assessed(["knm"]),
    "learners, named twice": lambda: assessed(["knn", "knn"]),
    "learners of two tasks": lambda: assessed({"knn": KNN, "line": LinearRegression()}),
    "learners, none": lambda: assessed({}),
    "learning curves, no list": lambda: assessed({"knn": KNN}, learning_curve="knn"),
    "learning curves, unknown": lambda: assessed({"knn": KNN}, learning_curve=["kmn"]),
    "learning curves, few rows": lambda: assessed({"knn": KNN}, learning_curve="all"),
    "no splits": lambda: assessed({"knn": KNN}, cv=[]),
    "versions without a store": lambda: assessed({"knn": KNN}, mixed_versions=True),
    "search, not fitted": lambda: tr.audit(GridSearchCV(KNN, GRID)),
    "search that is none": lambda: tr.audit(KNN),
    "search, no time": lambda: searched(time_limit=0),
    "search, time in words": lambda: searched(time_limit="60 s"),
    "search, store without a folder": lambda: searched(store="nowhere/search.db"),
    "search, store that no seed finds again": lambda: searched(store="a.db", random_state=None),
    "search, race of an engine that answers all": lambda: searched(cv="racing"),
    "search, race by one standard error": lambda: raced(rule="1-se"),
    "search, race by ranks": lambda: raced(scoring="auc"),
    "search, race tested by other splits": lambda: raced(outer="5-fold"),
    "search, race with a time limit": lambda: raced(time_limit=60),
    "search, race of repeated folds": lambda: raced(cv=tr.methods.Racing("2x5-fold")),
    "search, race without folds": lambda: raced(cv=tr.methods.Racing("loo")),
    "search, a setting that a fold cannot fit": lambda: searched({"n_neighbors": [1, 50]}, cv=5),
    "search, an old name": lambda: searched(executor=2),
    "search, the honest risk left out": lambda: searched(outer=None).risk_,
    "search, kept fits without a store": lambda: searched().kept_,
    "assessment by a race": lambda: assessed({"mine": KNN}, cv=["racing"]),
    "search, risk before fit": lambda: tr.HonestSearchCV(KNN, GRID).risk_,
    "search, distribution without a number": lambda: searched({"C": UNIFORM}, SVC()),
    "search, number of settings": lambda: searched({"C": UNIFORM}, SVC(), n_iter="ten"),
    "search, nothing to draw from": lambda: searched(None, n_iter=5),
    "search, drawn from an object": lambda: searched({"n_neighbors": Ellipsis}, n_iter=5),
    "search given, with words": lambda: searched(None, GridSearchCV(KNN, GRID), cv=5),
    "search given, without refit": lambda: searched(None, GridSearchCV(KNN, GRID, refit=False)),
    "search given, with listed splits": lambda: searched(
        None, GridSearchCV(KNN, GRID, cv=[(range(10), range(10, 20))])
    ),
    "search given, its curve": lambda: searched(None, GridSearchCV(KNN, GRID, cv=2)).curve_,
    "search, predict before fit": lambda: tr.HonestSearchCV(KNN, GRID).predict(X),
    "audit, level misspelt": lambda: tr.audit(GridSearchCV(KNN, GRID).fit(X, Y), level="score"),
    "comparison of other rows": lambda: tr.compare(
        risk(cv="2-fold"), risk(GaussianNB(), X[:10], Y[:10], cv="2-fold")
    ),
    "data sets, one": lambda: tr.compare_many([[0.1, 0.2]]),
    "data sets, one method": lambda: tr.compare_many([[0.1], [0.2]]),
    "data sets, a method missing everywhere": lambda: tr.compare_many(
        {"a": [0.1, 0.2], "b": [None, None]}
    ),
    "data sets, none with all methods": lambda: tr.compare_many({"a": [0.1, None], "b": [None, 1]}),
    "data sets, methods that never meet": lambda: tr.compare_many(
        {"a": [0.1, 1, None, None], "b": [None, None, 1, 2]}, missing="last"
    ),
    "data sets, values of unlike length": lambda: tr.compare_many({"a": [1, 2], "b": [1]}),
    "data sets, a word for a value": lambda: tr.compare_many({"a": [1, "x"], "b": [1, 2]}),
    "data sets, no table": lambda: tr.compare_many("scores.csv"),
    "data sets, direction misspelt": lambda: tr.compare_many([[1, 2], [2, 3]], better="low"),
    "data sets, a control that is not there": lambda: tr.compare_many(
        {"knn": [1, 2], "lda": [2, 3]}, control="knm"
    ),
    "difference on other splits": lambda: risk() - risk(GaussianNB(), random_state=1),
    "comparison of a search of scikit-learn": lambda: tr.compare(GridSearchCV(KNN, GRID), risk()),
    "comparison in a score that was not asked": lambda: tr.compare(risk(), risk(), score="auc"),
    "comparison of losses by pairs": lambda: tr.compare(Y, Y, test="paired-cv"),
    "comparison by halves of folds": lambda: tr.compare(risk(), risk(), test="sharp"),
    "comparison of losses by halves": lambda: tr.compare(Y, Y, test="sharp"),
    "difference of an unknown learner": lambda: assessed({"mine": KNN}).difference("mine", "nine"),
    "one-se over ordered splits": lambda: curve(GRID, rule="1-se", cv=TimeSeriesSplit(3)),
    "too few sizes of a learning curve": lambda: learned(sizes=[5, 10]),
    "sizes beyond the rows": lambda: learned(sizes=[5, 8, 12, 25]),
    "sizes as shares": lambda: learned(sizes=[0.1, 0.3, 0.6, 1.0]),
    "rows too few for a learning curve": lambda: learned(cv="5-fold"),
    "a learning curve over time": lambda: learned(cv=TimeSeriesSplit(3)),
    "a learning curve by the bootstrap": lambda: learned(cv=".632"),
    "a class missing in small subsamples": lambda: strictly(lambda: learned(sizes=[1, 5, 8, 12])),
    "fits that fail with few rows": lambda: learned(KNeighborsClassifier(9), sizes=[5, 9, 12, 15]),
    "a size beyond the reach of a learning curve": lambda: learned(sizes=[6, 8, 11, 15]).at(65),
    "a learning curve of a search with its own seed": lambda: learned(
        tr.HonestSearchCV(KNN, GRID), random_state=3
    ),
    "a learning curve that plans no test": lambda: tr.plan_sample(
        learned(GaussianNB(), sizes=[4, 7, 11, 15], scoring="brier"), n=40
    ),
    "a path by SVC": lambda: risk(SVC(), engine="logistic-path"),
}


@cache
def message_of(name: str) -> str:
    """Return the class and the words of the error that the named call raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            CALLS[name]()
        except Exception as error:  # noqa: BLE001  tests judge the class of the error
            return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("name", CALLS)
def test_message_of_a_wrong_call_is_a_sentence(name: str) -> None:
    """The error is one of truerisk's or scikit-learn's; its message ends a sentence or a quote."""
    kind, _, words = message_of(name).partition(": ")
    assert hasattr(errors, kind) or kind == "NotFittedError", message_of(name)
    assert words.endswith((".", "?", ")")) or "failed in the test split" in words, words
