"""The engine of FisherClassifier equals fitting it one by one, or refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.engines.closed_forms import (
    FOLDS,
    LOO,
    RESPONSES,
    both,
    counted,
    data_of,
    drawn,
    family_of,
    kit,
    last_two_rows,
    require_equal,
)

import truerisk as tr
from truerisk.core.contracts import Request, RunOptions, Streams
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


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(2, 4), st.booleans())
def test_equals_on_any_rows(seed, p, n_classes, rounded) -> None:
    """Random rows, also on a grid of few values."""
    X, y = drawn(24, p, n_classes, seed=seed)
    data = data_of(np.round(X) if rounded else X, y)
    for method in (LOO, tr.methods.KFold(3)):
        require_equal(ENGINE, FAMILY, data, method, ASKED, seed=seed)


def test_leave_one_out_is_answered_together(monkeypatch) -> None:
    """No train set is looked at, and no model fitted."""
    X, y = drawn(40, 3, 3)
    data = data_of(X, y)
    with counted(monkeypatch) as seen:
        ENGINE.run(FAMILY, data, LOO.plan(data, Streams(0)), RESPONSES[0], RunOptions())
    assert seen == {"asked": 0, "passes": 0}


def test_winners_alone_are_answered() -> None:
    """Asked for one candidate per fit it answers that candidate."""
    X, y = drawn(30, 3, 2)
    for method, n_fits in ((LOO, 30), (FOLDS, 5)):
        require_equal(ENGINE, FAMILY, data_of(X, y), method, ASKED, np.arange(n_fits) % 2)


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


def test_ties_are_asked() -> None:
    """A row on the boundary gets the label that the learner gives it, whatever rounding."""
    X = np.array([[-2.0, 0], [-1, 1], [-1, -1], [2, 0], [1, 1], [1, -1], [0, 3], [0, -3]])
    data = data_of(X, [0, 0, 0, 1, 1, 1, 0, 1])
    found, expected = both(ENGINE, FAMILY, data, last_two_rows(8), RESPONSES[0])
    assert (found == expected).all()


def test_what_it_does_not_cover_it_refuses() -> None:
    """Other learners, an unknown threshold, scores of three classes, as many columns as rows."""
    plan = FOLDS.plan(data_of(*drawn(20, 2, 2)), Streams(0))

    def said(model=None, shape=(20, 2, 2), request=RESPONSES[0]):
        data = data_of(*drawn(*shape))
        return ENGINE.refuse(family_of(model or FisherClassifier()), data, plan, request)

    assert said(RidgeClassifier()) == "the learner is RidgeClassifier, not FisherClassifier."
    assert said(FisherClassifier("middle")) == "threshold='middle' is unknown."
    assert "more classes than two" in said(shape=(20, 2, 3), request=Request("score"))
    assert said(shape=(20, 19, 2)) == "the least squares of 20 rows have no unique solution."
    assert said(shape=(20, 18, 2)) is None


def test_auto_takes_it_and_says_so() -> None:
    """`engine="auto"` answers the double cross-validation of a curve with it."""
    X, y = drawn(40, 3, 2)
    curve = tr.risk_curve(FisherClassifier(), BOTH, X, y, method="loo")
    assert curve[0].engine == "fisher"
    generic = tr.risk_curve(FisherClassifier(), BOTH, X, y, method="loo", engine="generic")
    assert curve.values.tolist() == generic.values.tolist()
