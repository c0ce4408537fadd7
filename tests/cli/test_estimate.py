"""`truerisk estimate`, and what the words of all commands that fit mean."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.cli.conftest import with_columns, write_csv

import truerisk as tr


@pytest.fixture(scope="module")
def estimate(call, table):
    """Estimate on the small table."""

    def called(*words, model="knn", file=table):
        return call("estimate", file, "--target", "y", "--model", model, *words)

    return called


def knn(n_neighbors=5):
    return make_pipeline(StandardScaler(), KNeighborsClassifier(n_neighbors))


@pytest.mark.parametrize("method", ["5-fold", "loo", "holdout", "2x3-fold", "apparent"])
def test_estimate_is_that_of_python(estimate, table, method):
    read = tr.datasets.read_table(table, "y")
    expected = tr.estimate_risk(knn(3), read.X, read.y, cv=method, random_state=7)
    words = ("--set", "n_neighbors=3", "--cv", method, "--seed", 7, "--json")
    said = estimate(*words).content
    assert said["value"] == expected.value
    assert said["losses"] == expected.to_dict()["losses"]
    assert said["schema"] == "truerisk.risk-estimate/2"


def test_estimate_prints_what_it_is(estimate):
    """Risk, interval, loss, method, bias and setting, a line each; scores on their own scale."""
    words = ("--set", "n_neighbors=3", "--set", "weights=distance", "--scoring")
    said = estimate(*words, "zero-one, auc, log")
    lines = dict(line.split("  ", 1) for line in said.out.splitlines())
    assert said.code == 0
    assert float(lines["risk"].split()[0]) < 0.2
    assert lines["setting"].strip() == "n_neighbors=3, weights=distance"
    assert lines["method"].strip() == "5-fold"
    auc = next(text for name, text in lines.items() if name.startswith("auc of "))
    assert auc.strip().endswith("(larger is better)")
    assert lines["log"].strip().endswith("(lower is better)")
    scores = estimate(*words, "zero-one,auc,log", "--json").content["scores"]
    assert list(scores) == ["auc", "log"]
    assert scores["auc"]["value"] == estimate(*words, "auc", "--json").content["value"]


@pytest.mark.parametrize("method", ["nested", "three-way"])
def test_estimate_of_a_method_that_tunes_is_of_the_procedure(estimate, method):
    said = estimate("--cv", method, "--json", model="tree").content
    assert said["method"].startswith(method)
    assert said["value"] is not None


def test_set_finds_a_setting_inside_a_wrapper(estimate, numbers):
    """Lasso's alpha and max_iter are those of the regression inside the target's scaling."""
    words = ("--set", "alpha=0.5", "--set", "max_iter=900", "--json")
    said = estimate(*words, model="lasso", file=numbers).content
    assert said["params"] == {"model__regressor__alpha": 0.5, "model__regressor__max_iter": 900}


def test_estimate_says_once_that_fits_did_not_converge(estimate):
    """Three fits are one warning; deprecations are none."""
    said = estimate("--set", "max_iter=1", "--cv", "3-fold", model="logistic")
    assert said.code == 0
    (sentence,) = said.sentences
    assert sentence.startswith("warning: lbfgs failed to converge")
    assert sentence.endswith("[3 times in 3 fits]")


def test_groups_times_and_places_are_columns_that_are_no_features(estimate, table, tmp_path):
    """The usual method follows the time; the numbers are those of Python, and dates are read."""
    path = with_columns(
        tmp_path / "timed.csv",
        table,
        when=lambda i: f"2024-01-{28 - i % 28:02d}T{i // 28:02d}",
        east=lambda i: i,
        north=lambda i: 0.5,
        patient=lambda i: f"p{i % 7}",
    )
    roles = {"time": "when", "block": ["east", "north"]}
    for given in ({"groups": "patient"}, roles):
        words = [word for name, of in given.items() for word in (f"--{name}", of)]
        words = [",".join(word) if isinstance(word, list) else word for word in words]
        said = estimate(*words, "--json", file=path).content
        read = tr.datasets.read_table(path, "y", **given)
        rows = {name: getattr(read, name) for name in given}
        expected = tr.estimate_risk(knn(), read.X, read.y, random_state=0, **rows)
        assert said["losses"] == expected.to_dict()["losses"]
        assert said["method"] == expected.method
        without = tr.estimate_risk(knn(), read.X, read.y, random_state=0)
        assert expected.plan_fingerprint != without.plan_fingerprint
        assert said.get("n_groups") == expected.n_groups
        assert not {*words} & {*read.feature_names}
    assert said["method"] == "forward-5"


WORDS = ("--dataset", "breast-cancer", "--cv", 4, "--scoring", "roc_auc", "--confidence", 0.8)


def test_cv_scoring_and_confidence_are_words_of_every_command(call):
    """Of the folds and the score of scikit-learn, at the level that was asked for."""
    told = call("estimate", *WORDS, "--model", "tree", "--set", "max_depth=2", "--json").content
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2, random_state=0))
    theirs = cross_val_score(model, *load_breast_cancer(return_X_y=True), cv=4, scoring="roc_auc")
    assert told["value"] == pytest.approx(theirs.mean())
    assert told["interval"]["confidence_level"] == 0.8
    told = call("assess", *WORDS, "--models", "tree", "--json").content
    assert (told["tuned_by"], told["scoring"]) == ("4 unshuffled folds", "roc_auc")
    assert told["confidence_level"] == 0.8
    few = ("--model", "tree", "--permutations", 1, "--json")
    told = call("permute", "--dataset", "wine", "--cv", 3, "--scoring", "f1_macro", *few).content
    assert (told["scoring"], told["method"]) == ("f1_macro", "pairs (3 unshuffled folds)")
    level = ("--model", "logistic", "--replicates", 0, "--confidence", 0.8, "--json")
    told = call("validate", "--dataset", "breast-cancer", *level).content
    assert told["risk"]["interval"]["confidence_level"] == 0.8


ONE, OTHER = ("estimate", "--model", "knn"), ("assess", "--models", "knn", "--outer", "3-fold")


@pytest.mark.parametrize("command", [ONE, OTHER], ids=["estimate", "assess"])
def test_finding_is_told_once_and_names_its_column(call, tmp_path, command):
    """The result tells it; stderr names the columns, and the finding only beside JSON."""
    rng = np.random.default_rng(0)
    patient = rng.permutation(160) // 4
    X, y = rng.normal(size=(160, 3)), (rng.permutation(40) % 2)[patient]
    path = write_csv(tmp_path / "visits.csv", "a,b,c,patient,y", [*zip(*X.T, patient, y)])
    words = (command[0], path, "--target", "y", *command[1:])
    said = call(*words)
    assert said.out.count("looks like the number of a group") == 1
    assert "note: columns: 0 a, 1 b, 2 c, 3 patient" in said.err
    assert not said.sentences
    beside = call(*words, "--json")
    assert "group-numbers" in beside.out
    assert any("looks like the number of a group" in line for line in beside.sentences)
    assert "columns: 0 a" not in call(*words, "--no-checks").err


@pytest.mark.parametrize("command", [ONE, OTHER[:3]], ids=["estimate", "assess"])
def test_checks_of_rows_are_left_out_by_no_checks(call, tmp_path, command):
    """Near copies are said once, in the text or beside the JSON, unless --no-checks is given."""
    rng = np.random.default_rng(0)
    patients, y = np.repeat(rng.normal(size=(40, 5)), 4, axis=0), np.repeat(np.arange(40) % 2, 4)
    rows = np.c_[patients + 0.1 * rng.normal(size=patients.shape), y][rng.permutation(160)]
    path = write_csv(tmp_path / "visits.csv", "a,b,c,d,e,y", [(*x, int(k)) for *x, k in rows])
    words = (command[0], path, "--target", "y", *command[1:])
    said = call(*words)
    assert "warning" in said.out
    assert "give groups" in said.out
    assert "give groups" not in said.err
    stored = call(*words, "--json")
    assert "[near-copies]" in stored.err
    assert "near-copies" in str(stored.content["findings"])
    silent = call(*words, "--no-checks")
    assert "give groups" not in silent.out + silent.err
