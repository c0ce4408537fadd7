"""The same splits again, checked against fitting every candidate by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    check_cv,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.auditing.replay import replay
from truerisk.core.errors import BadArgument, BadData, Refusal
from truerisk.core.family import Family
from truerisk.estimation.problem import pose
from truerisk.search.claim import scale_of
from truerisk.search.reading import read_claim

SPLITTERS = [
    5,
    KFold(4),
    KFold(7, shuffle=True, random_state=1),
    RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    ShuffleSplit(5, test_size=0.3, random_state=0),
]


def replayed(search, X, y, **given):
    """The replay of a search."""
    claim = read_claim(search)
    scale = scale_of(claim)
    family = Family(claim.estimator, claim.candidates)
    problem = pose(family, X, y, scoring=scale.loss, **given)
    return replay(claim, scale, problem, claim.plan(problem.data))


@pytest.mark.parametrize("cv", SPLITTERS, ids=str)
def test_the_losses_are_those_of_fitting_by_hand(grid_search, simple, cv):
    """Zero-one loss of every row under every candidate, averaged over the splits that test it."""
    X, y = simple
    search = grid_search(cv=cv)
    found = replayed(search, X, y)
    total, times = np.zeros((5, 60)), np.zeros(60)
    for train, test in check_cv(cv, y, classifier=True).split(X, y):
        times[test] += 1
        for c, params in enumerate(search.cv_results_["params"]):
            model = clone(search.estimator).set_params(**params).fit(X[train], y[train])
            total[c, test] += model.predict(X[test]) != y[test]
    assert found.rows.tolist() == np.flatnonzero(times).tolist()
    assert found.losses == pytest.approx(total[:, found.rows] / times[found.rows], abs=1e-12)
    means = found.losses @ found.weights / found.weights.sum()
    assert 1 - means == pytest.approx(search.cv_results_["mean_test_score"], abs=1e-12)


def test_leave_one_out_is_replayed(grid_search, simple):
    """Each row alone, without n² row numbers."""
    X, y = simple[0][:20], simple[1][:20]
    u = tr.audit(grid_search(X, y, cv=LeaveOneOut()), X, y)
    assert "replay-differs" not in u.codes
    assert u.rough is None


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "neg_brier_score", "neg_log_loss"])
def test_scores_of_rows_add_up_to_the_search(grid_search, simple, scoring):
    """Balanced accuracy, Brier and log loss are means over rows, and come out as searched."""
    estimator, grid = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]}
    u = tr.audit(grid_search(estimator=estimator, grid=grid, scoring=scoring), *simple)
    assert "replay-differs" not in u.codes


def test_r2_of_a_fold_is_a_mean_over_its_rows(simple):
    """1 − R² is the mean of (y − f)² over the variance of the fold."""
    X, _ = simple
    y = X[:, 0] + np.random.default_rng(0).normal(size=60)
    u = tr.audit(GridSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, cv=4).fit(X, y), X, y)
    assert "replay-differs" not in u.codes
    assert (u.claimed.scoring, u.claimed.perfect) == ("r2", 1.0)
    assert u.honest.engine == "least-squares"


def test_r2_of_a_single_row_does_not_exist(simple):
    """A test set in which y does not vary is refused by name."""
    X = simple[0]
    search = GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, cv=KFold(6))
    flat = np.repeat(np.arange(6.0), 10)
    with pytest.raises(Refusal, match="y does not vary"):
        tr.audit(search.fit(X, flat), X, flat, level="bbc")


def test_a_balanced_score_by_hand(simple):
    """The factor n / (K n_class) of single rows gives scikit-learn's balanced accuracy."""
    from truerisk.data.data import Data

    X, y = simple
    y = np.where(np.arange(60) < 20, 2, y)
    data = Data.check(X, y, task="classification")
    claim = read_claim(
        GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3]}, scoring="balanced_accuracy").fit(
            X, y
        )
    )
    wrong = np.arange(60) % 3 == 0
    predicted = np.where(wrong, 5, y)
    factor = scale_of(claim).factor(data, np.arange(60))
    with np.errstate(invalid="ignore"):
        expected = balanced_accuracy_score(y, np.where(predicted == 5, (y + 1) % 3, y))
    assert 1 - (wrong * factor).mean() == pytest.approx(expected)


def test_other_rows_are_noticed(grid_search, simple):
    """The scores of a search on X do not come out on a shuffled y; on its own rows they do."""
    X, y = simple
    search = grid_search()
    assert "replay-differs" not in tr.audit(search, X, y).codes
    assert "replay-differs" in tr.audit(search, X[::-1], y).codes


def test_weights_that_fit_was_given_belong_to_the_replay(simple):
    """Without fit_params the scores differ; with them they come out."""
    X, y = simple
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    weights = np.where(y == 0, 5.0, 1.0)
    search = GridSearchCV(tree, {"max_depth": [1, 2, 3]}, cv=4).fit(X, y, sample_weight=weights)
    assert "replay-differs" in tr.audit(search, X, y).codes
    given = {"sample_weight": weights}
    assert "replay-differs" not in tr.audit(search, X, y, fit_params=given).codes


