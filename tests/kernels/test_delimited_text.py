"""Cells are those of the csv module, and numbers those of Python's float."""

import csv
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from truerisk.kernels import native_module
from truerisk.readers import delimited_text as kernel
from truerisk.readers.delimited_text import (
    Sheet,
    divide_into_pieces,
    find_first_row_end,
    pad_bytes,
    read_sheet,
)
from truerisk.readers.grid import split_lines

PLAIN = re.compile(r" *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *", re.ASCII)


PIECES = (1, 2, 5)


def cut(text: str, delimiter: str, n_columns: int, n_pieces: int = 1, **options: Any) -> Any:
    """The sheet of a text without a header, read in so many pieces."""
    content = pad_bytes(text.encode())
    return read_sheet(
        content, divide_into_pieces(content, n_pieces), delimiter, n_columns, **options
    )


def column_of(cells: list[str], n_pieces: int = 1) -> Sheet:
    """A sheet with these cells as its first column; the second one keeps rows from being blank."""
    sheet = cut("".join(f'"{cell}",0\n' for cell in cells), ",", 2, n_pieces)
    assert sheet is not None
    return sheet


def words_of_rows(sheet: Sheet, column: int) -> list[str]:
    """The cells of a column, whatever they look like."""
    alone = sheet.reread_as_words(column)
    assert alone is not None
    words, _, _ = alone.count_words(column)
    codes = alone.floats(column, np.arange(len(words), dtype=np.float64))
    return [words[int(code)] for code in codes]


def told(sheet: Sheet) -> list[Any]:
    """All that a sheet says, with every word as a number of its own."""
    columns = range(sheet.layout.n_columns)
    words = [sheet.count_words(j) for j in columns]
    values = {j: -1.5 - np.arange(len(found[0])) for j, found in zip(columns, words, strict=True)}
    floats = [sheet.floats(j, values[j]).tobytes() for j in columns]
    sheet.recode(values)
    arrays = [sheet.table.tobytes(), sheet.separate_cells.tobytes(), sheet.lines.tolist()]
    said = [(names, counts.tolist(), firsts.tolist()) for names, counts, firsts in words]
    return [arrays, said, floats, [sheet.span(j) for j in columns]]


def by_csv(text: str, delimiter: str, n_columns: int, longest: int) -> list | None:
    """The line and the cells of each row that is not blank; None where it is not to be cut."""
    reader, line, found = csv.reader(split_lines(text), delimiter=delimiter, strict=True), 1, []
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


texts = st.text(alphabet='a"\r\n,; é1.', max_size=40)


@settings(deadline=None, max_examples=100)
@given(texts, st.sampled_from(",;"), st.integers(1, 3), st.sampled_from(PIECES))
@example('a,"b\r\n""c"\r\r\n\r1,\n2,"', ",", 2, 2)
@example('"a"b,c', ",", 2, 1)
@example("111111,1", ",", 2, 1)
@example('a,"\r', ",", 2, 1)
@example('a"\nb\n"c\n""\n"\nd\n', ",", 1, 5)
def test_sheet_has_cells_and_lines_of_the_csv_module(text, delimiter, n_columns, n_pieces):
    """Any text is cut as `csv.reader(strict=True)` cuts it, or not at all where it raises."""
    sheet = cut(text, delimiter, n_columns, n_pieces, max_cell_bytes=5)
    expected = by_csv(text, delimiter, n_columns, 5)
    if sheet is None or expected is None:
        assert sheet is None
        assert expected is None
        return
    columns = [words_of_rows(sheet, j) for j in range(n_columns)]
    rows = [list(row) for row in zip(*columns, strict=True)]
    assert list(zip(sheet.lines.tolist(), rows, strict=True)) == expected


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.sampled_from(["1,2", '"a\n",2', 'a"b,"3"', '"""",x', ",", "", '"\r\n\n",1']), max_size=30
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([(), (1,), (1, 0)]),
)
def test_sheet_does_not_depend_on_the_pieces(rows, end, aside):
    """Also where a piece would begin in a cell, or a quote that opens nothing misleads it."""
    text = end.join(rows)
    sheets = [cut(text, ",", 2, n, separate_columns=aside) for n in PIECES]
    assert len({repr(told(sheet)) for sheet in sheets}) == 1


def test_pieces_are_gone_through_once_where_quotes_are_as_usual(monkeypatch):
    """A piece that would begin in a cell of many lines begins behind it."""
    walked = []
    inner = native_module()

    class Counting:
        Chunk, words_of, next_line, survey_of = (
            inner.Chunk, inner.words_of, inner.next_line, inner.survey_of,
        )  # fmt: skip

        def rows_of(self, content, start, stop, *options):
            walked.append(stop - start)
            return inner.rows_of(content, start, stop, *options)

    monkeypatch.setattr(kernel, "native_module", Counting)
    text = ('"' + "a\n" * 50 + '",2\n') * 23
    assert cut(text, ",", 2, 5).n_rows == 23
    assert len(walked) == 5
    assert sum(walked) == len(text)


@settings(deadline=None)
@given(texts, st.integers(1, 4), st.sampled_from(PIECES))
@example("1,2\n" * 9, 2, 5)
def test_sheet_behind_a_header_has_the_rows_behind_the_first(text, n_columns, n_pieces):
    """The header may be longer than a piece, and blank lines may stand before it."""
    content = pad_bytes(text.encode())
    header = find_first_row_end(content, ",", 99)
    whole = cut(text, ",", n_columns, max_cell_bytes=99)
    if header is None:
        assert whole is None or whole.n_rows == 0
        return
    rest = read_sheet(
        content,
        divide_into_pieces(content, n_pieces),
        ",",
        n_columns,
        header=header,
        max_cell_bytes=99,
    )
    alone = cut(text.encode()[: header[0]].decode(), ",", n_columns, max_cell_bytes=99)
    assert (whole is None) == (rest is None or alone is None)
    if whole is not None:
        assert rest.lines.tolist() == whole.lines.tolist()[1:]
        for j in range(n_columns):
            assert words_of_rows(rest, j) == words_of_rows(whole, j)[1:]


