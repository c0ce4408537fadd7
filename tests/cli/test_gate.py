"""A gate on the honest end of an interval."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import TRUERISK, write_csv

SEARCH = """
import truerisk as tr
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

def search(scoring=None):
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, cv=5, scoring=scoring)

def accuracy():
    return search()

def f1():
    return search("f1")

def auc():
    return search("roc_auc")

def honest(scoring=None):
    return tr.HonestSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-6]}, scoring=scoring)

def honest_brier():
    return honest("brier")
"""
ACTION = Path(__file__).parents[2] / "action.yml"
CANCER = ("--dataset", "breast-cancer")


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    """Return the place of a function of the code above."""
    path = tmp_path_factory.mktemp("gate") / "search.py"
    path.write_text(SEARCH)
    return lambda name: f"{path}:{name}"


@pytest.mark.parametrize(
    ("command", "place", "name"),
    [
        (("assess", "--models", "lda"), ("learners", "lda", "risk"), "zero-one risk"),
        (("validate", "--model", "lda", "--replicates", 0), ("risk",), "log risk"),
        (("audit", "accuracy", "--allow-import"), ("honest",), "error"),
    ],
    ids=["assess", "validate", "audit"],
)
def test_fail_above_judges_the_honest_end_of_the_interval(call, search, command, place, name):
    """A bound between the value and the end of its interval is missed, one beyond it is kept."""
    words = [search(word) if word == "accuracy" else word for word in (*command, *CANCER)]
    risk = call(*words, "--json").content
    for key in place:
        risk = risk[key]
    value, high = risk["value"], risk["interval"]["high"]
    if command[0] == "audit":  # of an accuracy; the bound is of 1 − accuracy
        value, high = 1 - value, 1 - risk["interval"]["low"]
    missed = call(*words, "--fail-above", (value + high) / 2, "--json")
    assert missed.code == 4
    assert f"bound missed: {name}" in missed.err
    assert f"--fail-above {(value + high) / 2}" in missed.content["command"]
    kept = call(*words, "--fail-above", high + 1e-6)
    assert kept.code == 0
    assert "bound kept" in kept.err
    quoted = call(*words, "--fail-above", "0.9999999").err
    assert quoted.splitlines()[-1].endswith("; --fail-above 0.9999999.")


def test_min_score_judges_the_lower_end_of_a_score(call):
    """On its own scale; it is measured because it is bounded."""
    words = ["assess", *CANCER, "--models", "lda"]
    learners = call(*words, "--scoring", "zero-one,auc", "--json").content["learners"]
    score = learners["lda"]["risk"]["scores"]["auc"]
    low, value = score["interval"]["low"], score["value"]
    for bound, error, code in (((low + value) / 2, 1, 4), (low - 1e-6, 0.5, 0), (low - 1e-6, 0, 4)):
        assert call(*words, "--min-score", f"auc={bound}", "--fail-above", error).code == code


VALIDATE = ("validate", "--model", "lda", "--replicates", 0)


@pytest.mark.parametrize(
    ("command", "kept", "missed"),
    [
        pytest.param(("audit", "auc"), ["roc_auc=.8"], "roc_auc=.999", id="name of scikit-learn"),
        pytest.param(("audit", "auc"), ["auc=.8"], "auc=.999", id="name of its own"),
        pytest.param(VALIDATE, ["auc=.9", "average-precision=.9"], "auc=.9999", id="validation"),
    ],
)
def test_min_score_of_a_search_and_a_validation_is_kept_or_missed(
    call, search, command, kept, missed
):
    """The score of a search goes by scikit-learn's name or our own.

    A validation accepts bounds on its ranking scores, for example auc.
    """
    words = [*command, *CANCER]
    if command[0] == "audit":
        words = ["audit", search(command[1]), "--allow-import", *CANCER]
    assert call(*words, *(word for one in kept for word in ("--min-score", one))).code == 0
    assert call(*words, "--min-score", missed).code == 4


@pytest.mark.parametrize(
    ("score", "more"),
    [
        ("f1", []),
        ("f1", ["--level", "nested"]),
        ("f1", ["--groups", "site"]),
        ("auc", ["--level", "nested"]),
        ("auc", ["--groups", "site"]),
    ],
)
def test_min_score_is_kept_where_the_score_has_an_interval(call, search, tmp_path, score, more):
    """F1 and AUC keep a bound below their interval, with groups too, at every level that tests."""
    drawn = np.random.default_rng(0).normal(size=(160, 3)).round(3).tolist()
    rows = [(a, b, i % 40 / 100, int(a + b + c > 0)) for i, (a, b, c) in enumerate(drawn)]
    path = write_csv(tmp_path / "rows.csv", "a,b,site,y", rows)
    words = ["audit", search(score), path, "--target", "y", "--allow-import", *more]
    low = call(*words, "--json").content["honest"]["interval"]["low"]
    kept = call(*words, "--min-score", f"{score}={low - 0.001}")
    assert kept.code == 0
    assert "bound kept" in kept.err
    assert "interval=" not in kept.out
    assert call(*words, "--min-score", f"{score}={low + 0.001}").code == 4


def test_positive_makes_the_score_of_an_unfitted_search_that_of_a_class(call, search, tmp_path):
    """F1 of words: without --positive scikit-learn looks for the label 1, which y lacks."""
    rows = [(i % 7 + 4 * (i % 2), "ill" if i % 2 else "well") for i in range(120)]
    path = write_csv(tmp_path / "rows.csv", "a,y", rows)
    words = ["audit", search("f1"), path, "--target", "y", "--allow-import"]
    assert call(*words, "--positive", "ill", "--min-score", "f1=.5").code == 0


@pytest.mark.parametrize(("name", "risk"), [("honest", "zero-one"), ("honest_brier", "brier")])
def test_fail_above_bounds_the_error_of_an_honest_search(call, search, name, risk):
    """It is a loss, so that the bound is of the upper end; as a score it is refused."""
    words = ["audit", search(name), "--allow-import", *CANCER, "--level", "pairs"]
    kept = call(*words, "--fail-above", 5)
    assert kept.code == 0
    assert f"bound kept: {risk} risk" in kept.err
    assert call(*words, "--fail-above", 0.001).code == 4
    assert call(*words, "--min-score", f"{risk}=.5").code == 2


def test_bound_of_what_has_no_interval_is_missed(call, search, tmp_path):
    """R² of a validation has none, and a correction of scores proves nothing."""
    rows = [(i % 11, (i % 11) * 2 + i % 3) for i in range(80)]
    path = write_csv(tmp_path / "rows.csv", "a,y", rows)
    words = ["validate", path, "--target", "y", "--target-type", "regression", "--model", "ridge"]
    missed = call(*words, "--replicates", 0, "--min-score", "r2=.1")
    assert missed.code == 4
    assert "bound missed: r2 has no interval" in missed.err
    words = ["audit", search("accuracy"), "--allow-import", *CANCER, "--level", "scores"]
    missed = call(*words, "--fail-above", 0.9)
    assert missed.code == 4
    assert "has no interval, so nothing shows that it keeps --fail-above 0.9" in missed.err


def test_dry_run_says_that_it_judges_no_bound(call):
    words = ["assess", *CANCER, "--models", "lda", "--dry-run"]
    said = call(*words, "--fail-above", ".2500001", "--min-score", "auc=.75")
    assert said.code == 0
    note = "note: a dry run judges no bound: --fail-above 0.2500001, --min-score auc=0.75"
    assert note in said.err
    assert "bound" not in call(*words).err


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the action runs in bash")
def test_action_runs_the_gate(search, tmp_path):
    """Its last step as a runner calls it, names with blanks too; its exit code is the command's."""
    action = ACTION.read_text()
    script = textwrap.dedent(action.rpartition("run: |\n")[2])
    names = ("SEARCH", "LOSSES", "PREDICTIONS", "DATA", "TARGET", "POSITIVE", "BOUNDS", "REPORT")
    for name in names:
        assert f"{name}: ${{{{ inputs.{name.lower()} }}}}" in action
    command = tmp_path / "bin" / "truerisk"
    command.parent.mkdir()
    command.write_text(f'#!/bin/bash\nexec {sys.executable} {" ".join(TRUERISK)} "$@"\n')
    command.chmod(0o755)
    rows = [(i % 7 + 5 * (i % 2), i % 2) for i in range(60)]
    table = {"DATA": write_csv(tmp_path / "my rows.csv", "a,y", rows), "TARGET": "y"}
    risks = [(round(0.3 + 0.4 * (i % 2) + 0.25 * (i % 5 == 0), 2), i % 2) for i in range(60)]
    rated = {
        "PREDICTIONS": "p",
        "DATA": write_csv(tmp_path / "my risks.csv", "p,y", risks),
        "TARGET": "y",
    }
    errors = [(int(i < 9), i % 2) for i in range(60)]
    losses = {"LOSSES": write_csv(tmp_path / "my losses.csv", "b,c", errors)}
    tuned = {**table, "SEARCH": search("accuracy")}
    for inputs, bound, code in (
        (tuned, "--fail-above 0.9", 0),
        (tuned, "--fail-above 0.0001", 4),
        ({**table, "SEARCH": search("f1"), "POSITIVE": "1"}, "--min-score f1=0.1", 0),
        (table, "--models lda\n--fail-above 0.9", 0),
        ({**table, "POSITIVE": "1"}, "--models lda --min-score auc=0.9999", 4),
        (table, "--models lda", 2),
        (losses, "--scoring zero-one --fail-above 0.5", 0),
        (losses, "--scoring zero-one --fail-above 0.01", 4),
        ({**rated, "POSITIVE": "1"}, "--min-score auc=0.5", 0),
        (rated, "--fail-above 0.01", 4),
        (rated, "", 2),
        ({**losses, "PREDICTIONS": "p"}, "--fail-above 0.5", 2),
        ({**losses, "TARGET": "y"}, "", 2),
    ):
        report = tmp_path / "page.html"
        report.unlink(missing_ok=True)
        environment = {
            **os.environ,
            **dict.fromkeys(names, ""),
            "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
            **{name: str(value) for name, value in inputs.items()},
            "BOUNDS": f"--seed 0\n{bound}\n",
            "REPORT": str(report),
        }
        words = ["bash", "-e", "-c", script]
        run = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == code, run.stderr
        assert report.exists() == (code != 2)
        if code == 2:
            assert any(
                reason in run.stderr
                for reason in ("needs a bound", "exclude each other", "No such option '--target'")
            )
