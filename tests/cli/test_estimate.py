"""`truerisk estimate`: one model, one method, one number."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr


@pytest.fixture
def estimate(call, table):
    """Estimate on the small table."""

    def called(*words, model="knn", file=table):
        return call("estimate", file, "--target", "y", "--model", model, *words)

    return called


@pytest.mark.parametrize("method", ["5-fold", "loo", "holdout", "2x3-fold", "apparent"])
def test_the_number_is_that_of_python(estimate, table, method):
    """The command's document is estimate_risk of the same model."""
    read = tr.datasets.read_table(table, "y")
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    expected = tr.estimate_risk(model, read.X, read.y, cv=method, random_state=7)
    words = ("--set", "n_neighbors=3", "--cv", method, "--seed", 7, "--json")
    said = estimate(*words).content
    assert said["value"] == expected.value
    assert said["losses"] == expected.to_dict()["losses"]
    assert said["schema"] == "truerisk.risk-estimate/2"


def test_the_estimate_says_what_it_is(estimate):
    """Risk, interval, loss, method, bias and setting, a line each."""
    said = estimate("--set", "n_neighbors=3", "--set", "weights=distance")
    lines = dict(line.split("  ", 1) for line in said.out.splitlines())
    assert said.code == 0
    assert float(lines["risk"]) < 0.2
    assert lines["setting"].strip() == "n_neighbors=3, weights=distance"
    assert lines["method"].strip() == "5-fold"


@pytest.mark.parametrize("method", ["nested", "three-way"])
def test_methods_that_tune_give_the_procedure(estimate, method):
    """A method that tunes inside reports the honest risk."""
    said = estimate("--cv", method, "--json", model="tree").content
    assert said["method"].startswith(method)
    assert said["value"] is not None


def test_workers_change_no_number(estimate):
    """`--jobs 2` gives the same losses."""
    one, two = [estimate("--json", *jobs).content for jobs in ((), ("--jobs", 2))]
    assert one["losses"] == two["losses"]


def test_a_setting_inside_a_wrapper_is_found(call, numbers):
    """Lasso's alpha and max_iter are those of the regression inside the target's scaling."""
    words = ("--set", "alpha=0.5", "--set", "max_iter=900", "--json")
    said = call("estimate", numbers, "--target", "y", "--model", "lasso", *words).content
    assert said["params"] == {"model__regressor__alpha": 0.5, "model__regressor__max_iter": 900}


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--set", "n_neighbours=5"), "has no parameter 'n_neighbours'; did you mean"),
        (("--set", "qqqq=5"), "knn has no parameter 'qqqq'. It has: algorithm, leaf_size"),
        (("--set", "n_neighbors"), "write NAME=VALUE"),
        (("--set", "n_neighbors=1", "--set", "n_neighbors=2"), "given twice"),
        (("--cv", "boot"), "there is no method 'boot'"),
    ],
)
def test_usage_mistakes_leave_with_2(estimate, words, hint):
    """A parameter that does not exist is named with the nearest one."""
    said = estimate(*words)
    assert (said.code, said.out) == (2, "")
    assert hint in said.err


def test_an_unknown_model_is_named(estimate):
    """The nearest learner is offered."""
    said = estimate(model="kn")
    assert said.code == 2
    assert "did you mean 'knn'?" in said.err


@pytest.mark.parametrize("value", ["foo", "5000", "-1"])
def test_a_setting_that_the_model_refuses_leaves_with_1(estimate, value):
    """The model's own complaint, with split and parameters, in one line without traceback."""
    said = estimate("--set", f"n_neighbors={value}", "--cv", "3-fold")
    assert (said.code, said.out) == (1, "")
    assert len(said.sentences) == 1
    assert f"n_neighbors={value}" in said.sentences[0]
    assert "Traceback" not in said.err


def test_non_convergence_is_said_once_with_its_count(estimate):
    """Three fits that did not converge are one warning; deprecations are none."""
    said = estimate("--set", "max_iter=1", "--cv", "3-fold", model="logistic")
    assert said.code == 0
    assert len(said.sentences) == 1
    assert said.sentences[0].startswith("warning: lbfgs failed to converge")
    assert said.sentences[0].endswith("[3 times in 3 fits]")


