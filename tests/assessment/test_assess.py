"""assess: several tuned learners, one set of splits, everything that was asked for."""

import json
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.assessment.assess import Interrupted
from truerisk.core.progress import listen
from truerisk.exceptions import FitFailed, GroupLeakWarning, UnknownName
from truerisk.extend import BadData, Refusal

X, Y = tr.datasets.make_difficult(40, random_state=1)
TREE = (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]})
QUICK = {"cv": ["3-fold"], "outer": "4-fold"}


@pytest.mark.parametrize("rule", ["min", "1-se"])
def test_assess_has_the_splits_of_risk_curve_and_nested(rule):
    words = {"random_state": 3, "rule": rule}
    found = tr.assess({"bayes": GaussianNB(), "tree": TREE}, X, Y, **words, **QUICK)
    assert [len(curve) for curve in found.curves.values()] == [1, 2]
    assert found.best_params == found.curves[found.best].best_params
    curve = tr.risk_curve(*TREE, X, Y, cv="3-fold", **words)
    np.testing.assert_array_equal(found.curves["tree"].values, curve.values)
    assert found.curves["tree"].best == curve.best
    nested = tr.methods.Nested("4-fold", "3-fold")
    honest = tr.risk_curve(*TREE, X, Y, cv=nested, **words).procedure
    assert found.risks["tree"].value == honest.value
    np.testing.assert_array_equal(found.risks["tree"].losses, honest.losses)
    assert len({risk.plan_fingerprint for risk in found.risks.values()}) == 1


@pytest.mark.parametrize("seed", [None, np.random.default_rng(0)])
def test_assess_draws_one_seed_for_all_learners(seed):
    found = tr.assess({"a": TREE, "b": TREE}, X, Y, random_state=seed, **QUICK)
    assert {risk.seed for risk in found.risks.values()} == {found.seed}
    assert found.risks["a"].value == found.risks["b"].value


def test_assess_keeps_further_methods_as_criteria():
    unstratified = tr.methods.KFold(5, stratify=False)
    methods = ["3-fold", "loo", KFold(5), tr.methods.KFold(5), unstratified]
    found = tr.assess({"tree": TREE}, X, Y, cv=methods, outer=KFold(4).split(X))
    one = found.learners["tree"]
    assert [fold.n_test for fold in one.outer] == [10] * 4
    assert one.curve.common.method == "3-fold"
    loo = tr.risk_curve(*TREE, X, Y, cv="loo")
    np.testing.assert_array_equal(one.criteria["loo"].values, loo.values)
    assert list(one.criteria)[2:] == [unstratified.name, f"{unstratified.name} (2)"]
    assert found.criteria["tree"] == one.criteria
    content = json.loads(found.to_json())["learners"]["tree"]["criteria"]
    assert list(content) == list(one.criteria)
    assert [e["value"] for e in content["loo"]["estimates"]] == pytest.approx(loo.values)
    scores, apparent = 4, 1
    assert one.n_fits == 2 * (3 + 40 + 5 * 3) + 4 * (2 * 3 + 1) + scores + apparent


def test_assess_keeps_groups_together_in_both_loops():
    groups = np.repeat(np.arange(10), 4)
    Z = np.column_stack([X, groups])

    class Watch(ClassifierMixin, BaseEstimator):
        """Knows the groups it was fitted on and complains when asked about one of them."""

        def __init__(self, answer=0):
            self.answer = answer

        def fit(self, Z, y):
            self.classes_ = np.unique(y)
            self.groups_ = set(Z[:, 2])
            return self

        def predict(self, Z):
            assert not self.groups_ & set(Z[:, 2])
            return np.full(len(Z), self.classes_[self.answer])

    learners = {"a": (Watch(), {"answer": [0, 1]}), "b": Watch()}
    found = tr.assess(learners, Z, Y, groups=groups, **QUICK)
    assert found.risks["a"].interval.method == "beta-cv-grouped"
    leaking = {"cv": ["holdout"], "outer": KFold(3, shuffle=True, random_state=0)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GroupLeakWarning)
        with pytest.raises(FitFailed, match="a: Watch"):
            tr.assess(learners, Z, Y, groups=groups, **leaking)


