"""The same splits again, checked against fitting every candidate by hand; the bootstrap of AUC."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
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
from tests.support.data import checked

import truerisk as tr
from truerisk.auditing.replay import replay_search
from truerisk.estimation.problem import problem_from_arguments
from truerisk.extend import BadData, Family, Refusal, Streams
from truerisk.intervals.bootstrapped_sets import mean_auc_risks
from truerisk.search.claim import make_score_scale
from truerisk.search.reading import read_claim


@pytest.mark.parametrize(
    "cv",
    [
        5,
        KFold(4),
        KFold(7, shuffle=True, random_state=1),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        ShuffleSplit(5, test_size=0.3, random_state=0),
    ],
    ids=str,
)
def test_replay_has_the_losses_of_fitting_by_hand(grid_search, simple, cv):
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


def replayed(search, X, y, **given):
    """The replay of a search."""
    claim = read_claim(search)
    scale = make_score_scale(claim)
    family = Family(claim.estimator, claim.candidates)
    problem = problem_from_arguments(family, X, y, scoring=scale.loss, **given)
    return replay_search(claim, scale, problem, claim.plan(problem.data))


TREES = (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]})


@pytest.mark.parametrize(
    ("estimator", "grid", "scoring"),
    [
        (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}, None),
        (*TREES, "balanced_accuracy"),
        (*TREES, "neg_brier_score"),
        (*TREES, "neg_log_loss"),
        (Ridge(), {"alpha": [0.1, 1.0, 10.0]}, None),
        (LogisticRegression(), {"C": [0.01, 1.0, 100.0]}, "roc_auc"),
    ],
    ids=["accuracy", "balanced accuracy", "brier", "log", "r2", "auc of decision values"],
)
def test_replay_differs_is_said_of_other_rows_alone(simple, estimator, grid, scoring):
    """Scores that are means over rows come out as searched. Those of leave-one-out as well."""
    X, y = simple
    if isinstance(estimator, Ridge):
        y = X[:, 0] + np.random.default_rng(0).normal(size=60)
    search = GridSearchCV(estimator, grid, cv=4, scoring=scoring).fit(X, y)
    u = tr.audit(search, X, y)
    assert "replay-differs" not in u.codes
    assert "replay-differs" in tr.audit(search, X[::-1], y).codes
    if isinstance(estimator, Ridge):
        assert (u.claimed.scoring, u.claimed.perfect) == ("r2", 1.0)
        assert u.honest.engine == "least-squares"
    if isinstance(estimator, KNeighborsClassifier):
        X, y = X[:20], y[:20]
        alone = tr.audit(GridSearchCV(estimator, grid, cv=LeaveOneOut()).fit(X, y), X, y)
        assert "replay-differs" not in alone.codes
        assert alone.rough is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        # A splitter without a seed, or an iterator, cannot be replayed.
        ({"cv": KFold(5, shuffle=True)}, "drawn anew each time"),
        ({"cv": ShuffleSplit(3)}, "drawn anew each time"),
        (
            {"cv": KFold(5, shuffle=True, random_state=np.random.RandomState(0))},
            "drawn anew each time",
        ),
        ({"cv": iter(list(KFold(5).split(np.zeros(60))))}, "used it up"),
        # No loss of single rows, so no bootstrap over rows: a level that has an interval is named.
        ({"scoring": "f1"}, "level='pairs'"),
        ({"scoring": "average_precision"}, "level='pairs'"),
    ],
)
def test_level_bbc_refuses_splits_that_are_gone_and_scores_of_whole_sets(
    grid_search, simple, options, sentence
):
    search = grid_search(**options)
    with pytest.raises(Refusal, match=sentence):
        tr.audit(search, *simple, level="bbc")
    if "scoring" in options:
        assert tr.audit(search, *simple).honest.interval is not None


def test_level_bbc_refuses_test_sets_without_a_score(grid_search, simple):
    """R² where y does not vary, AUC of single rows, a choice by a criterion."""
    X, y = simple
    flat = np.repeat(np.arange(6.0), 10)
    search = GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, cv=KFold(6)).fit(X, flat)
    with pytest.raises(Refusal, match="y does not vary"):
        tr.audit(search, X, flat, level="bbc")
    few = X[:20], y[:20]
    alone = grid_search(*few, scoring="accuracy", cv=LeaveOneOut())
    alone.scoring = "roc_auc"
    with pytest.raises(Refusal, match="both classes in every test set"):
        tr.audit(alone, *few)
    ours = tr.HonestSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv="aic", outer=None)
    with pytest.raises(Refusal, match="no losses of single rows"):
        tr.audit(ours.fit(X, X[:, 0] + y), X, X[:, 0] + y, level="bbc")


def test_factor_of_a_balanced_score_is_that_of_scikit_learn(simple):
    """The factor of single rows is n / (K n_class)."""
    X, y = simple
    y = np.where(np.arange(60) < 20, 2, y)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3]}, scoring="balanced_accuracy")
    factor = make_score_scale(read_claim(search.fit(X, y))).row_factors(
        checked(X, y), np.arange(60)
    )
    wrong = np.arange(60) % 3 == 0
    expected = balanced_accuracy_score(y, np.where(wrong, (y + 1) % 3, y))
    assert 1 - (wrong * factor).mean() == pytest.approx(expected)


def test_fit_params_belong_to_the_replay(simple):
    """Without them the scores differ; with them they come out."""
    X, y = simple
    weights = np.where(y == 0, 5.0, 1.0)
    search = GridSearchCV(*TREES, cv=4).fit(X, y, sample_weight=weights)
    assert "replay-differs" in tr.audit(search, X, y).codes
    given = {"sample_weight": weights}
    assert "replay-differs" not in tr.audit(search, X, y, fit_params=given).codes


@pytest.mark.parametrize(("seed", "is_random"), [(None, True), (0, False)])
def test_random_model_is_said_without_a_seed(simple, seed, is_random):
    """Random trees cannot be replayed to the digit; with a seed they can."""
    tree = DecisionTreeClassifier(splitter="random", random_state=seed)
    search = GridSearchCV(tree, {"max_depth": [2, 4, 8]}, cv=5).fit(*simple)
    codes = tr.audit(search, *simple).codes
    assert ("random-model" in codes) is is_random
    assert "replay-differs" not in codes


def test_groups_are_needed_to_replay_grouped_splits(grid_search, simple):
    """The sentence says to give them; with them the replay is exact."""
    X, y = simple
    groups = np.arange(60) // 3
    search = grid_search(X, y, groups=groups, cv=GroupKFold(4))
    with pytest.raises(Refusal, match="Give groups= as you did to fit"):
        tr.audit(search, X, y)
    u = tr.audit(search, X, y, groups=groups)
    assert not {"replay-differs", "groups-split"} & set(u.codes)
    assert "groups-split" in tr.audit(grid_search(), X, y, groups=groups).codes


def test_honest_search_needs_no_fit_to_be_audited(simple):
    """Its kept losses are corrected; other rows are refused by their fingerprint.

    A level that tests the choice makes the fits that `outer=None` has left out.
    """
    X, y = simple
    search = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, outer=None)
    tested = clone(search).set_params(outer="pairs").fit(X, y)
    u = tr.audit(search.fit(X, y), X, y, level="bbc")
    assert u.honest.n_fits == 0
    assert u.claimed.value == pytest.approx(search.selected_risk_.value)
    assert (u.claimed.scoring, u.claimed.perfect) == ("zero-one", None)
    assert f"reports {u.claimed.value:.4f} (1 - best_score_), which is " in u.conclusion
    assert tr.audit(search, X, y, level="pairs").honest.value == tested.risk_.value
    with pytest.raises(BadData, match="other fingerprint"):
        tr.audit(search, X[::-1], y)


def test_failed_fits_are_left_out(simple):
    """More neighbours than rows: the search says NaN, the audit says so and goes on."""
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9, 58]}, cv=5)
    with pytest.warns(UserWarning, match="Scoring failed|non-finite"):
        search.fit(*simple)
    u = tr.audit(search, *simple)
    assert "failed-fits" in u.codes
    assert u.honest.value is not None


def test_replicates_below_40_have_no_percentiles(grid_search, simple):
    """39 samples have no 2.5 % tail; what does not vary has no interval, nor a verdict."""
    X, y = simple
    few, enough = (tr.audit(grid_search(), X, y, level="bbc", replicates=n) for n in (39, 40))
    assert few.honest.interval is few.refuted is None
    assert any("replicates=40" in note for note in few.honest.notes)
    assert enough.honest.interval is not None
    apart = X * 0 + 100.0 * y[:, None] + np.arange(len(y))[:, None] / 1e3
    sure = tr.audit(grid_search(apart, y), apart, y, level="bbc")
    assert (sure.honest.value, sure.honest.interval) == (1.0, None)
    assert sure.conclusion.startswith(
        "Expect the accuracy on new rows to be 1.0000 (no interval). "
        "The search reports 1.0000, which is the same. "
    )


@pytest.mark.parametrize("ties", [False, True])
def test_mean_auc_risks_are_those_of_scikit_learn(ties):
    """For counts as weights, with and without equal scores; NaN where a class has no weight."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=30).round(0 if ties else 9)
    positive = rng.random(30) < 0.4
    weights = rng.multinomial(30, np.full(30, 1 / 30), size=20).astype(float)
    risks = mean_auc_risks(scores[None], positive, [slice(0, 30)], weights)[:, 0]
    expected = [1 - roc_auc_score(positive, scores, sample_weight=w) for w in weights]
    assert risks == pytest.approx(expected)
    one_class = mean_auc_risks(scores[None], positive, [slice(0, 30)], positive[None] * 1.0)
    assert np.isnan(one_class[0, 0])


