"""Scores that are of all answers say so where they are usually means over folds."""

from __future__ import annotations

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB

import truerisk as tr

X, Y = tr.datasets.make_difficult(60, random_state=0)
POOLS = tr.methods.KFold(5, average="pooled")


@pytest.mark.parametrize(
    ("cv", "scoring", "is_pooled"),
    [
        ("loo", "f1", True),
        ("loo", "roc_auc", True),
        (POOLS, "matthews_corrcoef", True),
        ("5-fold", "f1", False),
        ("5-fold", "f1 pooled", False),
        ("loo", "f1 pooled", False),
        ("loo", "zero-one", False),
        ("loo", "ece", False),
        (".632", "f1", False),
    ],
    ids=str,
)
def test_pooled_is_printed_where_a_score_is_usually_a_mean_over_folds(cv, scoring, is_pooled):
    """On the line, in the table of a notebook and in JSON; a word that ends so says it itself."""
    found = tr.estimate_risk(GaussianNB(), X, Y, cv=cv, scoring=scoring)
    assert found.pooled == is_pooled
    assert (", pooled " in str(found)) == is_pooled
    assert (", pooled" in found.blocks()[0].html) == is_pooled
    assert ('"pooled": true' in found.to_json()) == is_pooled
    assert tr.RiskEstimate.from_json(found.to_json()).pooled == is_pooled


def test_out_of_bag_answers_are_pooled():
    """Each row is answered by the members that did not see it, and all rows are one test set."""
    model = RandomForestClassifier(30, random_state=0)
    found = tr.estimate_risk(model, X, Y, cv="oob", scoring="f1")
    assert str(found).startswith("f1 of 1, pooled ")


def test_a_pooled_score_is_that_of_all_answers():
    """Leave-one-out's F1 is scikit-learn's of the answers, row by row."""
    said = cross_val_predict(GaussianNB(), X, Y, cv=LeaveOneOut())
    found = tr.estimate_risk(GaussianNB(), X, Y, cv="loo", scoring="f1")
    assert found.value == pytest.approx(f1_score(Y, said))
