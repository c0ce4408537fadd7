"""assess: several tuned learners, one set of splits, everything that was asked for."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.assessment.assess import Interrupted
from truerisk.core.errors import BadData, FitFailed, GroupLeakWarning, Refusal, UnknownName
from truerisk.core.progress import listen

X, Y = tr.datasets.make_difficult(40, random_state=1)
TREE = (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]})
QUICK = {"cv": ["3-fold"], "outer": "4-fold"}


def test_a_model_a_pair_and_none_are_learners():
    """A model alone has one setting, a pair its grid; without a grid nothing is tuned."""
    found = tr.assess({"bayes": GaussianNB(), "tree": TREE}, X, Y, **QUICK)
    assert [len(curve) for curve in found.curves.values()] == [1, 2]
    assert set(found.risks) == {"bayes", "tree"}
    assert found.best in found.risks
    assert found.best_params == found.curves[found.best].best_params


@pytest.mark.parametrize("learners", [["lda", "tree"], ("lda",), None])
def test_words_and_none_are_learners(learners):
    """Words name learners with grids of the size of the data; None takes the usual four."""
    found = tr.assess(learners, X, Y, cv=["holdout"], outer="2-fold")
    assert list(found.learners) == list(learners or ("knn", "lda", "logistic", "tree"))


def test_missing_numbers_are_imputed_for_words():
    """Words bring their own preparation, also for an array with holes."""
    holes = X.copy()
    holes[::5, 0] = np.nan
    assert tr.assess(["lda"], holes, Y, **QUICK).risks["lda"].value < 0.5


def test_every_learner_has_the_splits_of_risk_curve_and_nested():
    """What assess says of one learner is what the verbs say of it alone, to the last digit."""
    found = tr.assess({"bayes": GaussianNB(), "tree": TREE}, X, Y, random_state=3, **QUICK)
    curve = tr.risk_curve(*TREE, X, Y, cv="3-fold", random_state=3)
    np.testing.assert_array_equal(found.curves["tree"].values, curve.values)
    nested = tr.methods.Nested("4-fold", "3-fold")
    honest = tr.risk_curve(*TREE, X, Y, cv=nested, random_state=3).procedure
    assert found.risks["tree"].value == honest.value
    np.testing.assert_array_equal(found.risks["tree"].losses, honest.losses)
    prints = {risk.plan_fingerprint for risk in found.risks.values()}
    assert len(prints) == 1


@pytest.mark.parametrize("seed", [None, np.random.default_rng(0)])
def test_a_fresh_seed_is_drawn_once_for_all_learners(seed):
    """None and a Generator give one seed to all, else the splits would differ."""
    found = tr.assess({"a": TREE, "b": TREE}, X, Y, random_state=seed, **QUICK)
    assert {risk.seed for risk in found.risks.values()} == {found.seed}
    assert found.risks["a"].value == found.risks["b"].value


def test_splits_from_a_generator_serve_all_learners():
    """An iterable that can be read once is read once."""
    splits = KFold(4, shuffle=True, random_state=0).split(X)
    found = tr.assess({"a": GaussianNB(), "b": TREE}, X, Y, cv=["3-fold"], outer=splits)
    assert [fold.n_test for fold in found.learners["b"].outer] == [10] * 4


def test_further_methods_are_kept_as_criteria():
    """The first method tunes, the others leave their curves, and their fits are counted."""
    methods = ["3-fold", "loo", KFold(5)]
    found = tr.assess({"tree": TREE}, X, Y, cv=methods, outer="4-fold")
    one = found.learners["tree"]
    assert one.curve.common.method == "3-fold"
    assert len(one.criteria) == 2
    loo = tr.risk_curve(*TREE, X, Y, cv="loo")
    np.testing.assert_array_equal(one.criteria["loo"].values, loo.values)
    assert found.criteria["tree"] == one.criteria
    scores, apparent = 4, 1
    assert one.n_fits == 2 * (3 + 40 + 5) + 4 * (2 * 3 + 1) + scores + apparent


def test_two_criteria_of_one_word_are_both_kept():
    """The same word again gets a number."""
    drawn = [tr.methods.KFold(4), tr.methods.KFold(4, stratify=False)]
    found = tr.assess({"tree": TREE}, X, Y, cv=["3-fold", *drawn], outer="4-fold")
    words = list(found.learners["tree"].criteria)
    assert words == [drawn[0].word, f"{drawn[1].word} (2)"]


def test_groups_reach_both_loops():
    """No group stands on both sides of any split, inner or outer."""
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


def test_weights_reach_every_fit_and_every_mean():
    """A weight of 0 for half of the rows is as good as leaving their losses out."""
    weight = np.where(np.arange(40) % 2, 1.0, 0.0)
    found = tr.assess({"bayes": GaussianNB(), "tree": TREE}, X, Y, sample_weight=weight, **QUICK)
    for risk in found.risks.values():
        assert risk.value == pytest.approx(np.average(risk.losses, weights=weight))
    paired = found.difference("bayes", "tree")
    bayes, tree = found.risks["bayes"], found.risks["tree"]
    assert paired.value == pytest.approx(bayes.value - tree.value)
    with pytest.raises(Refusal, match="takes no sample_weight"):
        tr.assess({"knn": KNeighborsClassifier()}, X, Y, sample_weight=weight, **QUICK)


def test_the_rule_reaches_both_loops():
    """With 1-se the chosen settings come from the one-standard-error rule, outside and inside."""
    grid = {"max_depth": [1, 2, 3, 5]}
    learners = {"tree": (DecisionTreeClassifier(random_state=0), grid)}
    found = tr.assess(learners, X, Y, rule="1-se", **QUICK)
    curve = tr.risk_curve(*learners["tree"], X, Y, cv="3-fold", rule="1-se")
    assert found.curves["tree"].best == curve.best
    assert found.risks["tree"].value is not None


def test_workers_change_no_number():
    """An executor gives the same risks, choice and stability."""
    learners = {"tree": TREE, "bayes": GaussianNB()}
    one, two = [tr.assess(learners, X, Y, n_jobs=e, **QUICK) for e in (None, 2)]
    assert [r.value for r in one.risks.values()] == [r.value for r in two.risks.values()]
    assert one.choice.value == two.choice.value


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
def test_what_cannot_be_done_is_said(learners, options, error, sentence):
    """One sentence, naming the learner where it is one learner's matter."""
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


