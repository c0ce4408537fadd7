"""A file becomes a table, or one sentence says what is wrong, where, and what to do."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.datasets.columns import MISSING, number
from truerisk.datasets.table import Table, read_table

Reader = Callable[..., Table]
GOOD = "a,b,y\n1,5,u\n2,4,v\n4,7,u\n3,2,v\n"


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    """Write this content to a file and read it."""

    def reader(
        content: str | bytes, target: str = "y", name: str = "t.csv", **options: Any
    ) -> Table:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, target, **options)

    return reader


def table_of(targets: list[Any]) -> str:
    """A file with one feature and this target."""
    return "a,y\n" + "".join(f"{i * i},{value}\n" for i, value in enumerate(targets))


# ---------------------------------------------------------------- what is read


def test_numbers_and_labels_stand_as_in_the_file(read: Reader) -> None:
    """Features are floats in the file's order, labels the file's text."""
    table = read(GOOD)
    assert table.X.tolist() == [[1, 5], [2, 4], [4, 7], [3, 2]]
    assert table.X.dtype == np.float64
    assert table.y.tolist() == ["u", "v", "u", "v"]
    assert (table.feature_names, table.target) == (("a", "b"), "y")
    assert (table.n_rows, table.n_features, table.n_classes) == (4, 2, 2)


@pytest.mark.parametrize(
    ("name", "pack"),
    [("t.csv.gz", gzip.compress), ("t.csv.bz2", bz2.compress), ("t.csv.xz", lzma.compress)],
)
def test_compression_is_told_by_content(read: Reader, name: str, pack: Any) -> None:
    """A compressed file reads as its content, also under a plain name."""
    for called in (name, "t.csv"):
        assert read(pack(GOOD.encode()), name=called).X.tolist() == read(GOOD).X.tolist()


@pytest.mark.parametrize(
    ("name", "delimiter"), [("t.tsv", "\t"), ("t.txt", ";"), ("t.dat", "|"), ("t", "\t")]
)
def test_the_delimiter_follows_from_extension_or_content(
    read: Reader, name: str, delimiter: str
) -> None:
    """A tab for .tsv; elsewhere the one that splits the rows evenly."""
    assert read(GOOD.replace(",", delimiter), name=name).X.tolist() == read(GOOD).X.tolist()


def test_the_extension_before_that_of_compression_counts(read: Reader) -> None:
    """.csv.gz means commas, as .csv does."""
    with pytest.raises(BadData, match="--delimiter ';'"):
        read(gzip.compress(GOOD.replace(",", ";").encode()), name="t.csv.gz")


def test_a_given_delimiter_is_used(read: Reader) -> None:
    """`delimiter=` overrides the extension, and "tab" is understood."""
    assert read(GOOD.replace(",", ";"), delimiter=";").n_features == 2
    assert read(GOOD.replace(",", "\t"), delimiter="tab").n_features == 2


def test_byte_order_mark_blank_lines_and_spaces_are_tolerated(read: Reader) -> None:
    """A mark before the header, blank lines and spaces around cells change nothing."""
    text = "\ufeff" + GOOD.replace(",", " , ").replace("\n", "\r\n\r\n")
    table = read(text)
    assert table.feature_names == ("a", "b")
    assert table.y.tolist() == ["u", "v", "u", "v"]


def test_text_columns_become_codes_of_sorted_levels(read: Reader) -> None:
    """Codes are positions in the sorted distinct levels, missing is NaN."""
    table = read("c,y\nred,u\nblue,v\n?,u\nred,v\n")
    assert table.levels == (("blue", "red"),)
    np.testing.assert_array_equal(table.X[:, 0], [1, 0, np.nan, 1])
    assert (table.kinds, table.text, table.numeric) == (("text",), (0,), ())
    assert "1 text column ('c') is one-hot encoded inside the folds" in table.notes


@pytest.mark.parametrize("token", sorted(MISSING))
def test_missing_tokens_are_nan(read: Reader, token: str) -> None:
    """Every missing token is NaN in a column of numbers, counted and told."""
    table = read(f"a,b,y\n1,5,u\n{token},4,v\n4,7,u\n3,2,v\n")
    assert np.isnan(table.X[1, 0])
    assert table.missing == (1, 0)
    assert "1 empty cell (12.5 %) in 1 column is imputed inside the folds" in table.notes


def test_missing_text_is_told_as_a_level_of_its_own(read: Reader) -> None:
    """The note does not claim that text is imputed."""
    notes = read("c,y\nred,u\nblue,v\n,u\nred,v\n,u\n").notes
    assert "2 empty cells (40.0 %) in 1 column count as a level of their own" in notes


def test_what_carries_nothing_is_left_out_with_a_note(read: Reader) -> None:
    """Row numbers, constants, empty columns and text that is new in every row are no features."""
    table = read("id,x,c,e,t,y\n0,5,1,,p,u\n1,4,1,,q,v\n2,4,1,NA,r,u\n3,2,1,,s,v\n")
    assert table.feature_names == ("x",)
    assert table.left_out == ("id", "c", "e", "t")
    assert table.notes[1:] == (
        "column 'id' numbers the rows and is left out",
        "column 'c' is constant and is left out",
        "column 'e' has no value and is left out",
        "column 't' has a different value in every row and is left out",
    )


GROUPED = "who,a,y\np1,5,u\np2,4,v\np1 ,7,u\np3,2,v\n"


def test_a_column_of_groups_is_no_feature(read: Reader) -> None:
    """Its cells are the labels; the other columns read as if it were not there."""
    table, without = read(GROUPED, groups="who"), read("a,y\n5,u\n4,v\n7,u\n2,v\n")
    assert table.groups is not None
    assert table.groups.tolist() == ["p1", "p2", "p1", "p3"]
    assert table.feature_names == without.feature_names == ("a",)
    assert table.X.tolist() == without.X.tolist()
    assert table.notes == without.notes
    assert without.groups is None


def test_groups_that_number_the_rows_or_differ_everywhere_can_be_named(read: Reader) -> None:
    """What is left out as a feature can say which rows belong together."""
    table = read(GROUPED.replace("p1 ", "p4"), groups="who")
    assert table.groups is not None
    assert len(set(table.groups.tolist())) == 4


@pytest.mark.parametrize(
    ("content", "groups", "kind", "message"),
    [
        (GROUPED, "whom", UnknownName, "no column 'whom'; did you mean 'who'"),
        (GROUPED, "y", BadData, "'y' is named as the target and as the groups"),
        (GROUPED.replace("p2", ""), "who", BadData, "'who' says no group on line 3"),
        (GROUPED, 3, BadArgument, "groups=3: give the name of the column of groups"),
    ],
    ids=["unknown", "target", "empty", "number"],
)
def test_groups_that_cannot_be_are_a_sentence(
    read: Reader, content: str, groups: Any, kind: type[Exception], message: str
) -> None:
    """What is wrong, and where."""
    with pytest.raises(kind, match=message):
        read(content, groups=groups)


def test_a_lone_counting_column_stays(read: Reader) -> None:
    """1, 2, 3, ... is a feature when there is no other, or when it is not the first column."""
    assert read("x,y\n1,u\n2,v\n3,u\n4,v\n").feature_names == ("x",)
    assert read("b,x,y\n5,1,u\n4,2,v\n7,3,u\n2,4,v\n").feature_names == ("b", "x")


def test_a_stray_word_among_numbers_is_told(read: Reader) -> None:
    """A column that a few words make text says which cell did it."""
    rows = "".join(f"{i % 7}.5,{'uv'[i % 2]}\n" for i in range(30))
    notes = read(f"a,y\n{rows}<0.1,u\n").notes
    said = "column 'a' is read as text because of 1 cell without a number, the first on line 32"
    assert any(note.startswith(said) for note in notes)


def test_unnamed_columns_are_called_by_their_place(read: Reader) -> None:
    """An empty header cell, as pandas writes for its index, gets a name."""
    assert read(GOOD.replace("a,b", "a,")).feature_names == ("a", "column 2")


def test_a_counting_column_after_the_target_stays(read: Reader) -> None:
    """Only the file's first column is taken for a numbering of the rows."""
    assert read("y,n,b\nu,1,5\nv,2,4\nu,3,7\nv,4,2\n").feature_names == ("n", "b")


