"""The engine of FisherClassifier equals fitting it one by one, or refuses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.closed_forms import (
    FOLDS,
    LOO,
    RESPONSES,
    counted,
    data_of,
    drawn,
    family_of,
    kit,
    require_equal,
)

import truerisk as tr
from truerisk.contracts import RunOptions, Streams
from truerisk.core.errors import FitFailed
from truerisk.engines.discriminants.fisher import FisherDiscriminants
from truerisk.models import FisherClassifier

ENGINE = FisherDiscriminants()
BOTH = {"threshold": ["least-squares", "balanced"]}
LEARNERS = {
    "both": (FisherClassifier(), BOTH),
    "scaled": (make_pipeline(StandardScaler(), FisherClassifier("balanced")), None),
}
FAMILY = family_of(FisherClassifier(), BOTH)
PLAIN = family_of(FisherClassifier())
REFUSED = [
    (RidgeClassifier(), "the learner is RidgeClassifier, not FisherClassifier."),
    (FisherClassifier("middle"), "threshold='middle' is unknown."),
]
ASKED = [RESPONSES[0], RESPONSES[2]]


@pytest.mark.parametrize("check", kit(ENGINE, LEARNERS))
def test_conforms(check) -> None:
    """The published checks of any engine, sample weights included."""
    check()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", [LOO, FOLDS, tr.methods.MonteCarlo(4), tr.methods.Apparent()])
def test_equals_fitting_one_by_one(n_classes, weighted, method) -> None:
    """Two classes and three, with and without weights, either threshold."""
    X, y = drawn(30, 4, n_classes)
    weights = np.arange(30) % 4 / 2  # some are 0
    fit_params = {"sample_weight": weights} if weighted else {}
    require_equal(ENGINE, FAMILY, data_of(X, y, **fit_params), method, ASKED)


@pytest.mark.parametrize("what", ["copied", "constant", "once", "wide"])
def test_solutions_that_are_not_unique_are_asked(what, monkeypatch) -> None:
    """Of collinear columns FisherClassifier itself takes the solution of least norm."""
    X, y = drawn(30, 3, 2)
    more = {
        "copied": X[:, :1],
        "constant": np.full((30, 1), 0.1),
        "once": (np.arange(30) == 7).astype(float)[:, None],
        "wide": np.random.default_rng(3).normal(size=(30, 22)),
    }[what]
    data = data_of(np.c_[X, more], y)
    for method in (LOO, FOLDS):
        with counted(monkeypatch) as seen:
            require_equal(ENGINE, FAMILY, data, method, ASKED)
        assert (seen["asked"] > 0) == (what != "wide" or method is FOLDS)


def test_a_class_of_one_row() -> None:
    """Without its one row there are two classes, and one regression."""
    X, y = drawn(23, 3, 3, sizes=[12, 10, 1])
    require_equal(ENGINE, FAMILY, data_of(X, y), LOO, ASKED[:1])


@pytest.mark.parametrize("threshold", ["least-squares", "balanced"])
def test_one_class_alone_fails_as_the_learner_does(threshold) -> None:
    """A fit that sees one class only is the learner's error, with its place."""
    X, y = drawn(12, 2, 2, sizes=[11, 1])
    data, family = data_of(X, y), family_of(FisherClassifier(threshold))
    with pytest.raises(FitFailed, match="fold 11.*y holds one class only"):
        ENGINE.run(family, data, LOO.plan(data, Streams(0)), RESPONSES[0], RunOptions())


@pytest.mark.parametrize("weighty", [0, 1])
def test_a_class_without_weight(weighty) -> None:
    """A class all of whose rows, or all but the one left out, have weight 0 still has rows."""
    X, y = drawn(20, 2, 2)
    weights = np.ones(20)
    weights[np.flatnonzero(y == "b")[weighty:]] = 0
    require_equal(ENGINE, FAMILY, data_of(X, y, sample_weight=weights), LOO, ASKED)
