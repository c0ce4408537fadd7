"""`truerisk roc`: the numbers of `RocCurve`, from a file."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr

RNG = np.random.default_rng(0)
Y = np.repeat(["healthy", "sick"], 40)
FIRST = np.round(RNG.normal(size=80) + (Y == "sick"), 1)
SECOND = np.round(RNG.normal(size=80) + 0.5 * (Y == "sick"), 2)
ROC = tr.RocCurve.of(Y, FIRST, method="first")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "scores.csv"
    ward = np.arange(80) % 20
    rows = zip(Y, FIRST, SECOND, np.where(ward % 2, "x", "y"), ward, strict=True)
    text = "\n".join(",".join(map(str, row)) for row in rows)
    path.write_text(f"state,first,second,word,ward\n{text}\n", encoding="utf-8")
    return path


def test_the_curve_and_its_thresholds(call, file):
    """The area with its interval, and what costs and demanded rates choose."""
    options = ("--cost", 1, 5, "--specificity", 0.9, "--threshold", 0.5)
    said = call("roc", file, "--target", "state", "--score", "first", *options)
    assert said.code == 0
    assert said.out.splitlines() == [
        "positive: sick",
        str(ROC),
        str(ROC.at(0.5)),
        str(ROC.at_cost(1, 5)),
        str(ROC.at_rate(specificity=0.9)),
    ]
    assert "imputed" not in said.err


def test_two_columns_are_compared(call, file):
    """The paired difference of their areas, on the same rows."""
    words = ("roc", file, "--target", "state", "--score", "first", "--score", "second")
    other = tr.RocCurve.of(Y, SECOND, method="second")
    assert call(*words).out.splitlines() == [
        "positive: sick", str(ROC), str(other), f"first − second: {ROC.minus(other)}",
    ]  # fmt: skip
    content = call(*words, "--json").content
    assert content["auc"] == ROC.auc
    assert content["other"]["auc"] == other.auc
    assert content["difference"]["p_value"] == pytest.approx(ROC.minus(other).p_value)


def test_the_other_class_groups_and_level(call, file):
    """All of them reach the curve; prevalence reaches the costs."""
    words = ("--positive", "healthy", "--groups", "ward", "--level", 0.8)
    cost = ("--cost", 2, 1, "--prevalence", 0.1)
    said = call("roc", file, "--target", "state", "--score", "first", *words, *cost, "--json")
    options = {"groups": np.arange(80) % 20, "confidence_level": 0.8, "method": "first"}
    same = tr.RocCurve.of(Y, FIRST, positive="healthy", **options)
    content = said.content
    points = content.pop("points")
    assert content == same.to_dict()
    assert points == [same.at_cost(2, 1, prevalence=0.1).to_dict()]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "Missing option '--score'"),
        (("--score", "word"), 3, "--score word is a column of text"),
        (("--score", "third"), 3, "--score third is no column beside the target"),
        (("--score", "first", "--positive", "dead"), 3, "--positive dead is no class"),
        (("--score", "first", "--prevalence", 0.1), 2, "--prevalence needs --cost"),
        (("--score", "a", "--score", "b", "--score", "c"), 2, "two --score"),
        (("--score", "first", "--target-type", "regression"), 2, "a ROC curve tells classes"),
        (("--score", "first", "--sensitivity", 2), 3, "no rate between 0 and 1"),
    ],
)
def test_what_has_no_curve_is_refused(call, file, arguments, code, message):
    """With a sentence."""
    said = call("roc", file, "--target", "state", *arguments)
    assert said.code == code
    assert message in said.err


def test_a_missing_score_is_refused(call, file):
    """It has no place in the order, and is not filled in."""
    text = file.read_text("utf-8").replace(f"healthy,{FIRST[3]}", "healthy,", 1)
    file.write_text(text, encoding="utf-8")
    said = call("roc", file, "--target", "state", "--score", "first")
    assert said.code == 3
    assert "non-finite scores have no order" in said.err


def test_every_threshold_of_every_score_is_told(call, file):
    """Of two columns each point says whose it is."""
    words = ("roc", file, "--target", "state", "--score", "first", "--score", "second")
    words = (*words, "--threshold", 0, "--threshold", 1)
    other = tr.RocCurve.of(Y, SECOND, method="second")
    assert call(*words).out.splitlines()[3:7] == [
        f"first: {ROC.at(0)}", f"first: {ROC.at(1)}",
        f"second: {other.at(0)}", f"second: {other.at(1)}",
    ]  # fmt: skip
    content = call(*words, "--json").content
    assert content["points"] == [ROC.at(t).to_dict() for t in (0, 1)]
    assert content["other"]["points"] == [other.at(t).to_dict() for t in (0, 1)]


@pytest.mark.parametrize("more", ["", ",age"], ids=["alone", "beside another"])
def test_a_constant_score_ranks_nothing(call, tmp_path, more):
    """It was left out of the features, and that is no word for a score."""
    path = tmp_path / "flat.csv"
    lines = [f"{'ab'[i % 2]},0.5{more and f',{i % 7}'}" for i in range(20)]
    path.write_text("\n".join([f"state,flat{more}", *lines]))
    said = call("roc", path, "--target", "state", "--score", "flat")
    assert said.code == 3
    assert "--score flat is constant: it ranks no row before another." in said.err
