"""`assess --store`: what was found is kept, whoever ends the run, and nothing else changes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from contextlib import closing

import pytest
from tests.support.cut_off import begun, n_results

TREES = ("--models", "tree,forest", "--target", "y")


def timeless(value):
    """A document without its seconds."""
    if isinstance(value, dict):
        return {name: timeless(v) for name, v in value.items() if name != "seconds"}
    return [timeless(v) for v in value] if isinstance(value, list) else value


def test_a_store_changes_nothing_but_a_note(call, table, quick, tmp_path):
    """The document is the same without it, while it is filled, and when it answers."""
    store, words = tmp_path / "runs.db", ("assess", table, *TREES, *quick, "--json")
    plain = call(*words)
    first = call(*words, "--store", store)
    again = call(*words, "--store", store, "--mixed-versions")
    assert [said.code for said in (plain, first, again)] == [0, 0, 0]
    assert timeless(plain.content) == timeless(first.content) == timeless(again.content)
    fits = sum(learner["n_fits"] for learner in plain.content["learners"].values())
    assert f"note: {store}: 0 fits found, {fits} added" in first.err
    assert f"note: {store}: {fits} fits found, 0 added" in again.err
    assert "runs.db" not in again.out


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--store", "none/a.db"], 2, "there is no folder 'none'"),
        (["--mixed-versions"], 2, "--mixed-versions needs --store"),
        (["--store", "table.csv"], 3, "table.csv is no store of truerisk"),
        (["--store", "a.db", "--dry-run"], 0, "a dry run does not look into a.db"),
    ],
)
def test_mistakes_are_sentences(call, table, quick, monkeypatch, words, code, sentence):
    """No folder, no store, no SQLite file; a dry run makes none."""
    monkeypatch.chdir(table.parent)
    said = call("assess", table, *TREES, *quick, *words)
    assert (said.code, sentence in said.err) == (code, True), said.err
    assert [path.name for path in table.parent.iterdir()] == ["table.csv"]


def test_a_store_of_fits_is_no_study(call, table, quick, tmp_path):
    """`study` says what it is and what goes on with it; `assess` refuses a study's."""
    store = tmp_path / "runs.db"
    call("assess", table, *TREES, *quick, "--store", store)
    for words in (["status"], ["export"], ["resume"], ["retry", "--failed"]):
        said = call("study", *words, "--store", store)
        assert said.code == 3
        assert "holds fits of an assessment, not a study: `truerisk assess`" in said.err
    assert not list(tmp_path.glob("*.csv.*"))


def test_a_terminated_assessment_is_kept(table, tmp_path):
    """SIGTERM, which a batch system sends, is as good as Ctrl-C: exit code 143, how to go on."""
    store = tmp_path / "runs.db"
    words = ["assess", str(table), "--models", "forest", "--target", "y", "--cv", "holdout"]
    words += ["--outer", "100x5-fold", "--store", str(store)]
    with begun("-m", "truerisk.cli", *words, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while n_results(store) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 143, err
    assert f"the fits are kept in {store}: run the same command to continue" in err
    assert "Traceback" not in err
    assert n_results(store) >= 2
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM run WHERE ended IS NULL").fetchone() == (0,)