def test_groups_are_a_column_that_stays_on_one_side(call, table, tmp_path):
    """The number is that of Python with the groups, and not the one without."""
    head, *lines = table.read_text().splitlines()
    path = tmp_path / "grouped.csv"
    rows = [f"{line},p{number % 7}" for number, line in enumerate(lines)]
    path.write_text("\n".join([f"{head},patient", *rows]) + "\n")
    words = ("estimate", path, "--target", "y", "--model", "knn", "--cv", "3-fold", "--json")
    said = call(*words, "--groups", "patient").content
    read = tr.datasets.read_table(path, "y", groups="patient")
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    given = {"cv": "3-fold", "random_state": 0}
    expected = tr.estimate_risk(model, read.X, read.y, groups=read.groups, **given)
    assert said["losses"] == expected.to_dict()["losses"]
    assert said["n_groups"] == 7
    assert expected.plan_fingerprint != (
        tr.estimate_risk(model, read.X, read.y, **given).plan_fingerprint
    )


def test_a_bundled_data_set_has_no_column_of_groups(call):
    """It is refused, not ignored."""
    said = call("estimate", "--dataset", "iris", "--groups", "a", "--model", "knn")
    assert said.code == 2
    assert "--groups names a column of a FILE" in said.err


def test_further_scores_are_told_on_their_own_scale(estimate, table):
    """`--scoring` says which way is better; the document has every estimate."""
    said = estimate("--scoring", "zero-one, auc, log")
    lines = dict(line.split("  ", 1) for line in said.out.splitlines())
    assert (
        next(v for k, v in lines.items() if k.startswith("auc of "))
        .strip()
        .endswith("(larger is better)")
    )
    assert lines["log"].strip().endswith("(lower is better)")
    content = estimate("--scoring", "zero-one,auc,log", "--json").content
    assert list(content["scores"]) == ["auc", "log"]
    assert (
        content["scores"]["auc"]["value"] == estimate("--scoring", "auc", "--json").content["value"]
    )


@pytest.mark.parametrize("words", [",", "acu"])
def test_scores_that_are_none_are_refused(estimate, words):
    """An empty list and an unknown word are said, with exit code 2."""
    said = estimate("--scoring", words)
    assert said.code == 2
    assert "--scoring names no score" in said.err or "no scoring 'acu'" in said.err


def test_times_and_places_are_columns_that_are_no_features(call, table, tmp_path):
    """The usual method follows the time; the number is that of Python, and the dates are read."""
    head, *lines = table.read_text().splitlines()
    path = tmp_path / "timed.csv"
    rows = [
        f"{line},2024-01-{28 - i % 28:02d}T{i // 28:02d},{i},0.5" for i, line in enumerate(lines)
    ]
    path.write_text("\n".join([f"{head},when,east,north", *rows]) + "\n")
    words = ("estimate", path, "--target", "y", "--model", "knn", "--json")
    said = call(*words, "--time", "when", "--block", "east,north").content
    read = tr.datasets.read_table(path, "y", time="when", block=["east", "north"])
    assert read.feature_names == ("a", "b")
    assert read.block.shape == (len(lines), 2)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    expected = tr.estimate_risk(model, read.X, read.y, time=read.time, block=read.block)
    assert said["method"] == expected.method == "forward-5"
    assert said["losses"] == expected.to_dict()["losses"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--time", "c"), 3, "the file has no column 'c'"),
        (("--time", "y"), 3, "column 'y' is named as the target and as the time"),
        (("--time", "a", "--block", "a"), 3, "column 'a' is named as the time and as the block"),
        (("--block", " , "), 2, "--block names no column"),
    ],
)
def test_columns_of_time_and_place_that_are_none(estimate, words, code, message):
    """An unknown column, one of two roles, none at all."""
    said = estimate(*words)
    assert said.code == code
    assert message in said.err


@pytest.fixture
def visits(tmp_path):
    """Forty patients with four rows each, whose number is a column."""
    rng = np.random.default_rng(0)
    patient = rng.permutation(160) // 4
    X, y = rng.normal(size=(160, 3)), (rng.permutation(40) % 2)[patient]
    lines = [f"{a},{b},{c},{i},{k}" for (a, b, c), i, k in zip(X, patient, y, strict=True)]
    path = tmp_path / "visits.csv"
    path.write_text("a,b,c,patient,y\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("verb", ["estimate", "assess"])
def test_estimate_and_assess_tell_a_finding_once_and_name_its_column(call, visits, verb):
    """The result tells it; stderr names the columns, and the finding only beside JSON."""
    model = ("--model", "knn") if verb == "estimate" else ("--models", "knn", "--outer", "3-fold")
    words = (verb, visits, "--target", "y", *model)
    said = call(*words)
    assert said.out.count("looks like the number of a group") == 1
    assert "note: columns: 0 a, 1 b, 2 c, 3 patient" in said.err
    assert not said.sentences
    beside = call(*words, "--json")
    assert "group-numbers" in beside.out
    assert any("looks like the number of a group" in line for line in beside.sentences)
    assert "columns: 0 a" not in call(*words, "--no-checks").err
