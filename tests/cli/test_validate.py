"""`truerisk validate`: the validation of a file is that of Python."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import truerisk as tr
from truerisk.models.learners import learner


@pytest.fixture
def patients(tmp_path):
    """80 rows in which the event leans on one number."""
    X, y = tr.datasets.make_difficult(80, random_state=2)
    lines = [f"{a:.4f},{b:.4f},{'yes' if one else 'no'}" for (a, b), one in zip(X, y, strict=True)]
    path = tmp_path / "patients.csv"
    path.write_text("a,b,y\n" + "\n".join(lines) + "\n")
    return path


def test_it_is_validate_of_python(call, patients):
    """The document, but for the seconds, is that of a search over the word's grid."""
    words = ("--model", "lda", "--replicates", 3, "--seed", 4, "--json")
    said = call("validate", patients, "--target", "y", *words).content
    read = tr.datasets.read_table(patients, "y")
    pipeline, grid = learner("lda", "classification", n_rows=80, n_features=2)
    search = tr.HonestSearchCV(pipeline, grid or None, scoring="log", random_state=4)
    found = tr.validate(search, read.X, read.y, replicates=3, random_state=4).to_dict()
    assert said["schema"] == "truerisk.validation/2"
    for part in ("rows", "discrimination", "calibration", "net_benefit"):
        assert said[part] == found[part]
    assert said["rows"]["event"] == "yes"


def test_one_setting_is_not_tuned_and_a_page_is_written(call, patients, tmp_path):
    """--set, --clip and --report; `truerisk report` draws the same page from the JSON."""
    page, again = tmp_path / "v.html", tmp_path / "again.html"
    words = ("--model", "knn", "--set", "n_neighbors=5", "--clip", 0.01, "--replicates", 0)
    words = ("validate", patients, "--target", "y", *words, "--report", page)
    said = call(*words)
    assert said.code == 0
    assert "wrote" in said.err
    assert "slope" in said.out
    (tmp_path / "v.json").write_text(call(*words[:-2], "--json").out)
    call("report", tmp_path / "v.json", "-o", again)
    assert "Decision curve" in again.read_text("utf-8")
    assert again.read_text("utf-8") == page.read_text("utf-8")


def test_wrong_options_are_sentences(call, patients, tmp_path):
    """A clip beyond a half; a page in a folder that is not there."""
    words = ("validate", patients, "--target", "y")
    assert "'--clip': 0.7 is not in the range" in call(*words, "--clip", 0.7).err
    assert call(*words, "--report", tmp_path / "no" / "v.html").code == 2


def test_subgroups_are_columns_of_the_file(call, patients):
    """Named after a comma, as in Python; an unknown one is refused with those that there are."""
    lines = patients.read_text().splitlines()
    sites = ["site", *(f"s{i % 2}" for i in range(80))]
    patients.write_text(
        "\n".join(f"{line},{site}" for line, site in zip(lines, sites, strict=True))
    )
    words = ("--target", "y", "--model", "lda", "--replicates", 0, "--json")
    said = call("validate", patients, *words, "--subgroups", "site").content
    levels = said["subgroups"]["risks"][0]["levels"]
    assert [one["subgroup"]["n_rows"] for one in levels] == [40, 40]
    assert [one["subgroup"]["level"] for one in levels] == ["s0", "s1"]
    refused = call("validate", patients, *words, "--subgroups", "site, age")
    assert refused.code == 3
    assert "no column 'age'; it has a, b, site" in refused.err
    bundled = call("validate", "--dataset", "breast-cancer", "--subgroups", "site")
    assert bundled.code == 2


def test_subgroups_that_are_no_features(call, patients):
    """The groups have their levels; of others it is said why they have none."""
    header, *lines = patients.read_text().splitlines()
    rows = [f"{line},s{i % 12},1" for i, line in enumerate(lines)]
    patients.write_text("\n".join([f"{header},site,p", *rows]))
    words = ("validate", patients, "--target", "y", "--model", "lda", "--replicates", 0)
    words = (*words, "--groups", "site", "--json", "--subgroups")
    levels = call(*words, "site").content["subgroups"]["risks"][0]["levels"]
    assert len(levels) == 12
    for name, why in (
        ("p", "column 'p' is constant and is left out: it has no subgroups."),
        ("y", "column 'y' is that of --target; name a feature, or --groups."),
    ):
        said = call(*words, name)
        assert said.code == 3
        assert f"--subgroups: {why}" in said.err


