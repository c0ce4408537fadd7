"""Unknown words, classes for objects and losses that do not fit: the message says what would."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor
from tests.faces.test_bad_input import X, Y, estimate

import truerisk as tr
from truerisk.core.errors import (
    BadArgument,
    BadData,
    FitFailed,
    Refusal,
    TrueRiskError,
    UnknownName,
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cv": "holdot"}, "no method 'holdot'; did you mean 'holdout'"),
        ({"scoring": "brierr"}, "no scoring 'brierr'; did you mean 'brier'"),
        ({"cv": "LOO"}, "no method 'LOO'; did you mean 'loo'"),
        ({"cv": "5-Fold"}, "no method '5-Fold'; did you mean '5-fold'"),
        ({"scoring": "AUC"}, "no scoring 'AUC'; did you mean 'auc'"),
        ({"scoring": "Brier"}, "no scoring 'Brier'; did you mean 'brier'"),
        ({"interval": "BETA-CV"}, "no interval 'BETA-CV'; did you mean 'beta-cv'"),
        ({"engine": "genric"}, "no engine 'genric'; did you mean 'generic'"),
        ({"n_jobs": "2"}, "n_jobs='2' is unknown; use None .*a number"),
        ({"random_state": "0"}, "random_state='0' is no seed"),
        ({"scoring": np.array([[0, 1], [5, 0]])}, "given as scoring=tr.losses.Cost"),
        ({"model": KNeighborsClassifier}, "not an estimator instance"),
        ({"model": "knn"}, "not an estimator instance"),
    ],
)
def test_unknown_words(change, message) -> None:
    """An unknown word gets the nearest one, or what is wanted."""
    with pytest.raises(UnknownName, match=message):
        estimate(**change)


@pytest.mark.parametrize("level", [95, "0.95", True, None])
def test_a_level_is_no_percentage(level) -> None:
    """It is shown as it was typed."""
    with pytest.raises(BadArgument, match=f"confidence_level={level!r}: use a level between 0 and"):
        estimate(confidence_level=level)


@pytest.mark.parametrize("model", [KNeighborsClassifier, "knn", None], ids=str)
@pytest.mark.parametrize("grid", [None, {"n_neighbors": [1, 3]}], ids=["alone", "grid"])
def test_a_search_of_no_estimator(model, grid) -> None:
    """scikit-learn was asked for its tags first, and spoke of base classes and mixins."""
    with pytest.raises(UnknownName, match="not an estimator instance"):
        tr.HonestSearchCV(model, grid).fit(X, Y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": {"n_neighbour": [1]}}, "no parameter 'n_neighbour'; did you mean 'n_neighbors'"),
        ({"rule": "1se"}, "no rule '1se'; did you mean '1-se'"),
        ({"grid": 3}, "grid=3 is no grid"),
    ],
)
def test_unknown_words_of_a_curve(change, message) -> None:
    """Parameters and rules get the nearest name, too."""
    given = {"grid": {"n_neighbors": [1]}, **change}
    grid = given.pop("grid")
    with pytest.raises(UnknownName, match=message):
        tr.risk_curve(KNeighborsClassifier(), grid, X, Y, **given)


@pytest.mark.parametrize(
    ("loss", "model", "message"),
    [
        (
            "squared",
            KNeighborsClassifier(),
            "not defined for classification; use zero-one, log or brier",
        ),
        (
            "zero-one",
            DecisionTreeRegressor(),
            "not defined for regression; use squared or absolute",
        ),
        ("log", SVC(), "SVC gives no probabilities.*CalibratedClassifierCV"),
    ],
)
def test_a_loss_that_does_not_fit(loss, model, message) -> None:
    """The loss, why not, and which ones fit."""
    with pytest.raises(Refusal, match=message):
        estimate(model, scoring=loss)


def test_every_error_can_be_caught_as_one() -> None:
    """All are TrueRiskError; bad values are ValueError, as scikit-learn's callers expect."""
    for kind in (BadData, Refusal, UnknownName):
        assert issubclass(kind, TrueRiskError)
        assert issubclass(kind, ValueError)
    assert issubclass(FitFailed, TrueRiskError)


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        ("cv", tr.methods.KFold),
        ("cv", KFold),
        ("engine", tr.engines.Generic),
        ("scoring", tr.losses.Brier),
    ],
    ids=["ours", "scikit-learn's", "engine", "loss"],
)
def test_a_class_is_no_object(option, kind) -> None:
    """The parentheses that were forgotten are asked for."""
    with pytest.raises(UnknownName, match=f"{option}={kind.__name__} is a class: make an object"):
        estimate(**{option: kind})


def test_what_is_no_cost_no_table_and_no_estimate() -> None:
    """Costs are numbers, tables have a path and a name to predict, estimates are JSON."""
    with pytest.raises(BadArgument, match="matrix='x' holds no costs"):
        tr.losses.Cost("x")
    with pytest.raises(BadArgument, match="path=3: give the path of a file"):
        tr.datasets.read_table(3, "y")
    with pytest.raises(BadArgument, match="target=0: give the name of the column"):
        tr.datasets.read_table("table.csv", 0)
    with pytest.raises(BadData, match="this is no JSON"):
        tr.RiskEstimate.from_json("x")
