"""The whole search inside outer folds, checked against cloning and fitting it by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal, TrueRiskError

TUNED = KNeighborsClassifier(), {"n_neighbors": [1, 3]}

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
def test_a_grid_goes_the_fast_way_to_the_same_number(grid_search, simple, cv):
    """The fast engine's nested accuracy is that of clones fitted by hand."""
    search = grid_search(cv=cv)
    u = tr.audit(search, *simple, level="nested", outer=OUTER)
    assert u.honest.engine == "knn"
    assert u.honest.value == pytest.approx(by_hand(search, *simple))
    assert u.honest.interval is not None
    assert u.optimism == pytest.approx(search.best_score_ - u.honest.value)


@pytest.mark.parametrize("seed", [0, None])
def test_a_randomised_search_is_repeated(simple, seed):
    """With a seed its settings are fixed; without one each clone draws its own."""
    search = RandomizedSearchCV(KNeighborsClassifier(), GRID, n_iter=3, random_state=seed, cv=3)
    u = tr.audit(search.fit(*simple), *simple, level="nested", outer=OUTER)
    assert u.honest.engine == ("generic" if seed is None else "knn")
    if seed is not None:
        assert u.honest.value == pytest.approx(by_hand(search, *simple))


def test_a_choice_of_its_own_is_repeated_by_clones(simple):
    """refit=function: only a clone knows how it chooses."""
    search = GridSearchCV(
        KNeighborsClassifier(),
        GRID,
        cv=3,
        refit=lambda results: int(results["mean_test_score"].argmin()),
    ).fit(*simple)
    u = tr.audit(search, *simple, level="nested", outer=OUTER)
    assert u.honest.value == pytest.approx(by_hand(search, *simple))
    assert u.honest.method.endswith("GridSearchCV cloned)")


def test_our_own_search_has_done_it(simple):
    """risk_ is the answer; asked for other outer folds it is fitted again."""
    search = tr.HonestSearchCV(KNeighborsClassifier(), GRID).fit(*simple)
    assert tr.audit(search, *simple, level="nested").honest.value == search.risk_.value
    other = tr.audit(search, *simple, level="nested", outer="3-fold").honest
    assert other.method.startswith("nested (3-fold")


def test_scores_of_whole_sets_can_be_repeated(grid_search, simple):
    """AUC and F1 have the interval that HonestSearchCV has with the same outer splits."""
    for scoring, method in (("roc_auc", "logit-cv"), ("f1", "logit-cv")):
        u = tr.audit(grid_search(scoring=scoring), *simple, level="nested")
        assert u.honest.interval.method == method


def test_a_score_without_a_name_is_refused(simple):
    """A model with a score of its own and a search without scoring: no loss is guessed."""

    class Proud(KNeighborsClassifier):
        def score(self, X, y, sample_weight=None):
            return 1.0

    search = GridSearchCV(Proud(), {"n_neighbors": [1, 3, 5]}, cv=3).fit(*simple)
    with pytest.raises(Refusal, match="has no scorer"):
        tr.audit(search, *simple, level="nested")


def test_a_callable_score_stays_as_it_is(simple):
    """A scorer of one's own; the perfect rule says what no error is."""

    def doubled(model, X, y):
        return 2.0 * (model.predict(X) == y).mean()

    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=3, scoring=doubled).fit(*simple)
    u = tr.audit(search, *simple, level="nested", outer=OUTER)
    assert u.claimed.value == pytest.approx(search.best_score_)
    assert u.honest.value == pytest.approx(2 * by_hand(search, *simple))
    assert u.honest.perfect == 2


def test_groups_reach_the_inner_splits(simple):
    """A grouped search is repeated with its groups, by the fast way and by clones alike."""
    from sklearn.model_selection import GroupKFold

    X, y = simple
    groups = np.arange(60) // 2 % 12
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=GroupKFold(3)).fit(X, y, groups=groups)
    found = tr.audit(search, X, y, groups=groups, level="nested", outer=OUTER).honest
    assert found.value == pytest.approx(by_hand(search, X, y, groups))


def test_groups_reach_clones(simple):
    """A search with a choice of its own is given its groups in every outer training set."""
    from sklearn.model_selection import GroupKFold

    X, y = simple
    groups = np.arange(60) // 2 % 12
    search = GridSearchCV(
        KNeighborsClassifier(),
        GRID,
        cv=GroupKFold(3),
        refit=lambda results: int(results["mean_test_score"].argmax()),
    ).fit(X, y, groups=groups)
    found = tr.audit(search, X, y, groups=groups, level="nested", outer=OUTER).honest
    assert found.value == pytest.approx(by_hand(search, X, y, groups))


def test_splits_that_cannot_be_replayed_can_be_repeated(grid_search, simple):
    """Level nested draws them anew, which is what the search does."""
    cv = KFold(5, shuffle=True)
    assert tr.audit(grid_search(cv=cv), *simple, level="nested").honest.value is not None


@pytest.mark.parametrize("outer", [0, "", []])
@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(*TUNED),
        GridSearchCV(*TUNED, refit=lambda _: 0),
        tr.HonestSearchCV(*TUNED),
    ],
)
def test_outer_folds_that_are_none_are_refused(search, outer, simple):
    """They are not taken for those that nobody named, whichever way a search is repeated."""
    fitted = clone(search).fit(*simple)
    with pytest.raises(TrueRiskError):
        tr.audit(fitted, *simple, level="nested", outer=outer)
