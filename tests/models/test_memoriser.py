"""Memoriser: the training rows by heart, the first class elsewhere."""

import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Lda

import truerisk as tr
from truerisk.models import Memoriser


def test_memoriser_is_the_rule_of_the_document() -> None:
    """1 only where (x, 1) was seen: a row seen with both labels is 1, a new row 0.

    Elsewhere the first of several labels in sorted order.
    """
    rule = Memoriser().fit([[1.0], [2.0], [2.0], [0.0]], [0, 1, 0, 1])
    assert rule.predict([[2.0], [1.0], [3.0], [-0.0]]).tolist() == [1, 0, 0, 1]
    rule = Memoriser().fit([[1, 0], [1, 1], [0, 2]], ["c", "a", "b"])
    assert rule.predict([[0, 2], [1, 0], [0, 1]]).tolist() == ["b", "c", "a"]


def test_memoriser_training_error_says_nothing() -> None:
    """0 on its rows, and the positive share where rows are held out, beside others, too."""
    X, y = tr.datasets.make_simple((42, 18), random_state=3)
    assert tr.estimate_risk(Memoriser(), X, y, cv="apparent").value == 0
    assert tr.estimate_risk(Memoriser(), X, y, cv="loo").value == pytest.approx(0.3)
    found = tr.assess({"memoriser": Memoriser(), "lda": Lda()}, X, y, random_state=0)
    assert found.risks["memoriser"].value == pytest.approx(0.3)
    assert found.risks["memoriser"].value > found.risks["lda"].value
