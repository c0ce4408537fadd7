"""Numbers, tables and texts as users read them."""

import json
from functools import partial

import numpy as np
import pytest
from sklearn.svm import SVC

from truerisk.core import formats, plain_values, tables
from truerisk.core.formats import signed_number, unsigned_number
from truerisk.core.plain_values import extract_metrics
from truerisk.core.progress_line import format_duration
from truerisk.extend import Interval

INTERVAL = Interval(0.1, 0.2, "beta", 0.9)


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
def test_plain_makes_values_that_strict_json_accepts(value, expected):
    assert plain_values.to_json_value(value) == expected
    json.dumps(plain_values.to_json_value(value), allow_nan=False)


@pytest.mark.parametrize(
    ("write", "given", "expected"),
    [
        (formats.format_number, [0.12345], "0.1235"),
        (formats.format_number, [None], "–"),
        (formats.format_number, [np.nan], "–"),
        (formats.format_number, [12345.6], "1.235e+04"),
        (formats.format_number, [999.0], "999.0000"),
        (formats.format_params, [{}], "as given"),
        (formats.format_params, [{"clf__C": 0.1, "clf__kernel": "rbf"}], "C=0.1, kernel=rbf"),
        (formats.format_params, [{"a__C": 1, "b__C": 2}], "a__C=1, b__C=2"),
        (formats.format_params, [{"x": "a\nb\x1b[31m\u202e"}], "x=a b\\x1b[31m\\x202e"),
        (formats.format_params, [{"x": 1 / 3}], "x=0.3333"),
        (partial(formats.escape_and_truncate, limit=10), ["x" * 300], "x" * 9 + "…"),
        (partial(formats.escape_and_truncate, limit=10), ["x" * 10], "x" * 10),
        (formats.format_seconds, [0.123], "0.12 s"),
        (formats.format_seconds, [123.4], "123 s"),
        (format_duration, [0], "1 s"),
        (format_duration, [1.4], "1 s"),
        (format_duration, [99], "99 s"),
        (format_duration, [100], "2 min"),
        (format_duration, [3599], "60 min"),
        (format_duration, [9000], "2.5 h"),
        (formats.format_uncertainty, [0.1, INTERVAL], ", 90 % interval [0.1000, 0.2000] (beta)"),
        (formats.format_uncertainty, [0.1, None], ", standard error 0.1000"),
        (formats.format_uncertainty, [None, None], ""),
        (
            extract_metrics,
            [{"positive": 10**400, "auc": 0.5, "n": 10**30}],
            {"auc": 0.5, "n": 1e30},
        ),
    ],
)
def test_formats_write_numbers_settings_texts_durations_and_intervals(write, given, expected):
    """`metrics_of` leaves out integers that are too large for a float."""
    assert write(*given) == expected


def test_text_table_counts_wide_characters_as_two():
    text = tables.text_table(["name", "risk"], [["a", "0.5"], ["漢字xy", "10.25"]])
    assert text == "name     risk\n-------------\na         0.5\n漢字xy  10.25"
    assert tables.text_table(["only", "heads"], []).splitlines()[0] == "only  heads"


def test_frame_of_writes_lone_surrogates_as_escapes():
    """Names of files may hold them, and the texts of Arrow cannot."""
    frame = tables.frame_from_columns({"a\ud800": ["x\ud800", None], "b": [1, 2]})
    assert list(frame.columns) == ["a\\ud800", "b"]
    assert frame["a\\ud800"].iloc[0] == "x\\ud800"


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
def test_signed_writes_one_decimal_beside_large_risks(value, beside, expected):
    """A zero is never negative."""
    assert signed_number(value, beside) == expected
    assert unsigned_number(value, beside) == expected.lstrip("+")
