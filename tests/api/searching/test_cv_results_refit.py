"""`refit` as a function: it chooses from `cv_results_`."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import BadArgument

X, Y = load_wine(return_X_y=True)
NEAREST = (KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})


def worst(results) -> int:
    """The setting of the least score."""
    return int(results["mean_test_score"].argmin())


def test_it_chooses_as_in_grid_search() -> None:
    """The refitted model is that of its choice, and no best score is claimed."""
    theirs = GridSearchCV(*NEAREST, cv=5, refit=worst).fit(X, Y)
    ours = tr.HonestSearchCV(*NEAREST, cv=5, refit=worst, outer=None).fit(X, Y)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_estimator_.n_neighbors == theirs.best_estimator_.n_neighbors
    assert ours.curve_.best == ours.best_index_ == theirs.best_index_
    assert not hasattr(ours, "best_score_")
    assert ours.refit_time_ >= 0


def test_the_name_of_the_one_score_is_as_good_as_true() -> None:
    """GridSearchCV takes it; another name is refused."""
    ours = tr.HonestSearchCV(*NEAREST, cv=5, scoring="f1_macro", refit="f1_macro", outer=None)
    assert ours.fit(X, Y).best_estimator_.n_neighbors == ours.best_params_["n_neighbors"]


@pytest.mark.parametrize(
    ("refit", "kind", "said"),
    [
        (lambda results: None, TypeError, "best_index_ returned is not an integer"),
        (lambda results: 3, IndexError, "best_index_ index out of range.*3 settings"),
        (lambda results: -1, IndexError, "best_index_ index out of range"),
        ("auc", BadArgument, "refit='auc': use True, False, or a function"),
    ],
)
def test_what_chooses_no_setting_is_refused(refit, kind, said) -> None:
    """Neither a number of a setting nor a word."""
    with pytest.raises(kind, match=said):
        tr.HonestSearchCV(*NEAREST, cv=5, refit=refit, outer=None).fit(X, Y)


def test_outer_splits_cannot_choose_by_it() -> None:
    """They have no cv_results_; a risk of another choice would be a lie."""
    with pytest.raises(BadArgument, match="use a rule=.*or outer=None"):
        tr.HonestSearchCV(*NEAREST, cv=5, refit=worst).fit(X, Y)
