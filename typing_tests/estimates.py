"""What `estimate_risk` and `risk_curve` give, as a type checker sees it; nothing here is run."""

from collections.abc import Iterator, Mapping
from typing import Any, assert_type

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.results.interval import Breakdown, Interval

X, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])
TREE = DecisionTreeClassifier()


def an_estimate() -> None:
    estimate = tr.estimate_risk(TREE, X, y, cv="10-fold", random_state=1)
    assert_type(estimate, tr.RiskEstimate)
    assert_type(estimate.value, float | None)
    assert_type(estimate.std_error, float | None)
    assert_type(estimate.interval, Interval | None)
    assert_type(estimate.params, Mapping[str, Any])
    assert_type(estimate.n_fits, int)
    assert_type(estimate.losses, np.ndarray | None)
    assert_type(estimate.table, Breakdown | None)
    assert_type(estimate.notes, tuple[str, ...])
    assert_type(estimate.to_json(), str)
    assert_type(tr.RiskEstimate.from_json("{}"), tr.RiskEstimate)


def an_interval_may_be_missing() -> None:
    estimate = tr.estimate_risk(TREE, X, y)
    estimate.interval.low  # type: ignore[union-attr]
    estimate.value + 1  # type: ignore[operator]
    if estimate.interval is not None:
        assert_type(estimate.interval.low, float)
        assert_type(estimate.interval.method, str)


def a_curve() -> None:
    curve = tr.risk_curve(TREE, {"max_depth": [1, 2]}, X, y, rule="1-se")
    assert_type(curve, tr.RiskCurve)
    assert_type(curve[0], tr.RiskEstimate)
    assert_type(iter(curve), Iterator[tr.RiskEstimate])
    assert_type(curve.values, np.ndarray)
    assert_type(curve.std_errors, np.ndarray)
    assert_type(curve.best, int)
    assert_type(curve.best_params, dict[str, Any])
    assert_type(curve.procedure, tr.RiskEstimate | None)


def results_are_frozen() -> None:
    tr.estimate_risk(TREE, X, y).value = 0.0  # type: ignore[misc]


def options_are_named() -> None:
    tr.estimate_risk(TREE, X, y, "10-fold")  # type: ignore[call-arg]
    tr.estimate_risk(TREE, X, y, metod="10-fold")  # type: ignore[call-arg]
    tr.estimate_risk(TREE, X, y, confidence_level="0.95")  # type: ignore[arg-type]


def a_learning_curve() -> None:
    """Says what to expect of a number of rows, and plans a test."""
    curve = tr.learning_curve(TREE, X, y, sizes=[1, 2, 3])
    assert_type(curve, tr.LearningCurve)
    assert_type(curve.at(400).value, float)
    assert_type(curve.at(400).interval, Interval)
    tr.plan_sample(curve, n=400)
    tr.learning_curve(TREE, X, y, random=1)  # type: ignore[call-arg]
