"""Bounds on honest numbers: the cautious end of an interval keeps them, or an error names them."""

from contextlib import nullcontext
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import truerisk as tr
from truerisk.exceptions import BoundMissed, UnknownName
from truerisk.extend import BadArgument, Refusal

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


@pytest.mark.parametrize("scoring", ["zero-one", "auc"])
def test_require_says_that_rows_are_too_few_only_where_the_value_keeps_the_bound(scoring):
    """A loss and a score are both judged, on either side of the value."""
    found = result("estimate_risk")[0]
    number, sign = (found, 1) if scoring == "zero-one" else (found.scores["auc"], -1)
    end = number.interval.high if sign > 0 else number.interval.low
    name = scoring.replace("-", "_")
    with pytest.raises(
        BoundMissed, match="The value keeps the bound, but these rows, or their groups, are too"
    ):
        found.require(**{name: (number.value + end) / 2})
    with pytest.raises(BoundMissed) as missed:
        found.require(**{name: number.value - sign * 0.01})
    assert "too few" not in str(missed.value)


def corrected():
    """Return an audit by scores alone, whose number has no interval."""
    return tr.audit(GridSearchCV(MODEL, C, scoring="roc_auc", cv=5).fit(*rows()), level="scores")


def unselected():
    return tr.HonestSearchCV(MODEL, C, outer=None).fit(*rows()).selected_risk_


def curve(grid):
    return lambda: tr.risk_curve(MODEL, grid, *rows())


def measured():
    return result("estimate_risk")[0]


def loss():
    """Return the loss behind a score.

    Its name is "1 - auc", which cannot be written as a keyword argument.
    """
    return tr.estimate_risk(MODEL, *rows(), scoring="auc").as_loss()


def table(scoring):
    """Return the audit of a table whose candidates err in about a quarter of the rows."""
    losses = (np.random.default_rng(0).random((5, 60)) < 0.25).astype(int)
    return lambda: tr.audit_table(losses, scoring=scoring, replicates=50)


TYPED = r"require\(\*\*\{'1 - auc': 0\.2\}\)"
NO_INTERVAL = "has no interval, so nothing shows that it keeps"
LEFT_OUT = "best of 2 settings leaves the choice out"


@pytest.mark.parametrize(
    ("make", "bounds", "error", "words"),
    [
        (measured, {}, BadArgument, r"write it as in require\(zero_one=0.2\)"),
        (measured, {"auk": 0.7}, UnknownName, "did you mean 'auc'"),
        (table("zero-one"), {"accuracy": 0.6}, UnknownName, r"write require\(zero_one=1 - NUMBER"),
        (table("accuracy"), {"zero_one": 0.4}, UnknownName, r"write require\(accuracy=1 - NUMBER"),
        (measured, {"auc": float("nan")}, BadArgument, "is a finite number"),
        (measured, {"auc": "0.7"}, BadArgument, "is a finite number"),
        (measured, {"auc": True}, BadArgument, "is a finite number"),
        (measured, {"auc": 1.5}, BadArgument, "this score is 1 at most"),
        (corrected, {"roc_auc": 0.1}, BoundMissed, NO_INTERVAL),
        (curve(C), {"zero_one": 0.9}, Refusal, "leaves the choice out"),
        (unselected, {"zero_one": 0.9}, Refusal, LEFT_OUT),
        (curve({"C": [1.0]}), {"zero_one": 0.9}, None, None),
        (loss, {}, BadArgument, TYPED),
        (loss, {"auc": 0.5}, UnknownName, "Measured are: '1 - auc'"),
        (loss, {"1 - auc": 0.9}, None, None),
    ],
    ids=[
        *(
            "no bound",
            "misspelt",
            "accuracy of errors",
            "error of an accuracy",
            "nan",
            "text",
            "bool",
            "above the best",
            "no interval",
        ),
        *("curve", "selected", "one setting", "loss without a bound", "loss as a score", "loss"),
    ],
)
def test_require_refuses_bounds_that_say_nothing(make, bounds, error, words):
    """Numbers without an interval, or that leave a choice out, are refused as well.

    A bound that can be judged and is kept raises nothing.
    """
    found = make()
    with nullcontext() if error is None else pytest.raises(error, match=words):
        found.require(**bounds)
