"""A file becomes a table: its text, what is read of it, of which task, and its roles."""

import bz2
import csv
import gzip
import lzma
import os
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from truerisk.datasets import read_table
from truerisk.extend import BadData
from truerisk.readers import content, grid
from truerisk.readers.columnar import MISSING_TEXTS, parse_number

GOOD = "a,b,y\n1,5,u\n2,4,v\n4,7,u\n3,2,v\n"
GROUPED = "who,a,y\np1,5,u\np2,4,v\np1 ,7,u\np3,2,v\n"
FORTY = "a,y\n" + "1,u\n2,v\n" * 20


def table_of(targets):
    """Return a file with one feature and this target."""
    return "a,y\n" + "".join(f"{i * i},{value}\n" for i, value in enumerate(targets))


# ---------------------------------------------------------------- the text of a file


@pytest.mark.parametrize("off", [-5, 5, 500, -len(FORTY)])
def test_read_table_reads_a_file_of_a_wrong_size_to_its_end(read, monkeypatch, off):
    """Another process writes to it meanwhile, or the system keeps no size."""

    def fstat(descriptor):
        true = os.fstat(descriptor)
        return SimpleNamespace(st_mode=true.st_mode, st_size=true.st_size + off)

    monkeypatch.setattr(content, "os", SimpleNamespace(fstat=fstat, PathLike=os.PathLike))
    assert read(FORTY).n_rows == 40


def test_read_table_refuses_what_grows_past_the_cap_meanwhile(read, monkeypatch):
    monkeypatch.setattr(content, "_read_plain_file", lambda file: None)
    monkeypatch.setattr(content, "_refuse_too_large", lambda *_: None)
    with pytest.raises(BadData, match="grows past the cap"):
        read(FORTY, max_bytes=100)


@pytest.mark.parametrize("shift", range(4))
def test_read_table_decodes_characters_across_parts(read, shift):
    rows = "".join(f"{'é😀'[i % 2] * 200},{'uv'[i % 2]}\n" for i in range(3000))
    table = read(f"a{'x' * shift},y\n{rows}")
    assert table.levels == (("é" * 200, "😀" * 200),)


@pytest.mark.parametrize("n", [0, 1, 100_000])
def test_read_table_of_blanks_is_empty(read, n):
    with pytest.raises(BadData, match="is empty"):
        read(" \n\u2003" * n)
    assert not n or read("\n" * n + FORTY).n_rows == 40


def test_read_table_finds_arff_behind_any_comment(read):
    """The declaration may stand behind more than the first look sees."""
    body = "@relation t\n@attribute a numeric\n@attribute y {u,v}\n@data\n" + FORTY[4:]
    for comment in ("", "\n \n", "% told\n", "% long\n" * 20_000, "\n" * 100_000):
        assert read(comment + body).n_rows == 40


def test_read_table_decodes_the_header_alone(read, monkeypatch):
    """Names in quotes, of several lines, behind blank ones; no other cell is decoded for them."""
    monkeypatch.setattr(
        content.FileText, "full_text", property(lambda text: pytest.fail("decoded"))
    )
    table = read('\r\n\n"the ""é""\nname",y\r\n' + FORTY[4:])
    assert table.feature_names == ('the "é"\nname',)


@pytest.mark.parametrize(
    "text",
    [FORTY, "\ufeff" + FORTY, FORTY + "1\0,u", FORTY + "1,\udcff", " \n", "a,y\n1,é\n2,v\n"],
)
def test_read_table_says_the_same_without_the_compiled_module(read, monkeypatch, text):
    def said():
        try:
            table = read(text.encode(errors="surrogateescape"))
        except BadData as error:
            return str(error)
        return repr((table.X.tolist(), table.y.tolist(), table.notes))

    compiled = said()
    monkeypatch.setattr(content, "is_available", lambda: False)
    monkeypatch.setattr("truerisk.readers.delimited_text.is_available", lambda: False)
    monkeypatch.setattr(grid, "read_sheet", None)  # is not asked
    assert said() == compiled


# ---------------------------------------------------------------- what is read