def test_text_with_empty_cells_can_still_tell_rows_apart(read: Reader) -> None:
    """One level and empty cells are two levels; new text in every row but one is none."""
    table = read("c,t,b,y\nx,p,3,u\n,q,1,u\nx,r,2,v\n,,2,v\n")
    assert (table.feature_names, table.left_out) == (("c", "b"), ("t",))


def test_underscores_and_odd_separators_are_text(read: Reader) -> None:
    """1_000 is no number, and a vertical tab or a Unicode line separator ends no line."""
    table = read("a,b,y\n1_000,p\x0bq,u\n2_000,r\u2028s,v\n1_000,t,u\n1_000,t,v\n")
    assert table.levels == (("1_000", "2_000"), ("p\x0bq", "r\u2028s", "t"))


# ---------------------------------------------------------------- which task


@pytest.mark.parametrize(
    ("targets", "task", "kind"),
    [
        (["u", "v"] * 20, "classification", "U"),
        ([0, 1, 2] * 10, "classification", "i"),
        (["0.0", "1.0"] * 10, "classification", "i"),
        (list(range(10)) * 3, "classification", "i"),
        (list(range(11)) * 3, "regression", "f"),
        ([0.5, 1.5] * 10, "regression", "f"),
    ],
)
def test_the_task_follows_the_stated_rule(
    read: Reader, targets: list[Any], task: str, kind: str
) -> None:
    """Text and at most ten different integers are classes, other numbers are regressed on."""
    table = read(table_of(targets))
    assert table.task == task
    assert table.y.dtype.kind == kind
    assert task in table.notes[0]


