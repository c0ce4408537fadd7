"""A file becomes a table: what is read, of which task, and how it is written back."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.readers.conftest import Reader

from truerisk.core.errors import BadData
from truerisk.readers.columnar import MISSING, number
from truerisk.readers.table import read_table

GOOD = "a,b,y\n1,5,u\n2,4,v\n4,7,u\n3,2,v\n"


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
    with pytest.raises(BadData, match="give delimiter=';'"):
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
    assert read(text).notes[0].endswith(f"{inferred}; {hint} target_type='{other}'")
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


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["good"] * 3 + ["bad"] * 2, "2 classes ('bad' 2, 'good' 3)"),
        (["c"] * 2 + ["a"] * 4 + ["b"] * 3, "3 classes ('a' 4, 'b' 3, 'c' 2)"),
    ],
)
def test_two_classes_are_named_in_their_order(tmp_path, labels, said):
    """The second is the one that scores of one class speak of; of more the commonest is first."""
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    assert any(said in note for note in read_table(path, "y").notes)
