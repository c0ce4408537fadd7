"""Intervals of one's own, which `truerisk.extend` has the parts of."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import truerisk as tr
from truerisk.core.errors import BadArgument, UnknownName
from truerisk.extend import OF_A_MEAN, IntervalForm
from truerisk.intervals.choice import own_forms
from truerisk.results.interval import Interval

X = np.arange(40.0)[:, None]
Y = np.arange(40) % 4 == 0


class Tenth(IntervalForm):
    """A tenth to either side, for the sake of the example."""

    word = "tenth"
    needs = OF_A_MEAN
    reference = "Tenth A (1910). On tenths."

    def of(self, evidence, c):
        value = float(evidence.values[c])
        return None, evidence.around(value, 0.1, self.word), ()


@pytest.fixture(autouse=True)
def forgotten():
    """What a test has given is not known to the next."""
    yield
    own_forms.clear()


def test_every_call_takes_it_and_calls_it_by_its_word():
    """As an object; and by its word, once it was given."""
    risk = tr.estimate_risk(DummyClassifier(), X, Y, interval=Tenth())
    assert (risk.interval.low, risk.interval.high) == pytest.approx((0.15, 0.35))
    assert risk.interval.method == "tenth"
    assert tr.intervals.names()[-1] == "tenth"
    search = tr.HonestSearchCV(
        DummyClassifier(), {"strategy": ["prior", "uniform"]}, interval="tenth", random_state=0
    )
    assert search.fit(X, Y).risk_.interval.method == "tenth"


def test_a_page_cites_it():
    """Its reference stands among those of the page."""
    page = tr.assess({"rule": DummyClassifier()}, X, Y, interval=Tenth()).to_html()
    assert "Tenth A (1910)" in page


class Taken(Tenth):
    word = "wald"


class Nameless(IntervalForm):
    needs = OF_A_MEAN

    def of(self, evidence, c):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        (Taken(), BadArgument, "'wald' is one of ours"),
        (Nameless(), BadArgument, "Nameless has no name"),
        (Tenth, UnknownName, "Tenth is a class"),
        (0.1, BadArgument, "is no interval"),
        ("tenth", UnknownName, "there is no interval 'tenth'"),
    ],
    ids=["taken", "nameless", "class", "number", "not given before"],
)
def test_what_is_none_is_refused(given, error, sentence):
    """With what to do, before any fit."""
    with pytest.raises(error, match=sentence):
        tr.estimate_risk(DummyClassifier(), X, Y, interval=given)


@pytest.mark.parametrize(
    "made",
    [
        (0.1, 0.3),
        (None, Interval("low", "high", "odd"), ()),
        (None, Interval(0.3, 0.1, "odd"), ()),
        ("0.1", None, ()),
        None,
    ],
    ids=["ends alone", "texts", "upside down", "error a text", "nothing"],
)
def test_what_it_makes_is_looked_at(made):
    """What is no interval is refused by a sentence with its name and what it gave."""

    class Odd(Tenth):
        word = "odd"

        def of(self, evidence, c):
            return made

    with pytest.raises(BadArgument, match="interval 'odd' gave .*: give a standard error or None"):
        tr.estimate_risk(DummyClassifier(), X, Y, interval=Odd())
