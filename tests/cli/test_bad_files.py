"""A bad file: exit code 3 and one sentence. One that can be used: assessed, and said how."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import struct
import subprocess
import sys
from datetime import date

import polars as pl
import pytest

DRAW = random.Random(9)
ROWS = [
    (f"{i % 2 * 2 + DRAW.random():.3f}", f"{DRAW.random():.3f}", "uv"[i % 2]) for i in range(30)
]
GOOD = "a,colour,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in ROWS)
NOISE = random.Random(3).randbytes(4000)

BAD = {
    "wrong delimiter": (GOOD.replace(",", ";"), r"delimiter looks wrong.*--delimiter ';'"),
    "target with empty cells": (
        GOOD.replace(",u\n", ",\n", 3),
        r"target 'y' has 3 empty cells among 30 rows, the first on line 2: fill them in",
    ),
    "a class per row": (
        "a,y\n" + "".join(f"{i * i},c{i}\n" for i in range(40)),
        r"target 'y' has 40 classes and 40 rows.*use another column",
    ),
    "empty": ("", "is empty: give a table"),
    "blank": (" \n\n ", "is empty: give a table"),
    "header only": ("a,b,y\n", "a header and no rows: add the rows"),
    "rubbish": (NOISE, "is not a text table|cannot be decoded|UTF-8"),
    "ragged": (GOOD + "1,2\n", "line 32 has 2 cells where the header has 3.*mend the line"),
    "infinite": (GOOD + "inf,1,u\n", "column 'a' has 1 infinite value, the first on line 32"),
    "one class": ("a,y\n1,u\n2,u\n5,u\n", "has one class only, 'u'.*use another column"),
    "NUL": (GOOD.replace("0.", "0\0.", 1), "holds a NUL byte; give a CSV file in UTF-8"),
    "UTF-16": (GOOD.encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
    "cut gzip": (gzip.compress(GOOD.encode())[:-20], "is damaged: .*; fetch it again"),
    "bomb": (gzip.compress(b"a,y\n" + b"1,2\n" * 50_000), "cap of 20,000 bytes.*--max-bytes"),
    "few rows": ("a,b,y\n1,4,u\n2,4,v\n4,7,u\n3,2,v\n", "5 folds need at least 5 rows"),
}


@pytest.fixture
def assess(call, tmp_path):
    """Write the content and assess it."""

    def called(content, *words, target="y"):
        path = tmp_path / "t.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        models = () if "--models" in words else ("--models", "lda")
        return call("assess", path, "--target", target, *models, *words)

    return called


def is_one_sentence(said):
    """Code 3, empty stdout, one line besides notes that begins as all do and ends as a sentence."""
    (sentence,) = said.sentences
    assert (said.code, said.out) == (3, "")
    assert sentence.startswith("truerisk: ")
    assert sentence[-1] in ".?'"
    assert "Traceback" not in said.err
    assert sentence.isprintable()
    return sentence


@pytest.mark.parametrize("what", BAD)
def test_a_bad_file_is_one_sentence(assess, what):
    """What is wrong, where, and what to do."""
    content, expected = BAD[what]
    assert re.search(expected, is_one_sentence(assess(content, "--max-bytes", 20_000)))


def test_a_missing_target_names_the_closest_column(assess):
    """The nearest name, and all names, whatever they hold."""
    sentence = is_one_sentence(assess(GOOD, target="color"))
    assert "no column 'color'; did you mean 'colour'? Its columns: 'a', 'colour', 'y'." in sentence


@pytest.mark.parametrize("path", [".", "none.csv", "/dev/null/x", "n" * 5000])
def test_what_is_no_file(call, path):
    """A directory, nothing, a path through a file, an endless name."""
    is_one_sentence(call("assess", path, "--target", "y"))


HOSTILE = {
    "script": "</script><b>&",
    "escape": "\x1b[31mred\x07",
    "right-to-left": "\u202ecsv.exe",
    "long": "c" * 10_000,
    "quotes": "'\"'",
    "wide": "漢字" * 20,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_names_are_quoted_and_cut(assess, what):
    """No name reaches the terminal as it is when that could harm; the message stays one line."""
    name = HOSTILE[what]
    header = name.replace('"', '""')
    content = f'"{header}",b,y\n' + "".join(f"{a},{b},{y}\n" for a, b, y in ROWS)
    sentence = is_one_sentence(assess(content, target="zzz"))
    assert len(sentence) < 300


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_labels_and_levels_are_assessed(assess, quick, what):
    """Cells and labels are text like any other; what is printed can be printed."""
    cell = '"' + HOSTILE[what].replace('"', '""') + '"'
    label = cell if len(cell) < 90 else "n"  # longer labels are refused
    content = "c,a,y\n" + "".join(
        f"{cell if i % 3 else 'x'},{a},{label if i % 2 else 'm'}\n"
        for i, (a, _, _) in enumerate(ROWS)
    )
    said = assess(content, *quick)
    assert said.code == 0
    assert all(line.isprintable() for line in (said.out + said.err).splitlines())
    said = assess(content, *quick, "--json")
    assert json.loads(said.out)["schema"] == "truerisk.assessment/2"


def test_empty_cells_are_imputed_inside_the_folds(assess, quick):
    """A tenth of the cells are missing: assessed, and said."""
    draw = random.Random(2)
    content = "a,b,y\n" + "".join(
        ",".join(["" if draw.random() < 0.1 else cell for cell in row[:2]]) + f",{row[2]}\n"
        for row in ROWS
    )
    said = assess(content, *quick, "--models", "knn,tree,lda")
    assert said.code == 0
    assert re.search(r"note: \d+ empty cells \(\d+\.\d %\) in 2 columns are imputed", said.err)
    assert "inside the folds" in said.err


def test_text_columns_are_one_hot_encoded_inside_the_folds(assess, quick):
    """Text is assessed by every learner, and said."""
    content = "c,a,y\n" + "".join(f"{'red' if y == 'u' else 'blue'},{a},{y}\n" for a, _, y in ROWS)
    said = assess(content, *quick, "--models", "knn,tree,lda,logistic", "--json")
    assert "note: 1 text column ('c') is one-hot encoded inside the folds" in said.err
    assert all(one["risk"]["value"] == 0 for one in said.content["learners"].values())


def test_rows_below_the_inner_folds_are_told(assess):
    """Fewer rows than inner folds within an outer training set is said before any fit."""
    content = "".join(GOOD.splitlines(keepends=True)[:17])
    said = assess(content, "--outer", "2-fold", "--cv", "9-fold")
    assert (said.code, said.out) == (3, "")
    assert "9 folds need at least 9 rows, and these are 8" in said.sentences[-1]
    assert "fits" not in said.err


def test_a_panic_in_another_language_is_one_sentence(tmp_path):
    """Rust writes its own lines to stderr when it panics; the command says one."""
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"a": range(30), "day": [date(2020, 1, 1 + i) for i in range(30)]})
    content = io.BytesIO()
    frame.with_columns(y=pl.col("a") % 2).write_ipc(content)
    days = struct.pack("<i", (date(2020, 1, 1) - date(1970, 1, 1)).days)
    path.write_bytes(content.getvalue().replace(days, struct.pack("<i", 2**31 - 1), 1))
    words = [sys.executable, "-m", "truerisk", "assess", str(path), "--target", "y"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (3, "")
    (sentence,) = done.stderr.splitlines()
    assert re.fullmatch(r"truerisk: '.*t.parquet' is damaged: out-of-range date; .*", sentence)