def test_an_interruption_keeps_what_was_done():
    """The learners that were finished are an assessment; the others are named, there and in it."""
    Stopped.fits = 0
    learners = {"bayes": GaussianNB(), "slow": Stopped(5), "later": TREE}
    with pytest.raises(KeyboardInterrupt) as caught:
        tr.assess(learners, X, Y, **QUICK)
    stopped = caught.value
    assert isinstance(stopped, Interrupted)
    assert stopped.missing == ("slow", "later")
    assert list(stopped.partial.learners) == ["bayes"]
    assert stopped.partial.missing == ("slow", "later")
    assert "Not assessed, because interrupted: slow, later." in stopped.partial.conclusion
    alone = tr.assess({"bayes": GaussianNB()}, X, Y, **QUICK)
    assert stopped.partial.risks["bayes"].value == alone.risks["bayes"].value


def test_an_early_interruption_has_nothing():
    """Before any learner was tested there is no assessment, and none is made up."""
    Stopped.fits = 0
    with pytest.raises(Interrupted) as caught:
        tr.assess({"bayes": GaussianNB(), "slow": Stopped(0)}, X, Y, **QUICK)
    assert caught.value.partial is None
    assert caught.value.missing == ("bayes", "slow")


def test_progress_counts_all_fits_of_all_learners():
    """From 0 to the sum of the fits reported, never back, under the learner and what is done."""
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


def test_frames_are_learners_food():
    """Frames of pandas go to the models as frames, with the same numbers."""
    frame = pd.DataFrame(X, columns=["a", "b"])
    one = tr.assess({"bayes": GaussianNB()}, frame, pd.Series(Y), **QUICK)
    assert (
        one.risks["bayes"].value == tr.assess({"b": GaussianNB()}, X, Y, **QUICK).risks["b"].value
    )


def test_a_setting_that_fails_can_be_left_out_and_is_not_hidden():
    """With error="warn" a failing learner has no risk, ranks last, and its note says why."""
    engine = tr.engines.Generic(error="warn")
    learners = {"bad": DummyClassifier(strategy="constant", constant=7), "bayes": GaussianNB()}
    with pytest.warns(tr.core.errors.FitFailedWarning):
        found = tr.assess(learners, X, Y, engine=engine, **QUICK)
    assert found.best == "bayes"
    assert found.risks["bad"].value is None
    assert found.choice is None
    assert found.ranking == ["bayes", "bad"]
    assert "fits failed" in found.risks["bad"].notes[0]


def test_two_logistic_settings_keep_their_names():
    """Names are the user's, and stay in the user's order."""
    learners = {"ridge": LogisticRegression(C=0.1), "loose": LogisticRegression(C=10)}
    assert list(tr.assess(learners, X, Y, **QUICK).learners) == ["ridge", "loose"]
