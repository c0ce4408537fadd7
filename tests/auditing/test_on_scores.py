"""Findings from kept scores, from the honest risk, and from state that outlives clone."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from truerisk.auditing.on_scores import (
    candidates_within_std_error,
    risk_findings,
    rough_corrected_risk,
    score_findings,
)
from truerisk.extend import Interval
from truerisk.results.interval import LOSS_SCALE, Scale
from truerisk.search.claim import Claim, make_score_scale
from truerisk.search.repeat import find_surviving_state

FIVE = tuple({"k": k} for k in (2, 3, 5, 9, 15))
SPREAD = np.array(
    [
        [0.60, 0.62, 0.58, 0.61],
        [0.80, 0.82, 0.78, 0.81],
        [0.95, 0.94, 0.96, 0.95],
        [0.80, 0.81, 0.79, 0.80],
        [0.60, 0.58, 0.62, 0.59],
    ]
)
FLAT = np.array([[0.7, 0.9, 0.8, 0.6]] * 5) + 0.01 * (np.arange(5) == 2)[:, None]
LUCKY = np.where(np.eye(5, 4) == 1, 0.9, 0.5)
LUCKY[4] = 0.61, 0.62, 0.60, 0.61


def claimed(scores, best=None, candidates=FIVE, cv=None):
    """Return a claim of an accuracy with these scores of candidates in splits."""
    scores = np.asarray(scores, dtype=float)
    best = int(np.nanargmax(scores.mean(axis=1))) if best is None else best
    return Claim(
        search_name="GridSearchCV",
        name="best_score_",
        score=float(scores[best].mean()),
        best_candidate=best,
        candidates=candidates,
        estimator=DummyClassifier(),
        scoring="accuracy",
        cv=cv,
        scores=scores,
    )


def changed(value):
    """Return the scores with another one of the first setting in the second split."""
    scores = SPREAD.copy()
    scores[0, 1] = value
    return scores


def ended(name, values, best):
    """Return a claim whose best setting is an end of these values."""
    order = np.argsort([abs(i - best) for i in range(5)])
    scores = SPREAD[[2, 1, 3, 0, 4]][np.argsort(order)]
    return claimed(scores, best, tuple({name: v} for v in values))


@pytest.mark.parametrize(
    ("claim", "error_score", "expected"),
    [
        (claimed(SPREAD), np.nan, set()),
        (claimed(SPREAD), -1, set()),
        (claimed(SPREAD), "raise", set()),
        (claimed(SPREAD[[2, 1, 0, 3, 4]]), np.nan, {"edge-of-grid"}),
        (claimed(SPREAD[[4, 1, 0, 3, 2]]), np.nan, {"edge-of-grid"}),
        # Whole numbers end at 1, shares at 1, penalties at 0; words have no order.
        (ended("n_neighbors", [1, 3, 5, 7, 9], 0), np.nan, set()),
        (ended("l1_ratio", [0.1, 0.3, 0.5, 0.9, 1.0], 4), np.nan, set()),
        (ended("alpha", [0, 0.1, 1, 10, 100], 0), np.nan, set()),
        (ended("penalty", ["a", "b", "c", "d", "e"], 0), np.nan, set()),
        (ended("flag", [True, False, True, False, True], 0), np.nan, set()),
        # Two values have no inside, so that they have no edge.
        (claimed(SPREAD[1:3], candidates=FIVE[:2]), np.nan, set()),
        (claimed(FLAT), np.nan, {"flat-curve"}),
        (claimed(LUCKY), np.nan, {"edge-of-grid", "winners-curse"}),
        (claimed(changed(np.nan), best=2), np.nan, {"failed-fits"}),
        (claimed(changed(-1.0)), -1, {"failed-fits"}),
        (claimed(changed(-np.inf)), np.nan, {"non-finite-scores"}),
        (claimed(SPREAD, best=1), np.nan, {"choice-differs", "flat-curve", "winners-curse"}),
    ],
)
def test_score_findings_of_one_claim(claim, error_score, expected):
    found = {f.code for f in score_findings(claim, make_score_scale(claim), error_score)}
    assert found == expected


def test_within_one_error_counts_by_the_error_over_splits_of_the_best():
    assert candidates_within_std_error(claimed(FLAT)) == (0, 1, 2, 3, 4)
    assert candidates_within_std_error(claimed(SPREAD)) == (2,)


def test_rough_correction_is_that_of_tibshirani():
    """Error of the best plus the mean of what each split's own best would have saved.

    With leave-one-out the best score of a split is always 1, so that it says nothing.
    """
    claim = claimed([[0.9, 0.7], [0.8, 0.9]], candidates=FIVE[:2])
    assert rough_corrected_risk(claim, make_score_scale(claim)) == pytest.approx(
        0.15 + (0.1 + 0.0) / 2
    )
    claim = claimed(SPREAD, cv=LeaveOneOut())
    assert rough_corrected_risk(claim, make_score_scale(claim)) is None


@pytest.mark.parametrize(
    ("claim", "value", "interval", "std_error", "expected"),
    [
        (0.14, 0.2, (0.15, 0.25), None, {"claim-refuted", "optimism-large"}),
        (0.15, 0.2, (0.15, 0.25), None, {"optimism-large"}),
        (0.26, 0.2, (0.15, 0.25), None, {"claim-refuted"}),
        (0.01, 0.2, None, None, {"optimism-large"}),
        # Above a tenth is large: 0.17 for an honest 0.2 is 15 % too small.
        (0.17, 0.2, (0.15, 0.25), None, {"optimism-large"}),
        (0.19, 0.2, (0.15, 0.25), None, set()),
        # Half a standard error is no finding.
        (0.17, 0.2, (0.15, 0.25), 0.08, set()),
        (0.004, 0.006, (0.0, 0.02), None, set()),
        # Failed fits leave no honest value to compare with.
        (0.1, None, (0.15, 0.25), None, set()),
    ],
)
def test_risk_findings_compare_claim_and_honest_risk(claim, value, interval, std_error, expected):
    ends = None if interval is None else Interval(*interval, "bbc")
    honest = SimpleNamespace(loss_value=value, loss_interval=ends, std_error=std_error)
    assert {f.code for f in risk_findings(claim, honest, LOSS_SCALE)} == expected


def test_risk_findings_tell_a_score_as_a_score():
    """An accuracy of .83 is .03 better than the honest .80: nobody reads of .17 and .20."""
    ends = Interval(0.18, 0.25, "bbc")
    honest = SimpleNamespace(loss_value=0.2, loss_interval=ends, std_error=None)
    refuted, large = risk_findings(0.17, honest, Scale(1.0))
    assert refuted.sentence == (
        "The claimed score 0.8300 is better than anything in the 95 % interval [0.7500, 0.8200]."
    )
    assert large.sentence.startswith(
        "The claimed score 0.8300 is 0.0300 better than the honest 0.8"
    )
    assert "risk" not in refuted.remedy + large.remedy


class Study(BaseEstimator):
    """A search of 10 trials with the attributes of OptunaSearchCV that matter here."""

    def __init__(self, estimator=None, study=None, n_trials=10):
        self.estimator = estimator
        self.study = study
        self.n_trials = n_trials
        self.study_ = SimpleNamespace(trials=[None] * 30)


def test_state_of_a_given_study_survives_clone():
    """One that the search made is its own. Trials of earlier fits are counted."""
    (found,) = find_surviving_state(Study(KNeighborsClassifier(), object()))
    assert found.code == "state-survives-clone"
    assert "holds 30 trials and this search ran 10" in found.sentence
    assert not [*find_surviving_state(Study(KNeighborsClassifier(), None))]


X, Y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2
KNN = {"kneighborsclassifier__n_neighbors": [3, 5]}
FROZEN = FrozenEstimator(SelectKBest(k=1).fit(X, Y))


@pytest.mark.parametrize(
    ("model", "grid", "expected"),
    [
        (make_pipeline(SelectKBest(k=1), KNeighborsClassifier()), KNN, []),
        (make_pipeline(FROZEN, KNeighborsClassifier()), KNN, ["state-survives-clone"]),
        (RandomForestClassifier(3, random_state=0), {"max_depth": [1, 2]}, []),
        (RandomForestClassifier(3, warm_start=True), {"max_depth": [1, 2]}, ["warm-start"]),
    ],
)
def test_state_of_fitted_parts_and_warm_starts_is_found(grid_search, model, grid, expected):
    search = grid_search(X, Y, estimator=model, grid=grid)
    assert [finding.code for finding in find_surviving_state(search)] == expected
