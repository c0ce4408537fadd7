"""truerisk.kernels.cells: cells are those of the csv module, numbers those of Python's float."""

from __future__ import annotations

import csv
import math
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from truerisk.datasets.grid import lines_of
from truerisk.kernels.cells import cut_cells, distinct_cells, numbers_of_cells

PLAIN = re.compile(r" *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *", re.ASCII)


def bytes_of(text: str) -> np.ndarray:
    return np.frombuffer(bytearray(text.encode()), dtype=np.uint8)


def packed(cells: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cells one after the other, and where each starts and ends."""
    ends = np.cumsum([len(cell.encode()) for cell in cells], dtype=np.uint32)
    starts = np.concatenate([np.zeros(1, dtype=np.uint32), ends])[: len(cells)]
    return bytes_of("".join(cells)), starts, ends


def by_csv(text: str, delimiter: str, n_columns: int, longest: int) -> list | None:
    """The line and the cells of each row that is not blank; None where it is not to be cut."""
    reader, line, found = csv.reader(lines_of(text), delimiter=delimiter, strict=True), 1, []
    try:
        for row in reader:
            if row:
                found.append((line, row))
            line = reader.line_num + 1
    except csv.Error:
        return None
    fits = all(
        len(row) == n_columns and all(len(cell.encode()) <= longest for cell in row)
        for _, row in found
    )
    return found if fits else None


@settings(deadline=None, max_examples=500)
@given(st.text(alphabet='a"\r\n,; é', max_size=30), st.sampled_from(",;"), st.integers(1, 3))
@example('a,"b\r\n""c"\r\r\n\r1,\n2,"', ",", 2)
@example('"a"b,c', ",", 2)
@example('a,"\r', ",", 2)
def test_cells_and_lines_are_those_of_the_csv_module(text, delimiter, n_columns):
    """Any text is cut as `csv.reader(strict=True)` cuts it, or not at all where it raises."""
    content = bytes_of(text)
    found = cut_cells(content, delimiter, n_columns, 99, 5)
    expected = by_csv(text, delimiter, n_columns, 5)
    if found is None or expected is None:
        assert found is None
        assert expected is None
        return
    starts, ends, lines = found
    cells = [
        [content[a:b].tobytes().decode() for a, b in zip(s, e, strict=True)]
        for s, e in zip(starts.T, ends.T, strict=True)
    ]
    assert list(zip(lines.tolist(), cells, strict=True)) == expected


def test_more_rows_than_asked_for_are_not_cut():
    """The third row of at most two; and a delimiter that is no ASCII character."""
    assert cut_cells(bytes_of("1\n2\n3"), ",", 1, 2, 9) is None
    assert cut_cells(bytes_of("1\n2\n3"), ",", 1, 3, 9) is not None
    assert cut_cells(bytes_of("1§2"), "§", 2, 3, 9) is None


numerals = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.from_regex(PLAIN, fullmatch=True),
    st.integers(-(10**20), 10**20).map(str),
    st.text(alphabet="0123456789.+-eE_ naif\t٣", max_size=8),
    st.tuples(st.integers(0, 10**19), st.integers(-30, 30)).map(lambda p: f"{p[0]}e{p[1]}"),
)


@settings(deadline=None, max_examples=1000)
@given(st.lists(numerals, max_size=20))
@example(["9007199254740993", "0.30000000000000004", "1e23", "-0", "-.0", "5e-324", "1.5e309"])
@example(["9007199254740993e-1", "0.0000000000000000001", "9999999999999999999e-19", "1_0", "٣"])
def test_numbers_are_those_of_python(cells):
    """A plain number is the same double, to the last bit; what is none, or not finite, is NaN."""
    for cell, value in zip(cells, numbers_of_cells(*packed(cells)).tolist(), strict=True):
        if not math.isnan(value):
            assert PLAIN.fullmatch(cell)
            assert np.float64(value).tobytes() == np.float64(float(cell)).tobytes()
        elif PLAIN.fullmatch(cell):  # few are left to Python, which knows them all
            digits = len(re.sub(r"[^0-9]", "", cell.lower().partition("e")[0]))
            assert digits > 15 or not 1e-22 < abs(float(cell)) < 1e22


def test_long_numbers_are_rounded_once():
    """Of 40,000 with 19 digits, some ten lie so between two doubles that a remainder decides."""
    rng = np.random.default_rng(0)
    digits = [str(v) for v in rng.integers(10**18, 9 * 10**18, 40_000).tolist()]
    cells = [f"{d[:k]}.{d[k:]}" for d, k in zip(digits, rng.integers(0, 19, 40_000), strict=True)]
    assert numbers_of_cells(*packed(cells)).tolist() == [float(cell) for cell in cells]


@settings(deadline=None)
@given(st.lists(st.text(alphabet="ab\0é", max_size=18), max_size=60))
@example([f"{i:020}" for i in range(3000)] * 2)
def test_distinct_cells_are_numbered_as_they_appear(cells):
    """The numbering of `dict.fromkeys`."""
    codes, firsts = distinct_cells(*packed(cells))
    words = list(dict.fromkeys(cells))
    assert [cells[i] for i in firsts] == words
    assert [words[code] for code in codes] == cells


@pytest.mark.parametrize(
    ("starts", "ends"), [([2], [1]), ([0], [4]), ([0, 1], [1])], ids=["back", "after", "lone"]
)
def test_what_it_would_read_out_of_bounds_is_refused(starts, ends):
    """The loops trust places and types, so the callers check them."""
    places = np.array(starts, dtype=np.uint32), np.array(ends, dtype=np.uint32)
    for loop in (numbers_of_cells, distinct_cells):
        with pytest.raises(ValueError, match="end"):
            loop(bytes_of("abc"), *places)
        with pytest.raises(ValueError, match="four bytes"):
            loop(bytes_of("abc"), places[0].astype(np.int64), places[1])
    with pytest.raises(ValueError, match="bytes are cut"):
        cut_cells(np.zeros(3), ",", 1, 1, 1)
