"""Data are checked once at the door: targets, groups, weights, times and places of the rows."""

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import count

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Ridge

import truerisk as tr
from truerisk.data.columns import message_on_non_finite_cell
from truerisk.data.data import has_row_entries
from truerisk.data.times import convert_time_span
from truerisk.extend import BadArgument, BadData, Data

X = np.arange(12.0).reshape(6, 2)
Y = np.array([1, 0, 2, 1, 0, 2])
DAYS = ["2024-05-03", "2024-05-01", "2024-05-02"]
DATES = np.array(DAYS, dtype="M8[D]")


def check(X=X, y=Y, task="classification", **more):
    return Data.check(X, y, task=task, **more)


def three(**more):
    """Check three rows, which may have times or places; X may be a frame."""
    return check(more.pop("X", np.zeros((3, 1))), np.arange(3) % 2, **more)


# ---------------------------------------------------------------- classes


@pytest.mark.parametrize(
    "y",
    [
        Y,
        Y.tolist(),
        pd.Series(Y, index=list("abcdef")),
        pd.Series(Y, dtype="Int64"),
        pl.Series(Y),
        np.array(["b", "a", "c"])[[0, 1, 2, 0, 1, 2]],
        np.array(["b", "a", "c"], dtype=object)[[0, 1, 2, 0, 1, 2]],
        pd.Series(["b", "a", "c"] * 2, dtype="category"),
        pd.Series(["b", "a", "c"] * 2),
        Y.astype(float),
        Y.astype("u1"),
    ],
    ids=lambda y: f"{type(y).__module__.partition('.')[0]}-{getattr(y, 'dtype', '')}",
)
def test_data_codes_are_positions_among_sorted_classes(y):
    data = check(y=y)
    assert data.codes.tolist() == Y.tolist()
    assert data.n_classes == 3
    assert (data.classes[data.codes] == np.asarray(y)).all()
    assert type(data.label(1)) in (int, float, str)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([7, 3, 9, 3, 7, 7, 4, 3, 9, 3], np.int64),  # gaps
        ([-2, -1, -2, 1, -1, 1], np.int64),
        ([2**62, 5, 5, 2**62], np.int64),  # too far apart to be counted
        ([-(2**63), 1 - 2**63, -(2**63)], np.int64),
        ([2**64 - 1, 2**64 - 2, 2**64 - 1], np.uint64),
        (list(range(-100, 101)), np.int8),  # their differences do not fit
        ([200, 3, 200, 199], np.uint8),
    ],
)
def test_data_codes_of_whole_numbers_are_those_of_sorting(labels, kind):
    y = np.array(labels, dtype=kind)
    data = check(np.zeros((len(y), 1)), y)
    classes, codes = np.unique(y, return_inverse=True)
    assert data.classes.dtype == kind
    assert np.array_equal(data.classes, classes)
    assert np.array_equal(data.codes, codes)


def test_data_subset_keeps_codes_and_names_its_rows():
    data = check(
        groups=list("aabbcc"),
        sample_weight=[1, 2, 3, 4, 5, 6],
        time=np.arange(6)[::-1],
        block=list("aabbcc"),
        fit_params={"own": list(range(6)), "flag": True, "pair": [1, 2]},
    )
    part = data.subset(np.array([1, 4, 5]))
    assert part.X.tolist() == X[[1, 4, 5]].tolist()
    assert part.codes.tolist() == [0, 0, 2]
    assert part.n_classes == 3
    assert part.sample_weight.tolist() == [2, 5, 6]
    assert part.time.tolist() == [4, 1, 0]
    assert part.block.tolist() == [0, 2, 2]
    assert part.fit_params == {"own": [1, 4, 5], "flag": True, "pair": [1, 2]}
    assert part.subset(np.array([0, 2])).row_ids.tolist() == [1, 5]
    alone = check(groups=list("aabbcc")).subset(np.array([1, 4, 5]))
    assert alone.groups.tolist() == [0, 2, 2]


