"""HonestSearchCV around the real OptunaSearchCV and BayesSearchCV: `make test-partners`."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.extend import Refusal

why = "is not installed; `make test-partners` installs it"
pytestmark = [
    pytest.mark.filterwarnings("ignore:OptunaSearchCV is experimental"),
    pytest.mark.filterwarnings("ignore:`optuna.terminator` module has been deprecated"),
    pytest.mark.filterwarnings("ignore:The objective has been evaluated at"),
]
KNN = KNeighborsClassifier()
FOLDS = np.arange(60) % 4
OUTER = tr.methods.KFold(folds=FOLDS)


@pytest.fixture(scope="module")
def rows():
    """60 rows of two classes that overlap."""
    return tr.datasets.make_simple(60, random_state=3)


def optuna_search(**options: Any) -> Any:
    """Six trials among 15 numbers of neighbours."""
    optuna = pytest.importorskip("optuna", reason=f"optuna {why}")
    integration = pytest.importorskip("optuna_integration", reason=f"optuna-integration {why}")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {"n_neighbors": optuna.distributions.IntDistribution(1, 15)}
    options = {"n_trials": 6, "random_state": 0, "cv": 3, **options}
    return integration.OptunaSearchCV(KNN, space, **options)


def bayes_search(**options: Any) -> Any:
    """Four points of a Gaussian process over 15 numbers of neighbours."""
    skopt = pytest.importorskip("skopt", reason=f"scikit-optimize {why}")
    options = {"n_iter": 4, "random_state": 0, "cv": 3, **options}
    return skopt.BayesSearchCV(KNN, {"n_neighbors": (1, 15)}, **options)


each = pytest.mark.parametrize("made", [optuna_search, bayes_search])


@each
def test_honest_search_risk_is_that_of_clones_fitted_by_hand(rows, made):
    """A fresh search in every outer training set, and its own finds on all rows."""
    X, y = rows
    wrong = np.zeros(60)
    for fold in range(4):
        train, test = fold != FOLDS, fold == FOLDS
        wrong[test] = clone(made()).fit(X[train], y[train]).predict(X[test]) != y[test]
    alone = clone(made()).fit(X, y)
    honest = tr.HonestSearchCV(made(), outer=OUTER).fit(X, y)
    np.testing.assert_array_equal(honest.risk_.losses, wrong)
    assert honest.best_params_ == dict(alone.best_params_)
    assert honest.best_score_ == alone.best_score_
    assert honest.selected_risk_.value == pytest.approx(1 - alone.best_score_)
    assert honest.optimism_ == pytest.approx(wrong.mean() - 1 + alone.best_score_)
    assert (honest.predict(X) == alone.predict(X)).all()
    assert len(honest.cv_results_["mean_test_score"]) == len(alone.cv_results_["mean_test_score"])


@each
def test_honest_search_hands_groups_on(rows, made):
    """Its own splits keep them, and so do the outer ones."""
    X, y = rows
    groups = np.arange(60) // 2 % 12
    splits = GroupKFold(3)
    honest = tr.HonestSearchCV(made(cv=splits), outer=splits).fit(X, y, groups=groups)
    wrong = np.zeros(60)
    for train, test in splits.split(X, y, groups):
        model = clone(made(cv=splits)).fit(X[train], y[train], groups=groups[train])
        wrong[test] = model.predict(X[test]) != y[test]
    np.testing.assert_array_equal(honest.risk_.losses, wrong)


@each
def test_estimate_risk_and_assess_label_a_search_right(rows, made):
    """Both take it as it stands; the report says what `selected` is."""
    search = made()
    found = tr.assess({"mine": search}, *rows, cv=["3-fold"], outer=OUTER)
    one = found.learners["mine"]
    assert one.risk.value == tr.estimate_risk(search, *rows, cv=OUTER).value
    assert one.selected.value == pytest.approx(1 - clone(search).fit(*rows).best_score_)
    assert f"selected is {type(search).__name__}: best_score_" in str(found)
    assert f"selected is {type(search).__name__}: best_score_" in found.to_html()


def test_honest_search_refuses_a_study(rows):
    optuna = pytest.importorskip("optuna", reason=f"optuna {why}")
    search = optuna_search(study=optuna.create_study(direction="maximize"))
    with pytest.raises(Refusal, match="was given a study"):
        tr.HonestSearchCV(search).fit(*rows)
