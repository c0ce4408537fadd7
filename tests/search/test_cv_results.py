"""`return_train_score` and `verbose`: what GridSearchCV returns and prints."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import BadArgument, Refusal

NEAREST = (KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})


@pytest.mark.parametrize(
    "cv", [5, RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), ShuffleSplit(3)]
)
@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "f1_macro"])
def test_train_scores_are_those_of_grid_search(cv, scoring) -> None:
    """Of every split and setting; the test scores, the choice and the risk stay what they are."""
    X, y = load_wine(return_X_y=True)
    cv = list(ShuffleSplit(3, random_state=0).split(X)) if isinstance(cv, ShuffleSplit) else cv
    theirs = GridSearchCV(*NEAREST, cv=cv, scoring=scoring, return_train_score=True).fit(X, y)
    options = {"cv": cv, "scoring": scoring, "outer": None}
    ours = tr.HonestSearchCV(*NEAREST, **options, return_train_score=True).fit(X, y)
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    for name in (name for name in theirs.cv_results_ if name.endswith("_score")):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-12)
    plain = tr.HonestSearchCV(*NEAREST, **options).fit(X, y)
    assert plain.selected_risk_.plan_fingerprint == ours.selected_risk_.plan_fingerprint
    assert "mean_train_score" not in plain.cv_results_


def test_the_honest_risk_is_the_same_with_train_scores() -> None:
    """The answers to the test rows are those that the pairs start from."""
    X, y = load_diabetes(return_X_y=True)
    grid = {"alpha": [0.01, 1.0]}
    plain = tr.HonestSearchCV(Ridge(), grid, cv=4).fit(X, y)
    ours = tr.HonestSearchCV(Ridge(), grid, cv=4, return_train_score=True).fit(X, y)
    assert ours.risk_.value == pytest.approx(plain.risk_.value)
    assert ours.selected_risk_.value == pytest.approx(plain.selected_risk_.value)


def test_drawn_train_sets_have_no_train_score() -> None:
    """Expected losses over all bootstrap samples belong to no single model."""
    X, y = load_wine(return_X_y=True)
    search = tr.HonestSearchCV(*NEAREST, cv="exact-oob", outer=None, return_train_score=True)
    with pytest.raises(Refusal, match="use return_train_score=False"):
        search.fit(X, y)
    with pytest.raises(BadArgument, match="return_train_score='yes'"):
        search.set_params(return_train_score="yes").fit(X, y)


@pytest.mark.parametrize("verbose", [0, 1, 2, 3])
@pytest.mark.parametrize("trained", [False, True])
def test_what_is_printed(capsys, verbose, trained) -> None:
    """The number of fits, then a line for each, then its scores."""
    X, y = load_wine(return_X_y=True)
    tr.HonestSearchCV(*NEAREST, cv=4, outer=None, verbose=verbose, return_train_score=trained).fit(
        X, y
    )
    said = capsys.readouterr().out
    assert ("Fitting 4 folds for each of 3 candidates, totalling 12 fits" in said) == (verbose > 0)
    assert len(re.findall(r"\[CV \d/4\] END n_neighbors=\d; .*total time=", said)) == (
        12 if verbose > 1 else 0
    )
    score = r"score=\(train=[\d.]+, test=[\d.]+\)" if trained else r"score=[\d.]+"
    assert len(re.findall(score, said)) == (12 if verbose > 2 else 0)


# ---------------- `refit` as a function: it chooses from `cv_results_`


X, Y = load_wine(return_X_y=True)


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