def test_the_event_is_a_label_as_it_is_written(call, patients):
    """--positive no: that of Python; a label that is not there is refused."""
    words = ("validate", patients, "--target", "y", "--model", "lda", "--replicates", 0)
    said = call(*words, "--positive", "no", "--json").content
    usual = call(*words, "--json").content
    assert said["rows"]["event"] == "no"
    assert said["rows"]["n_events"] == 80 - usual["rows"]["n_events"]
    slopes = (one["calibration"]["measures"]["slope"]["honest"] for one in (said, usual))
    assert next(slopes) == pytest.approx(next(slopes))
    refused = call(*words, "--positive", "perhaps")
    assert refused.code == 3
    assert "--positive perhaps is no class of the target, which has no, yes." in refused.err
    numbers = call("validate", "--dataset", "diabetes", "--model", "ridge", "--positive", "3")
    assert "names a class, and y holds numbers" in numbers.err


def test_assess_validates_its_best_learner(call, patients, tmp_path):
    """--validate with the words of `truerisk validate`, in the document and on the page."""
    page = tmp_path / "a.html"
    words = ("assess", patients, "--target", "y", "--models", "lda", "--cv", "5-fold")
    words = (*words, "--validate", "--positive", "no", "--replicates", 2, "--report", page)
    said = call(*words, "--json").content["validation"]
    assert said["rows"]["event"] == "no"
    assert said["calibration"]["measures"]["slope"]["n"] == 2
    assert 'id="validation"' in page.read_text("utf-8")
    for option, value in (("--replicates", 2), ("--clip", 0.01), ("--subgroups", "a")):
        alone = call("assess", patients, "--target", "y", option, value)
        assert alone.code == 2
        assert f"{option} needs --validate" in alone.err


@pytest.mark.parametrize("command", ["validate", "assess"])
def test_features_have_the_names_of_the_file(call, patients, command):
    """Not the places of their columns, in the document and on the page."""
    words = ("--target", "y", "--json")
    if command == "validate":
        said = call("validate", patients, *words, "--model", "tree", "--replicates", 0).content
    else:
        options = ("--models", "tree", "--cv", "3-fold", "--outer", "3-fold", "--validate")
        said = call("assess", patients, *words, *options).content["validation"]
    assert said["stability"]["features"]["names"] == ["a", "b"]


def test_the_checklist_is_written_to_be_filled_in(call, patients, tmp_path):
    """That of the document; a place that cannot be is refused before any fit."""
    words = ("validate", patients, "--target", "y", "--model", "lda", "--replicates", 0)
    path = tmp_path / "list.csv"
    said = call(*words, "--checklist", path, "--json")
    assert f"wrote {path}" in said.err
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [*csv.reader(file)][1:]
    items = said.content["checklist"]["items"]
    assert [row[3] for row in rows] == [item["answer"] or "" for item in items]
    for name, sentence in (
        ("a.pdf", "name a file .docx, .xlsx or .csv"),
        ("no/a.csv", "there is no folder"),
    ):
        refused = call(*words, "--checklist", tmp_path / name)
        assert refused.code in (1, 2)
        assert sentence in refused.err
        assert refused.out == ""


@pytest.mark.parametrize(("model", "loss"), [("logistic", "log"), ("svm", "zero-one")])
def test_probabilities_are_tuned_by_the_log_loss(call, patients, model, loss):
    """Where there are any and no loss is named; the paragraph says by which loss it was."""
    words = ("validate", patients, "--target", "y", "--replicates", 0, "--json", "--model", model)
    said = call(*words).content
    assert said["risk"]["scoring"] == loss
    assert f", by {loss} loss (final" in said["checklist"]["methods_text"]
    assert said == {**call(*words, "--scoring", loss).content, "command": said["command"]} | {
        "risk": said["risk"]  # whose seconds differ
    }


