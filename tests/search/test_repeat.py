"""The whole search inside outer folds, checked against cloning and fitting it by hand."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.extend import Refusal, TrueRiskError

FOLDS = np.arange(60) % 6
OUTER = tr.methods.KFold(folds=FOLDS)
GRID = {"n_neighbors": [1, 3, 5, 9, 15]}


def by_hand(search, X, y, groups=None):
    """Accuracy of clones fitted in the outer training sets."""
    right = np.zeros(len(y))
    for fold in np.unique(FOLDS):
        train, test = fold != FOLDS, fold == FOLDS
        given = {} if groups is None else {"groups": groups[train]}
        right[test] = clone(search).fit(X[train], y[train], **given).predict(X[test]) == y[test]
    return right.mean()


@pytest.mark.parametrize("cv", [3, KFold(4, shuffle=True, random_state=0)], ids=str)
def test_repeat_of_grid_search_is_fast_and_equals_clones(grid_search, simple, cv):
    search = grid_search(cv=cv)
    u = tr.audit(search, *simple, level="nested", outer=OUTER)
    assert u.honest.engine == "knn"
    assert u.honest.value == pytest.approx(by_hand(search, *simple))
    assert u.honest.interval is not None
    assert u.optimism == pytest.approx(search.best_score_ - u.honest.value)


@pytest.mark.parametrize("seed", [0, None])
def test_repeat_of_randomised_search_keeps_its_settings_if_seeded(simple, seed):
    search = RandomizedSearchCV(KNeighborsClassifier(), GRID, n_iter=3, random_state=seed, cv=3)
    u = tr.audit(search.fit(*simple), *simple, level="nested", outer=OUTER)
    assert u.honest.engine == ("generic" if seed is None else "knn")
    if seed is not None:
        assert u.honest.value == pytest.approx(by_hand(search, *simple))


def test_repeat_of_honest_search_is_its_risk_unless_outer_differs(simple):
    search = tr.HonestSearchCV(KNeighborsClassifier(), GRID).fit(*simple)
    assert tr.audit(search, *simple, level="nested").honest.value == search.risk_.value
    other = tr.audit(search, *simple, level="nested", outer="3-fold").honest
    assert other.method.startswith("nested (3-fold")


def lowest(results):
    return int(results["mean_test_score"].argmin())


@pytest.mark.parametrize("groups", [None, np.arange(60) // 2 % 12])
@pytest.mark.parametrize("refit", [True, lowest])
def test_repeat_gives_groups_to_the_fast_way_and_to_clones(simple, groups, refit):
    cv = 3 if groups is None else GroupKFold(3)
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=cv, refit=refit)
    search.fit(*simple, groups=groups)
    u = tr.audit(search, *simple, groups=groups, level="nested", outer=OUTER)
    assert u.honest.value == pytest.approx(by_hand(search, *simple, groups))
    assert u.honest.method.endswith("GridSearchCV cloned)") == (refit is lowest)


def doubled(model, X, y):
    return 2.0 * (model.predict(X) == y).mean()


class Proud(KNeighborsClassifier):
    """A model with a score of its own."""

    def score(self, X, y, sample_weight=None):
        return 1.0


def test_repeat_keeps_scores_of_whole_sets_and_functions(grid_search, simple):
    for scoring in ("roc_auc", "f1"):
        found = tr.audit(grid_search(scoring=scoring), *simple, level="nested").honest
        assert found.interval.method == "logit-cv"
    search = grid_search(cv=3, scoring=doubled)
    u = tr.audit(search, *simple, level="nested", outer=OUTER)
    assert u.claimed.value == pytest.approx(search.best_score_)
    assert u.honest.value == pytest.approx(2 * by_hand(search, *simple))
    assert u.honest.perfect == 2
    with pytest.raises(Refusal, match="has no scorer"):
        tr.audit(grid_search(estimator=Proud()), *simple, level="nested")
    drawn = grid_search(cv=KFold(5, shuffle=True))  # these splits cannot be replayed
    assert tr.audit(drawn, *simple, level="nested").honest.value is not None


@pytest.mark.parametrize("outer", [0, "", []])
def test_repeat_refuses_outer_that_is_falsy(grid_search, simple, outer):
    ours = tr.HonestSearchCV(KNeighborsClassifier(), GRID, outer=None).fit(*simple)
    for search in (grid_search(), grid_search(refit=lowest), ours):
        with pytest.raises(TrueRiskError):
            tr.audit(search, *simple, level="nested", outer=outer)
