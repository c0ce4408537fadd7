"""What is kept on disk: `truerisk study`, and `assess --store`; whoever ends a run, it goes on."""

import csv
import json
import os
import signal
import sqlite3
import subprocess
import time
from contextlib import closing

import pytest
from tests.cli.conftest import QUICK, timeless
from tests.support.cut_off import begun, n_results

SPEC = """
replicates = 2
sizes = [20]
n_test = 100
problems = ["simple"]
learners = [{word = "knn", set = {n_neighbors = 3}}]
methods = ["2-fold"]
"""
TREES = ("--models", "tree,forest", "--target", "y")


@pytest.fixture
def spec(tmp_path):
    """A small specification."""
    path = tmp_path / "small.toml"
    path.write_text(SPEC)
    return path


def test_study_runs_and_is_looked_at(call, spec, tmp_path):
    """Run, run again, status, resume, export and retry: exit code 0, as text and as JSON."""
    store = tmp_path / "runs.db"
    said = call("study", "run", spec, "--store", store)
    assert said.code == 0, said.err
    assert said.out.splitlines()[0].split()[:4] == ["problem", "n", "learner", "method"]
    again = call("study", "resume", "--store", store, "--json", "--n-jobs", "1")
    assert again.content["schema"] == "truerisk.study-results/2"
    assert again.content["cells"][0]["replicates"] == 2
    status = call("study", "status", "--store", store, "--json")
    assert (status.code, status.content["done"], status.content["n_runs"]) == (0, 2, 1)
    assert status.content["schema"] == "truerisk.study-status/2"
    idle = [status.content[name] for name in ("waiting", "held_by", "errors")]
    assert idle == [0, None, []]
    assert "done         2 of 2" in call("study", "status", "--store", store).out
    exported = call("study", "export", "--store", store, "--json")
    assert exported.content == {
        "schema": "truerisk.study-export/2",
        "file": str(tmp_path / "runs.csv"),
        "format": "csv",
        "rows": 2,
    }
    with (tmp_path / "runs.csv").open(newline="") as file:
        assert [row["replicate"] for row in csv.DictReader(file)] == ["0", "1"]
    call("study", "export", "--store", store, "--format", "jsonl", "--out", tmp_path / "a.jsonl")
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 2
    retried = json.loads(call("study", "retry", "--failed", "--store", store, "--json").out)
    assert retried == {"schema": "truerisk.study-retry/2", "replicates": 0}


def test_study_that_is_incomplete_exits_with_5(call, spec, tmp_path):
    """A failed replicate: the sentence says how to look and how to try again."""
    store = tmp_path / "runs.db"
    spec.write_text(SPEC.replace('"2-fold"', '"bee"'))
    said = call("study", "run", spec, "--store", store)
    assert said.code == 5
    assert "2 of 2 replicates have no result (2 failed, 0 quarantined)" in said.err
    status = call("study", "status", "--store", store)
    assert status.code == 5
    assert "failed       bee replicate 0: " in status.out
    retried = call("study", "retry", "--failed", "--store", store)
    assert (retried.code, "2 replicates will be tried again" in retried.err) == (0, True)


STUDY = ("study", "run", "{spec}")
FOREST = ("assess", "{table}", "--models", "forest", "--target", "y", "--cv", "holdout")
RESUME = "results are kept in {store}. Go on with `truerisk study resume"
AGAIN = "the fits are kept in {store}: run the same command to continue"


@pytest.mark.parametrize(
    ("words", "n_wanted", "sent", "code", "sentence"),
    [
        pytest.param(STUDY, 5, signal.SIGINT, 130, RESUME, id="study, Ctrl-C"),
        pytest.param(STUDY, 5, signal.SIGTERM, 143, RESUME, id="study, terminated"),
        pytest.param(
            *((*FOREST, "--outer", "100x5-fold"), 2, signal.SIGTERM, 143, AGAIN), id="assessment"
        ),
    ],
)
def test_store_of_a_command_that_is_cut_off_is_kept(
    spec, table, tmp_path, words, n_wanted, sent, code, sentence
):
    """Ctrl-C (SIGINT) and the SIGTERM of a batch system have their own exit codes.

    The message says how to continue, and the store records that the run has ended.
    """
    spec.write_text(SPEC.replace("replicates = 2", "replicates = 100_000"))
    store = tmp_path / "runs.db"
    words = [word.format(spec=spec, table=table) for word in words]
    assert sentence.format(store=store) in cut_off(store, n_wanted, sent, code, *words)
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM run WHERE ended IS NULL").fetchone() == (0,)


def cut_off(store, n_wanted, sent, code, *words):
    """Send a signal to a command when its store holds so many results; return its stderr."""
    words = ["-m", "truerisk.cli", *map(str, words), "--store", str(store)]
    with begun(*words, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while n_results(store) < n_wanted and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(process.pid, sent)
        _, err = process.communicate(timeout=30)
    assert process.returncode == code, err
    assert "Traceback" not in err
    assert n_results(store) >= n_wanted
    return err


def test_study_that_is_interrupted_before_there_is_a_store(call, spec, tmp_path, monkeypatch):
    """Exit code 130, and nothing that is not there is looked for."""

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("truerisk.study.study.read_tables", stopped)
    said = call("study", "run", spec, "--store", tmp_path / "runs.db")
    assert (said.code, said.err.strip()) == (130, "truerisk: interrupted; nothing was kept.")
    assert not (tmp_path / "runs.db").exists()


def test_store_of_an_assessment_changes_nothing_but_a_note(call, table, tmp_path):
    """The document is the same without it, while it is filled, and when it answers."""
    store, words = tmp_path / "runs.db", ("assess", table, *TREES, *QUICK, "--json")
    plain = call(*words)
    first = call(*words, "--store", store)
    again = call(*words, "--store", store, "--mixed-versions")
    assert [said.code for said in (plain, first, again)] == [0, 0, 0]
    assert timeless(plain.content) == timeless(first.content) == timeless(again.content)
    fits = sum(learner["n_fits"] for learner in plain.content["learners"].values())
    assert f"note: {store}: 0 fits found, {fits} added" in first.err
    assert f"note: {store}: {fits} fits found, 0 added" in again.err
    assert "runs.db" not in again.out
    for asked in (["status"], ["export"], ["resume"], ["retry", "--failed"]):
        said = call("study", *asked, "--store", store)
        assert said.code == 3
        assert "holds fits of an assessment, not a study: `truerisk assess`" in said.err
    assert not list(tmp_path.glob("*.csv.*"))
