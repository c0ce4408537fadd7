"""What is no table is refused by one sentence: what is wrong, where, and what to do."""

from __future__ import annotations

import csv
import gzip
import io
import os
from pathlib import Path
from typing import Any

import pytest
from tests.readers.conftest import Reader
from tests.readers.test_table import GOOD, GROUPED, table_of

from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.readers.table import read_table


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
        r"with ',' the file has one column, with ';' it has 3; give delimiter=';'",
    ),
    "tab in .csv": (GOOD.replace(",", "\t"), {}, r"with a tab it has 3; give delimiter='tab'"),
    "wrong delimiter, decimal commas": (
        "a;y\n1,5;u\n2,5;v\n",
        {},
        r"with ';' it has 2; give delimiter=';'",
    ),
    "bad delimiter": (GOOD, {"delimiter": ",,"}, r"delimiter=',,' is not a single"),
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
            r"use target_type='regression' or another column"
        ),
    ),
    "40 fractions as classes": (
        table_of([i + 0.5 for i in range(40)]),
        {"target_type": "classification"},
        r"40 classes and 40 rows: .*use target_type='regression'",
    ),
    "text as numbers": (
        "a,y\n1,3\n2,red\n",
        {"target_type": "regression"},
        r"'y' holds 'red' on line 3, which is no finite number.*target_type='classification'",
    ),
    "infinite target": ("a,y\n1,1.5\n2,inf\n", {}, r"'y' holds 'inf' on line 3.*mend the cell\."),
    "constant target": ("a,y\n1,1.5\n2,1.5\n", {}, r"'y' is 1.5 in every row"),
    "unknown task": (GOOD, {"target_type": "ranking"}, r"target_type='ranking' is neither"),
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
    "too many cells": (GOOD, {"max_cells": 11}, r"more than 11 cells \(line 5.*raise max_cells="),
    "too large": (
        GOOD,
        {"max_bytes": 10},
        r"holds 30 bytes, more than the cap of 10 .*max_bytes=",
    ),
    "too large unpacked": (
        gzip.compress(GOOD.encode() * 1000),
        {"max_bytes": 1000},
        r"grows past the cap.* of 1,000 bytes: .*raise max_bytes=",
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
    with pytest.raises(BadData, match="max_bytes="):
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


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    """A table is looked at more than once, and a pipe has no second time."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadData, match="is a pipe, which can be read but once: save it as a file"):
        read_table(tmp_path / "pipe", "y")
