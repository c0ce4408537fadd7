"""`truerisk validate`: the validation of a file is that of Python."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from tests.cli.conftest import timeless, with_columns, write_csv

import truerisk as tr
from truerisk.models import learner


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """80 rows in which the event leans on one number."""
    X, y = tr.datasets.make_difficult(80, random_state=2)
    rows = [(f"{a:.4f}", f"{b:.4f}", "yes" if one else "no") for (a, b), one in zip(X, y)]
    return write_csv(tmp_path_factory.mktemp("validate") / "patients.csv", "a,b,y", rows)


@pytest.fixture(scope="module")
def validate(call, patients):
    def called(*words, file=patients, replicates=0):
        return call("validate", file, "--target", "y", "--replicates", replicates, *words)

    return called


@pytest.mark.parametrize(
    ("word", "words", "given"),
    [
        ("lda", ("--seed", 4), {"scoring": "log", "random_state": 4}),
        ("logistic", ("--cv", 3, "--scoring", "log"), {"cv": 3, "scoring": "log"}),
        ("svm", (), {"scoring": "zero-one"}),  # it has no probabilities
        ("lda", ("--positive", "no"), {"scoring": "log"}),
        ("lda", ("--groups", "site", "--subgroups", "site"), {"scoring": "log"}),
    ],
    ids=["lda", "logistic", "svm", "positive", "subgroups"],
)
def test_validate_is_that_of_python(validate, patients, tmp_path, word, words, given):
    """The document is that of a search over the word's grid; the paragraph names its loss."""
    sites, more = [f"s{i % 12}" for i in range(80)], {}
    if "site" in words:
        patients = with_columns(tmp_path / "t.csv", patients, site=lambda i: sites[i])
        more = {"groups": sites, "subgroups": {"site": sites}}
    elif "--positive" in words:
        more = {"positive": "no"}
    said = validate("--model", word, *words, "--json", replicates=3, file=patients).content
    read = tr.datasets.read_table(patients, "y", groups="site" if "site" in words else None)
    pipeline, grid = learner(word, "classification", n_rows=80, n_features=2)
    given = {"random_state": 0, **given}
    search = tr.HonestSearchCV(pipeline, grid or None, **given)
    more["random_state"] = given["random_state"]
    found = tr.validate(search, read.X, read.y, replicates=3, **more).to_dict()
    assert said["schema"] == "truerisk.validation/2"
    for part in ("rows", "discrimination", "calibration", "net_benefit", "subgroups"):
        assert said[part] == found[part]
    assert timeless(said["risk"])["value"] == found["risk"]["value"]
    assert said["rows"]["event"] == more.get("positive", "yes")
    words = {"log": "log loss", "zero-one": "misclassification rate"}[given["scoring"]]
    assert f" ({words}), and " in said["checklist"]["methods_text"]


def test_assess_validates_its_best_learner(call, patients, tmp_path):
    """--validate with the words of `truerisk validate`, in the document and on the page."""
    page = tmp_path / "a.html"
    words = ("assess", patients, "--target", "y", "--models", "lda", "--cv", "5-fold")
    words = (*words, "--validate", "--positive", "no", "--replicates", 2, "--report", page)
    said = call(*words, "--json").content["validation"]
    assert said["rows"]["event"] == "no"
    assert said["calibration"]["measures"]["slope"]["n"] == 2
    assert said["stability"]["features"]["names"] == ["a", "b"]
    assert 'id="validation"' in page.read_text("utf-8")


def test_checklist_is_written_to_be_filled_in(validate, tmp_path):
    """It is that of the document, whose features have the names of the file."""
    path = tmp_path / "list.csv"
    said = validate("--model", "tree", "--checklist", path, "--json")
    assert f"wrote {path}" in said.err
    assert said.content["stability"]["features"]["names"] == ["a", "b"]
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [*csv.reader(file)][1:]
    items = said.content["checklist"]["items"]
    assert [row[3] for row in rows] == [item["answer"] or "" for item in items]


@pytest.mark.parametrize("loss", [(), ("--scoring", "log")], ids=["usual", "log"])
def test_validate_says_a_warning_once_in_words(validate, patients, tmp_path, loss):
    """The problem is posed before it is validated only where a loss is named, and then silently."""
    path = with_columns(tmp_path / "t.csv", patients, g=lambda i: i % 8)
    settings = ("--set", "early_stopping=true", "--set", "max_iter=1")
    said = validate("--groups", "g", "--model", "boosting", *settings, *loss, file=path)
    assert said.err.count("sets rows of each training set aside at random") == 1
    assert "warning: HistGradientBoostingClassifier sets rows" in said.err


def test_validate_puts_the_command_into_document_and_page(validate, patients, tmp_path):
    """With the column of times and the bounds, without where results went."""
    path = with_columns(tmp_path / "patients.csv", patients, months=lambda i: i)
    page = tmp_path / "v.html"
    words = ("--time", "months", "--model", "logistic", "--set", "C=1", "--report", page)
    bounds = ("--fail-above", 9, "--min-score", "auc=.1234567", "--min-score", "r2=0")
    said = validate(*words, *bounds, "--json", file=path)
    command = "truerisk validate patients.csv --target y --time months --model logistic --set C=1"
    command += " --replicates 0 --fail-above 9.0 --min-score auc=0.1234567 --min-score r2=0.0"
    assert said.content["command"] == command
    assert command in page.read_text("utf-8")
    assert "--time takes column 'months' for when each row was taken" in said.err


