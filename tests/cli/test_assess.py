"""`truerisk assess` from a file to a conclusion."""

import json
import os
import re
import signal
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from tests.cli.conftest import QUICK, timeless, with_columns, write_csv
from tests.support.cut_off import begun

import truerisk as tr
from truerisk.assessment.assess import Interrupted


@pytest.fixture(scope="module")
def assess(call, table):
    """Assess the small table; later options override the quick ones."""

    def called(*words, file=table):
        return call("assess", file, "--target", "y", "--models", "lda,tree", *QUICK, *words)

    return called


def test_assess_prints_a_table_and_notes_on_stderr(assess):
    """Title, heads, one line per learner, what the columns mean, and a conclusion that ends."""
    said = assess()
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0] == "zero-one risk (lower is better) of 2 tuned learners on 30 rows"
    assert re.split(r"\s{2,}", lines[2]) == [
        *("learner", "chosen setting", "selected", "honest"),
        *("interval", "best?", "optimism", "fits", "time"),
    ]
    assert {lines[4].split()[0], lines[5].split()[0]} == {"lda", "tree"}
    assert lines[7].startswith("selected: the risk that tuning minimised")
    assert "Use " in said.out
    assert ".\n\nserious: 'a' by itself predicts y (almost) without error." in said.out
    assert said.out.endswith("[column-predicts-alone]\n")
    assert max(map(len, lines)) <= 100
    assert said.err == "note: target 'y' has 2 classes ('u' 15, 'v' 15): classification\n"
    long = assess("--models", "svm").out
    assert "C=" in long
    assert max(map(len, long.splitlines())) <= 100


SAME = {
    "usual": ((), {}),
    "seed": (("--seed", 3), {"random_state": 3}),
    "score": (("--scoring", "auc"), {"scoring": "auc"}),
    "score of sets": (("--scoring", "f1_micro"), {"scoring": "f1_micro"}),
    "loops": (
        ("--cv", "2x2-fold,loo", "--outer", "loo", "--rule", "1-se"),
        {"outer": "loo", "cv": ["2x2-fold", "loo"], "rule": "1-se"},
    ),
    "groups": (("--groups", "g"), {}),
    "numbers": (("--models", "ridge,tree"), {"learners": ["ridge", "tree"]}),
}


@pytest.mark.parametrize("case", SAME)
def test_assess_is_that_of_python(assess, table, numbers, tmp_path, case):
    """The command adds nothing; groups reach every split and the command line of the page."""
    words, given = SAME[case]
    groups = "g" if case == "groups" else None
    path = with_columns(tmp_path / "t.csv", table, g=lambda i: i % 9) if groups else table
    path = numbers if case == "numbers" else path
    said = assess(*words, "--json", file=path).content
    read = tr.datasets.read_table(path, "y", groups=groups)
    given = {"cv": ["2-fold"], "outer": "3-fold", "groups": read.groups} | given
    found = tr.assess(given.pop("learners", ["lda", "tree"]), read.X, read.y, **given)
    told = {"source": said["source"], "command": said["command"]}
    found = replace(found, column_names=read.feature_names, **told)
    assert read.feature_names == ("a", "b")
    assert timeless(said) == timeless(json.loads(found.to_json()))
    assert " ".join(map(str, words)) in said["command"]
    fits = assess(*words, "--dry-run", "--json", file=path).content["fits"]
    assert fits == sum(one.n_fits for one in found.learners.values())


def test_assess_takes_four_usual_learners(call, table):
    said = call("assess", table, "--target", "y", "--dry-run", "--json").content
    assert [each["learner"] for each in said["learners"]] == ["knn", "lda", "logistic", "tree"]


@pytest.mark.parametrize(
    "words",
    [
        ("--models", "knn,lda,tree"),
        ("--models", "tree", "--cv", "2x2-fold"),
        ("--models", "lda", "--outer", "monte-carlo", "--cv", "holdout"),
        ("--models", "lda,knn", "--outer", "loo", "--rule", "1-se", "--cv", "3-fold"),
        ("--scoring", "auc"),
        ("--jobs", "2"),
    ],
)
def test_dry_run_counts_the_fits_of_a_run(assess, words):
    expected = assess(*words, "--dry-run", "--json").content
    found = assess(*words, "--json").content
    assert expected["schema"] == "truerisk.forecast/2"
    announced = {each["learner"]: each["fits"] for each in expected["learners"]}
    assert announced == {name: one["n_fits"] for name, one in found["learners"].items()}
    assert expected["fits"] == sum(announced.values())
    assert all(0 < each["seconds"] < 600 for each in expected["learners"])


