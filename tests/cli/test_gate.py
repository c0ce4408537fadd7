"""A gate on the honest end of an interval."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

SEARCH = """
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

def accuracy():
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, cv=5)

def f1():
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, cv=5, scoring="f1")

def auc():
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 9]}, cv=5, scoring="roc_auc")
"""
ACTION = Path(__file__).parents[2] / "action.yml"


@pytest.fixture
def search(tmp_path):
    """The place of a function of the code above."""
    (tmp_path / "search.py").write_text(SEARCH)
    return lambda name: f"{tmp_path / 'search.py'}:{name}"


@pytest.mark.parametrize("command", ["assess", "validate", "audit"])
def test_the_honest_end_of_the_interval_is_judged(call, search, command):
    """A bound between the value and the end of its interval is missed, one beyond it is kept."""
    words = {
        "assess": ["assess", "--models", "lda"],
        "validate": ["validate", "--model", "lda", "--replicates", 0],
        "audit": ["audit", search("accuracy"), "--allow-import"],
    }[command]
    words += ["--dataset", "breast-cancer"]
    content = call(*words, "--json").content
    risk = {
        "assess": lambda: content["learners"]["lda"]["risk"],
        "validate": lambda: content["risk"],
        "audit": lambda: content["honest"],
    }[command]()
    value, high = risk["value"], risk["interval"]["high"]
    if command == "audit":  # of an accuracy; the bound is of 1 − accuracy
        value, high = 1 - value, 1 - risk["interval"]["low"]
    missed = call(*words, "--fail-above", (value + high) / 2, "--json")
    assert missed.code == 4
    name = {"assess": "zero-one risk", "validate": "log risk", "audit": "error"}[command]
    assert f"bound missed: {name}" in missed.err
    assert f"--fail-above {(value + high) / 2}" in missed.content["command"]
    kept = call(*words, "--fail-above", high + 1e-6)
    assert kept.code == 0
    assert "bound kept" in kept.err


def test_a_score_is_judged_by_its_lower_end(call):
    """On its own scale; it is measured because it is bounded."""
    words = ["assess", "--dataset", "breast-cancer", "--models", "lda"]
    score = call(*words, "--scoring", "zero-one,auc", "--json").content["learners"]["lda"]["risk"][
        "scores"
    ]
    low, value = score["auc"]["interval"]["low"], score["auc"]["value"]
    assert call(*words, "--min-score", f"auc={(low + value) / 2}").code == 4
    assert call(*words, "--min-score", f"auc={low - 1e-6}", "--fail-above", 0.5).code == 0
    assert call(*words, "--min-score", f"auc={low - 1e-6}", "--fail-above", 0).code == 4


def test_the_score_of_a_search_is_judged(call, search):
    """By its own name, or the word that it has here."""
    words = ["audit", search("auc"), "--allow-import", "--dataset", "breast-cancer"]
    for name in ("roc_auc", "auc"):
        assert call(*words, "--min-score", f"{name}=.8").code == 0
        assert call(*words, "--min-score", f"{name}=.999").code == 4


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
def test_gate_passes_where_the_score_has_an_interval(call, search, tmp_path, score, more):
    """F1 and AUC keep a bound below their interval, with groups too, at every level that tests."""
    drawn = np.random.default_rng(0).normal(size=(160, 3)).round(3).tolist()
    rows = [f"{a},{b},{i % 40 / 100},{int(a + b + c > 0)}" for i, (a, b, c) in enumerate(drawn)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,site,y", *rows]))
    words = ["audit", search(score), tmp_path / "rows.csv", "--target", "y", "--allow-import"]
    words += more
    low = call(*words, "--json").content["honest"]["interval"]["low"]
    kept = call(*words, "--min-score", f"{score}={low - 0.001}")
    assert kept.code == 0
    assert "bound kept" in kept.err
    assert "interval=" not in kept.out
    assert call(*words, "--min-score", f"{score}={low + 0.001}").code == 4


def test_positive_makes_the_score_of_an_unfitted_search_that_of_a_class(call, search, tmp_path):
    """F1 of words: without --positive scikit-learn looks for the label 1, which y lacks."""
    rows = [f"{i % 7 + 4 * (i % 2)},{'ill' if i % 2 else 'well'}" for i in range(120)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,y", *rows]))
    words = ["audit", search("f1"), tmp_path / "rows.csv", "--target", "y", "--allow-import"]
    assert call(*words, "--positive", "ill", "--min-score", "f1=.5").code == 0
    refused = call(*words, "--positive", "sick")
    assert refused.code == 3
    assert "--positive sick is no class of the target" in refused.err


def test_what_a_search_does_not_score_is_refused_before_it_is_fitted(call, search):
    """With what to do; nothing was fitted by then."""
    words = ["audit", search("auc"), "--allow-import", "--dataset", "breast-cancer"]
    for bound, sentence in (
        (("--min-score", "f1=.5"), "f1: this score is not measured here; measured are: roc_auc"),
        (("--fail-above", ".5"), "roc_auc is a score, of which more is better"),
        (("--min-score", "auc=75"), "auc=75: this score is 1 at most"),
        (("--min-score", "auc=.5"), "measured are: accuracy. An audit bounds the score"),
    ):
        words[1] = search("accuracy" if "accuracy" in sentence else "auc")  # one has no `scoring`
        refused = call(*words, *bound)
        assert refused.code == 2
        assert sentence in refused.err
        assert "fitting it on these rows" not in refused.err


@pytest.mark.parametrize("scoring", [None, "zero-one", "brier"])
def test_the_error_of_an_honest_search_is_bounded(call, tmp_path, scoring):
    """It is a loss, so that the bound is of the upper end; as a score it is refused."""
    factory = tmp_path / "honest.py"
    factory.write_text(
        "from sklearn.naive_bayes import GaussianNB\nimport truerisk as tr\n\n"
        "def search():\n"
        '    grid = {"var_smoothing": [1e-9, 1e-6]}\n'
        f"    return tr.HonestSearchCV(GaussianNB(), grid, scoring={scoring!r})\n"
    )
    words = ["audit", f"{factory}:search", "--allow-import", "--dataset", "breast-cancer"]
    words += ["--level", "pairs"]
    kept = call(*words, "--fail-above", 5)
    assert kept.code == 0
    assert f"bound kept: {scoring or 'zero-one'} risk" in kept.err
    assert call(*words, "--fail-above", 0.001).code == 4
    assert call(*words, "--min-score", f"{scoring or 'zero-one'}=.5").code == 2


def test_of_numbers_the_explained_share_is_bounded(call, tmp_path):
    """R² of a validation has no interval, so its bound is missed; another score is refused."""
    rows = "".join(f"{i % 11},{(i % 11) * 2 + i % 3}\n" for i in range(80))
    (tmp_path / "rows.csv").write_text("a,y\n" + rows)
    words = ["validate", tmp_path / "rows.csv", "--target", "y", "--target-type", "regression"]
    words += ["--model", "ridge", "--replicates", 0]
    missed = call(*words, "--min-score", "r2=.1")
    assert missed.code == 4
    assert "bound missed: r2 has no interval" in missed.err
    assert call(*words, "--min-score", "auc=.1").code == 2


def test_validation_bounds_what_it_ranks_by(call):
    """The AUC of the section on discrimination."""
    words = ["validate", "--dataset", "breast-cancer", "--model", "lda", "--replicates", 0]
    assert call(*words, "--min-score", "auc=.9", "--min-score", "average-precision=.9").code == 0
    assert call(*words, "--min-score", "auc=.9999").code == 4


def test_without_an_interval_the_gate_stays_closed(call, search):
    """A correction of scores proves nothing."""
    words = ["audit", search("accuracy"), "--allow-import", "--dataset", "breast-cancer"]
    missed = call(*words, "--level", "scores", "--fail-above", 0.9)
    assert missed.code == 4
    assert "has no interval, so nothing shows that it keeps --fail-above 0.9" in missed.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--min-score", "auc"], "'auc' is no bound; write a score as in auc=.75"),
        (["--min-score", "=.75"], "'=.75' is no bound"),
        (["--min-score", "auc=high"], "'auc=high' is no bound"),
        (["--min-score", "auc=nan"], "'auc=nan' is no bound"),
        (["--min-score", "auc=.5=.4"], "'auc=.5=.4' is no bound"),
        (["--min-score", "auc=.9", "--min-score", "auc=.1"], "auc has two bounds"),
        (["--fail-above", "nan"], "nan is no bound; write a risk as in .25"),
        (["--fail-above", "inf"], "inf is no bound"),
        (["--scoring", "auc", "--fail-above", ".1"], "write --min-score auc=NUMBER"),
        (["--min-score", "log=.1"], "--min-score log: this score is not measured here"),
        (["--min-score", "aux=.1"], "aux"),
        (["--min-score", "auc=75"], "auc=75: this score is 1 at most, so that nothing keeps"),
        (["--validate", "--clip", "3"], "'--clip': 3.0 is not in the range 0<x<0.5"),
    ],
)
def test_what_bounds_nothing_is_refused(call, monkeypatch, words, sentence):
    """With the option as it would be right, before any fit, and by a dry run alike."""
    words = ["assess", "--dataset", "breast-cancer", "--models", "lda", *words]
    monkeypatch.setattr("truerisk.cli.bodies.assess.assess_learners", None)
    for refused in (call(*words), call(*words, "--dry-run")):
        assert refused.code == 2
        assert sentence in refused.err


def test_bound_is_quoted_as_it_was_given(call):
    """A bound of 1.0000001 is not quoted as 1."""
    words = ["assess", "--dataset", "breast-cancer", "--models", "lda"]
    refused = call(*words, "--min-score", "auc=1.0000001")
    assert "auc=1.0000001: this score is 1 at most" in refused.err
    kept = call(*words, "--fail-above", "0.9999999")
    assert kept.err.splitlines()[-1].endswith("; --fail-above 0.9999999.")


def test_dry_run_says_that_it_judges_no_bound(call):
    """The bounds are named as they were given."""
    words = ["assess", "--dataset", "breast-cancer", "--models", "lda", "--dry-run"]
    said = call(*words, "--fail-above", ".2500001", "--min-score", "auc=.75")
    assert said.code == 0
    note = "note: a dry run judges no bound: --fail-above 0.2500001, --min-score auc=0.75"
    assert note in said.err
    assert "bound" not in call(*words).err


def test_a_score_that_was_not_measured_is_refused(call):
    """Those that were measured are named."""
    words = ["validate", "--dataset", "breast-cancer", "--model", "lda", "--replicates", 0]
    refused = call(*words, "--min-score", "f1=.5")
    assert refused.code == 2
    assert "--min-score f1: this score is not measured here; measured are: auc" in refused.err
    assert "is 1 at most" in call(*words, "--min-score", "auc=75").err
    assert "fits" not in refused.err


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the action runs in bash")
def test_the_action_runs_the_gate(search, tmp_path):
    """Its last step as a runner calls it, names with blanks too; its exit code is the command's."""
    action = ACTION.read_text()
    script = textwrap.dedent(action.rpartition("run: |\n")[2])
    for name in ("SEARCH", "DATA", "TARGET", "POSITIVE", "BOUNDS", "REPORT"):
        assert f"{name}: ${{{{ inputs.{name.lower()} }}}}" in action
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "truerisk").write_text(
        f'#!/bin/bash\nexec {sys.executable} -m truerisk "$@"\n'
    )
    (tmp_path / "bin" / "truerisk").chmod(0o755)
    rows = tmp_path / "my rows.csv"
    rows.write_text("a,y\n" + "".join(f"{i % 7 + 5 * (i % 2)},{i % 2}\n" for i in range(60)))
    for score, positive, bound, code in (
        ("accuracy", "", "--fail-above 0.9", 0),
        ("accuracy", "", "--fail-above 0.0001", 4),
        ("f1", "1", "--min-score f1=0.1", 0),
    ):
        environment = {
            **os.environ,
            "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "SEARCH": search(score),
            "DATA": str(rows),
            "TARGET": "y",
            "POSITIVE": positive,
            "BOUNDS": f"--seed 0\n{bound}\n",
            "REPORT": str(tmp_path / "page.html"),
        }
        run = subprocess.run(
            ["bash", "-e", "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == code, run.stderr
        assert (tmp_path / "page.html").exists()
