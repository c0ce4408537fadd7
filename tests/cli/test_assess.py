"""`truerisk assess` from a file to a conclusion."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from tests.support.cut_off import begun

import truerisk as tr
from truerisk.assessment.assess import Interrupted


def timeless(content):
    """The document without its clock readings."""
    if isinstance(content, dict):
        return {name: timeless(v) for name, v in content.items() if name != "seconds"}
    if isinstance(content, list):
        return [timeless(value) for value in content]
    return content


@pytest.fixture
def assess(call, table, quick):
    """Assess the small table; later options override the quick ones."""

    def called(*words, file=table):
        return call("assess", file, "--target", "y", "--models", "lda,tree", *quick, *words)

    return called


def test_the_table_is_on_stdout_and_notes_are_on_stderr(assess):
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


def test_the_numbers_are_those_of_python(assess, table):
    """The command adds nothing: its JSON holds what tr.assess gives for the same words."""
    said = assess("--json").content
    read = tr.datasets.read_table(table, "y")
    found = tr.assess(["lda", "tree"], read.X, read.y, cv=["2-fold"], outer="3-fold")
    found = replace(
        found, source=said["source"], command=said["command"], column_names=read.feature_names
    )
    assert timeless(said) == timeless(json.loads(found.to_json()))


def test_four_usual_learners_are_the_default(call, table):
    """Without --models four learners are assessed, those of the task."""
    words = ("assess", table, "--target", "y", "--dry-run", "--json")
    said = call(*words).content
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
def test_a_dry_run_counts_what_a_run_does(assess, words):
    """Learner by learner, the announced fits are the fits that are then reported."""
    expected = assess(*words, "--dry-run", "--json").content
    found = assess(*words, "--json").content
    assert expected["schema"] == "truerisk.forecast/2"
    announced = {each["learner"]: each["fits"] for each in expected["learners"]}
    assert announced == {name: one["n_fits"] for name, one in found["learners"].items()}
    assert expected["fits"] == sum(announced.values())
    assert all(0 < each["seconds"] < 600 for each in expected["learners"])


def test_a_dry_run_as_a_table(assess):
    """One line per learner and one for all, and nothing is fitted for long."""
    said = assess("--dry-run")
    heads, _, *lines = said.out.splitlines()
    assert heads.split() == ["learner", "settings", "fits", "about"]
    fits = {line.split()[0]: int(line.split()[-3]) for line in lines}
    assert fits["all"] == fits["lda"] + fits["tree"]


def test_workers_change_no_number(assess):
    """`--jobs 2` gives the document of no jobs, seconds apart."""
    assert timeless(assess("--json", "--jobs", "2").content) == timeless(assess("--json").content)


def test_the_seed_draws_the_folds(assess):
    """The same seed gives the same document, another seed other folds."""
    one, again, other = [assess("--json", "--seed", seed).content for seed in (1, 1, 2)]
    assert timeless(one) == timeless(again)
    plans = [d["learners"]["lda"]["risk"]["plan_fingerprint"] for d in (one, other)]
    assert plans[0] != plans[1]
    assert (one["seed"], other["seed"]) == (1, 2)


def test_a_regression_file(assess, numbers):
    """Numbers are regressed on, by default with squared loss, against the mean."""
    said = assess("--models", "ridge,tree", "--json", file=numbers).content
    assert (said["scoring"], said["best"]) == ("squared", "ridge")
    assert said["baseline_rule"] == "always answering the mean"
    y = np.loadtxt(numbers, delimiter=",", skiprows=1)[:, 2]
    assert said["baseline"] == pytest.approx(y.var())
    assert said["learners"]["ridge"]["risk"]["value"] < said["baseline"]


def test_auc_is_told_with_its_interval(assess):
    """AUC is AUC; where no interval is justified, the conclusion says why."""
    said = assess("--scoring", "auc", "--json").content
    assert (said["scoring"], said["baseline"]) == ("auc", 0.5)
    risk = said["learners"]["lda"]["risk"]
    assert risk["value"] == 1  # a column predicts the target by itself
    assert risk["interval"]["method"] == "logit-cv"
    said = assess("--scoring", "f1_micro", "--json").content
    assert said["learners"]["lda"]["risk"]["interval"] is None
    assert "no interval, for loss 'f1_micro' has no per-row losses" in said["conclusion"]


def test_the_one_se_rule_chooses_the_simplest_good_setting(assess):
    """`--rule 1-se` reaches the tuning, all around, and is said in the result."""
    said = assess("--rule", "1-se", "--json").content
    assert {one["curve"]["rule"] for one in said["learners"].values()} == {"1-se"}
    assert "rule 1-se" in assess("--rule", "1-se").out


def test_outer_and_method_reach_both_loops(assess):
    """Leave-one-out outside, repeated folds inside."""
    said = assess("--outer", "loo", "--cv", "2x2-fold", "--json").content
    assert (said["tested_by"], said["tuned_by"]) == ("loo", "2x2-fold")
    outer = said["learners"]["lda"]["outer"]
    assert [fold["n_test"] for fold in outer] == [1] * 30


def test_very_many_fits_are_announced(assess, monkeypatch):
    """Before they are made: how many, how many the usual ones are, and what says how long."""
    monkeypatch.setattr("truerisk.cli.bodies.assess.MANY", 500)
    said = assess("--models", "lda", "--outer", "loo", "--cv", "3-fold")
    note = "note: 712 fits are planned; 5-fold, the usual way, needs 111. --dry-run estimates the"
    assert note in said.err
    assert "fits are planned" not in assess("--models", "lda", "--outer", "2-fold").err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--models", "lda,tre"), "did you mean 'tree'?"),
        (("--models", ","), "--models names no learner"),
        (("--cv", "10-fol"), "did you mean '10-fold'?"),
        (("--cv", "0-fold"), "k=0: K-fold cross-validation needs a whole number K >= 2"),
        (("--outer", "lo"), "did you mean 'loo'?"),
        (("--scoring", "acu"), "did you mean 'auc'?"),
        (("--rule", "1-s"), "did you mean '1-se'?"),
        (("--scoring", "qqqqqq"), "there is no scoring 'qqqqqq'. Known: zero-one"),
    ],
)
def test_unknown_words_leave_with_2(assess, words, hint):
    """The nearest word is offered."""
    said = assess(*words)
    assert (said.code, said.out) == (2, "")
    assert hint in said.err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--models", "lda,ridge"), "ridge does regression only"),
        (("--models", "tree,svm", "--scoring", "log"), "svm: SVC gives no probabilities"),
        (("--outer", "apparent"), "'apparent' cannot be the outer method"),
        (("--cv", "three-way"), "'three-way' cannot be the inner method"),
        (("--scoring", "squared"), "loss 'squared' is not defined for classification"),
    ],
)
def test_refusals_leave_with_1(assess, words, reason):
    """What cannot be done is said in one sentence, with the learner it is about."""
    said = assess(*words)
    assert (said.code, said.out) == (1, "")
    assert said.sentences[-1].startswith(f"truerisk: {reason}")
    assert len(said.sentences) == 1


def test_a_refusal_comes_before_the_long_part(assess):
    """The last learner's refusal is known when all are tuned, before any is tested."""
    tested = []
    with tr.core.progress.listen(lambda p: tested.append(p.stage)):
        assert assess("--models", "tree,svm", "--scoring", "log").code == 1
    assert not any("testing" in stage for stage in tested)