def test_assess_weights_every_fit_and_every_mean():
    weight = np.where(np.arange(40) % 2, 1.0, 0.0)
    found = tr.assess({"bayes": GaussianNB(), "tree": TREE}, X, Y, sample_weight=weight, **QUICK)
    for risk in found.risks.values():
        assert risk.value == pytest.approx(np.average(risk.losses, weights=weight))
    paired = found.difference("bayes", "tree")
    bayes, tree = found.risks["bayes"], found.risks["tree"]
    assert paired.value == pytest.approx(bayes.value - tree.value)
    with pytest.raises(Refusal, match="takes no sample_weight"):
        tr.assess({"knn": KNeighborsClassifier()}, X, Y, sample_weight=weight, **QUICK)


@pytest.mark.parametrize(
    ("learners", "options", "error", "sentence"),
    [
        ({}, {}, BadData, "dict of learners is empty"),
        ([], {}, BadData, "list of learners is empty"),
        (["knn", "lda", "knn"], {}, UnknownName, "'knn' is named twice"),
        ({"a": GaussianNB()}, {"cv": 2.5}, UnknownName, "cv=2.5 is neither"),
        ({"a": GaussianNB()}, {"cv": []}, BadData, "names no splits"),
        ({"a": GaussianNB()}, {"cv": ["41-fold"]}, BadData, "41 folds need at least 41 rows"),
        ({"a": GaussianNB()}, {"outer": "apparent"}, Refusal, "cannot be the outer method"),
        ({"a": GaussianNB()}, {"outer": "K-fold"}, UnknownName, "put a number for K"),
        ({"a": GaussianNB(), "b": Ridge()}, {}, BadData, "a: classification, b: regression"),
        (
            {"ok": TREE, "svm": SVC()},
            {"scoring": "log"},
            Refusal,
            "svm: SVC gives no probabilities",
        ),
    ],
)
def test_assess_refuses_with_reason(learners, options, error, sentence):
    with pytest.raises(error, match=sentence):
        tr.assess(learners, X, Y, **(QUICK | options))


class Stopped(ClassifierMixin, BaseEstimator):
    """Fits `patience` times in all, then the user presses Ctrl-C."""

    fits = 0

    def __init__(self, patience=0):
        self.patience = patience

    def fit(self, X, y):
        type(self).fits += 1
        if type(self).fits > self.patience:
            raise KeyboardInterrupt
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize(
    ("patience", "missing"), [(5, ("slow", "later")), (0, ("bayes", "slow", "later"))]
)
def test_assess_keeps_what_was_done_before_ctrl_c(patience, missing):
    Stopped.fits = 0
    learners = {"bayes": GaussianNB(), "slow": Stopped(patience), "later": TREE}
    with pytest.raises(KeyboardInterrupt) as caught:
        tr.assess(learners, X, Y, **QUICK)
    stopped = caught.value
    assert isinstance(stopped, Interrupted)
    assert stopped.missing == missing
    if patience == 0:
        assert stopped.partial is None
        return
    assert list(stopped.partial.learners) == ["bayes"]
    assert stopped.partial.missing == missing
    assert "Not assessed, because interrupted: slow, later." in stopped.partial.conclusion
    alone = tr.assess({"bayes": GaussianNB()}, X, Y, **QUICK)
    assert stopped.partial.risks["bayes"].value == alone.risks["bayes"].value


def test_progress_of_assess_counts_all_fits():
    heard = []
    with listen(heard.append):
        found = tr.assess({"tree": TREE, "bayes": GaussianNB()}, X, Y, **QUICK)
    total = sum(one.n_fits for one in found.learners.values())
    assert {event.total for event in heard} == {total}
    done = [event.done for event in heard]
    assert (done[0], done[-1]) == (0, total)
    assert done == sorted(done)
    stages = list(dict.fromkeys(event.stage for event in heard))
    assert stages == ["tree: tuning", "bayes: tuning", "tree: testing", "bayes: testing"]


def test_assess_ranks_learner_with_failed_fits_last():
    engine = tr.engines.Generic(error="warn")
    learners = {"bad": DummyClassifier(strategy="constant", constant=7), "bayes": GaussianNB()}
    with pytest.warns(tr.exceptions.FitFailedWarning):
        found = tr.assess(learners, X, Y, engine=engine, **QUICK)
    assert found.best == "bayes"
    assert found.risks["bad"].value is None
    assert found.choice is None
    assert found.ranking == ["bayes", "bad"]
    assert "fits failed" in found.risks["bad"].notes[0]