def by_hand(search, X, y, seed, replicates):
    """Choose by the weighted AUC of the splits, test by the rows without a copy; one at a time."""
    folds = list(check_cv(search.cv, y, classifier=True).split(X, y))
    answers = []
    for params in search.cv_results_["params"]:
        scores = np.empty(len(y))
        for train, test in folds:
            model = type(search.estimator)(**params).fit(X[train], y[train])
            scores[test] = model.predict_proba(X[test])[:, 1]
        answers.append(scores)

    def auc(scores, weights):
        found = [
            roc_auc_score(y[test], scores[test], sample_weight=weights[test])
            for _, test in folds
            if len(np.unique(y[test][weights[test] > 0])) == 2
        ]
        return np.mean(found) if found else np.nan

    drawn = Streams(seed).get("bbc").integers(len(y), size=(replicates, len(y)))
    scores = []
    for sample in drawn:
        counts = np.bincount(sample, minlength=len(y)).astype(float)
        best = int(np.nanargmax([round(auc(scores, counts), 12) for scores in answers]))
        scores.append(auc(answers[best], (counts == 0).astype(float)))
    return np.nanmean(scores)


def test_level_bbc_of_auc_is_that_of_a_loop_over_samples(grid_search, simple):
    """Fits, choices and tests one at a time. With groups the bootstrap draws groups."""
    search = grid_search(scoring="roc_auc")
    options = {"level": "bbc", "replicates": 40, "random_state": 3}
    u = tr.audit(search, *simple, **options)
    assert u.honest.value == pytest.approx(by_hand(search, *simple, 3, 40))
    assert u.claimed.value == search.best_score_
    assert u.honest.interval.low <= u.honest.value <= u.honest.interval.high
    grouped = tr.audit(search, *simple, groups=np.arange(60) // 6, **options)
    assert grouped.honest.value != u.honest.value