def test_target_type_overrides_the_rule(read: Reader) -> None:
    """The user's word goes before the rule."""
    assert read(table_of([0, 1, 2] * 4), target_type="regression").y.dtype == np.float64
    table = read(table_of([0.5, 1.5] * 4), target_type="classification")
    assert table.y.tolist()[:2] == ["0.5", "1.5"]


@pytest.mark.parametrize(
    ("values", "inferred", "hint", "other"),
    [
        (2, "classification", "if its integers are quantities, use", "regression"),
        (11, "regression", "if its integers are labels, use", "classification"),
    ],
)
def test_a_guess_says_how_to_overrule_it(
    read: Reader, values: int, inferred: Any, hint: str, other: str
) -> None:
    """Where integers could be either, the note names the other reading, unless it was asked for."""
    text = table_of(list(range(values)) * 3)
    assert read(text).notes[0].endswith(f"{inferred}; {hint} --target-type {other}")
    assert read(text, target_type=inferred).notes[0].endswith(inferred)


def test_one_long_label_does_not_widen_all(read: Reader) -> None:
    """A label of 10,000 characters is stored once, not at full width in every row."""
    y = read(table_of(["u", "u", "x" * 10_000, "x" * 10_000])).y
    assert y.nbytes < 100
    assert y.tolist()[2] == "x" * 10_000


def test_large_integer_labels_stay_exact(read: Reader) -> None:
    """Labels beyond 2**53 are not rounded through a float."""
    big = 2**53 + 1
    assert set(read(table_of([big, big - 1] * 3)).y.tolist()) == {big, big - 1}


# ---------------------------------------------------------------- what is refused

