"""Splits that go forward in time: risks without the intervals, tests or posteriors of others."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.extend import Refusal
from truerisk.plan.leaks import ORDERED_SPLITS_REASON

X, Y = tr.datasets.make_difficult(80, random_state=3)
FEW = "rows at 64 different times were tested"
FORWARD = TimeSeriesSplit(4)
PAIRS = list(FORWARD.split(X))
BACK = [(79 - train[::-1], 79 - test[::-1]) for train, test in PAIRS]  # all of rows 0 to 63 once
GRID = {"n_neighbors": [1, 7]}
KNN = KNeighborsClassifier()
TAKING_TURNS = np.arange(80) // 4 * 2 + np.arange(80) % 2  # two groups by turns


@pytest.mark.parametrize("method", [FORWARD, PAIRS, BACK], ids=["splitter", "list", "backward"])
@pytest.mark.parametrize("groups", [None, TAKING_TURNS], ids=["rows", "groups"])
def test_ordered_splits_have_no_interval_and_a_note_says_why(method, groups):
    found = tr.estimate_risk(GaussianNB(), X, Y, cv=method, groups=groups)
    assert found.std_error is None
    assert found.interval is None
    assert (FEW if groups is None else "groups are met again later") in found.notes[-1]
    assert found.ordered
    assert tr.RiskEstimate.from_json(found.to_json()).ordered
    for word in ("wald", "corrected-t", "bbc", "beta", "beta-cv"):
        with pytest.raises(Refusal, match=r"interval|the splits are ordered"):
            tr.estimate_risk(GaussianNB(), X, Y, cv=method, interval=word)


def test_risk_curve_and_search_of_ordered_splits_have_no_interval():
    """Also where the loss is another, or the outer splits alone are ordered."""
    curve = tr.risk_curve(KNN, GRID, X, Y, cv=FORWARD, scoring="brier")
    assert np.isnan(curve.std_errors).all()
    assert all(FEW in one.notes[-1] for one in curve)
    for outer in (FORWARD, BACK):
        search = tr.HonestSearchCV(KNN, GRID, cv="3-fold", outer=outer).fit(X, Y)
        assert search.risk_.interval is None
        assert FEW in search.risk_.notes[-1]


def test_assess_of_ordered_splits_draws_no_conclusion_from_noise():
    models = {"knn": (KNN, GRID), "bayes": GaussianNB()}
    found = tr.assess(models, X, Y, cv=["3-fold"], outer=FORWARD)
    assert found.choice.interval is None
    difference = found.difference("knn", "bayes")
    assert difference.value == found.risks["knn"].value - found.risks["bayes"].value
    assert (difference.interval, difference.probability) == (None, None)
    assert "in the order of time" in difference.notes[0]
    assert found.gain() is None
    assert found.roc.interval is None
    assert found.calibration.low is None
    assert f"no interval, for {FEW}" in " ".join(found.conclusion.split())
    with pytest.raises(Refusal, match="order of time"):
        tr.ErrorPosterior.of_estimate(found.risks["bayes"])
    with pytest.raises(Refusal, match="in the order of time"):
        tr.compare(*found.risks.values())
    assert FEW in found.to_html()


def test_audit_of_ordered_splits_has_no_interval():
    search = GridSearchCV(KNN, GRID, cv=FORWARD).fit(X, Y)
    found = tr.audit(search, X, Y, level="bbc", replicates=50)
    assert found.honest.interval is None
    assert found.honest.notes[-1] == ORDERED_SPLITS_REASON
    assert tr.audit(GridSearchCV(KNN, GRID, cv=4).fit(X, Y), X, Y).honest.interval is not None


def test_interval_of_blocks_in_order_stays():
    folds = tr.methods.KFold(folds=np.arange(80) // 20)
    assert tr.estimate_risk(LogisticRegression(), X, Y, cv=folds).interval.method == "beta-cv"


def test_hac_interval_is_that_of_long_series_in_the_order_of_time():
    rng = np.random.default_rng(0)
    X, y, order = rng.normal(size=(400, 2)), rng.normal(size=400), rng.permutation(400)
    found = tr.estimate_risk(Ridge(), X, y, cv=FORWARD)
    assert found.interval.method == "hac"
    place = np.argsort(order)
    pairs = [(place[train], place[test]) for train, test in FORWARD.split(X)]
    moved = tr.estimate_risk(Ridge(), X[order], y[order], cv=pairs)
    assert (moved.interval, moved.notes) == (None, (ORDERED_SPLITS_REASON,))
    timed = tr.estimate_risk(Ridge(), X[order], y[order], cv=pairs, time=order)
    assert timed.interval.low == pytest.approx(found.interval.low)
    assert timed.interval.high == pytest.approx(found.interval.high)


def test_time_that_is_given_is_not_asked_for():
    with pytest.raises(Refusal, match="time= is given") as refused:
        tr.estimate_risk(GaussianNB(), X, Y, cv=FORWARD, time=np.arange(80.0), interval="wald")
    assert "With time=" not in str(refused.value)
