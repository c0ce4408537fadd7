"""`truerisk plan`: rows for a width, a learning curve, exit codes."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr


def test_rows_for_a_width(call):
    """The numbers of `plan_sample`, as text."""
    said = call("plan", "--error", ".15", "--width", ".05")
    assert said.code == 0
    assert said.out.strip() == str(tr.plan_sample(0.15, width=0.05))
    assert said.err == ""


def test_rows_shared_by_a_learning_curve(call):
    """Errors with their training rows; one JSON document on stdout."""
    curve = ["--error", "30:.25", "--error", "60:.21", "--error", "150:.19"]
    said = call("plan", *curve, "--rows", "180", "--level", ".9", "--json")
    same = tr.plan_sample({30: 0.25, 60: 0.21, 150: 0.19}, n=180, confidence_level=0.9)
    assert said.content == same.to_dict()


def test_rows_to_develop_and_to_validate_a_model(call):
    """As Python has them; options have its words, and what is left out its defaults."""
    options = ["--parameters", "24", "--prevalence", ".174", "--r2", ".288"]
    said = call("plan", "development", *options)
    wanted = tr.plan_development(parameters=24, prevalence=0.174, r2=0.288)
    assert (said.code, said.out.strip(), said.err) == (0, str(wanted), "")
    line = [
        "--outcome",
        "continuous",
        "--parameters",
        "5",
        "--r2",
        ".3",
        "--mean",
        "1",
        "--sd",
        "2",
    ]
    said = call("plan", "development", *line, "--ratio", "1.2", "--confidence", ".9", "--json")
    assert (
        said.content
        == tr.plan_development(
            "continuous", parameters=5, r2=0.3, mean=1, sd=2, ratio=1.2, confidence_level=0.9
        ).to_dict()
    )
    options = ["--prevalence", ".1", "--auc", ".75", "--linear-predictor", "-2.5", "1"]
    said = call("plan", "validation", *options, "--threshold", ".1", "--auc-width", ".2", "--json")
    assert (
        said.content
        == tr.plan_validation(
            prevalence=0.1, auc=0.75, linear_predictor=(-2.5, 1), threshold=0.1, auc_width=0.2
        ).to_dict()
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--width", ".1"], 2, "Missing option '--error'"),
        (["--error", ".1"], 2, "--width, --rows, or both"),
        (
            ["development", "--parameters", "3", "--r2", ".2"],
            2,
            "--prevalence is missing. Of a binary outcome foresee --prevalence.",
        ),
        (["developmnt", "--parameters", "3"], 2, "did you mean 'development'?"),
        (["pilot", "--target", "y", "--model", "knn"], 3, "pilot"),
        (["development", "--parameters", "0", "--r2", ".2"], 2, "--parameters 0: a model has"),
        (["validation", "--prevalence", "2", "--auc", ".8"], 2, "--prevalence 2.0: use"),
        (["development", "--parameters", "3", "--r2", ".8", "--prevalence", ".3"], 1, "--r2 0.8"),
        (["--error", "x", "--width", ".1"], 2, "neither an error"),
        (["--error", "x:.1", "--width", ".1"], 2, "neither an error"),
        (["--error", ".1", "--error", ".2", "--width", ".1"], 2, "ROWS:ERROR"),
        (["--error", "30:.1", "--error", "30:.2", "--rows", "90"], 2, "same number"),
        (["--error", "1.5", "--width", ".1"], 2, "share between 0 and 1"),
        (["--error", ".1", "--rows", "90"], 1, "does not say what tuning gains"),
        (["--dataset", "iris", "--error", ".1", "--rows", "90"], 2, "leave one out"),
        (["--dataset", "iris"], 2, "--model is missing"),
        (["--model", "knn"], 2, "give a FILE with --target"),
        (["--dataset", "iris", "--model", "kn"], 2, "kn"),
    ],
)
def test_what_cannot_be_planned(call, arguments, code, message):
    """Usage and numbers that cannot be are 2, a plan without a reason is 1."""
    said = call("plan", *arguments)
    assert said.code == code
    assert message in said.err
    assert said.out == ""


def test_the_learning_curve_of_a_table(call, tmp_path):
    """A search over the word's grid, tuned at every size; with --rows what to expect and share."""
    X, y = tr.datasets.make_difficult(60, random_state=0)
    table = np.column_stack([X, y])
    path = tmp_path / "pilot.csv"
    np.savetxt(path, table, delimiter=",", header="a,b,y", comments="", fmt="%.6f")
    options = [str(path), "--target", "y", "--model", "lda", "--seed", "2"]
    said = call("plan", *options, "--rows", "150", "--json")
    assert said.code == 0
    curve = tr.LearningCurve.from_dict(said.content["curve"])
    assert curve.sizes[-1] == 48
    assert said.content["expected"]["value"] == curve.at(150).value
    assert [split["n_tuning"] for split in said.content["splits"]][-1] == 149
    alone = call("plan", *options)
    assert alone.out.strip() == str(curve)


def test_no_test_of_numbers_is_planned(call, tmp_path):
    """It is said before anything is fitted: a width is one of a share of errors."""
    path = tmp_path / "numbers.csv"
    rows = np.random.default_rng(0).normal(size=(60, 3))
    np.savetxt(path, rows, delimiter=",", header="a,b,y", comments="", fmt="%.6f")
    said = call("plan", str(path), "--target", "y", "--model", "ridge", "--width", ".1")
    assert (said.code, said.out) == (3, "")
    assert "the target has no classes" in said.err
