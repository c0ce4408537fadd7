"""GridSearchCV's words give GridSearchCV's numbers, and nothing is asked in two ways at once."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.svm import SVC

import truerisk as tr
from truerisk.core.errors import BadArgument, UnknownName

RNG = np.random.default_rng(4)
X = RNG.normal(size=(80, 3))
Y = (X[:, 0] + RNG.normal(size=80) > 0).astype(int)
NUMBERS = X[:, 0] + RNG.normal(size=80)
CLASSES = (LogisticRegression(), {"C": [0.01, 0.1, 1.0]})
LINES = (Ridge(), {"alpha": [0.1, 10.0, 1000.0]})
SCORES = ["accuracy", "roc_auc", "neg_log_loss", "neg_brier_score", "f1", None]


@pytest.mark.parametrize("cv", [5, StratifiedKFold(4), KFold(3, shuffle=True, random_state=1)])
@pytest.mark.parametrize("scoring", SCORES)
def test_scores_of_classifiers_are_those_of_grid_search(scoring, cv) -> None:
    """Every split's score of every setting, the best score, and `score` on new rows."""
    theirs = GridSearchCV(*CLASSES, cv=cv, scoring=scoring).fit(X, Y)
    ours = tr.HonestSearchCV(*CLASSES, cv=cv, scoring=scoring).fit(X, Y)
    for name in theirs.cv_results_:
        if name.startswith(("split", "mean_test")):
            assert ours.cv_results_[name] == pytest.approx(theirs.cv_results_[name], abs=1e-12)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    assert ours.score(X[:30], Y[:30]) == pytest.approx(theirs.score(X[:30], Y[:30]))
    assert ours.risk_.method.startswith("pairs (")


@pytest.mark.parametrize(
    "scoring", ["neg_mean_squared_error", "neg_mean_absolute_error", "r2", "neg_max_error"]
)
def test_scores_of_regressors_are_those_of_grid_search(scoring) -> None:
    """Unshuffled folds, the usual ones of a regression."""
    theirs = GridSearchCV(*LINES, cv=4, scoring=scoring).fit(X, NUMBERS)
    ours = tr.HonestSearchCV(*LINES, cv=4, scoring=scoring).fit(X, NUMBERS)
    found = ours.cv_results_["mean_test_score"]
    assert found == pytest.approx(theirs.cv_results_["mean_test_score"], abs=1e-12)
    assert ours.best_params_ == theirs.best_params_


def test_a_list_of_splits_and_jobs_serve() -> None:
    """`cv` takes pairs of row numbers; the number of jobs changes nothing."""
    splits = list(StratifiedKFold(3).split(X, Y))
    one = tr.HonestSearchCV(*CLASSES, cv=splits).fit(X, Y)
    two = tr.HonestSearchCV(*CLASSES, cv=3, n_jobs=2).fit(X, Y)
    assert np.array_equal(one.risk_.losses, two.risk_.losses)
    assert one.risk_.method == "pairs (3 given splits)"
    all_cores = tr.HonestSearchCV(*CLASSES, cv=3, n_jobs=np.int64(-1), outer=None).fit(X, Y)
    assert all_cores.best_score_ == one.best_score_


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"cv": "five"}, UnknownName, "there is no method 'five'"),
        ({"cv": 1}, BadArgument, "1 is no number of folds: give two at least"),
        ({"verbose": "a"}, BadArgument, "verbose='a': use 0, or 1 for the number of fits"),
        ({"verbose": -1}, BadArgument, "verbose=-1: use 0"),
        ({"cv": []}, BadArgument, "the list of splits is empty"),
        ({"cv": [(1, 2, 3)]}, BadArgument, "split 0 is no .train, test. pair"),
        ({"cv": [(1, 2)]}, BadArgument, "split 0 is no .train, test. pair of row numbers"),
        ({"n_jobs": 0}, UnknownName, "n_jobs=0: give a number"),
        ({"scoring": "accurracy"}, UnknownName, "there is no scoring 'accurracy'"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence(given, kind, said) -> None:
    """Unknown words, no splits, no jobs."""
    with pytest.raises(kind, match=said):
        tr.HonestSearchCV(*CLASSES, **given).fit(X, Y)


def test_groups_reach_the_splits_of_cv_where_they_are_routed() -> None:
    """With metadata routing, a Group splitter given as `cv` asks for its groups itself."""
    groups = np.arange(80) // 4
    with sklearn.config_context(enable_metadata_routing=True):
        search = tr.HonestSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=GroupKFold(4))
        search.fit(X, Y, groups=groups)
    assert len(search.outer_) == 4
    assert search.risk_.interval.method == "beta-cv-grouped"
