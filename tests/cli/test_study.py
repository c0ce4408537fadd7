"""`truerisk study`: run, status, resume, export, retry, and their exit codes."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import time

import pytest
from tests.support.cut_off import begun

SPEC = """
replicates = 2
sizes = [20]
n_test = 100
problems = ["simple"]
learners = [{word = "knn", set = {n_neighbors = 3}}]
methods = ["2-fold"]
"""


@pytest.fixture
def spec(tmp_path):
    """A small specification."""
    path = tmp_path / "small.toml"
    path.write_text(SPEC)
    return path


def test_a_study_runs_and_is_looked_at(call, spec, tmp_path):
    """Run, run again, status, resume, export: exit code 0."""
    store = tmp_path / "runs.db"
    said = call("study", "run", spec, "--store", store)
    assert said.code == 0, said.err
    assert said.out.splitlines()[0].split()[:4] == ["problem", "n", "learner", "method"]
    again = call("study", "resume", "--store", store, "--json", "--n-jobs", "1")
    assert again.content["schema"] == "truerisk.study-results/2"
    assert again.content["cells"][0]["replicates"] == 2
    status = call("study", "status", "--store", store, "--json")
    assert (status.code, status.content["done"], status.content["n_runs"]) == (0, 2, 1)
    assert "done         2 of 2" in call("study", "status", "--store", store).out
    exported = call("study", "export", "--store", store)
    assert exported.code == 0
    with (tmp_path / "runs.csv").open(newline="") as file:
        assert [row["replicate"] for row in csv.DictReader(file)] == ["0", "1"]
    call("study", "export", "--store", store, "--format", "jsonl", "--out", tmp_path / "a.jsonl")
    over = call("study", "export", "--store", store, "--out", store)
    assert (over.code, "is the store: name another file." in over.err) == (2, True)
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 2


def test_what_is_incomplete_exits_with_5(call, spec, tmp_path):
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


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["run", "no.toml", "--store", "a.db"], 3, "no.toml: No such file"),
        (["status", "--store", "a.db"], 3, "there is no such store"),
        (["resume", "--store", "a.db"], 3, "there is no such store"),
        (["retry", "--failed", "--store", "a.db"], 2, "there is no such store"),
        (["retry", "--store", "a.db"], 2, "--failed"),
        (["run", "spec.toml"], 2, "--store"),
        (["run", "spec.toml", "--store", "none/a.db"], 2, "there is no folder 'none'"),
        (["export", "--store", "a.db", "--format", "xml"], 2, "xml"),
    ],
)
def test_mistakes_are_sentences(call, tmp_path, monkeypatch, words, code, sentence):
    """Usage 2, bad files 3; no traceback, and no file is made."""
    monkeypatch.chdir(tmp_path)
    said = call("study", *words)
    assert said.code == code
    assert sentence in said.err
    assert not list(tmp_path.iterdir())


def test_a_mistake_in_the_specification_names_its_line(call, spec, tmp_path):
    """Exit code 3."""
    spec.write_text(SPEC.replace("knn", "kn"))
    said = call("study", "run", spec, "--store", tmp_path / "runs.db")
    assert said.code == 3
    assert "in line 6 of the specification: there is no learner 'kn'; did you mean" in said.err


@pytest.mark.parametrize(
    ("executor", "sentence"), [("four", "number of worker"), ("0", "number of worker")]
)
def test_an_unknown_executor_makes_no_store(call, spec, tmp_path, executor, sentence):
    """Exit code 2, and no empty study is left to be resumed."""
    said = call("study", "run", spec, "--store", tmp_path / "runs.db", "--n-jobs", executor)
    assert (said.code, sentence in said.err) == (2, True)
    assert not (tmp_path / "runs.db").exists()


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_study_is_kept(spec, tmp_path, sent, code):
    """Ctrl-C, and what a batch system sends: its exit code, and how to go on."""
    store = tmp_path / "runs.db"
    spec.write_text(SPEC.replace("replicates = 2", "replicates = 100_000"))
    words = ["-m", "truerisk.cli", "study", "run", str(spec), "--store", str(store)]
    with begun(*words, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and done(store) < 5:
            time.sleep(0.2)
        os.kill(process.pid, sent)
        _, err = process.communicate(timeout=30)
    assert process.returncode == code, err
    assert f"results are kept in {store}. Go on with `truerisk study resume" in err
    assert done(store) >= 5


def test_an_interruption_before_there_is_a_store(call, spec, tmp_path, monkeypatch):
    """Exit code 130, and nothing that is not there is looked for."""

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("truerisk.study.study.tables_of", stopped)
    said = call("study", "run", spec, "--store", tmp_path / "runs.db")
    assert (said.code, said.err.strip()) == (130, "truerisk: interrupted; nothing was kept.")
    assert not (tmp_path / "runs.db").exists()


def done(store):
    """How many results a store holds, before it is one, too."""
    from truerisk.core.errors import BadStore
    from truerisk.study.status import status_of
    from truerisk.study.store import Store

    try:
        with Store.read(store) as opened:
            return status_of(opened).done
    except BadStore:
        return 0


def test_status_is_json(call, spec, tmp_path):
    """One document with a schema."""
    store = tmp_path / "runs.db"
    call("study", "run", spec, "--store", store)
    content = json.loads(call("study", "status", "--store", store, "--json").out)
    assert content["schema"] == "truerisk.study-status/2"
    assert (content["waiting"], content["held_by"], content["errors"]) == (0, None, [])


def test_export_and_retry_say_json(call, spec, tmp_path):
    """What was written where, and how many replicates come again: one document each."""
    store = tmp_path / "runs.db"
    call("study", "run", spec, "--store", store)
    exported = json.loads(call("study", "export", "--store", store, "--json").out)
    assert exported == {
        "schema": "truerisk.study-export/2",
        "file": str(tmp_path / "runs.csv"),
        "format": "csv",
        "rows": 2,
    }
    (tmp_path / "circle").symlink_to("circle")
    said = call("study", "export", "--store", store, "--out", tmp_path / "circle")
    assert said.code == 2
    assert "be written" in said.err
    retried = json.loads(call("study", "retry", "--failed", "--store", store, "--json").out)
    assert retried == {"schema": "truerisk.study-retry/2", "replicates": 0}
