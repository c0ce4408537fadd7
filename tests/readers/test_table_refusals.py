"""What is no table is refused by one sentence: what is wrong, where, and what to do."""

import csv
import gzip
import io
import os
import sys
import zipfile
from itertools import count

import polars as pl
import pytest
from tests.readers.test_table import GOOD, GROUPED, table_of

from truerisk.datasets import read_table
from truerisk.exceptions import MissingExtra, UnknownName
from truerisk.extend import BadArgument, BadData

GZIPPED = gzip.compress(GOOD.encode(), mtime=0)
PIECES = "a;y\n1,5;u\n2,5;v\n"
BAD = {
    "empty file": ("", r"is empty: give a table"),
    "only a mark": (b"\xef\xbb\xbf", r"is empty"),
    "header only": ("a,y\n", r"has a header and no rows"),
    "binary": (b"a,y\n1\x00,2\n", r"not a text table: line 2 holds a NUL byte"),
    "latin-1": ("a,y\n1,2\n\xe9,3\n".encode("latin-1"), r"line 3 holds the byte 0xe9.*UTF-8"),
    "utf-16": (GOOD.encode("utf-16"), r"UTF-16 text; save it as UTF-8"),
    "cut character": (b"a,y\n1,u\n2,\xc3", r"0xc3 \(unexpected end of data\)"),
    "damaged zip": (b"PK\x03\x04 rest", r"is damaged: .*; fetch it again"),
    "damaged gzip": (GZIPPED[:-12], r"is damaged: .*; fetch it again"),
    "wrong delimiter": (GOOD.replace(",", ";"), r"has one column, with ';' it has 3; give delim"),
    "tab in .csv": (GOOD.replace(",", "\t"), r"with a tab it has 3; give delimiter='tab'"),
    "decimal commas": (PIECES, r"with ';' it has 2; give delimiter=';'"),
    "one column": ("y\nu\nv\n", r"has one column, 'y', and none of , ; tab | splits it"),
    "ragged": (GOOD + "1,2\n", r"line 6 has 2 cells where the header has 3"),
    "quoted newline": ('a,b,y\n"1\n",2,u\n1,2,3,4\n', r"line 4 has 4 cells where the header has 3"),
    "open quote": ('a,y\n1,"u\n2,v\n', r"line 2 cannot be split.*quote that is not closed"),
    "duplicate names": ("a,b,a,y\n1,2,3,u\n", r"'a' more than once \(columns 1, 3\): rename"),
    "empty targets": ("a,y\n1,u\n2,\n3,NA\n4,v\n", r"'y' has 2 empty cells among 4 .* on line 3"),
    "NaN as targets": ("a,y\n1,2.5\n2,NAN\n3,-nan\n4,7.5\n", r"'y' has 2 empty .*, the first on l"),
    "one class": ("a,y\n1,u\n2,u\n", r"has one class only, 'u'"),
    "single row": ("a,y\n1,u\n2,u\n5,v\n4,w\n5,w\n", r"class 'v' .* has a single row, line 4"),
    "40 texts": (
        table_of([f"c{i}" for i in range(40)]),
        r"40 rows: looks like an .*free text; use",
    ),
    "40 integers": (table_of(range(40)), r"identifier or a number; use target_type='regression'"),
    "infinite target": ("a,y\n1,1.5\n2,inf\n", r"'y' holds 'inf' on line 3.*mend the cell\."),
    "constant target": ("a,y\n1,1.5\n2,1.5\n", r"'y' is 1.5 in every row"),
    "infinite feature": ("a,y\n1,u\ninf,v\n-inf,u\n2,v\n", r"'a' has 2 infinite .*first on line 3"),
    "decimal comma": ('a,y\n"1,5",u\n2,v\n1,v\n2,u\n', r"comma inside \(line 2: '1,5'\): write a"),
    "nothing varies": ("a,y\n1,u\n1,v\n1,u\n1,v\n", r"left to learn from \('a' is constant"),
}
HEAD = "@relation r\n@attribute a numeric\n@attribute y {u,v}\n"
ROWS = HEAD + "@data\n"
BAD_FORMATS = {
    "libsvm some queries": ("t.svm", "1 qid:1 1:2\n0 1:1\n", "line 2 has no qid, and other"),
    "libsvm query": ("t.svm", "1 qid:a 1:2\n0 qid:1 1:1\n", "line 1: 'qid:a' names no query"),
    "libsvm label": ("t.svm", "1,2 1:3\n", "line 1 has the label '1,2'"),
    "libsvm pair": ("t.svm", "1 1:3\n0 x:1\n", "line 2: 'x:1' is no pair"),
    "libsvm twice": ("t.svm", "1 1:3 1:4\n", "line 1 names column 1 twice"),
    "libsvm empty": ("t.svm", "# nothing\n", "no row with a label"),
    "libsvm wide": ("t.svm", "1 99999999:1\n", "with its zeros the table has more than"),
    "arff without data": ("t.arff", HEAD + "1,u\n", "line 4 of the header is neither"),
    "arff never begins": ("t.arff", HEAD, "no line @data"),
    "arff without rows": ("t.arff", ROWS, "no rows after @data"),
    "arff attribute": ("t.arff", HEAD.replace("a numeric", "a"), "line 2: no name and type can be"),
    "arff ragged": ("t.arff", ROWS + "1,u,3\n", "line 5 has 3 cells where the header has 2"),
    "arff word": ("t.arff", ROWS + "x,u\n", "line 5: attribute 'a' is numeric .*'x'"),
    "arff quote": ("t.arff", ROWS + "1,'u\n2,v\n", "line 5 .*quote that is not closed"),
    "arff type": ("t.arff", ROWS.replace("numeric", "relational"), "'relational'"),
    "arff sparse": ("t.arff", ROWS + "{7 1}\n", "line 5: '7 1' is no pair"),
    "arff sparse twice": ("t.arff", ROWS + "{0 1,0 2}\n", "line 5 names column 0 twice"),
    "arff open": ("t.arff", ROWS + "{0 1\n", "line 5: a sparse row is not closed"),
    "arff twice": ("t.arff", ROWS.replace(" y ", " a ") + "1,u\n", "'a' more than once"),
    "parquet begun otherwise": ("t.parquet", b"\xa9" * 9, "not UTF-8.* damaged; write it anew"),
    "parquet cut": ("t.parquet", b"PAR1" + b"\0" * 50, "is damaged: "),
}
CASES = {what: ("t.csv", *row) for what, row in BAD.items()} | BAD_FORMATS