# ---------------------------------------------------------------- predictions of a finished model


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """120 rows with what a finished model said of "yes", of "no", and a number."""
    rng = np.random.default_rng(3)
    said = rng.random(120).round(4)
    came = rng.random(120) < said
    rows = [
        (p, f"{1 - p:.4f}", f"s{i % 2}", f"{2 * p:.4f}", "yes" if one else "no")
        for i, (p, one) in enumerate(zip(said, came, strict=True))
    ]
    path = tmp_path_factory.mktemp("predictions") / "others.csv"
    return write_csv(path, "p,q,site,amount,y", rows), said, came


def test_predictions_are_a_finished_model(call, others):
    """Nothing is fitted but updates; groups and subgroups are columns as ever."""
    path, said, came = others
    words = ("validate", path, "--target", "y", "--predictions", "p", "--subgroups", "site")
    found = call(*words, "--json").content
    assert found["risk"]["method"] == "external"
    measures = found["discrimination"]["measures"]
    assert measures["auc"]["honest"] == pytest.approx(roc_auc_score(came, said))
    brier = found["calibration"]["measures"]["brier"]["honest"]
    assert brier == pytest.approx(np.mean((came - said) ** 2))
    assert found["stability"] is None
    assert found["updating"]["updates"][0]["fits"] == "nothing"
    told = call(*words)
    assert "A finished model was applied to 120 rows; nothing was fitted." in told.out
    assert not re.search("with 1 predictors|No values were missing", json.dumps(found))
    assert "encoded" not in told.err
    assert "note: not used: 'q', 'amount'; --groups COL if" in told.err
    mistyped = call("validate", path, "--target", "y", "--predictions", "amuont")
    assert mistyped.code != 0
    assert "not used" not in mistyped.err
    grouped = call(*words[:-2], "--groups", "site", "--json").content
    assert grouped["rows"]["n_groups"] == 2


def test_predictions_are_of_the_event(call, others):
    """Of the class that is named, which may be the first one, or of numbers."""
    path, said, came = others
    words = ("validate", path, "--target", "y", "--positive", "no", "--predictions", "q", "--json")
    found = call(*words, "--confidence", 0.8).content
    assert found["rows"]["event"] == "no"
    assert found["risk"]["interval"]["confidence_level"] == 0.8
    assert found["calibration"]["measures"]["slope"]["interval"]["confidence_level"] == 0.8
    assert "--confidence 0.8" in found["command"]
    auc = found["discrimination"]["measures"]["auc"]["honest"]
    assert auc == pytest.approx(roc_auc_score(~came, 1 - said))
    found = call("validate", path, "--target", "amount", "--predictions", "p", "--json").content
    squared = found["calibration"]["measures"]["squared"]["honest"]
    assert squared == pytest.approx(np.mean(said**2), rel=1e-3)


def test_notes_on_predictions_say_why_a_column_is_none(call, others, tmp_path):
    """Other columns are no matter."""
    header, first, *lines = others[0].read_text().splitlines()
    gap = first.replace(first.partition(",")[0], "k.A.", 1)
    path = write_csv(tmp_path / "t.csv", f"{header},one", [(x, 1) for x in (gap, *lines, *lines)])
    told = call("validate", path, "--target", "y", "--predictions", "p").err
    assert "note: column 'p' is read as text because of 1 cell" in told
    assert "'one'" not in told
    told = call("validate", path, "--target", "y", "--predictions", "one").err
    assert "note: column 'one' is constant and is left out" in told


def test_notes_on_predictions_name_their_row_and_column(call, others, tmp_path):
    """The first row is 1; the first column of the file is another one."""
    path, said, came = others
    refused = call("validate", path, "--target", "y", "--predictions", "amount")
    assert f" in row {np.argmax(said > 0.5) + 1} is the first." in refused.err
    sure = with_columns(tmp_path / "t.csv", path, sure=lambda i: 0.1 + 0.8 * came[i])
    told = call("validate", sure, "--target", "y", "--predictions", "sure")
    assert "'sure' by itself predicts y" in told.out


def test_predictions_of_times_are_risks_or_linear_predictors(call, tmp_path):
    """The numbers of Python, with scores that no fit needs and bounds on them."""
    stored = Path(__file__).parents[1] / "golden" / "clinical" / "lung_predictions.csv"
    table = pd.read_csv(stored)
    words = ("validate", stored, "--event", "event", "--time-to-event", "time", "--predictions")
    found = call(
        *words, "p", "--horizon", 365, "--scoring", "uno", "--min-score", "uno=.4", "--json"
    )
    same = tr.validate_predictions(table[["event", "time"]], table["p"], horizon=365, scoring="uno")
    assert found.code == 0
    assert found.content["risk"]["value"] == same.risk.value
    for part in ("discrimination", "calibration"):
        for word, one in found.content[part]["measures"].items():
            assert one["honest"] == pytest.approx(same.measure(word).honest, rel=1e-12), word
    bounded = call(*words, "lp", "--min-score", "uno=.4", "--json")
    assert bounded.code == 0  # A score that has a bound is measured.
    refused = call(*words, "p", "--horizon", 365, "--min-score", "brier-at-365=.1")
    assert refused.code == 2
    assert "less is better" in refused.err
    assert "write --scoring brier-at-365 --fail-above NUMBER" in refused.err
    linear = bounded.content
    assert linear["rows"]["n_events"] == table["event"].sum()
    assert (
        "risks by the time 365"
        in call(*words, "p", "--horizon", 365, "--scoring", "brier-at-9").err
    )
