"""Out-of-fold answers are those of the very models that were tested."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import truerisk as tr

X, Y = tr.datasets.make_difficult(60, random_state=1)
QUICK = {"methods": ["3-fold"], "outer": "4-fold"}


@pytest.fixture(scope="module")
def found():
    """A tuned learner, a random one without a setting, and one that gives no probabilities."""
    learners = {
        "knn": (KNeighborsClassifier(), {"n_neighbors": [3, 7]}),
        "forest": RandomForestClassifier(8),
        "svm": (SVC(), {"C": [0.1, 1.0]}),
    }
    return tr.assess(learners, X, Y, **QUICK)


@pytest.mark.parametrize("name", ["knn", "forest"])
def test_the_models_are_those_that_were_tested(found, name):
    """Losses recomputed from the probabilities are the losses of the honest test, row by row."""
    one = found.learners[name]
    told = one.out_of_fold
    assert told.response == "probability"
    tied = told.values[:, 0] == told.values[:, 1]
    wrong = told.values.argmax(axis=1) != np.unique(Y, return_inverse=True)[1][told.rows]
    losses = one.risk.losses[np.argsort(one.risk.loss_rows)]
    assert tied.mean() < 0.3
    np.testing.assert_array_equal(wrong[~tied], losses[~tied])


def test_a_single_random_learner_is_seeded_as_it_was_tested():
    """Without an inner pass the outer fits have the seeds of the first pass."""
    one = tr.assess({"forest": RandomForestClassifier(9)}, X, Y, **QUICK).learners["forest"]
    told = one.out_of_fold
    wrong = told.values.argmax(axis=1) != np.unique(Y, return_inverse=True)[1][told.rows]
    np.testing.assert_array_equal(wrong, one.risk.losses[np.argsort(one.risk.loss_rows)])


def test_decision_values_stand_in_for_probabilities(found):
    """A support vector machine is ranked by its decision values, has a note, and no calibration."""
    one = found.learners["svm"]
    assert one.out_of_fold.response == "score"
    assert "pooled" in one.roc.notes[0]
    assert "does not count" in one.roc.notes[1]
    assert one.calibration is None


def test_the_curve_is_of_the_out_of_fold_rows(found):
    """Area and positive class are those of the scores and labels, and `a.roc` is the best one's."""
    one = found.learners["knn"]
    direct = tr.RocCurve.of(Y[one.out_of_fold.rows], one.out_of_fold.scores)
    assert one.roc.auc == direct.auc
    assert one.roc.positive == direct.positive
    assert found.roc is found.learners[found.best].roc


def test_regression_has_none():
    """Numbers are neither ranked nor calibrated."""
    one = tr.assess({"line": LinearRegression()}, X, X[:, 0], **QUICK)
    assert one.learners["line"].out_of_fold is None
    assert one.roc is None
    assert one.calibration is None


def test_several_classes_have_a_calibration_and_no_curve():
    """Of several classes the most probable one is calibrated; ranking needs two."""
    y = np.repeat(["a", "b", "c"], 20)
    one = tr.assess({"same": DummyClassifier(strategy="prior")}, X, y, **QUICK)
    assert one.roc is None
    assert one.calibration.event == "the most probable class"
    assert one.calibration.predicted == pytest.approx([1 / 3], abs=0.02)


def test_single_splits_are_there_where_they_were_drawn():
    """`monte_carlo` are the outer risks of random splits, and nothing for folds."""
    drawn = tr.assess({"same": DummyClassifier()}, X, Y, methods=["3-fold"], outer="monte-carlo")
    np.testing.assert_array_equal(drawn.monte_carlo["same"], drawn.risks["same"].split_risks)
    assert tr.assess({"same": DummyClassifier()}, X, Y, **QUICK).monte_carlo == {}
