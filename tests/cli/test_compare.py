"""`truerisk compare`: two stored estimates by the tests of `tr.compare`."""

from __future__ import annotations

import json

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

X, Y = tr.datasets.make_difficult(60, random_state=0)
A = tr.estimate_risk(GaussianNB(), X, Y, cv="5-fold")
B = tr.estimate_risk(KNeighborsClassifier(5), X, Y, cv="5-fold")
OTHER = tr.estimate_risk(GaussianNB(), X, Y, cv="5-fold", random_state=1)


@pytest.fixture
def files(tmp_path):
    for name, estimate in (("a", A), ("b", B), ("other", OTHER)):
        (tmp_path / f"{name}.json").write_text(estimate.to_json(), encoding="utf-8")
    return tmp_path


def test_two_files_are_compared(call, files):
    """As the estimates themselves are."""
    said = call("compare", files / "a.json", files / "b.json")
    assert (said.code, said.err) == (0, "")
    assert said.out.strip() == str(tr.compare(A, B))


@pytest.mark.parametrize(
    ("test", "options"), [("nadeau-bengio", {}), ("bayes", {"rope": 0.05}), ("mcnemar", {})]
)
def test_options_reach_the_test(call, files, test, options):
    """The word, the region of equivalence and the level; one JSON document."""
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    words += ["--test", test, "--level", 0.8, "--json"]
    said = call("compare", files / "a.json", files / "b.json", *words)
    same = tr.compare(A, B, test=test, confidence_level=0.8, **options)
    assert (said.code, said.err) == (0, "")
    assert said.content == same.to_dict()


def test_files_of_the_command_line_are_read(call, files, tmp_path):
    """What `estimate --json` prints, of two learners on the same rows."""
    rows = "\n".join(f"{a},{b},{c}" for (a, b), c in zip(X, Y, strict=True))
    (tmp_path / "rows.csv").write_text(f"u,v,label\n{rows}\n", encoding="utf-8")
    for name in ("lda", "knn"):
        words = ("--target", "label", "--model", name, "--cv", "5-fold", "--json")
        said = call("estimate", tmp_path / "rows.csv", *words)
        (tmp_path / f"{name}.json").write_text(said.out, encoding="utf-8")
    said = call("compare", tmp_path / "lda.json", tmp_path / "knn.json")
    assert said.out.startswith("nadeau-bengio: risk a − b")


def test_what_is_not_paired_is_refused(call, files):
    """Other splits, with the sentence of the function; other files, with their names."""
    said = call("compare", files / "a.json", files / "other.json")
    assert said.code == 1
    assert "made on different splits" in said.err
    (files / "text.json").write_text("{}", encoding="utf-8")
    (files / "cut.json").write_text('{"schema"', encoding="utf-8")
    for name, message in (
        ("text.json", "text.json: this JSON is not of truerisk"),
        ("cut.json", "cut.json' is no JSON"),
        ("none.json", "none.json' cannot be read"),
    ):
        said = call("compare", files / "a.json", files / name)
        assert (said.code, message in said.err) == (3, True), said.err
    assert call("compare", files / "a.json").code == 2


def test_the_tests_that_files_have_are_named(call, tmp_path):
    """`paired-cv` needs what no file keeps."""
    (tmp_path / "a.json").write_text("{}")
    said = call("compare", tmp_path / "a.json", tmp_path / "a.json", "--test", "foo")
    assert said.code == 2
    assert "'mcnemar', '5x2'" in said.err
    assert "paired-cv" not in said.err


@pytest.mark.parametrize(
    "name", ["n_rows", "losses", "split_risks", "splits", "seconds", "perfect"]
)
@pytest.mark.parametrize("value", ["x", True, 3, {"a": 1}, [[[1]]], [10**400]], ids=str)
def test_a_value_of_a_wrong_type_is_named(call, files, name, value):
    """A sentence, whatever the file holds there."""
    content = json.loads((files / "a.json").read_text())
    (files / "c.json").write_text(json.dumps({**content, name: value}))
    said = call("compare", files / "c.json", files / "b.json")
    fits = isinstance(value, int) and not isinstance(value, bool)
    assert said.code in ((0, 1, 2, 3) if fits else (3,))
    assert "Traceback" not in said.err
