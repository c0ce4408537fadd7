"""Checks that need nothing but the kept scores."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from truerisk.auditing.on_scores import rough_correction, score_findings, within_one_error
from truerisk.search.claim import Claim, scale_of

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


def claimed(scores, best=None, candidates=FIVE, cv=None):
    """A claim of an accuracy with these scores of candidates in splits."""
    scores = np.asarray(scores, dtype=float)
    best = int(np.nanargmax(scores.mean(axis=1))) if best is None else best
    return Claim(
        search="GridSearchCV",
        name="best_score_",
        score=float(scores[best].mean()),
        best=best,
        candidates=candidates,
        estimator=DummyClassifier(),
        scoring="accuracy",
        cv=cv,
        scores=scores,
    )


def codes(claim, error_score=np.nan):
    """Codes of the findings on a claim."""
    return {f.code for f in score_findings(claim, scale_of(claim), error_score)}


def test_a_clear_winner_inside_the_grid_has_no_finding():
    """Separate scores whose best setting lies inside."""
    assert codes(claimed(SPREAD)) == set()


@pytest.mark.parametrize("best", [0, 4])
def test_the_first_or_last_value_is_an_edge(best):
    """The smallest and the largest value tried are edges, one inside is not."""
    order = [2, 1, 0, 3, 4] if best == 0 else [4, 1, 0, 3, 2]
    assert "edge-of-grid" in codes(claimed(SPREAD[order]))
    assert "edge-of-grid" not in codes(claimed(SPREAD))


@pytest.mark.parametrize(
    ("name", "values", "best"),
    [
        ("n_neighbors", [1, 3, 5, 7, 9], 0),
        ("l1_ratio", [0.1, 0.3, 0.5, 0.9, 1.0], 4),
        ("alpha", [0, 0.1, 1, 10, 100], 0),
        ("penalty", ["a", "b", "c", "d", "e"], 0),
        ("flag", [True, False, True, False, True], 0),
    ],
)
def test_an_end_that_nothing_lies_beyond_is_no_edge(name, values, best):
    """Whole numbers end at 1, shares at 1, penalties at 0; words have no order."""
    order = np.argsort([abs(i - best) for i in range(5)])
    scores = SPREAD[[2, 1, 3, 0, 4]][np.argsort(order)]
    claim = claimed(scores, best, tuple({name: v} for v in values))
    assert "edge-of-grid" not in codes(claim)


def test_two_values_have_no_edge():
    """A parameter with two values has no inside, so it has no edge."""
    pair = tuple({"k": k} for k in (2, 3))
    assert "edge-of-grid" not in codes(claimed(SPREAD[1:3], candidates=pair))


def test_settings_within_one_error_make_a_flat_curve():
    """The one-standard-error set is counted by the error over splits of the best."""
    flat = np.array([[0.7, 0.9, 0.8, 0.6]] * 5)
    flat[2] += 0.01
    claim = claimed(flat)
    assert "flat-curve" in codes(claim)
    assert within_one_error(claim) == (0, 1, 2, 3, 4)
    assert "flat-curve" not in codes(claimed(SPREAD))
    assert within_one_error(claimed(SPREAD)) == (2,)


def test_the_rough_correction_is_that_of_tibshirani():
    """Error of the best plus the mean of what each split's own best would have saved."""
    scores = [[0.9, 0.7], [0.8, 0.9]]
    claim = claimed(scores, candidates=FIVE[:2])
    assert rough_correction(claim, scale_of(claim)) == pytest.approx(0.15 + (0.1 + 0.0) / 2)


def test_a_best_that_changes_from_split_to_split_is_a_curse():
    """The correction exceeds the standard error; where one setting wins everywhere it is 0."""
    lucky = np.full((5, 4), 0.5)
    lucky[[0, 1, 2, 3], [0, 1, 2, 3]] = 0.9
    lucky[4] = 0.61, 0.62, 0.60, 0.61
    assert "winners-curse" in codes(claimed(lucky))
    assert "winners-curse" not in codes(claimed(SPREAD))


def test_single_rows_have_no_rough_correction():
    """With leave-one-out the best score of a split is always 1: the correction says nothing."""
    from sklearn.model_selection import LeaveOneOut

    claim = claimed(SPREAD, cv=LeaveOneOut())
    assert rough_correction(claim, scale_of(claim)) is None


def test_failed_fits_are_counted():
    """NaN, or the number that error_score puts in its place."""
    lost = SPREAD.copy()
    lost[0, 1] = np.nan
    assert "failed-fits" in codes(claimed(lost, best=2))
    lost[0, 1] = -1.0
    assert "failed-fits" in codes(claimed(lost), error_score=-1)
    assert "failed-fits" not in codes(claimed(SPREAD), error_score=-1)
    assert "failed-fits" not in codes(claimed(SPREAD), error_score="raise")


def test_infinite_scores_are_found():
    """A score of minus infinity is no score."""
    bad = SPREAD.copy()
    bad[0, 0] = -np.inf
    assert "non-finite-scores" in codes(claimed(bad))
    assert "non-finite-scores" not in codes(claimed(SPREAD))


def test_a_choice_by_something_else_is_found():
    """The chosen setting has not the best mean."""
    assert "choice-differs" in codes(claimed(SPREAD, best=1))
    assert "choice-differs" not in codes(claimed(SPREAD))