def test_data_fingerprint_sees_what_can_change_a_result():
    prints = [
        check().fingerprint,
        check(y=Y[::-1]).fingerprint,
        check(X=X + 1).fingerprint,
        check(groups=Y).fingerprint,
        check(sample_weight=Y + 1).fingerprint,
        check(time=np.arange(6)).fingerprint,
        check(time=np.arange(6) + 1.0).fingerprint,
    ]
    assert len(set(prints)) == 7
    assert check(X=X.copy(), y=Y.copy()).fingerprint == prints[0] == check(X.tolist()).fingerprint


# ---------------------------------------------------------------- refusals

OBJECTS = "y holds objects of type"
TARGETS = [
    (None, "y is None"),
    (Y[:4], "X has 6 rows and y has 4"),
    ([1, 0, None, 1, 0, 2], "missing .* in 1 of 6 rows, first in row 2"),
    ([1, 0, np.nan, 1, np.inf, 2], "in 2 of 6 rows, first in row 2: leave"),
    (pd.Series([1, 0, pd.NA, 1, 0, 2], dtype="Int64"), "first in row 2"),
    ([1.5, 0, 2, 1, 0, 2], "holds fractions.*use a regressor"),
    (["a", 1, "b", 2, "a", "b"], "mixes int and str; use one type"),
    (np.array(["a", 1, "b", 2, "a", "b"], dtype=object), "mixes int and str"),
    (["a"] * 6, "only one class, 'a'.*Check the target column"),
    (np.ones((6, 2), int), "several columns"),
    (np.ones((6, 2, 2)), "y has 3 dimensions"),
    (pd.date_range("2020", periods=6), "y holds dates or spans of time"),
    (pd.date_range("2020", periods=6, tz="UTC"), "objects of type Timestamp, which scikit"),
    (pd.period_range("2020", periods=6), f"{OBJECTS} Period"),
    ([10**30, 10**31] * 3, "objects of type int, .* into text, such as y.astype"),
    (np.array([0, 1] * 3, dtype=object), f"{OBJECTS} int"),
    (np.array([b"a", b"b"] * 3), f"{OBJECTS} bytes"),
    ([Fraction(1), Fraction(2)] * 3, f"{OBJECTS} Fraction"),
    ([frozenset("a"), frozenset("b")] * 3, f"{OBJECTS} frozenset"),
    (Y * 1j, "Complex data not supported"),
]
TABLES = [
    ([], "X has no rows"),
    (np.empty((0, 3)), "X has no rows"),
    (np.arange(6.0), "one dimension.*reshape"),
    (list(range(6)), "one dimension"),
    ("table.csv", "X='table.csv' is a text, not a table: read the file first"),
    (pd.Series(range(6)), "one dimension"),
    ([[1, 2], [3], [4], [5], [6], [7]], "not equally long"),
    (7, "int, which has no rows"),
]
WEIGHTS = "sample_weight"
OTHERS = [
    ({"groups": [1, 2]}, r"groups has shape \(2,\).*each of 6 rows"),
    ({"groups": ["a"] * 6}, "one group only"),
    ({"groups": [1, 2, np.nan, 1, 2, 1]}, "groups is NaN, first in row 2"),
    ({"groups": np.array([1, "a", None, 1, 2, 1], dtype=object)}, "one type"),
    ({WEIGHTS: [1, 2]}, r"sample_weight has shape \(2,\)"),
    ({WEIGHTS: [1, 1, -1, 1, 1, 1]}, r"sample_weight\[2\] is -1.0"),
    ({WEIGHTS: [1, 1, np.nan, 1, 1, 1]}, r"sample_weight\[2\] is nan"),
    ({WEIGHTS: [0] * 6}, "zero everywhere"),
    ({WEIGHTS: ["a"] * 6}, r"sample_weight=\['a', .* holds what is no number"),
    ({"task": "regression", "y": [*"12x456"]}, r"y\[2\] is 'x', not a number: .* use a classifier"),
]
WRONG = [({"y": y}, said) for y, said in TARGETS]
WRONG += [({"X": table}, said) for table, said in TABLES] + OTHERS


