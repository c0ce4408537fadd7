"""Many rows get a cheaper plan, which is said; what a user names is what is done."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.support.families import families_on

import truerisk as tr
from truerisk.api.assessing.schedule import usual_method


@pytest.mark.parametrize(("n", "word"), [(30, "5-fold"), (10_000, "5-fold"), (10_001, "holdout")])
def test_the_usual_method_follows_the_rows(n, word):
    """Five folds up to 10,000 rows, one hold-out beyond."""
    assert usual_method(n) == word


def test_an_assessment_uses_the_usual_method():
    """Tuning is by the usual method where none is named, and testing in the pairs of its folds."""
    X, y = tr.datasets.make_simple(2_100, random_state=0)
    tree = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}
    found = tr.assess({"bayes": GaussianNB(), "tree": tree}, X, y)
    assert (found.tuned_by, found.tested_by) == ("5-fold", "pairs")
    named = tr.assess({"bayes": GaussianNB()}, X, y, methods=["3-fold"], outer="holdout")
    assert (named.tuned_by, named.tested_by) == ("3-fold", "holdout")


def test_slow_learners_are_no_default_for_many_rows():
    """A regression on more than 5,000 rows compares lasso in place of support vectors."""
    rng = np.random.default_rng(0)
    for n, word in ((5_000, "svm"), (5_001, "lasso")):
        X = rng.normal(size=(n, 2))
        assert word in families_on(None, X, X[:, 0] + rng.normal(size=n))
