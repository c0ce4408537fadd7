"""Out-of-fold answers are those of the very models that were tested."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

import truerisk as tr
from truerisk.extend import Refusal

X, Y = tr.datasets.make_difficult(60, random_state=1)
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


def assert_tested(one, limit=0.0):
    """The out-of-fold answers give the losses of the risk, up to ties."""
    told = one.out_of_fold
    assert told.response == "probability"
    tied = told.values[:, 0] == told.values[:, 1]
    wrong = told.values.argmax(axis=1) != np.unique(Y, return_inverse=True)[1][told.rows]
    losses = one.risk.losses[np.argsort(one.risk.loss_rows)]
    assert tied.mean() <= limit
    np.testing.assert_array_equal(wrong[~tied], losses[~tied])


def test_out_of_fold_answers_are_of_the_models_that_were_tested(found):
    assert_tested(found.learners["knn"], limit=0.3)
    assert_tested(found.learners["forest"], limit=0.3)
    tuned = {"forest": (RandomForestClassifier(5), {"max_depth": [1, 4]})}
    assert_tested(tr.assess(tuned, X, Y, cv=["4-fold"], outer="pairs").learners["forest"])
    single = {"forest": RandomForestClassifier(9)}
    assert_tested(tr.assess(single, X, Y, **QUICK).learners["forest"])


def test_out_of_fold_decision_values_have_roc_and_no_calibration(found):
    one = found.learners["svm"]
    assert one.out_of_fold.response == "score"
    assert "pooled" in one.roc.notes[0]
    assert "scoring='auc' gives an AUC" in one.roc.notes[1]
    assert one.calibration is None


def test_roc_is_of_the_out_of_fold_rows(found):
    one = found.learners["knn"]
    direct = tr.RocCurve.from_scores(Y[one.out_of_fold.rows], one.out_of_fold.values[:, 1])
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
def test_roc_is_of_the_class_named_by_positive(y, model):
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
    named = repr(label) if isinstance(label, str) else f"class {label}"
    assert f"f1 of {named}" in str(one)


def test_calibration_of_several_classes_is_of_the_most_probable_one():
    y = np.repeat(["a", "b", "c"], 20)
    one = tr.assess({"same": DummyClassifier(strategy="prior")}, X, y, **QUICK)
    assert one.roc is None
    assert one.calibration.event == "the most probable class"
    assert one.calibration.predicted == pytest.approx([1 / 3], abs=0.02)
    drawn = tr.assess({"same": DummyClassifier()}, X, Y, cv=["3-fold"], outer="monte-carlo")
    np.testing.assert_array_equal(drawn.monte_carlo["same"], drawn.risks["same"].split_risks)
    assert one.monte_carlo == {}


@pytest.mark.parametrize("kind", ["oob", ".632", ".632+", "optimism", "bootstrap"])
def test_out_of_fold_answers_of_bootstrap_are_out_of_bag(kind):
    outer = tr.methods.Bootstrap(kind, replicates=12)
    one = tr.assess({"knn": KNeighborsClassifier(3)}, X, Y, cv=["3-fold"], outer=outer)
    told, plan = one.learners["knn"].out_of_fold, one.learners["knn"].answers.plan
    assert len(told.rows) > 55
    for row, split in zip(told.rows, told.split_numbers, strict=True):
        assert row not in plan.train_rows(int(plan.fit[split]))[0]
    assert one.roc.auc > 0.5
    assert one.learners["knn"].no_roc is None


@pytest.mark.parametrize(("outer", "kind"), [("holdout", "held-out"), ("3-fold", "out-of-fold")])
def test_plot_roc_draws_every_learner_and_says_which_rows(outer, kind):
    """Only test sets that share no row are folds; a file has the curve of the best learner."""
    found = tr.assess(["knn", "lda"], X, Y, **{**QUICK, "outer": outer})
    ax = found.plot_roc()
    texts = [one.get_text() for one in ax.get_legend().get_texts()]
    assert [f"{name}: AUC {found.learners[name].roc.auc:.3f}" for name in found.ranking] == [
        texts[0], texts[2],
    ]  # fmt: skip
    assert ax.get_title() == f"{kind} probabilities"
    again = tr.Assessment.from_json(found.to_json()).plot_roc()
    assert again.get_title() == f"{kind} probabilities; no curve of {found.ranking[1]}"


@pytest.mark.parametrize(
    ("model", "y", "why"),
    [
        (LinearRegression(), X[:, 0], "answers of a regression are numbers, and have no pro"),
        (KNeighborsClassifier(), np.arange(60) % 3, "a ROC curve is of two classes, and y has 3"),
    ],
)
def test_roc_is_missing_with_reason(model, y, why):
    found = tr.assess({"one": model}, X, y, **QUICK)
    told = found.learners["one"].no_roc
    assert found.roc is None
    assert told.startswith(why)
    assert told == found.to_dict()["no_roc"]
    with pytest.raises(Refusal, match=why):
        found.plot_roc()
    assert (f"no ROC curve: {why}" in found.to_html()) == (y.dtype != float)
    if y.dtype == float:
        assert (found.learners["one"].out_of_fold, found.calibration) == (None, None)
