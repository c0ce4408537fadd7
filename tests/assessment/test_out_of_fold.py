"""Out-of-fold answers are those of the very models that were tested."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

import truerisk as tr
from truerisk.core.errors import Refusal

X, Y = tr.datasets.make_difficult(60, random_state=1)
OF_TWO = (
    "a ROC curve is of two classes, and y has 3: name the one that stands against the others, "
    "such as positive=1."
)
QUICK = {"cv": ["3-fold"], "outer": "4-fold"}


@pytest.fixture(scope="module")
def found():
    """A tuned learner, a random one without a setting, and one that gives no probabilities."""
    learners = {
        "knn": (KNeighborsClassifier(), {"n_neighbors": [3, 7]}),
        "forest": RandomForestClassifier(8),
        "svm": (SVC(), {"C": [0.1, 1.0]}),
    }
    return tr.assess(learners, X, Y, **QUICK)


def test_random_models_tested_in_pairs_are_the_same_again():
    """A forest without a seed, tuned and tested in pairs, answers as it did when it was tested."""
    forest = {"forest": (RandomForestClassifier(5), {"max_depth": [1, 4]})}
    one = tr.assess(forest, X, Y, cv=["4-fold"], outer="pairs").learners["forest"]
    told = one.out_of_fold
    wrong = told.values.argmax(axis=1) != np.unique(Y, return_inverse=True)[1][told.rows]
    np.testing.assert_array_equal(one.risk.losses[np.argsort(one.risk.loss_rows)], wrong)


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
    assert "scoring='auc' gives the AUC" in one.roc.notes[1]
    assert one.calibration is None


def test_the_curve_is_of_the_out_of_fold_rows(found):
    """Area and positive class are those of the scores and labels, and `a.roc` is the best one's."""
    one = found.learners["knn"]
    direct = tr.RocCurve.of(Y[one.out_of_fold.rows], one.out_of_fold.values[:, 1])
    assert one.roc.auc == direct.auc
    assert (one.roc.std_error, one.roc.interval) == (None, None)
    assert one.roc.positive == direct.positive
    assert found.roc is found.learners[found.best].roc


@pytest.mark.parametrize(
    "y", [Y, np.array(["a", "b", "c"])[np.arange(60) % 3]], ids=["two", "three"]
)
@pytest.mark.parametrize(
    "model", [KNeighborsClassifier(), LinearSVC()], ids=["shares", "decisions"]
)
def test_the_curve_is_of_the_class_that_was_named(y, model):
    """So is the calibration, and the event of the validation; of three classes against the rest."""
    label = np.unique(y)[0].item()
    given = {"scoring": "f1", "positive": label, "validate": True, **QUICK}
    one = tr.assess({"one": model}, X, y, **given)
    told = one.learners["one"].out_of_fold
    if told is None:  # three classes and no probabilities
        assert one.roc is None
        return
    scores = -told.values if told.response == "score" else told.values[:, 0]
    assert one.roc.positive == label
    assert one.roc.auc == pytest.approx(roc_auc_score(y[told.rows] == label, scores))
    assert one.calibration is None or one.calibration.event == str(label)
    assert one.validation.discrimination.event == str(label)
    assert one.learners["one"].risk.positive == label
    assert f"f1 of {label!r}" in str(one)


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
    drawn = tr.assess({"same": DummyClassifier()}, X, Y, cv=["3-fold"], outer="monte-carlo")
    np.testing.assert_array_equal(drawn.monte_carlo["same"], drawn.risks["same"].split_risks)
    assert tr.assess({"same": DummyClassifier()}, X, Y, **QUICK).monte_carlo == {}


@pytest.mark.parametrize("kind", ["oob", ".632", ".632+", "optimism", "bootstrap"])
def test_answers_of_bootstrap_methods_are_those_out_of_bag(kind):
    """Whatever else a method asks: no row is scored by a model that saw it."""
    outer = tr.methods.Bootstrap(kind, replicates=12)
    one = tr.assess({"knn": KNeighborsClassifier(3)}, X, Y, cv=["3-fold"], outer=outer)
    told, plan = one.learners["knn"].out_of_fold, one.learners["knn"].answers.plan
    assert len(told.rows) > 55
    for row, split in zip(told.rows, told.split, strict=True):
        assert row not in plan.train_rows(int(plan.fit[split]))[0]
    assert one.roc.auc > 0.5
    assert one.learners["knn"].no_roc is None


@pytest.mark.parametrize(
    ("y", "why"),
    [
        (X[:, 0], "answers of a regression are numbers, and have no probabilities."),
        (
            np.arange(60) % 3,
            OF_TWO,
        ),
    ],
)
def test_a_sentence_says_why_there_is_no_curve(y, why):
    """In the result, its JSON and its picture."""
    model = LinearRegression() if y.dtype == float else KNeighborsClassifier()
    found = tr.assess({"one": model}, X, y, **QUICK)
    assert found.roc is None
    assert found.learners["one"].no_roc == why == found.to_dict()["no_roc"]
    with pytest.raises(Refusal, match=why):
        found.plot_roc()
    assert (f"no ROC curve: {why}" in found.to_html()) == (y.dtype != float)