def test_sheet_of_more_rows_than_asked_for_is_not_cut():
    """The third row of at most two; and a delimiter that is no ASCII character."""
    assert cut("1\n2\n3", ",", 1, max_rows=2) is None
    assert cut("1\n2\n3", ",", 1, max_rows=3) is not None
    assert cut("1§2", "§", 2) is None


@pytest.mark.parametrize("n_pieces", PIECES)
@pytest.mark.parametrize("text", ["1,2\n3\0,4\n5,6\n", "1,2\n3,4\0\n", '"1"\0,2\n3,4', "\0"])
def test_zero_in_the_text_is_not_taken_for_its_end(text, n_pieces):
    """The loops stop at zeros; one that is not behind the text is no cell's end."""
    assert cut(text, ",", 2, n_pieces) is None


numerals = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.from_regex(PLAIN, fullmatch=True, alphabet=st.characters(max_codepoint=127)),
    st.integers(-(10**20), 10**20).map(str),
    st.text(alphabet="0123456789.+-eE_ naif\t٣", max_size=8),
    st.tuples(st.integers(0, 10**19), st.integers(-30, 30)).map(lambda p: f"{p[0]}e{p[1]}"),
)


@settings(deadline=None, max_examples=80)
@given(st.lists(numerals, max_size=20))
@example(["9007199254740993", "0.30000000000000004", "1e23", "-0", "-.0", "5e-324", "1.5e309"])
@example(["9007199254740993e-1", "0.0000000000000000001", "9999999999999999999e-19", "1_0", "٣"])
def test_numbers_are_those_of_python(cells):
    """A plain number is the same double to the last bit; what is none, or not finite, is a word."""
    sheet = column_of(cells)
    words = set(sheet.count_words(0)[0])
    bare = cut("".join(f"{cell},0\n" for cell in cells), ",", 2)
    assert bare is not None
    assert told(bare) == told(column_of(cells))  # in quotes or without
    values = sheet.floats(0, np.full(len(words), np.nan))
    for cell, value in zip(cells, values.tolist(), strict=True):
        assert math.isnan(value) == (cell in words)
        if not math.isnan(value):
            assert PLAIN.fullmatch(cell)
            assert np.float64(value).tobytes() == np.float64(float(cell)).tobytes()
        elif PLAIN.fullmatch(cell):  # few are left to Python, which knows them all
            digits = len(re.sub(r"[^0-9]", "", cell.lower().partition("e")[0]))
            assert digits > 15 or not 1e-22 < abs(float(cell)) < 1e22
    known = values[~np.isnan(values)]
    assert sheet.span(0) == (known.min(initial=np.inf), known.max(initial=-np.inf))


def test_numbers_of_every_length_are_rounded_once():
    """Digits are read eight at a time: before the point, behind it, and more than 64 bits hold.

    Of 40,000 with 19 digits, some ten lie so between two doubles that a remainder decides.
    """
    cells = [
        f"{sign}{'1234567890' * 3:.{whole}}{point}{'9081726354' * 3:.{places}}"
        for sign in ("", "-", "+")
        for point in ("", ".")
        for whole in range(23)
        for places in range(23)
        if whole + places
    ]
    rng = np.random.default_rng(0)
    digits = [str(v) for v in rng.integers(10**18, 9 * 10**18, 40_000).tolist()]
    places = rng.integers(0, 19, 40_000)
    cells += [f"{d[:k]}.{d[k:]}" for d, k in zip(digits, places, strict=True)]
    assert column_of(cells).table[:, 0].tolist() == [float(cell) for cell in cells]


@settings(deadline=None)
@given(st.lists(st.text(alphabet="abé", max_size=18), max_size=60), st.sampled_from(PIECES))
@example([f"w{i:020}" for i in range(3000)] * 2, 2)
@example([f"{i}w" for i in range(3000)] * 2, 5)
def test_words_are_numbered_as_they_first_appear(cells, n_pieces):
    """The numbering of `dict.fromkeys`, whatever the pieces; how many rows, and the first one."""
    words, counts, firsts = column_of(cells, n_pieces).count_words(0)
    assert words == list(dict.fromkeys(cells))
    assert counts.tolist() == [cells.count(word) for word in words]
    assert firsts.tolist() == [cells.index(word) for word in words]


def test_words_of_one_hash_are_told_apart():
    """Of 400,000 words that begin alike, some twenty pairs have the same 32 bits."""
    words = [f"the same {i:06}" for i in range(400_000)]
    assert column_of(words).count_words(0)[0] == words


def test_pieces_are_as_many_as_cores_where_the_text_is_large(monkeypatch):
    """Never more than the process may use; one for a small text."""
    content = pad_bytes(b"1,2\n" * 1_000_000)
    for n_cores, n_pieces in [(1, 1), (2, 2), (64, 3)]:
        monkeypatch.setattr(kernel, "_n_threads", lambda n=n_cores: n)
        assert len(divide_into_pieces(content).bounds) == n_pieces + 1
        assert len(divide_into_pieces(pad_bytes(b"1,2\n" * 1000)).bounds) == 2