@pytest.mark.parametrize(("given", "message"), WRONG, ids=count())
def test_data_check_names_what_is_wrong_and_where(given, message):
    with pytest.raises(BadData, match=message):
        check(**given)


@pytest.mark.parametrize("kind", [np.asarray, list, lambda values: values.tolist()], ids=count())
def test_data_check_says_that_table_and_target_look_swapped(kind):
    X = np.random.default_rng(0).normal(size=(20, 3))
    for y in (np.arange(20) % 2, np.array(["a", "b"] * 10), np.arange(20) / 7):
        with pytest.raises(BadData, match="X and y look swapped: X is one value for each of 20"):
            check(kind(y), kind(X))
    texts = [f"text number {i}" for i in range(20)]  # documents with several targets are right
    assert check(texts, np.c_[:20, :20] * 1.0, task="regression").n_rows == 20


def test_data_of_numbers_may_have_several_targets():
    assert check(y=Y, task="regression").y.dtype == float
    assert check(y=np.ones((6, 2)), task="regression").y.shape == (6, 2)
    with pytest.warns(DataConversionWarning, match="its one column is used"):
        assert check(y=Y[:, None]).y.shape == (6,)


def test_data_keeps_text_and_numbers_beside_it():
    texts = check(X=["a b", "c d"] * 3).X
    assert (texts.shape, texts.dtype) == ((6,), object)
    assert check(X=[[1, "a"], [2, "b"]] * 3).X[0].tolist() == [1, "a"]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "lil", "dok"])
def test_data_rows_of_a_sparse_table(kind):
    data = check(X=sp.csr_matrix(X).asformat(kind))
    assert data.rows(np.array([4, 1])).toarray().tolist() == X[[4, 1]].tolist()


def test_has_row_entries_of_arrays_and_lists_of_that_length():
    for value in ([1, 2, 3], np.ones((3, 2)), sp.csr_matrix(np.ones((3, 2)))):
        assert has_row_entries(value, 3)
    for value in (None, "abc", b"abc", {1: 1, 2: 2, 3: 3}, 3, np.float64(3), [1, 2]):
        assert not has_row_entries(value, 3)


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, sp.csr_matrix, sp.coo_array])
def test_non_finite_shows_the_first_bad_cell(make):
    bad = X.copy()
    bad[4, 0], bad[2, 1] = np.inf, np.nan
    found = message_on_non_finite_cell(make(bad))
    assert found.startswith("X has 2 cells that are NaN or infinite, the first (NaN) in row 2")
    assert "column 1" in found.replace("'1'", "1")
    assert "SimpleImputer" in found
    for good in (make(X), pd.DataFrame({"a": ["x"]}), np.array(["x", "y"], dtype=object)):
        assert message_on_non_finite_cell(good) is None


# ---------------------------------------------------------------- times


@pytest.mark.parametrize(
    "given",
    [
        DATES,
        DATES.astype("M8[ns]"),
        DAYS,
        np.array(DAYS, dtype=object),
        [datetime.fromisoformat(day) for day in DAYS],
        [date.fromisoformat(day) for day in DAYS],
        [datetime.fromisoformat(day).replace(tzinfo=UTC) for day in DAYS],
        [f"{day}T02:00+02:00" for day in DAYS],
        [day.replace("-", "") for day in DAYS],
        pd.to_datetime(DAYS),
        pd.Series(pd.to_datetime(DAYS), index=[7, 8, 9]),
        pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        pl.Series(DAYS).str.to_date(),
    ],
    ids=count(),
)
def test_data_time_is_the_same_for_dates_in_every_form(given):
    times = three(time=given).time
    assert times.dtype.kind == "M"
    assert (times == DATES).all()


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ([3, 1, 2], [3.0, 1.0, 2.0]),
        (["3", "1.0", " 2"], [3.0, 1.0, 2.0]),
        (np.array([3, 1, 2], dtype="u1"), [3.0, 1.0, 2.0]),
        # Eight digits that are no date.
        (["20240531", "20249901", "3"], [20240531.0, 20249901.0, 3.0]),
        ([20240531, 20249901, 3], [20240531.0, 20249901.0, 3.0]),
    ],
    ids=str,
)
def test_data_time_of_numbers_is_floats(given, numbers):
    times = three(time=given).time
    assert times.dtype.kind == "f"
    assert times.tolist() == numbers