@pytest.mark.parametrize("case", CASES)
def test_read_table_refuses_a_bad_file_with_a_sentence(read, case):
    name, content, pattern = CASES[case]
    with pytest.raises(BadData, match=pattern) as caught:
        read(content, name=name)
    assert "\n" not in str(caught.value)
    assert str(caught.value)[-1] in ".'"


REGRESSION, CLASSES = {"target_type": "regression"}, {"target_type": "classification"}
FRACTIONS = table_of([i + 0.5 for i in range(40)])
OUTCOME = {"target": None, "event": "died", "time_to_event": "days"}


def archive_of(n_files):
    """Return a ZIP archive of files that are much larger when unpacked."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for number in range(n_files):
            opened.writestr(f"{number}.csv", "a,y\n" + "1,u\n" * 100_000)
    return archive.getvalue()


@pytest.mark.parametrize(
    ("content", "options", "kind", "message"),
    [
        (GROUPED, {"groups": "whom"}, UnknownName, "no column 'whom'; did you mean 'who'"),
        (GROUPED, {"groups": "y"}, BadData, "'y' is named as the target and as the groups"),
        (GROUPED.replace("p2", ""), {"groups": "who"}, BadData, "'who' says no group on line 3"),
        (GROUPED, {"groups": 3}, BadArgument, "groups=3: give the name of the column of groups"),
        (GOOD, {"delimiter": ",,"}, BadData, "delimiter=',,' is not a single"),
        (GOOD, {"target_type": "ranking"}, BadData, "target_type='ranking' is neither"),
        (FRACTIONS, CLASSES, BadData, "40 classes and 40 rows: .*use target_type='regression'"),
        ("a,y\n1,3\n2,red\n", REGRESSION, BadData, "'red' on line 3, .*target_type='classificati"),
        (GOOD, {"max_cells": 11}, BadData, r"more than 11 cells \(line 5.*raise max_cells="),
        (GOOD, {"max_bytes": 10}, BadData, "holds 30 bytes, more than the cap of 10 .*max_bytes="),
        (
            gzip.compress(b"," * 9999, mtime=0),
            {"max_bytes": 1000},
            BadData,
            "grows past .* of 1,000 bytes",
        ),
        ("diagnosis,a\n1,2\n", {"target": "diagnosi"}, UnknownName, "did you mean 'diagnosis'"),
        (GOOD, {"target": "Y"}, UnknownName, r"no column 'Y'; did you mean 'y'\?"),
        (GOOD, {"target": "zzz"}, UnknownName, r"'zzz'\. Its columns: 'a', 'b', 'y'\."),
        ("1,2,3\n4,5,6\n", {}, UnknownName, r"only numbers: is the header missing\?"),
        ("days,died\n1,0\n2,1\n", OUTCOME, BadData, "but the target 'died', 'days': add features"),
        (
            archive_of(2),
            {"max_bytes": 10**9},
            BadData,
            "archive of 2 files or an Excel workbook",
        ),
        (archive_of(1), {"max_bytes": 100_000}, BadData, "grows past the cap"),
    ],
    ids=count(),
)
def test_read_table_refuses_options_that_do_not_fit(read, content, options, kind, message):
    with pytest.raises(kind, match=message):
        read(content, **options)


CELLS = [
    ("1 0 1  0", "", "died", "event 'died' has an empty cell among 5 rows, the first on li"),
    ("1 0 1 0 0", "1 2 NA 4 5", "died", "time to event 'days' has an empty cell .* on line 4"),
    ("1 0 1 0 0", "1 2 -3 4 5", "died", "'days' is '-3' on line 4: it is a number from 0 on"),
    ("1 0 1 0 0", "1 2 3 inf 5", "died", "'days' is 'inf' on line 5"),
    ("1 0 1 0 0", "1 2 3 4 long", "died", "'days' is 'long' on line 6"),
    ("0 0 0 0 0", "", "died", "'died' is '0' in every row: it came in none"),
    ("1 2 1 2 2", "", "died", "'1', '2', and not 1 and 0 .*event='died=1' or event='died=2'"),
    ("a a a a a", "", "died", "'died' is 'a', and not 1 and 0"),
    ("0 1 2 0 0", "", "died", "'died' has 3 labels, '0', '1', '2': it came or not"),
    ("0 1 2 0 0", "", "died=1", "'died' has 3 labels"),
    ("1 0 1 0 0", "", "died=dead", "'died' is never 'dead': its labels are '1', '0'"),
]
NAMES = [
    ({"time_to_event": None}, BadArgument, "time_to_event=None: an outcome in time needs"),
    ({"event": None}, BadArgument, "event=None: an outcome in time needs the names of two"),
    ({"target": "x"}, BadArgument, "stands instead of target= and target_type="),
    (REGRESSION, BadArgument, "stands instead of target= and target_type="),
    ({"event": None, "time_to_event": None}, BadArgument, "target=None: give the name"),
    ({"event": "dead"}, UnknownName, "no column 'dead'"),
    ({"time_to_event": "day"}, UnknownName, "no column 'day'; did you mean 'days'"),
    ({"event": "days"}, BadData, "'days' is named as the event and as the time to event"),
    ({"time": "days"}, BadData, "'days' is named as the time to event and as the time"),
]


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        *(
            ({"cells": cells, "times": times, "event": event}, BadData, message)
            for cells, times, event, message in CELLS
        ),
        *(({"cells": "1 0 1 0 0", **given}, kind, message) for given, kind, message in NAMES),
    ],
)
def test_read_table_refuses_what_is_no_outcome(read_outcome, given, kind, message):
    with pytest.raises(kind, match=message):
        read_outcome(**given)


@pytest.mark.parametrize(
    ("bad", "said", "n_before"),
    [
        (b"\xff", "0xff (invalid start byte)", 400_000),
        (b"\xc3,", "0xc3 (invalid continuation byte)", 1),
        (b"\xed\xa0\x80", "0xed (invalid continuation byte)", 400_000),
        (b"\xc0\x80", "0xc0 (invalid start byte)", 1),
    ],
)
def test_read_table_names_the_line_of_a_byte_that_is_not_utf8(read, bad, said, n_before):
    """The place is that in the file, not in a part of it."""
    with pytest.raises(BadData) as refused:
        read(b"a,y\n" + b"1,u\n" * n_before + b"2," + bad + b"v\n3,u\n")
    assert f"line {n_before + 2} holds the byte {said}" in str(refused.value)


def test_read_table_decompresses_one_chunk_beyond_the_cap(tmp_path, monkeypatch):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n" + b"1,u\n" * 1_000_000))
    taken = 0
    inner = gzip.GzipFile.read

    def counting(self, size=-1):
        nonlocal taken
        content = inner(self, size)
        taken += len(content)
        return content

    monkeypatch.setattr(gzip.GzipFile, "read", counting)
    with pytest.raises(BadData, match="max_bytes="):
        read_table(path, "y", max_bytes=100_000)
    assert 100_000 < taken < 250_000


def test_read_table_caps_hold_before_a_file_is_held(tmp_path):
    """Cells, packed bytes and the texts of a small Parquet file that unpacks to a large one."""
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["x" * 1000] * 5000, "y": [0, 1] * 2500}).write_parquet(path)
    assert path.stat().st_size < 50_000
    for cap, message in (
        ({"max_bytes": 1_000_000}, "its texts hold 5,000,000 bytes"),
        ({"max_cells": 9_999}, "more than 9,999 cells .5,000 rows, 2 columns"),
        ({"max_bytes": 10}, "more than the cap of 10 bytes"),
    ):
        with pytest.raises(BadData, match=message):
            read_table(path, "y", **cap)


def test_read_table_refuses_what_is_no_file(tmp_path):
    """A pipe has no second time, and a table is looked at more than once."""
    os.mkfifo(tmp_path / "pipe")
    for path, message in (
        (tmp_path / "none.csv", r"none\.csv' does not exist: check the path"),
        (tmp_path, "is a directory: give one file of it"),
        ("\0", "is no path of a file"),
        (tmp_path / "pipe", "is a pipe, which can be read but once: save it as a file"),
    ):
        with pytest.raises(BadData, match=message):
            read_table(path, "y")


def test_read_table_asks_for_polars_by_the_name_of_the_extra(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    content = io.BytesIO()
    pl.DataFrame({"a": [1, 2], "y": [0, 1]}).write_parquet(content)
    with pytest.raises(MissingExtra, match=r"truerisk\[io\]"):
        read(content.getvalue(), name="t.parquet")


HOSTILE = ["\x1b[31mred", "<script>alert(1)</script>", "x" * 10_000, "\u202egnp.exe", "a\nb", "'"]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_read_table_keeps_a_hostile_name_and_shows_it_harmlessly(read, name):
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow([name, "y"])
    assert read(header.getvalue() + "1,u\n2,u\n3,v\n5,v\n").feature_names == (name,)
    with pytest.raises(BadData) as caught:
        read(header.getvalue() + "inf,u\n2,u\n3,v\n5,v\n")
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()