def test_a_model_that_draws_is_named(simple):
    """Random trees without a seed cannot be replayed to the digit; with a seed they can."""
    X, y = simple
    for seed in (None, 0):
        tree = DecisionTreeClassifier(splitter="random", random_state=seed)
        search = GridSearchCV(tree, {"max_depth": [2, 4, 8]}, cv=5).fit(X, y)
        codes = tr.audit(search, X, y).codes
        if seed is None:
            assert "random-model" in codes
        else:
            assert "random-model" not in codes
        assert "replay-differs" not in codes


@pytest.mark.parametrize(
    ("cv", "sentence"),
    [
        (KFold(5, shuffle=True), "drawn anew each time"),
        (ShuffleSplit(3), "drawn anew each time"),
        (KFold(5, shuffle=True, random_state=np.random.RandomState(0)), "drawn anew each time"),
        (iter(list(KFold(5).split(np.zeros(60)))), "used it up"),
    ],
    ids=["shuffled", "shuffle split", "generator of numbers", "iterator"],
)
def test_splits_that_are_gone_are_refused(grid_search, simple, cv, sentence):
    """A splitter without a seed, or an iterator, cannot be replayed."""
    with pytest.raises(Refusal, match=sentence):
        tr.audit(grid_search(cv=cv), *simple, level="bbc")


def test_grouped_splits_need_their_groups(grid_search, simple):
    """The sentence says to give them; with them the replay is exact."""
    X, y = simple
    groups = np.arange(60) // 3
    search = grid_search(X, y, groups=groups, cv=GroupKFold(4))
    with pytest.raises(Refusal, match="Give groups= as you did to fit"):
        tr.audit(search, X, y)
    u = tr.audit(search, X, y, groups=groups)
    assert "replay-differs" not in u.codes
    assert "groups-split" not in u.codes
    assert "groups-split" in tr.audit(grid_search(), X, y, groups=groups).codes


@pytest.mark.parametrize("scoring", ["f1", "average_precision"])
def test_scores_of_whole_sets_are_refused(grid_search, simple, scoring):
    """No loss of single rows, so no bootstrap over rows; a level that has an interval is named."""
    with pytest.raises(Refusal, match="level='pairs'"):
        tr.audit(grid_search(scoring=scoring), *simple, level="bbc")
    assert tr.audit(grid_search(scoring=scoring), *simple).honest.interval is not None


def test_our_own_search_needs_no_fit(simple):
    """Its kept losses are corrected; other rows are refused by their fingerprint."""
    X, y = simple
    search = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, outer=None)
    search.fit(X, y)
    u = tr.audit(search, X, y, level="bbc")
    assert u.honest.n_fits == 0
    assert u.claimed.value == pytest.approx(search.selected_risk_.value)
    assert (u.claimed.scoring, u.claimed.perfect) == ("zero-one", None)
    assert u.conclusion.startswith("1 - best_score_ ")
    with pytest.raises(BadData, match="other fingerprint"):
        tr.audit(search, X[::-1], y)


def test_a_search_without_row_losses_is_refused(simple):
    """Chosen by a criterion: there is nothing out of fold."""
    X, y = simple
    search = tr.HonestSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv="aic", outer=None)
    with pytest.raises(Refusal, match="no losses of single rows"):
        tr.audit(search.fit(X, X[:, 0] + y), X, X[:, 0] + y, level="bbc")


def test_candidates_that_fail_are_left_out(simple):
    """More neighbours than rows: the search says NaN, the audit says so and goes on."""
    X, y = simple
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9, 58]}, cv=5)
    with pytest.warns(UserWarning, match="Scoring failed|non-finite"):
        search.fit(X, y)
    u = tr.audit(search, X, y)
    assert "failed-fits" in u.codes
    assert u.honest.value is not None


def test_few_samples_have_no_percentiles(grid_search, simple):
    """39 samples have no 2.5 % tail, 40 have; what does not vary has no interval, nor a verdict."""
    X, y = simple
    few = tr.audit(grid_search(), X, y, level="bbc", replicates=39)
    assert few.honest.interval is None
    assert few.refuted is None
    assert any("replicates=40" in note for note in few.honest.notes)
    enough = tr.audit(grid_search(), X, y, level="bbc", replicates=40)
    assert enough.honest.interval is not None
    apart = X * 0 + 100.0 * y[:, None] + np.arange(len(y))[:, None] / 1e3
    sure = tr.audit(grid_search(apart, y), apart, y, level="bbc")
    assert (sure.honest.value, sure.honest.interval) == (1.0, None)
    assert "neither optimistic nor pessimistic; honest 1.0000 (no interval)" in sure.conclusion


def test_outer_splits_of_a_level_without_them_are_refused(grid_search, simple):
    """An option that would be ignored is none."""
    with pytest.raises(BadArgument, match="level='bbc' has no outer splits"):
        tr.audit(grid_search(), *simple, level="bbc", outer="5-fold")