KIND = "others are of another kind"
TIMES = [
    ([1, 2], r"shape \(2,\); give one time for each of 3 rows"),
    ([1, np.nan, 2], r"time\[1\] is nan: a row without a time"),
    ([1, np.inf, 2], r"time\[1\] is inf"),
    (["2024-05-01", "NaT", "2024-05-02"], r"time\[1\] is NaT"),
    (pd.Series(pd.to_datetime(["2024-05-01", None, "2024-05-02"])), r"time\[1\] is NaT"),
    ([pd.NaT, *pd.to_datetime(DAYS[1:])], r"time\[0\] is NaT: a row without a time"),
    (np.ma.masked_array([1, 2, 3], [False, True, False]), r"time\[1\] is masked"),
    ([1, 1, 1], "the same in all rows"),
    (["2024-05-01", "01/05/2024", "2024-05-02"], r"time\[1\] is '01/05/2024', which"),
    (["2024-05-01", "5", "2024-05-02"], r"time\[1\] is '5', a number, and others are none"),
    ([20240531, 20240601, 20240602], r"\[0\] is 20240531, and all of time are dates written as"),
    (np.array([20240531.0, 20240601.0, 20240602.0]), "dates written as numbers"),
    ([datetime(2024, 5, 1), "x", 3], rf"time\[1\] is 'x', and {KIND}"),
    ([datetime(2024, 5, 1), None, datetime(2024, 5, 2)], r"time\[1\] is None"),
    ([True, False, True], f"that is no time|{KIND}"),
    ([1j, 2j, 3j], "that is no time"),
    (pd.period_range("2024-01", periods=3, freq="M"), "that is no time"),
    ([[1], [2, 3], [4]], "not equally long"),
    (np.array([2**60, 2**60 + 1, 2**60 + 2]), "beyond 2..53"),
    ([datetime(2024, 5, 1), datetime(2024, 5, 2, tzinfo=UTC), date(2024, 5, 3)], f"zone|{KIND}"),
    ([datetime(2024, 5, 1), *[datetime(2024, 5, 2, tzinfo=UTC)] * 2], "with a zone"),
]


def test_as_span_has_the_unit_of_the_times():
    numbers, hours = np.array([1.0, 2.5]), DATES.astype("M8[h]")
    assert convert_time_span(0.5, numbers, "gap") == 0.5
    assert convert_time_span(np.int64(2), None, "gap") == 2
    day = np.timedelta64(1, "D")
    for given in (day, timedelta(days=1), pd.Timedelta("1D")):
        assert convert_time_span(given, hours, "gap") == day
    assert convert_time_span(0, hours, "gap") == np.timedelta64(0, "D")
    assert hours[0] - convert_time_span(timedelta(minutes=90), hours, "gap") < hours[0]


@pytest.mark.parametrize(
    ("given", "times", "message"),
    [
        (-1, None, "whole number of rows that is not negative"),
        (1.5, None, "whole number of rows"),
        (True, None, "give a number, in rows, since no time= is given"),
        ("7", np.array([1.0]), "give a number, in the unit of time="),
        (np.nan, np.array([1.0]), "finite number that is not negative"),
        (np.timedelta64(1, "D"), np.array([1.0]), "in the unit of time="),
        (7, DATES, "time= holds dates, so give a length of time"),
        (np.timedelta64(-1, "D"), DATES, "not negative"),
        (np.timedelta64("NaT", "D"), DATES, "not negative"),
        (np.timedelta64(1, "M"), DATES, "months and years are not equally long; give days"),
        (np.timedelta64(1, "Y"), DATES, "months and years are not equally long"),
    ],
)
def test_as_span_refuses_lengths_in_another_unit(given, times, message):
    """Seven what? Rows, days and numbers are not taken for one another."""
    with pytest.raises(BadArgument, match=f"gap=.*{message}"):
        convert_time_span(given, times, "gap")