def test_dry_run_prints_a_line_per_learner_and_writes_nothing(assess, tmp_path):
    places = tmp_path / "out.html", tmp_path / "figures", tmp_path / "a.db"
    options = zip(("--report", "--figures", "--store"), places, strict=True)
    said = assess("--dry-run", *(word for option in options for word in option))
    heads, _, *lines = said.out.splitlines()
    assert heads.split() == ["learner", "settings", "fits", "about"]
    fits = {line.split()[0]: int(line.split()[-3]) for line in lines}
    assert fits["all"] == fits["lda"] + fits["tree"]
    for place in places[:2]:
        assert f"note: a dry run writes nothing to {place}" in said.err
    assert f"a dry run does not look into {places[2]}" in said.err
    assert not [*tmp_path.iterdir()]


def test_very_many_fits_are_announced(assess, monkeypatch):
    monkeypatch.setattr("truerisk.cli.bodies.assess.MANY_FITS", 500)
    said = assess("--models", "lda", "--outer", "loo", "--cv", "3-fold")
    note = "note: 712 fits are planned; 5-fold, the usual way, needs 111. --dry-run estimates the"
    assert note in said.err
    assert "fits are planned" not in assess("--models", "lda", "--outer", "2-fold").err


def test_refusal_of_a_learner_comes_before_any_is_tested(assess):
    tested = []
    with tr.core.progress.listen(lambda p: tested.append(p.stage)):
        assert assess("--models", "tree,svm", "--scoring", "log").code == 1
    assert not any("testing" in stage for stage in tested)


@pytest.mark.parametrize("is_partial", [True, False])
def test_interrupted_assessment_prints_what_was_done(monkeypatch, assess, is_partial):
    words = {"cv": ["2-fold"], "outer": "2-fold"}
    done = tr.assess(["tree"], *tr.datasets.make_simple(20), **words) if is_partial else None

    def stop(*_, **__):
        raise Interrupted(done, ["lda"])

    monkeypatch.setattr("truerisk.cli.bodies.assess.assess_learners", stop)
    said = assess("--json")
    assert said.code == 130
    if is_partial:
        assert list(said.content["learners"]) == ["tree"]
        assert said.sentences == ["interrupted: lda not assessed; what was done follows."]
    else:
        assert said.out == ""
        assert said.sentences[-1] == "truerisk: interrupted; nothing was kept."


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [(), ("--jobs", "1")])
def test_ctrl_c_keeps_what_was_done(table, jobs):
    """A real SIGINT while the second learner is tested leaves the first one on stdout."""
    words = [*("assess", table, "--target", "y", "--models", "lda,forest", "--json"), *jobs]
    words += ["--cv", "holdout", "--outer", "loo"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    words = ["-m", "truerisk.cli", *map(str, words)]
    with begun(*words, **pipes, start_new_session=True) as process:
        remarks = []
        for line in process.stderr:
            remarks.append(line)
            if line.startswith("forest: testing"):
                os.killpg(process.pid, signal.SIGINT)
                break
        out, rest = process.communicate(timeout=60)
    assert process.returncode == 130, [*remarks, rest]
    content = json.loads(out)
    assert list(content["learners"]) == ["lda"]
    assert content["not_assessed"] == ["forest"]
    assert "Not assessed, because interrupted: forest." in content["conclusion"]
    assert "interrupted: forest not assessed" in rest
    assert "Traceback" not in rest


@pytest.mark.parametrize(
    ("asked", "have"), [("cheap", None), ("all", ["lda", "tree"]), ("tree", ["tree"])]
)
def test_learning_curve_is_of_the_learners_that_are_named(assess, asked, have):
    """The note of the fits, the forecast and the sum of what was made agree."""
    words = ("--learning-curve", asked)
    planned = assess(*words, "--dry-run", "--json").content["fits"]
    done = assess(*words, "--json")
    learners = done.content["learners"]
    assert sum(one["n_fits"] for one in learners.values()) == planned
    drawn = sorted(name for name, one in learners.items() if one["learning_curve"] is not None)
    assert drawn == (have or ["lda"])
    if asked == "cheap":
        assert f"note: {planned:,} fits are planned, " in done.err
        assert "makes each by itself" in learners["tree"]["no_learning_curve"]


def test_assess_notes_how_text_and_gaps_are_prepared(assess, tmp_path):
    rng = np.random.default_rng(2)
    rows = [("red" if i % 2 else "blue", rng.random(), "uv"[i % 2]) for i in range(30)]
    rows = [(word, "" if i % 9 == 0 else x, label) for i, (word, x, label) in enumerate(rows)]
    path = write_csv(tmp_path / "t.csv", "c,a,y", rows)
    said = assess("--models", "knn,tree,lda,logistic", "--json", file=path)
    assert "note: 1 text column ('c') is one-hot encoded inside the folds" in said.err
    assert re.search(r"note: \d+ empty cells \(\d+\.\d %\) in 1 column are imputed", said.err)
    assert all(one["risk"]["value"] == 0 for one in said.content["learners"].values())