@pytest.mark.parametrize("loss", [(), ("--scoring", "log")])
def test_a_warning_is_said_once_in_words(call, patients, loss):
    """The problem is posed before it is validated only where a loss is named, and then silently."""
    header, *lines = patients.read_text().splitlines()
    patients.write_text("\n".join([f"{header},g", *(f"{x},{i % 8}" for i, x in enumerate(lines))]))
    words = ("validate", patients, "--target", "y", "--groups", "g", "--replicates", 0, *loss)
    said = call(
        *words, "--model", "boosting", "--set", "early_stopping=true", "--set", "max_iter=1"
    )
    assert said.err.count("sets rows of each training set aside at random") == 1
    assert "warning: HistGradientBoostingClassifier sets rows" in said.err


def test_the_page_has_the_command(call, patients, tmp_path):
    """With the column of times and the bounds, without where results went."""
    header, *lines = patients.read_text().splitlines()
    patients.write_text("\n".join([f"{header},months", *(f"{x},{i}" for i, x in enumerate(lines))]))
    page = tmp_path / "v.html"
    words = ("validate", patients, "--target", "y", "--model", "logistic", "--set", "C=1")
    words = (*words, "--replicates", 0, "--time", "months", "--report", page)
    bounds = ("--fail-above", 9, "--min-score", "auc=.1234567", "--min-score", "r2=0")
    said = call(*words, *bounds, "--json")
    command = "truerisk validate patients.csv --target y --time months --model logistic --set C=1"
    command += " --replicates 0 --fail-above 9.0 --min-score auc=0.1234567 --min-score r2=0.0"
    assert said.content["command"] == command
    assert command in page.read_text("utf-8")
    assert "--time takes column 'months' for when each row was taken" in said.err


def test_a_model_is_tuned_by_the_loss_that_is_named(call, patients):
    """And folds as scikit-learn makes them; a bound on a score is refused before any fit."""
    words = ("validate", patients, "--target", "y", "--replicates", 0, "--cv", 3)
    said = call(*words, "--scoring", "log", "--json").content
    read = tr.datasets.read_table(patients, "y")
    pipeline, grid = learner("logistic", "classification", n_rows=80, n_features=2)
    search = tr.HonestSearchCV(pipeline, grid, cv=3, scoring="log", random_state=0)
    assert said["risk"]["scoring"] == "log"
    assert said["risk"]["value"] == search.fit(read.X, read.y).risk_.value
    assert "by log loss (final" in said["checklist"]["methods_text"]
    refused = call(*words, "--scoring", "roc_auc", "--fail-above", 0.2)
    assert refused.code == 2
    assert "is a score, of which more is better: write --min-score" in refused.err
    assert refused.out == ""
    assert call(*words, "--scoring", "log", "--fail-above", 9).code == 0


@pytest.fixture
def others(tmp_path):
    """120 rows with what a finished model said of "yes", of "no", and a number."""
    rng = np.random.default_rng(3)
    said = rng.random(120).round(4)
    came = rng.random(120) < said
    path = tmp_path / "others.csv"
    rows = zip(said, came, np.arange(120) % 2, strict=True)
    lines = [f"{p},{1 - p:.4f},s{s},{2 * p:.4f},{'yes' if one else 'no'}" for p, one, s in rows]
    path.write_text("p,q,site,amount,y\n" + "\n".join(lines) + "\n")
    return path, said, came


def test_given_predictions_are_a_finished_model(call, others):
    """Nothing is fitted but updates; groups and subgroups are columns as ever."""
    path, said, came = others
    words = ("validate", path, "--target", "y", "--predictions", "p", "--subgroups", "site")
    found = call(*words, "--json").content
    assert found["risk"]["method"] == "external"
    measures = found["discrimination"]["measures"]
    assert measures["auc"]["honest"] == pytest.approx(roc_auc_score(came, said))
    assert found["calibration"]["measures"]["brier"]["honest"] == pytest.approx(
        np.mean((came - said) ** 2)
    )
    assert found["stability"] is None
    assert found["updating"]["updates"][0]["fits"] == "nothing"
    told = call(*words)
    assert "A finished model (predictions as given) was applied to them" in told.out
    assert not re.search("with 1 predictors|No values were missing", told.out)
    assert "encoded" not in told.err
    grouped = call(*words[:-2], "--groups", "site", "--json").content
    assert grouped["rows"]["n_groups"] == 2


