"""The rooms of the package as a type checker sees them; nothing here is run."""

from typing import Any, assert_type

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.contracts import Engine, Method, Rule
from truerisk.core.registry import Registry
from truerisk.intervals import IntervalForm
from truerisk.results.interval import Interval

X, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])


def methods() -> None:
    assert_type(tr.methods.names(), list[str])
    assert_type(tr.methods.registry, Registry)
    assert_type(tr.methods.as_method("10-fold"), Method)
    folds = tr.methods.KFold(10, repeats=5)
    assert_type(folds, tr.methods.KFold)
    assert_type(folds.k, int)
    method: Method = tr.methods.Nested(outer="10-fold", inner=folds)
    tr.estimate_risk(DecisionTreeClassifier(), X, y, cv=method)
    tr.methods.KFold(repeat=5)  # type: ignore[call-arg]


def a_method_of_your_own_has_no_line() -> None:
    assert_type(tr.methods.OddEven(), Method)


def engines() -> None:
    assert_type(tr.engines.names(), list[str])
    engine: Engine = tr.engines.NearestNeighbours()
    tr.estimate_risk(DecisionTreeClassifier(), X, y, engine=engine)
    assert_type(tr.engines.Generic(), tr.engines.Generic)


def an_engine_of_your_own_has_no_line() -> None:
    assert_type(tr.engines.Mine(), Engine)


def intervals_and_rules() -> None:
    assert_type(tr.intervals.names(), list[str])
    form: IntervalForm[Any] = tr.intervals.as_form("wald")
    assert_type(form.name, str)
    assert_type(tr.selection.as_rule("1-se"), Rule)


def losses() -> None:
    assert_type(tr.losses.ZeroOne().score(0.25), float)
    assert_type(tr.losses.ZeroOne().score(np.zeros(3)), np.ndarray)


def models() -> None:
    parzen = tr.models.ParzenClassifier()
    assert_type(parzen, tr.models.ParzenClassifier)
    tr.models.Parzen  # type: ignore[attr-defined]


def datasets() -> None:
    bundle = tr.datasets.load("iris")
    assert_type(bundle, tr.datasets.Bundle)
    drawn: tuple[np.ndarray, np.ndarray] = tr.datasets.make_simple(50, random_state=1)
    tr.estimate_risk(DecisionTreeClassifier(), *drawn)
    tr.datasets.make_smiple()  # type: ignore[attr-defined]


def posteriors() -> None:
    posterior = tr.ErrorPosterior(3, 20)
    assert_type(posterior.mean, float)
    assert_type(posterior.cdf(0.1), float)
    assert_type(posterior.cdf(np.linspace(0, 1)), np.ndarray)
    assert_type(posterior.interval(0.9), Interval)
    assert_type(tr.SelectionBias([[0.1, 0.2]], [0]).reported.mean, float)
    assert_type(tr.plan_sample(0.1, width=0.05).n_test, int | None)
    assert_type(tr.bayesian_error([1.0, 2.0], 0.5, X, y).value, float)


def names_that_are_not_there() -> None:
    tr.estimate_riks(DecisionTreeClassifier(), X, y)  # type: ignore[attr-defined]
