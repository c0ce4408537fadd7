"""Splits that go forward in time: risks without the intervals, tests or posteriors of others."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.core.errors import Refusal
from truerisk.plan.leaks import ORDERED
from truerisk.results.results import RiskEstimate

X, Y = tr.datasets.make_difficult(80, random_state=3)
FEW = "rows of 64 different times were tested"
FORWARD = TimeSeriesSplit(4)
PAIRS = list(FORWARD.split(X))
BACK = [(79 - train[::-1], 79 - test[::-1]) for train, test in PAIRS]  # all of rows 0 to 63 once
GRID = {"n_neighbors": [1, 7]}
KNN = KNeighborsClassifier()
TAKING_TURNS = np.arange(80) // 4 * 2 + np.arange(80) % 2  # two groups by turns


@pytest.mark.parametrize("method", [FORWARD, PAIRS, BACK], ids=["splitter", "list", "backward"])
@pytest.mark.parametrize("groups", [None, TAKING_TURNS], ids=["rows", "groups"])
def test_there_is_no_interval_and_a_note_says_why(method, groups):
    """None that the method has by itself, and none that is asked for by name."""
    found = tr.estimate_risk(GaussianNB(), X, Y, cv=method, groups=groups)
    assert found.std_error is None
    assert found.interval is None
    assert (FEW if groups is None else "groups are met again later") in found.notes[-1]
    assert found.ordered
    assert RiskEstimate.from_json(found.to_json()).ordered
    for word in ("wald", "corrected-t", "bbc", "beta", "beta-cv"):
        with pytest.raises(Refusal, match=r"interval|the splits are ordered"):
            tr.estimate_risk(GaussianNB(), X, Y, cv=method, interval=word)


def test_every_candidate_of_a_curve_lacks_it():
    """Also where the loss is another."""
    curve = tr.risk_curve(KNN, GRID, X, Y, cv=FORWARD, scoring="brier")
    assert np.isnan(curve.std_errors).all()
    assert all(FEW in one.notes[-1] for one in curve)


@pytest.mark.parametrize("outer", [FORWARD, BACK], ids=["forward", "backward"])
def test_a_tuned_risk_lacks_it_too(outer):
    """The default interval is not made of such outer splits."""
    search = tr.HonestSearchCV(KNN, GRID, cv="3-fold", outer=outer).fit(X, Y)
    assert search.risk_.interval is None
    assert FEW in search.risk_.notes[-1]


def test_an_assessment_draws_no_conclusion_from_noise():
    """No differences, no interval of the area, of the shares of events or of the error."""
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


def test_an_audit_of_such_a_search_lacks_it():
    """The bootstrap over rows corrects the value; its percentiles are those of independent rows."""
    search = GridSearchCV(KNN, GRID, cv=FORWARD).fit(X, Y)
    found = tr.audit(search, X, Y, level="bbc", replicates=50)
    assert found.honest.interval is None
    assert found.honest.notes[-1] == ORDERED
    assert tr.audit(GridSearchCV(KNN, GRID, cv=4).fit(X, Y), X, Y).honest.interval is not None


def test_blocks_in_order_keep_their_interval():
    """K folds of neighbouring rows test each other."""
    folds = tr.methods.KFold(folds=np.arange(80) // 20)
    assert tr.estimate_risk(LogisticRegression(), X, Y, cv=folds).interval.method == "beta-cv"


def test_long_series_have_the_interval_of_losses_that_depend_on_each_other():
    """Where the rows stand in the order of time; in another order only where times say it."""
    rng = np.random.default_rng(0)
    X, y, order = rng.normal(size=(400, 2)), rng.normal(size=400), rng.permutation(400)
    found = tr.estimate_risk(Ridge(), X, y, cv=FORWARD)
    assert found.interval.method == "hac"
    place = np.argsort(order)
    pairs = [(place[train], place[test]) for train, test in FORWARD.split(X)]
    moved = tr.estimate_risk(Ridge(), X[order], y[order], cv=pairs)
    assert (moved.interval, moved.notes) == (None, (ORDERED,))
    timed = tr.estimate_risk(Ridge(), X[order], y[order], cv=pairs, time=order)
    assert timed.interval.low == pytest.approx(found.interval.low)
    assert timed.interval.high == pytest.approx(found.interval.high)


def test_who_gave_times_is_not_told_to_give_them():
    """The refusal of an interval names what is known of the rows."""
    with pytest.raises(Refusal, match="time= is given") as refused:
        tr.estimate_risk(GaussianNB(), X, Y, cv=FORWARD, time=np.arange(80.0), interval="wald")
    assert "With time=" not in str(refused.value)