def test_table_holds_numbers_and_labels_of_the_file(read):
    table = read(GOOD)
    assert table.X.tolist() == [[1, 5], [2, 4], [4, 7], [3, 2]]
    assert table.X.dtype == np.float64
    assert table.y.tolist() == ["u", "v", "u", "v"]
    assert (table.feature_names, table.target) == (("a", "b"), "y")
    assert (table.n_rows, table.n_features, table.n_classes) == (4, 2, 2)


SEMICOLONS, TABS = GOOD.replace(",", ";"), GOOD.replace(",", "\t")


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        *[
            (pack(GOOD.encode()), name, {})
            for pack in (gzip.compress, bz2.compress, lzma.compress)
            for name in ("t.csv.gz", "t.csv.bz2", "t.csv.xz", "t.csv")
        ],
        (TABS, "t.tsv", {}),
        (SEMICOLONS, "t.txt", {}),
        (GOOD.replace(",", "|"), "t.dat", {}),
        (TABS, "t", {}),
        (SEMICOLONS, "t.csv", {"delimiter": ";"}),
        (TABS, "t.csv", {"delimiter": "tab"}),
        ("\ufeff" + GOOD.replace(",", " , ").replace("\n", "\r\n\r\n"), "t.csv", {}),
        (GOOD, "t.csv", {"max_cells": 12, "max_bytes": len(GOOD)}),
    ],
    ids=count(),
)
def test_read_table_gives_the_same_table_however_it_is_written(read, text, name, options):
    """Compression by content, delimiters, a mark before the header, caps that are just met."""
    table, plain = read(text, name=name, **options), read(GOOD)
    assert table.X.tolist() == plain.X.tolist()
    assert (table.y.tolist(), table.feature_names) == (plain.y.tolist(), plain.feature_names)


def test_table_text_columns_are_codes_of_sorted_levels(read):
    table = read("c,y\nred,u\nblue,v\n?,u\nred,v\n")
    assert table.levels == (("blue", "red"),)
    np.testing.assert_array_equal(table.X[:, 0], [1, 0, np.nan, 1])
    assert (table.kinds, table.text, table.numeric) == (("text",), (0,), ())
    assert "1 text column ('c') is one-hot encoded inside the folds" in table.notes


@pytest.mark.parametrize("token", sorted(MISSING_TEXTS))
def test_table_missing_tokens_are_nan(read, token):
    table = read(f"a,b,y\n1,5,u\n{token},4,v\n4,7,u\n3,2,v\n")
    assert np.isnan(table.X[1, 0])
    assert table.missing == (1, 0)
    assert "1 empty cell (12.5 %) in 1 column is imputed inside the folds" in table.notes


def test_table_leaves_out_what_carries_nothing(read):
    table = read("id,x,c,e,t,y\n0,5,1,,p,u\n1,4,1,,q,v\n2,4,1,NA,r,u\n3,2,1,,s,v\n")
    assert table.feature_names == ("x",)
    assert table.left_out == ("id", "c", "e", "t")
    assert table.notes[1:] == (
        "column 'id' numbers the rows and is left out",
        "column 'c' is constant and is left out",
        "column 'e' has no value and is left out",
        "column 't' has a different value in every row and is left out",
    )


@pytest.mark.parametrize(
    ("text", "names", "left_out"),
    [
        ("x,y\n1,u\n2,v\n3,u\n4,v\n", ("x",), ()),  # a numbering that is the only feature
        ("b,x,y\n5,1,u\n4,2,v\n7,3,u\n2,4,v\n", ("b", "x"), ()),  # one that comes second
        ("y,n,b\nu,1,5\nv,2,4\nu,3,7\nv,4,2\n", ("n", "b"), ()),  # one after the target
        ("c,t,b,y\nx,p,3,u\n,q,1,u\nx,r,2,v\n,,2,v\n", ("c", "b"), ("t",)),  # gaps are a level
        (GOOD.replace("a,b", "a,"), ("a", "column 2"), ()),
    ],
)
def test_table_names_its_features(read, text, names, left_out):
    table = read(text)
    assert (table.feature_names, table.left_out) == (names, left_out)