@pytest.mark.parametrize("unit", ["M", "Y"])
def test_data_time_of_months_and_years_is_days(unit):
    """They have no one length, so lengths of time could not be counted in them."""
    months = np.datetime64("2000-01", unit) + np.arange(120)
    X = np.random.default_rng(0).normal(size=(120, 2))
    times = check(X, X[:, 0], task="regression", time=months).time
    assert np.datetime_data(times.dtype)[0] in ("D", "us")
    assert (times == months).all()
    assert "days ahead" in tr.estimate_risk(Ridge(), X, X[:, 0], time=months).notes[0]


# ---------------------------------------------------------------- places


@pytest.mark.parametrize(
    ("given", "found"),
    [
        pytest.param(["b", "a", "b"], [1, 0, 1], id="texts"),
        pytest.param([7, 3, 7], [1, 0, 1], id="numbers"),
        pytest.param(pd.Series(["b", "a", "b"]), [1, 0, 1], id="series"),
        pytest.param([0.0, 1.0, 2.0], [[0.0], [1.0], [2.0]], id="floats"),
        pytest.param([[0], [1], [2]], [[0.0], [1.0], [2.0]], id="column"),
        pytest.param(pl.DataFrame({"x": [0, 1, 2]}), [[0.0], [1.0], [2.0]], id="frame"),
        pytest.param([["0"], ["1"], ["2"]], [[0.0], [1.0], [2.0]], id="column of texts"),
    ],
)
def test_data_block_is_labels_or_coordinates(given, found):
    """Texts and whole numbers are labels; floats and columns are coordinates."""
    assert three(block=given).block.tolist() == found


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("time", "day", [3.0, 1.0, 2.0]),
        ("block", "site", [0, 1, 0]),
        ("block", ["x", "day"], [[0, 3], [1, 1], [2, 2]]),
        ("block", ["p", "q", "p"], [0, 1, 0]),
        ("block", "z", "block='z': X has no such column"),
        ("block", ["x", "dayy"], "block='dayy': X has no such column; did you mean 'day'"),
        ("block", ["p"] * 4, "block has shape"),
        ("time", "days", "X has no such column; did you mean 'day'"),
    ],
)
def test_data_looks_up_names_among_the_columns_of_a_frame(frame, name, given, found):
    X = frame({"x": [0.0, 1.0, 2.0], "day": [3, 1, 2], "site": ["a", "b", "a"]})
    if not isinstance(found, str):
        assert getattr(three(X=X, **{name: given}), name).tolist() == found
        return
    with pytest.raises(BadData, match=found):
        three(X=X, **{name: given})


PLACES = [
    (["a", "b"], r"shape \(2,\); give a label, or coordinates, for each of 3 rows"),
    (["a"] * 3, "one label only"),
    ([[1, 2]] * 3, "one place only"),
    ([[0, 1], [0, np.nan], [1, 1]], r"block of row 1 is \[0.0, nan\]"),
    ([[0, "p"], [0, "q"], [1, "r"]], "not all of them are numbers"),
    (np.arange(12.0).reshape(3, 4), "4 columns: give one to 3 coordinates"),
    (np.empty((3, 0)), "0 columns"),
    (np.array(["a", None, 1], dtype=object), "mixes types"),
    ([[1], [2, 3], [4]], "not equally long"),
]
TWICE = pd.DataFrame([[1, 2]] * 3, columns=["day", "day"])
NO_COLUMN = [
    ({"time": "day"}, "names a column, and X is no frame"),
    ({"X": TWICE, "time": "day"}, "X has 2 columns of this name"),
]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *(({"time": given}, message) for given, message in TIMES),
        *(({"block": given}, message) for given, message in PLACES),
        *NO_COLUMN,
    ],
    ids=count(),
)
def test_data_refuses_what_is_no_time_and_no_place(given, message):
    with pytest.raises(BadData, match=message):
        three(**given)