def test_they_are_of_the_event(call, others):
    """Of the class that is named, which may be the first one."""
    path, said, came = others
    words = ("validate", path, "--target", "y", "--positive", "no", "--predictions", "q", "--json")
    found = call(*words, "--confidence", 0.8).content
    assert found["rows"]["event"] == "no"
    assert found["risk"]["interval"]["confidence_level"] == 0.8
    assert found["calibration"]["measures"]["slope"]["interval"]["confidence_level"] == 0.8
    assert "--confidence 0.8" in found["command"]
    auc = found["discrimination"]["measures"]["auc"]["honest"]
    assert auc == pytest.approx(roc_auc_score(~came, 1 - said))


def test_numbers_are_given_too(call, others):
    """For a target of numbers."""
    path, said, _ = others
    found = call("validate", path, "--target", "amount", "--predictions", "p", "--json").content
    squared = found["calibration"]["measures"]["squared"]["honest"]
    assert squared == pytest.approx(np.mean(said**2), rel=1e-3)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--predictions", "site"),
            "--predictions site is no column of numbers: the file has p, q",
        ),
        (("--predictions", "z"), "--predictions z is no column of numbers"),
        (("--predictions", "amount"), r"cells are no probabilities, the first in row \d+"),
        (("--predictions", "p", "--model", "lda"), "--model is not for --predictions"),
        (("--predictions", "p", "--replicates", 9), "--replicates is not for --predictions"),
        (("--predictions", "p", "--cv", 5), "--cv is not for --predictions"),
    ],
)
def test_what_are_no_predictions_is_a_sentence(call, others, words, sentence):
    """And what belongs to fits."""
    refused = call("validate", others[0], "--target", "y", *words)
    assert refused.code in (2, 3)
    assert re.search(sentence, refused.err)


def test_why_a_column_is_no_predictions_is_noted(call, others):
    """As the file is read: other columns are no matter."""
    path = others[0]
    header, first, *lines = path.read_text().splitlines()
    gap = first.replace(first.partition(",")[0], "k.A.", 1)
    path.write_text("\n".join([f"{header},one", *(f"{line},1" for line in (gap, *lines, *lines))]))
    told = call("validate", path, "--target", "y", "--predictions", "p").err
    assert "note: column 'p' is read as text because of 1 cell" in told
    assert "'one'" not in told
    told = call("validate", path, "--target", "y", "--predictions", "one").err
    assert "note: column 'one' is constant and is left out" in told
    bundled = call("validate", "--dataset", "breast-cancer", "--predictions", "p")
    assert "--predictions names a column of a FILE: a --dataset has none." in bundled.err
    assert bundled.code == 2


def test_a_note_on_predictions_names_their_column(call, others):
    """The first column of the file is another one."""
    path = others[0]
    header, *lines = path.read_text().splitlines()
    sure = [f"{line},{0.1 + 0.8 * line.endswith('yes')}" for line in lines]
    path.write_text("\n".join([f"{header},sure", *sure]) + "\n")
    told = call("validate", path, "--target", "y", "--predictions", "sure")
    assert "'sure' by itself predicts y" in told.out


def test_predictions_are_of_two_classes(call, others):
    """Three have no column for each; a number above 1 is named by its row, the first being 1."""
    path, said, _ = others
    refused = call("validate", path, "--target", "y", "--predictions", "amount")
    assert f"the first in row {np.argmax(said > 0.5) + 1}." in refused.err
    header, *lines = path.read_text().splitlines()
    path.write_text(f"{header},y3\n" + "".join(f"{x},c{i % 3}\n" for i, x in enumerate(lines)))
    refused = call("validate", path, "--target", "y3", "--predictions", "p")
    assert "is of one of two classes, and the target has 3" in refused.err