def test_table_groups_are_no_feature(read):
    table, without = read(GROUPED, groups="who"), read("a,y\n5,u\n4,v\n7,u\n2,v\n")
    assert table.groups.tolist() == ["p1", "p2", "p1", "p3"]
    assert table.feature_names == without.feature_names == ("a",)
    assert table.X.tolist() == without.X.tolist()
    assert table.notes == without.notes
    assert without.groups is None
    every_row = read(GROUPED.replace("p1 ", "p4"), groups="who")  # it would be left out
    assert len(set(every_row.groups.tolist())) == 4


def test_table_cells_with_underscores_and_odd_separators_are_text(read):
    """A vertical tab or a Unicode line separator ends no line."""
    table = read("a,b,y\n1_000,p\x0bq,u\n2_000,r\u2028s,v\n1_000,t,u\n1_000,t,v\n")
    assert table.levels == (("1_000", "2_000"), ("p\x0bq", "r\u2028s", "t"))


THIRTY = "".join(f"{i % 7}.5,{'uv'[i % 2]}\n" for i in range(30))


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            "c,y\nred,u\nblue,v\n,u\nred,v\n,u\n",
            "2 empty cells (40.0 %) in 1 column count as a level of their own",
        ),
        (f"a,y\n{THIRTY}<0.1,u\n", "because of 1 cell without a number, the first on line 32"),
        (table_of(["good"] * 3 + ["bad"] * 2), "2 classes ('bad' 2, 'good' 3)"),
        (table_of([*"cc", *"aaaa", *"bbb"]), "3 classes ('a' 4, 'b' 3, 'c' 2)"),
    ],
    ids=["missing text", "stray word", "two classes", "three classes"],
)
def test_table_notes_tell_what_was_read(read, text, note):
    """Of two classes the second is that of scores; of more the commonest comes first."""
    assert any(note in one for one in read(text).notes)


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
def test_table_task_follows_the_values_of_the_target(read, targets, task, kind):
    table = read(table_of(targets))
    assert (table.task, table.y.dtype.kind) == (task, kind)
    assert task in table.notes[0]


def test_target_type_overrides_the_task(read):
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
def test_table_notes_say_how_to_overrule_a_guessed_task(read, values, inferred, hint, other):
    text = table_of(list(range(values)) * 3)
    assert read(text).notes[0].endswith(f"{inferred}; {hint} target_type='{other}'")
    assert read(text, target_type=inferred).notes[0].endswith(inferred)


def test_table_labels_are_stored_once_and_exactly(read):
    y = read(table_of(["u", "u", "x" * 10_000, "x" * 10_000])).y
    assert y.nbytes < 100
    assert y.tolist()[2] == "x" * 10_000
    big = 2**53 + 1
    assert set(read(table_of([big, big - 1] * 3)).y.tolist()) == {big, big - 1}


@pytest.mark.parametrize(
    ("cells", "event", "label"),
    [
        ("1 0 1 0 0", "died", "1"),
        ("1.0 0 1 0 0.0", "died", "1.0"),
        ("true FALSE True false false", "died", "true"),
        ("dead alive dead alive alive", "died=dead", "dead"),
        ("2 1 2 1 1", " died = 2", "2"),
        ("0 1 0 1 1", "died=0", "0"),
    ],
)
def test_table_event_and_time_are_pairs(read_outcome, cells, event, label):
    table = read_outcome(cells, event=event)
    assert table.y.dtype.names == ("event", "time")
    assert table.y["event"].tolist() == [True, False, True, False, False]
    assert table.y["time"].tolist() == [0.5, 2.0, 7.0, 0.0, 9.0]
    assert (table.task, table.target, table.feature_names) == ("survival", "died", ("x",))
    assert table.n_classes == 0
    assert table.notes[0] == (
        f"target 'died' is '{label}' in 2 of 5 rows, the times 'days' go from 0 to 9: survival"
    )
    assert read_outcome("1 1 1 1 1").y["event"].all()


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
def test_read_table_reads_what_was_written(tmp_path, cells, values, delimiter, newline):
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
    assert back == [None if word.strip() in MISSING_TEXTS else word.strip() for word in column]
    assert read_numbers.tolist() == numbers


@given(st.floats(allow_nan=False))
def test_number_reads_every_float(value):
    assert parse_number(repr(value)) == value
