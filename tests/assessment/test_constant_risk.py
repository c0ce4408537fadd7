"""The best constant answer has the smallest risk that ignores the features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import log_loss

import truerisk as tr
from truerisk.assessment.constant_risk import constant_risk
from truerisk.core.family import Family
from truerisk.estimation.problem import pose
from truerisk.losses.row_losses import Cost

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(30, 2))
LABELS = np.repeat(["a", "b", "c"], [5, 9, 16])
TWO = np.repeat([0, 1], [10, 20])
NUMBERS = DRAW.exponential(size=30)


def constant(y, scoring=None, **options):
    """The best constant on these data."""
    numeric = y.dtype.kind == "f"
    family = Family.of(DummyRegressor() if numeric else DummyClassifier())
    return constant_risk(pose(family, X, y, scoring=scoring, **options))


def test_the_commonest_class():
    """Zero-one: the share of all other classes."""
    found = constant(LABELS)
    assert found.risk == pytest.approx(14 / 30)
    assert found.rule == "always answering the commonest class"
    np.testing.assert_array_equal(found.losses, LABELS != "c")


def test_weights_decide_which_class_is_common():
    """With weights the heaviest class is the commonest."""
    weight = np.where(LABELS == "a", 10.0, 1.0)
    found = constant(LABELS, sample_weight=weight)
    assert found.risk == pytest.approx(25 / 75)
    np.testing.assert_array_equal(found.losses, LABELS != "a")


def test_costs_decide_which_class_is_cheap():
    """A costly mistake makes the rarer class the better constant."""
    found = constant(TWO, Cost([[0, 5], [1, 0]]))
    assert found.risk == pytest.approx(20 / 30)
    assert found.rule == "always answering the cheapest class"


def test_probabilities_are_the_shares():
    """Log loss of the shares is the entropy; Brier's is p(1 − p)."""
    shares = np.tile(np.bincount(TWO) / 30, (30, 1))
    assert constant(TWO, "log").risk == pytest.approx(log_loss(TWO, shares))
    assert constant(TWO, "brier").risk == pytest.approx(2 / 9)


def test_the_mean_and_the_median():
    """Squared loss has the mean, absolute loss the median; each is the smaller of the two."""
    squared, absolute = constant(NUMBERS), constant(NUMBERS, "absolute")
    assert squared.risk == pytest.approx(NUMBERS.var())
    assert squared.rule == "always answering the mean"
    assert absolute.risk == pytest.approx(np.abs(NUMBERS - np.median(NUMBERS)).mean())
    assert absolute.rule == "always answering the median"


def test_ranking_at_random():
    """1 − AUC of no ranking is a half, without losses of rows."""
    found = constant(TWO, "auc")
    assert (found.risk, found.losses, found.rule) == (0.5, None, "ranking at random")


def test_a_scorer_has_none():
    """What a constant would score is the scorer's own affair."""
    assert constant(TWO, "jaccard") is None


def test_a_loss_of_the_user_is_asked():
    """A callable with losses of rows is minimised over the constants."""
    found = constant(NUMBERS, lambda y, p: np.abs(y - p))
    assert found.risk == pytest.approx(np.abs(NUMBERS - np.median(NUMBERS)).mean())


def test_a_loss_that_refuses_constants_has_none():
    """A callable that cannot serve them leaves no baseline, and no error."""

    def fussy(y, p):
        return np.ones(3) if np.ptp(p) == 0 else np.abs(y - p)

    assert constant(NUMBERS, fussy) is None


def test_the_baseline_of_an_assessment_is_the_constant():
    """It is what `Assessment.baseline` shows."""
    found = tr.assess({"guess": DummyClassifier()}, X, TWO, cv=["3-fold"], outer="3-fold")
    assert found.baseline == pytest.approx(1 / 3)
