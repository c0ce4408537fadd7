"""The risk of choosing among learners equals a choice made by hand in every outer split."""

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


def by_hand(assessment):
    """(learner, setting) of every outer split: the best inner value, the first of equals."""
    choices, best = [], max if assessment.choice.greater_is_better else min
    for split in range(len(OUTER)):
        folds = {name: one.outer[split] for name, one in assessment.learners.items()}
        name = best(folds, key=lambda n: folds[n].inner_risk)
        choices.append((name, folds[name].params))
    return choices


@pytest.fixture(scope="module")
def assessment():
    return tr.assess(MODELS, X, Y, cv=[INNER], outer=OUTER)


def test_risk_of_choice_is_that_of_choosing_by_hand(assessment):
    losses, chosen, choice = np.empty(45), by_hand(assessment), assessment.choice
    for (train, test), (name, params) in zip(OUTER, chosen, strict=True):
        model = MODELS[name][0].set_params(**params).fit(X[train], Y[train])
        losses[test] = model.predict(X[test]) != Y[test]
    np.testing.assert_array_equal(choice.losses, losses)
    assert choice.value == pytest.approx(losses.mean(), abs=1e-15)
    names = [name for name, _ in chosen]
    assert len(set(names)) > 1, "the splits should disagree"
    assert all(f"{name} {names.count(name)}" in choice.notes[0] for name in set(names))
    learners = assessment.learners.values()
    assert choice.n_fits == sum(one.n_fits for one in learners)
    assert choice.params == {}
    assert sorted(choice.engine.split(", ")) == sorted({one.risk.engine for one in learners})
    assert all(0 <= fold.inner_risk <= 1 for one in learners for fold in one.outer)


def test_risk_of_choice_by_auc_and_scorer_is_that_of_choosing_by_hand():
    auc, balanced = (
        tr.assess(MODELS, X, Y, cv=[INNER], outer=OUTER, scoring=word)
        for word in ("auc", "balanced_accuracy")
    )
    areas = []
    for (train, test), (name, params) in zip(OUTER, by_hand(auc), strict=True):
        model = MODELS[name][0].set_params(**params).fit(X[train], Y[train])
        areas.append(roc_auc_score(Y[test], model.predict_proba(X[test])[:, 1]))
    assert auc.choice.value == pytest.approx(np.mean(areas), abs=1e-12)
    assert auc.choice.interval.method == "logit-cv"
    folds = zip(by_hand(balanced), range(len(OUTER)))
    scores = [balanced.learners[name].outer[split].risk for (name, _), split in folds]
    assert balanced.choice.value == pytest.approx(np.mean(scores), abs=1e-12)


def test_risk_of_choice_is_of_the_first_of_equals_and_none_for_one_learner():
    twins = {"one": MODELS["knn"], "two": MODELS["knn"]}
    both = tr.assess(twins, X, Y, cv=[INNER], outer=OUTER)
    assert both.choice.value == both.risks["one"].value
    assert "one 5" in both.choice.notes[0]
    assert tr.assess({"knn": MODELS["knn"]}, X, Y, cv=[INNER], outer=OUTER).choice is None


def test_risk_of_choice_skips_learner_without_inner_risk(assessment):
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
def test_risk_of_choice_has_a_winner_for_every_question_of_bootstrap(kind):
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
