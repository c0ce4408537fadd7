"""The risk of choosing among learners equals a choice made by hand in every outer split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.assessment.risk_of_choice import risk_of_choice
from truerisk.methods import Nested

X, Y = tr.datasets.make_highleyman(45, random_state=8)
GRID = {"n_neighbors": [1, 3, 9]}
MODELS = {
    "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}),
    "knn": (KNeighborsClassifier(), GRID),
    "bayes": (GaussianNB(), {"var_smoothing": [1e-9]}),
}
OUTER = [(np.setdiff1d(np.arange(45), test), test) for test in np.array_split(np.arange(45), 5)]
INNER = "3-fold"


def found(loss=None, **options):
    """The assessment on these outer splits."""
    return tr.assess(MODELS, X, Y, cv=[INNER], outer=OUTER, scoring=loss, **options)


def by_hand(assessment):
    """(learner, setting) of every outer split: the best inner value, the first of equals."""
    choices, best = [], max if assessment.choice.greater_is_better else min
    for split in range(len(OUTER)):
        folds = {name: one.outer[split] for name, one in assessment.learners.items()}
        name = best(folds, key=lambda n: folds[n].inner_risk)
        choices.append((name, folds[name].params))
    return choices


def test_the_choice_is_fitted_and_tested_again_by_hand():
    """Fitting each outer winner anew and testing it gives the very losses and their mean."""
    assessment = found()
    losses = np.empty(45)
    for (train, test), (name, params) in zip(OUTER, by_hand(assessment), strict=True):
        model = MODELS[name][0].set_params(**params).fit(X[train], Y[train])
        losses[test] = model.predict(X[test]) != Y[test]
    np.testing.assert_array_equal(assessment.choice.losses, losses)
    assert assessment.choice.value == pytest.approx(losses.mean(), abs=1e-15)
    assert len({name for name, _ in by_hand(assessment)}) > 1, "the splits should disagree"


def test_inner_risks_are_those_of_the_training_rows():
    """The inner risk a choice rests on is the smallest of the learner's own inner curve."""
    assessment = found()
    for name, one in assessment.learners.items():
        assert all(0 <= fold.inner_risk <= 1 for fold in one.outer), name
        assert len(one.outer) == len(OUTER)


def test_the_choice_for_a_loss_of_sets():
    """AUC of the winners' scores, averaged over the outer splits."""
    assessment = found("auc")
    areas = []
    for (train, test), (name, params) in zip(OUTER, by_hand(assessment), strict=True):
        model = MODELS[name][0].set_params(**params).fit(X[train], Y[train])
        areas.append(roc_auc_score(Y[test], model.predict_proba(X[test])[:, 1]))
    assert assessment.choice.value == pytest.approx(np.mean(areas), abs=1e-12)
    assert assessment.choice.interval.method == "logit-cv"


def test_the_choice_for_a_scorer():
    """A scorer rates the winner in each split; its scores are averaged."""
    assessment = found("balanced_accuracy")
    scores = [
        assessment.learners[name].outer[split].risk
        for split, (name, _) in enumerate(by_hand(assessment))
    ]
    assert assessment.choice.value == pytest.approx(np.mean(scores), abs=1e-12)


def test_the_choice_says_what_was_chosen():
    """Its note counts the outer winners; its fits are those of all learners together."""
    assessment = found()
    names = [name for name, _ in by_hand(assessment)]
    note = assessment.choice.notes[0]
    assert all(f"{name} {names.count(name)}" in note for name in set(names))
    assert assessment.choice.n_fits == sum(one.n_fits for one in assessment.learners.values())


def test_one_learner_leaves_no_choice():
    """There is nothing to choose, so there is no such risk."""
    assessment = tr.assess({"knn": MODELS["knn"]}, X, Y, cv=[INNER], outer=OUTER)
    assert assessment.choice is None


def test_equal_learners_choose_the_first():
    """Ties go to the first learner, and the choice is then its risk."""
    twins = {"one": MODELS["knn"], "two": MODELS["knn"]}
    assessment = tr.assess(twins, X, Y, cv=[INNER], outer=OUTER)
    assert assessment.choice.value == assessment.risks["one"].value
    assert "one 5" in assessment.choice.notes[0]


def test_a_learner_without_inner_risk_is_not_chosen():
    """NaN is no small risk; where no learner has one, there is no choice."""
    assessment = found()
    order, problem, outer = assessment.order, assessment.problem, Nested(OUTER)
    unknown = {
        name: replace(one, winners=replace(one.winners, inner_risk=np.full(len(OUTER), np.nan)))
        for name, one in assessment.learners.items()
    }
    assert risk_of_choice(unknown, order, problem, outer) is None
    some = unknown | {"bayes": assessment.learners["bayes"]}
    chosen = risk_of_choice(some, order, problem, outer)
    assert chosen.value == assessment.risks["bayes"].value


@pytest.mark.parametrize("kind", [".632", ".632+", "optimism"])
def test_every_question_of_the_outer_method_has_a_winner(kind):
    """The apparent part is that of the learner that looks best on all rows, whoever comes first."""
    models = {"one": KNeighborsClassifier(1), "bayes": GaussianNB()}
    outer = tr.methods.Bootstrap(kind, replicates=20)
    x, y = tr.datasets.make_simple(40, random_state=1)
    found = [
        tr.assess(dict(pairs), x, y, cv=["3-fold"], outer=outer)
        for pairs in (models.items(), reversed(models.items()))
    ]
    inner = {name: one.winners.inner_risk[-1] for name, one in found[0].learners.items()}
    best = min(inner, key=inner.__getitem__)
    apparent = {name: one.risk.table["apparent"] for name, one in found[0].learners.items()}
    assert apparent["one"] == 0 < apparent["bayes"]
    assert found[0].choice.table["apparent"] == apparent[best]
    assert found[0].choice.table == found[1].choice.table


def test_what_is_said_of_the_choice_is_of_all_learners():
    """Engines, parameters and notes of the first learner alone would be another's."""
    choice = found().choice
    assert choice.params == {}
    assert sorted(choice.engine.split(", ")) == sorted({r.engine for r in found().risks.values()})