def test_interrupted_with_something_done(monkeypatch, assess):
    """What was finished is printed, what is missing is named, and the exit code is 130."""
    partial = tr.assess(["tree"], *tr.datasets.make_simple(20), cv=["2-fold"], outer="2-fold")

    def stop(*_, **__):
        raise Interrupted(partial, ["lda"])

    monkeypatch.setattr("truerisk.cli.bodies.assess.assess_learners", stop)
    said = assess("--json")
    assert said.code == 130
    assert list(said.content["learners"]) == ["tree"]
    assert said.sentences == ["interrupted: lda not assessed; what was done follows."]


def test_interrupted_with_nothing_done(monkeypatch, assess):
    """Then stdout stays empty."""

    def stop(*_, **__):
        raise Interrupted(None, ["lda", "tree"])

    monkeypatch.setattr("truerisk.cli.bodies.assess.assess_learners", stop)
    said = assess()
    assert (said.code, said.out) == (130, "")
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


def test_numbers_are_not_lost_in_long_settings(call, table, quick):
    """The table of a learner with several settings keeps to 100 columns."""
    said = call("assess", table, "--target", "y", "--models", "svm", *quick)
    assert "C=" in said.out
    assert max(map(len, said.out.splitlines())) <= 100


def test_groups_reach_every_split_and_the_command_line_of_the_page(call, table, tmp_path, quick):
    """The numbers are those of Python with groups; the dry run counts the same fits."""
    head, *lines = table.read_text().splitlines()
    path = tmp_path / "grouped.csv"
    path.write_text("\n".join([f"{head},g", *(f"{x},{i % 9}" for i, x in enumerate(lines))]))
    words = ("assess", path, "--target", "y", "--models", "lda,tree", *quick, "--groups", "g")
    said = call(*words, "--json").content
    read = tr.datasets.read_table(path, "y", groups="g")
    found = tr.assess(
        ["lda", "tree"], read.X, read.y, cv=["2-fold"], outer="3-fold", groups=read.groups
    )
    found = replace(
        found, source=said["source"], command=said["command"], column_names=read.feature_names
    )
    assert timeless(said) == timeless(json.loads(found.to_json()))
    assert "--groups g" in said["command"]
    assert read.feature_names == ("a", "b")
    fits = call(*words, "--dry-run", "--json").content["fits"]
    assert fits == sum(one.n_fits for one in found.learners.values())


def test_learning_curves_are_counted_before_and_told_after(assess):
    """The note of the fits, the forecast and the sum of what was made agree."""
    asked = ("--learning-curve", "cheap")
    planned = assess(*asked, "--dry-run", "--json").content["fits"]
    done = assess(*asked, "--json")
    assert sum(one["n_fits"] for one in done.content["learners"].values()) == planned
    assert f"note: {planned:,} fits are planned, " in done.err
    assert "makes each by itself" in done.content["learners"]["tree"]["no_learning_curve"]
    told = [one["learning_curve"] for one in done.content["learners"].values()]
    assert any(curve is not None for curve in told)


@pytest.mark.parametrize("asked", ["all", "tree"])
def test_learning_curves_are_asked_for_by_words(assess, asked):
    """Of all learners, or of those that are named."""
    learners = assess("--learning-curve", asked, "--json").content["learners"]
    have = [name for name, one in learners.items() if one["learning_curve"] is not None]
    assert sorted(have) == (["lda", "tree"] if asked == "all" else ["tree"])


@pytest.mark.parametrize(
    ("words", "message"), [("forest", "there is no learner 'forest'"), (",", "--learning-curve")]
)
def test_learning_curves_of_unknown_learners(assess, words, message):
    """A learner that is not assessed, and no word."""
    said = assess("--learning-curve", words)
    assert said.code == 2
    assert message in said.err
