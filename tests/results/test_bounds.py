"""Bounds on honest numbers: the cautious end of an interval keeps them, or an error names them."""

from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import truerisk as tr
from truerisk.core.errors import BoundMissed, UnknownName
from truerisk.extend import BadArgument

C = {"C": [0.1, 1.0]}
MODEL = LogisticRegression()


@cache
def rows():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    return rng.normal(size=(120, 4)) + 0.9 * y[:, None], y


@cache
def result(kind):
    """Return a result of a verb that measures AUC, and the interval of AUC that it prints."""
    X, y = rows()
    if kind == "estimate_risk":
        found = tr.estimate_risk(MODEL, X, y, scoring=["zero-one", "auc"])
        return found, found.scores["auc"].interval
    if kind == "HonestSearchCV":
        found = tr.HonestSearchCV(MODEL, C, scoring="auc").fit(X, y).risk_
        return found, found.interval
    if kind == "nested risk_curve":
        found = tr.risk_curve(MODEL, C, X, y, cv="nested", scoring="auc")
        return found, found.procedure.interval
    if kind == "assess":
        found = tr.assess({"logistic": (MODEL, C)}, X, y, scoring="auc")
        return found, found.report.interval
    if kind == "validate":
        found = tr.validate(tr.HonestSearchCV(MODEL, C, scoring="log"), X, y, replicates=0)
        return found, found.measures["auc"].interval
    found = tr.audit(GridSearchCV(MODEL, C, scoring="roc_auc", cv=5).fit(X, y), X, y)
    return found, found.honest.interval


@pytest.mark.parametrize(
    "kind",
    ["estimate_risk", "HonestSearchCV", "nested risk_curve", "assess", "validate", "audit"],
)
@pytest.mark.parametrize("name", ["auc", "roc_auc"])
def test_require_judges_a_score_by_the_lower_end_of_its_interval(kind, name):
    """Both names of AUC are taken, and a missed bound is named with the number and the end."""
    found, interval = result(kind)
    found.require(**{name: interval.low - 1e-6})
    with pytest.raises(BoundMissed, match=rf"bound missed: .*; require\({name}=0\.[0-9]+\)"):
        found.require(**{name: interval.low + 1e-6})


def test_require_judges_an_error_by_the_upper_end_and_names_every_missed_bound():
    """The keyword writes the hyphen of a word as an underscore."""
    found = result("estimate_risk")[0]
    high = found.interval.high
    found.require(zero_one=high + 1e-6, auc=0.1)
    with pytest.raises(BoundMissed, match="the upper end of its interval"):
        found.require(zero_one=high - 1e-6)
    with pytest.raises(BoundMissed) as missed:
        found.require(zero_one=0.0, auc=1.0)
    assert str(missed.value).count("bound missed") == 2
    with pytest.raises(BoundMissed) as missed:
        found.require(zero_one=1.0, auc=1.0)
    assert "zero_one" not in str(missed.value)


def test_require_is_missed_where_there_is_no_interval():
    X, y = rows()
    search = GridSearchCV(MODEL, C, scoring="roc_auc", cv=5).fit(X, y)
    with pytest.raises(BoundMissed, match=r"has no interval, so nothing shows that it keeps"):
        tr.audit(search, level="scores").require(roc_auc=0.1)


def test_require_of_a_curve_without_honest_number_says_what_has_one():
    X, y = rows()
    curve = tr.risk_curve(MODEL, C, X, y)
    with pytest.raises(tr.extend.Refusal, match="leaves the choice out"):
        curve.require(zero_one=0.9)
    search = tr.HonestSearchCV(MODEL, C, outer=None).fit(X, y)
    with pytest.raises(tr.extend.Refusal, match="best of 2 settings leaves the choice out"):
        search.selected_risk_.require(zero_one=0.9)
    one = tr.risk_curve(MODEL, {"C": [1.0]}, X, y)
    one.require(zero_one=0.9)


@pytest.mark.parametrize(
    ("bounds", "error", "words"),
    [
        ({}, BadArgument, r"write it as in require\(zero_one=0.2\)"),
        ({"auk": 0.7}, UnknownName, "did you mean 'auc'"),
        ({"auc": float("nan")}, BadArgument, "is a finite number"),
        ({"auc": "0.7"}, BadArgument, "is a finite number"),
        ({"auc": True}, BadArgument, "is a finite number"),
        ({"auc": 1.5}, BadArgument, "this score is 1 at most"),
    ],
)
def test_require_refuses_bounds_that_say_nothing(bounds, error, words):
    with pytest.raises(error, match=words):
        result("estimate_risk")[0].require(**bounds)


def test_require_quotes_a_name_that_is_no_argument():
    """The loss behind a score is called "1 - auc": the message writes what can be typed."""
    loss = tr.estimate_risk(MODEL, *rows(), scoring="auc").as_loss()
    with pytest.raises(BadArgument, match=r"require\(\*\*\{'1 - auc': 0\.2\}\)"):
        loss.require()
    with pytest.raises(UnknownName, match="Measured are: '1 - auc'"):
        loss.require(auc=0.5)
    loss.require(**{"1 - auc": 0.9})
