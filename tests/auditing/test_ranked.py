"""The bootstrap bias correction for AUC."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, LeaveOneOut

import truerisk as tr
from truerisk.auditing.replay import weighted_auc_risk
from truerisk.contracts import Streams
from truerisk.core.errors import Refusal

GRID = {"n_neighbors": [1, 3, 5, 9, 15]}


@pytest.mark.parametrize("ties", [False, True])
def test_the_weighted_auc_is_that_of_scikit_learn(ties):
    """For counts as weights, with and without equal scores; NaN where a class has no weight."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=30).round(0 if ties else 9)
    positive = rng.random(30) < 0.4
    weights = rng.multinomial(30, np.full(30, 1 / 30), size=20).astype(float)
    risks = weighted_auc_risk(scores, positive, weights)
    expected = [1 - roc_auc_score(positive, scores, sample_weight=w) for w in weights]
    assert risks == pytest.approx(expected)
    assert np.isnan(weighted_auc_risk(scores, positive, positive[None].astype(float)))[0]


def by_hand(search, X, y, seed, replicates):
    """Choose by the weighted AUC of the splits, test by the rows without a copy; one at a time."""
    from sklearn.model_selection import check_cv

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

    rng = Streams(seed).get("bbc")
    drawn = rng.integers(len(y), size=(replicates, len(y)))
    scores = []
    for sample in drawn:
        counts = np.bincount(sample, minlength=len(y)).astype(float)
        best = int(np.nanargmax([round(auc(scores, counts), 12) for scores in answers]))
        scores.append(auc(answers[best], (counts == 0).astype(float)))
    return np.nanmean(scores)


def test_the_correction_is_that_of_a_loop_over_samples(grid_search, simple):
    """Fits, choices and tests one at a time give the same number."""
    search = grid_search(scoring="roc_auc")
    u = tr.audit(search, *simple, level="bbc", replicates=40, random_state=3)
    assert u.honest.value == pytest.approx(by_hand(search, *simple, 3, 40))
    assert "replay-differs" not in u.codes
    assert u.claimed.value == search.best_score_
    assert u.honest.interval.low <= u.honest.value <= u.honest.interval.high


def test_decision_values_are_ranked_as_searched(simple):
    """A model whose scores are decision values: the replay gives the search's AUC."""
    grid = {"C": [0.01, 1.0, 100.0]}
    search = GridSearchCV(LogisticRegression(), grid, cv=4, scoring="roc_auc").fit(*simple)
    u = tr.audit(search, *simple)
    assert "replay-differs" not in u.codes
    assert u.honest.value > 0


def test_groups_are_drawn_whole(grid_search, simple):
    """With groups the bootstrap draws groups, and the interval is another one."""
    search, groups = grid_search(scoring="roc_auc"), np.arange(60) // 6
    plain, grouped = (tr.audit(search, *simple, groups=g).honest for g in (None, groups))
    assert plain.value != grouped.value


def test_single_rows_have_no_auc(grid_search, simple):
    """Leave-one-out is refused by name."""
    X, y = simple[0][:20], simple[1][:20]
    search = grid_search(X, y, scoring="accuracy", cv=LeaveOneOut())
    search.scoring = "roc_auc"
    with pytest.raises(Refusal, match="both classes in every test set"):
        tr.audit(search, X, y)