BAD = {
    "empty file": ("", {}, r"is empty: give a table"),
    "only a mark": (b"\xef\xbb\xbf", {}, r"is empty"),
    "header only": ("a,y\n", {}, r"has a header and no rows"),
    "binary": (b"a,y\n1\x00,2\n", {}, r"not a text table: line 2 holds a NUL byte"),
    "latin-1": ("a,y\n1,2\n\xe9,3\n".encode("latin-1"), {}, r"line 3 holds the byte 0xe9.*UTF-8"),
    "utf-16": (GOOD.encode("utf-16"), {}, r"UTF-16 text; save it as UTF-8"),
    "damaged zip": (b"PK\x03\x04 rest", {}, r"is damaged: .*; fetch it again"),
    "damaged gzip": (gzip.compress(GOOD.encode())[:-12], {}, r"is damaged: .*; fetch it again"),
    "wrong delimiter": (
        GOOD.replace(",", ";"),
        {},
        r"with ',' the file has one column, with ';' it has 3; give --delimiter ';'",
    ),
    "tab in .csv": (GOOD.replace(",", "\t"), {}, r"with a tab it has 3; give --delimiter tab"),
    "wrong delimiter, decimal commas": (
        "a;y\n1,5;u\n2,5;v\n",
        {},
        r"with ';' it has 2; give --delimiter ';'",
    ),
    "bad delimiter": (GOOD, {"delimiter": ",,"}, r"--delimiter ',,' is not a single"),
    "one column": ("y\nu\nv\n", {}, r"has one column, 'y', and none of , ; tab | splits it"),
    "ragged": (GOOD + "1,2\n", {}, r"line 6 has 2 cells where the header has 3"),
    "ragged after a quoted newline": (
        'a,b,y\n"1\n",2,u\n1,2,3,4\n',
        {},
        r"line 4 has 4 cells where the header has 3",
    ),
    "open quote": ('a,y\n1,"u\n2,v\n', {}, r"line 2 cannot be split.*quote that is not closed"),
    "duplicate names": ("a,b,a,y\n1,2,3,u\n", {}, r"'a' more than once \(columns 1, 3\): rename"),
    "empty target cells": (
        "a,y\n1,u\n2,\n3,NA\n4,v\n",
        {},
        r"'y' has 2 empty cells among 4 rows, the first on line 3",
    ),
    "target cells that are no number": (
        "a,y\n1,2.5\n2,NAN\n3,-nan\n4,7.5\n",
        {},
        r"'y' has 2 empty cells among 4 rows, the first on line 3",
    ),
    "one class": ("a,y\n1,u\n2,u\n", {}, r"has one class only, 'u'"),
    "single row": (
        "a,y\n1,u\n2,u\n5,v\n4,w\n5,w\n",
        {},
        r"the class 'v' of the target 'y' has a single row, line 4",
    ),
    "40 classes of text": (
        table_of([f"c{i}" for i in range(40)]),
        {},
        r"40 classes and 40 rows: looks like an identifier or free text; use another column",
    ),
    "40 integers": (
        table_of(list(range(40))),
        {},
        (
            r"40 classes and 40 rows: looks like an identifier or a number; "
            r"use --target-type regression or another column"
        ),
    ),
    "40 fractions as classes": (
        table_of([i + 0.5 for i in range(40)]),
        {"target_type": "classification"},
        r"40 classes and 40 rows: .*use --target-type regression",
    ),
    "text as numbers": (
        "a,y\n1,3\n2,red\n",
        {"target_type": "regression"},
        r"'y' holds 'red' on line 3, which is no finite number.*--target-type classification",
    ),
    "infinite target": ("a,y\n1,1.5\n2,inf\n", {}, r"'y' holds 'inf' on line 3.*mend the cell\."),
    "constant target": ("a,y\n1,1.5\n2,1.5\n", {}, r"'y' is 1.5 in every row"),
    "unknown task": (GOOD, {"target_type": "ranking"}, r"--target-type 'ranking' is neither"),
    "infinite feature": (
        "a,y\n1,u\ninf,v\n-inf,u\n2,v\n",
        {},
        r"column 'a' has 2 infinite values, the first on line 3",
    ),
    "decimal comma": (
        'a,y\n"1,5",u\n"2,5",u\n1,v\n2,v\n',
        {},
        r"column 'a' has numbers with a comma inside \(line 2: '1,5'\): write a decimal point",
    ),
    "nothing varies": (
        "a,t,y\n1,p,u\n1,q,u\n1,r,v\n1,s,v\n",
        {},
        r"no column is left to learn from \('a' is constant; 't' has a different value",
    ),
    "too many cells": (GOOD, {"max_cells": 11}, r"more than 11 cells \(line 5.*raise --max-cells"),
    "too large": (
        GOOD,
        {"max_bytes": 10},
        r"holds 30 bytes, more than the cap of 10 .*--max-bytes",
    ),
    "too large unpacked": (
        gzip.compress(GOOD.encode() * 1000),
        {"max_bytes": 1000},
        r"grows past the cap.* of 1,000 bytes: .*raise --max-bytes",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_with_a_sentence(read: Reader, case: str) -> None:
    """Each bad file is named, placed and remedied in one line."""
    content, options, pattern = BAD[case]
    with pytest.raises(BadData, match=pattern) as caught:
        read(content, **options)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_the_cap_on_cells_is_met_exactly(read: Reader) -> None:
    """A table of as many cells as the cap, and of as many bytes, is read."""
    assert read(GOOD, max_cells=12, max_bytes=len(GOOD)).n_rows == 4


def test_a_compressed_bomb_is_refused_before_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not more than one chunk beyond the cap is ever decompressed."""
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n" + b"1,u\n" * 4_000_000))
    taken = 0
    inner = gzip.GzipFile.read

    def counting(self: gzip.GzipFile, size: int | None = -1) -> bytes:
        nonlocal taken
        content = inner(self, size)
        taken += len(content)
        return content

    monkeypatch.setattr(gzip.GzipFile, "read", counting)
    with pytest.raises(BadData, match="--max-bytes"):
        read_table(path, "y", max_bytes=100_000)
    assert 100_000 < taken < 250_000


def test_no_file_and_a_directory_are_told_apart(tmp_path: Path) -> None:
    """A path that is not there and a directory have their own sentences."""
    with pytest.raises(BadData, match=r"none\.csv' does not exist: check the path"):
        read_table(tmp_path / "none.csv", "y")
    with pytest.raises(BadData, match=r"is a directory: give one file of it"):
        read_table(tmp_path, "y")
    with pytest.raises(BadData, match=r"is no path of a file"):
        read_table("\0", "y")


@pytest.mark.parametrize(
    ("content", "target", "pattern"),
    [
        (GOOD.replace("y", "diagnosis"), "diagnosi", r"no column 'diagnosi'; did you mean 'diag"),
        (GOOD, "Y", r"no column 'Y'; did you mean 'y'\?"),
        (GOOD, "zzz", r"no column 'zzz'\. Its columns: 'a', 'b', 'y'\."),
        ("1,2,3\n4,5,6\n", "y", r"only numbers: is the header missing\?"),
    ],
)
def test_an_absent_target_names_the_closest_column(
    read: Reader, content: str, target: str, pattern: str
) -> None:
    """The message has the closest name and the columns there are."""
    with pytest.raises(UnknownName, match=pattern):
        read(content, target)


HOSTILE = ["\x1b[31mred", "<script>alert(1)</script>", "x" * 10_000, "\u202egnp.exe", "a\nb", "'"]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_stay_data(read: Reader, name: str) -> None:
    """A hostile column name is kept as it is, and is short and visible in a message."""
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow([name, "y"])
    table = read(header.getvalue() + "1,u\n2,u\n3,v\n5,v\n")
    assert table.feature_names == (name,)
    with pytest.raises(BadData) as caught:
        read(header.getvalue() + "inf,u\n2,u\n3,v\n5,v\n")
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()


# ---------------------------------------------------------------- round trip

cell = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=60,
    deadline=None,
)
@given(
    cells=st.lists(cell, min_size=4, max_size=12),
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=12, max_size=12),
    delimiter=st.sampled_from(",;\t|"),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_a_written_table_reads_back(
    tmp_path: Path, cells: list[str], values: list[float], delimiter: str, newline: str
) -> None:
    """Text with quotes, newlines and delimiters, and floats to the last bit, come back."""
    # every cell twice and a word, so that the column is text and is not left out
    column = [*cells, *cells, "word", "another word"]
    numbers = [0.5, 1.5, *values, *values][: len(column)]
    path = tmp_path / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        # Python's writer leaves a lone carriage return unquoted when lines end in "\n" only
        quoting = csv.QUOTE_MINIMAL if newline == "\r\n" else csv.QUOTE_ALL
        writer = csv.writer(file, delimiter=delimiter, lineterminator=newline, quoting=quoting)
        writer.writerow(["text", "number", "y"])
        for i, (word, value) in enumerate(zip(column, numbers, strict=True)):
            writer.writerow([word, repr(value), "uv"[i % 2]])
    table = read_table(path, "y", delimiter=delimiter)
    codes, read_numbers = table.X.T
    back = [None if np.isnan(code) else table.levels[0][int(code)] for code in codes]
    assert back == [None if word.strip() in MISSING else word.strip() for word in column]
    assert read_numbers.tolist() == numbers


@given(st.floats(allow_nan=False))
def test_every_float_is_a_number(value: float) -> None:
    """What Python writes of a float is read as that float."""
    assert number(repr(value)) == value


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    """A table is looked at more than once, and a pipe has no second time."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadData, match="is a pipe, which can be read but once: save it as a file"):
        read_table(tmp_path / "pipe", "y")
