"""Exports: Parquet, CSV that no spreadsheet runs, JSON lines."""

import csv
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from truerisk.exceptions import NotWritten, UnknownName
from truerisk.study.results import export_rows

ROWS = [
    {"name": "=1+1", "n": -3, "value": 0.1 + 0.2, "notes": ["+a"], "x": np.arange(2)},
    {"name": "plain, with comma", "n": 4, "value": float("nan"), "notes": [], "x": np.ones(2)},
    {"name": None, "n": 4, "value": None, "notes": [], "x": np.array([np.nan, 1.0])},
]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_export_follows_links_and_writes_into_pipes(tmp_path, form):
    place, link, pipe = (tmp_path / name for name in ("a", "latest", "pipe"))
    link.symlink_to(place)
    os.mkfifo(pipe)
    assert export_rows(ROWS, link, form) == 3
    assert link.is_symlink()
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_bytes)
        assert export_rows(ROWS, pipe, form) == 3
        assert read.result(10) == place.read_bytes()
    assert pipe.is_fifo()


def test_export_that_fails_leaves_the_old_file(tmp_path):
    def rows():
        yield ROWS[0]
        raise KeyError("broken")

    (tmp_path / "a.csv").write_text("old")
    with pytest.raises(KeyError):
        export_rows(rows(), tmp_path / "a.csv", "csv")
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_export_to_full_disk_is_refused(form):
    with pytest.raises(NotWritten, match="/dev/full cannot be written: No space left on device"):
        export_rows(ROWS, "/dev/full", form)


def test_export_as_csv_quotes_what_a_spreadsheet_would_run(tmp_path):
    assert export_rows(ROWS, tmp_path / "a.csv", "csv") == 3
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["'=1+1", "plain, with comma", ""]
    assert (rows[0]["n"], float(rows[0]["value"]), rows[0]["x"]) == ("-3", 0.1 + 0.2, "[0, 1]")
    assert rows[1]["value"] == ""
    for first in "=+-@\t\r":
        export_rows([{f"{first}a": f"{first}b"}], tmp_path / "a.csv", "csv")
        with (tmp_path / "a.csv").open(newline="") as file:
            assert list(csv.reader(file)) == [[f"'{first}a"], [f"'{first}b"]]


def test_export_as_json_lines_and_parquet_keeps_numbers_and_gaps(tmp_path):
    export_rows(ROWS, tmp_path / "a.jsonl", "jsonl")
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert rows[0] == {"name": "=1+1", "n": -3, "value": 0.1 + 0.2, "notes": ["+a"], "x": [0, 1]}
    assert (rows[1]["value"], rows[2]["x"]) == (None, [None, 1.0])
    export_rows(ROWS, tmp_path / "a.parquet", "parquet")
    frame = pl.read_parquet(tmp_path / "a.parquet")
    assert frame["value"].to_list() == [0.1 + 0.2, None, None]
    assert frame["name"].to_list() == ["=1+1", "plain, with comma", None]
    with pytest.raises(UnknownName, match="did you mean 'jsonl'"):
        export_rows(ROWS, tmp_path / "a", "json")
