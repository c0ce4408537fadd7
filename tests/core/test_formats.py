"""Numbers, tables and texts as users read them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.svm import SVC

from truerisk.core import formats, plain_values, tables
from truerisk.core.formats import signed, unsigned
from truerisk.core.plain_values import metrics_of
from truerisk.results.interval import Interval


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.5), 0.5),
        (np.int8(3), 3),
        (np.bool_(True), True),
        (np.nan, "nan"),
        (-np.inf, "-inf"),
        (np.array([1.0, np.nan]), [1.0, "nan"]),
        ({1: (2, {3})}, {"1": [2, [3]]}),
        (
            Interval(0, 1, "wald"),
            {"low": 0, "high": 1, "method": "wald", "confidence_level": 0.95},
        ),
        (SVC(C=2), "SVC(C=2)"),
        (None, None),
        (np.str_("a"), "a"),
    ],
)
def test_plain_values_are_json(value, expected) -> None:
    """Whatever a result holds has a plain form that strict JSON accepts."""
    assert plain_values.plain(value) == expected
    json.dumps(plain_values.plain(value), allow_nan=False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.12345, "0.1235"), (None, "–"), (np.nan, "–"), (12345.6, "1.235e+04"), (999.0, "999.0000")],
)
def test_numbers(value, expected) -> None:
    """Four digits, a dash for what is not there."""
    assert formats.number(value) == expected


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, "as given"),
        ({"clf__C": 0.1, "clf__kernel": "rbf"}, "C=0.1, kernel=rbf"),
        ({"a__C": 1, "b__C": 2}, "a__C=1, b__C=2"),
        ({"x": "a\nb\x1b[31m\u202e"}, "x=a b\\x1b[31m\\x202e"),
        ({"x": 1 / 3}, "x=0.3333"),
    ],
)
def test_settings(params, expected) -> None:
    """Short names where they stay clear; nothing that breaks or turns the line."""
    assert formats.params_text(params) == expected


def test_long_text_is_cut() -> None:
    """Text is cut at its limit with a sign that it was."""
    assert formats.clean("x" * 300, 10) == "x" * 9 + "…"
    assert formats.clean("x" * 10, 10) == "x" * 10


def test_tables_align() -> None:
    """Numbers to the right, words to the left, wide characters counted as two."""
    text = tables.text_table(["name", "risk"], [["a", "0.5"], ["漢字xy", "10.25"]])
    assert text.splitlines() == [
        "name     risk",
        "-------------",
        "a         0.5",
        "漢字xy  10.25",
    ]
    assert tables.text_table(["only", "heads"], []).splitlines()[0] == "only  heads"


def test_sureness() -> None:
    """The interval with its level and method, else the standard error, else nothing."""
    interval = Interval(0.1, 0.2, "beta", 0.9)
    assert formats.sureness(0.1, interval).startswith(", 90 % interval [")
    assert formats.sureness(0.1, interval).endswith("] (beta)")
    assert formats.sureness(0.1, None) == ", standard error 0.1000"
    assert formats.sureness(None, None) == ""
    assert 0.15 in interval
    assert 0.25 not in interval
    assert interval.width == pytest.approx(0.1)


def test_seconds() -> None:
    """Short times with hundredths, long ones without."""
    assert [formats.seconds(s) for s in (0.123, 123.4)] == ["0.12 s", "123 s"]


@pytest.mark.parametrize(
    ("value", "beside", "expected"),
    [
        (0.01234, 0.2, "+0.0123"),
        (-0.01234, 0.2, "-0.0123"),
        (0.0, 0.2, "+0.0000"),
        (-0.00001, 0.2, "+0.0000"),
        (7.6448, 3012.0, "+7.6"),
        (-0.04, 3012.0, "+0.0"),
        (0.5, None, "+0.5000"),
    ],
)
def test_differences(value, beside, expected):
    """Four decimals, one beside large risks; a zero is never negative."""
    assert signed(value, beside) == expected
    assert unsigned(value, beside) == expected.lstrip("+")


def test_metrics_of_leaves_out_integers_that_no_float_holds():
    """A label may be one: `positive=10**400` of a ROC curve."""
    assert metrics_of({"positive": 10**400, "auc": 0.5, "n": 10**30}) == {"auc": 0.5, "n": 1e30}


def test_frame_of_writes_lone_surrogates_as_escapes():
    """Names of files may hold them, and the texts of Arrow cannot."""
    frame = tables.frame_of({"a\ud800": ["x\ud800", None], "b": [1, 2]})
    assert list(frame.columns) == ["a\\ud800", "b"]
    assert frame["a\\ud800"].iloc[0] == "x\\ud800"
