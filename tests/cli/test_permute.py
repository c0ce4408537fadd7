"""`truerisk permute`: the test of the api on a table, of a tuned learner."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr
from truerisk.models.learners import learner


@pytest.fixture
def permute(call, table):
    """Nineteen permutations of the small table."""

    def called(*words, model="lda", file=table):
        asked = ("permute", file, "--target", "y", "--model", model, "--permutations", 19)
        return call(*asked, "--cv", "3-fold", *words)

    return called


def test_the_numbers_are_those_of_python(permute, table):
    """The search of the word's grid, with the seed for folds and permutations alike."""
    read = tr.datasets.read_table(table, "y")
    found = learner("lda", "classification", n_rows=30, n_classes=2, n_features=2)
    search = tr.HonestSearchCV(*found, cv="3-fold", random_state=3)
    same = tr.permutation_test(search, read.X, read.y, n_permutations=19, random_state=3)
    said = permute("--seed", "3", "--json")
    assert said.code == 0
    told = {name: value for name, value in said.content.items() if name != "seconds"}
    assert told == {name: value for name, value in same.to_dict().items() if name != "seconds"}


def test_text_says_the_p_value(permute):
    """One number first; rows that a line separates are above chance."""
    said = permute("--scoring", "auc")
    assert said.out.startswith("p = 0.05: 0 of 19 permutations (rows) have a score as large\n")
    assert "observed: score 1.0000 (auc of 'v', pairs (3-fold))" in said.out
    assert said.sentences == []


def test_workers_change_nothing(permute):
    """Two processes and this one say the same."""
    assert permute("--jobs", "2").out == permute().out


def test_groups_keep_their_rows(permute, tmp_path):
    """The column says which rows belong together; their labels change places as a whole."""
    lines = [f"{i % 2 + (i // 3) % 4 / 9},p{i // 3},{'uv'[i // 3 % 2]}" for i in range(60)]
    path = tmp_path / "grouped.csv"
    path.write_text("a,who,y\n" + "\n".join(lines) + "\n")
    said = permute("--groups", "who", "--json", file=path)
    assert said.content["permuted"] == "labels of groups"
    assert said.content["n_units"] == 20


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--permutations", "0"), 2, "--permutations"),
        (("--cv", "5-flod"), 2, "5-flod"),
        (("--scoring", "squared"), 1, "squared"),
        (("--seed", "-1"), 2, "--seed"),
        (("--model", "kn"), 2, "kn"),
        (("--target", "z"), 2, "z"),
    ],
)
def test_bad_words(permute, words, code, message):
    """Usage is 2, what cannot be computed 1; nothing on stdout."""
    said = permute(*words)
    assert (said.code, said.out) == (code, "")
    assert message in said.err


def test_the_model_is_needed(call, table):
    """There is no usual one."""
    said = call("permute", table, "--target", "y")
    assert said.code == 2
    assert "--model" in said.err


def test_rows_with_times_are_taken_on_in_time(call, tmp_path):
    """As in Python; forecasts tune and test where no method is named."""
    X, y = tr.datasets.make_daily_load(200, random_state=2)
    names = ",".join([*(f"x{j}" for j in range(X.shape[1])), "load", "when"])
    cells = np.column_stack([X, y, np.arange(200)])
    path = tmp_path / "load.csv"
    np.savetxt(path, cells, "%.17g", ",", header=names, comments="")
    words = ("permute", path, "--target", "load", "--time", "when", "--model", "ridge")
    said = call(*words, "--permutations", 19, "--json").content
    read = tr.datasets.read_table(path, "load")
    seen = read.X[:, [name != "when" for name in read.feature_names]]
    grid = learner("ridge", "regression", n_rows=200, n_features=seen.shape[1])
    search = tr.HonestSearchCV(*grid, random_state=0)
    same = tr.permutation_test(search, seen, y, time=np.arange(200), n_permutations=19).to_dict()
    assert said["method"] == "nested (forward-5, inner forward-5)"
    assert (said["p_value"], said["observed"]) == (same["p_value"], same["observed"])
