"""`truerisk study compare`: text, JSON, a page, and refusals."""

from __future__ import annotations

import json

import pytest

import truerisk as tr

SPEC = {
    "replicates": 2, "sizes": [20], "n_test": 50, "problems": ["simple", "difficult", "highleyman"],
    "learners": [{"word": "knn", "set": {"n_neighbors": k}, "name": f"{k}nn"} for k in (1, 5)],
    "methods": ["2-fold", "3-fold"],
}  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A small study."""
    path = tmp_path_factory.mktemp("study") / "runs.db"
    tr.Study(SPEC, path).run()
    return path


def test_it_compares_and_writes_a_page(call, store, tmp_path):
    """What Python finds; the page is that of the JSON."""
    words = ("study", "compare", "--store", store, "--of", "learner", "--method", "2-fold")
    page = tmp_path / "page.html"
    said = call(*words, "--report", page)
    found = tr.Study(None, store).results().compare("learner", method="2-fold")
    assert said.code == 0
    assert said.out.strip() == str(found).strip()
    assert f"wrote {page}" in said.err
    assert "3 data sets are too few to rank methods over them" in said.out
    assert "critical difference" not in page.read_text("utf-8") + said.out
    asked = call(*words, "--json")
    assert asked.content == found.to_dict()
    (tmp_path / "again.json").write_text(json.dumps(asked.content))
    assert call("report", tmp_path / "again.json").code == 0
    assert (tmp_path / "again.html").read_text("utf-8") == page.read_text("utf-8")


def test_it_says_how_far_it_is(call, store, monkeypatch):
    """Draws of the Bayesian tests, then pairs: many methods take a while."""
    monkeypatch.setattr("truerisk.core.progress_line.QUIET", 0.0)
    said = call("study", "compare", "--store", store, "--of", "learner", "--method", "2-fold")
    assert said.sentences == [
        "Bayesian tests: 50000 of 50000 draws",
        "signed-rank tests: 1 of 1 pairs",
    ]


def test_its_options_are_those_of_python(call, store):
    """Each reaches the comparison."""
    said = call(
        "study", "compare", "--store", store, "--of", "method", "--learner", "5nn", "--by",
        "seconds", "--control", "2-fold", "--rope", "0.5", "--missing", "last", "--pairwise",
        "ranks", "--confidence", "0.9", "--seed", "3", "--size", "20", "--json",
    )  # fmt: skip
    assert said.content["quantity"] == "seconds per estimate"
    assert said.content["terms"] == {
        "better": "lower", "missing": "last", "pairwise": "ranks", "control": "2-fold",
        "rope": 0.5, "confidence_level": 0.9, "random_state": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ([], 2, "give --of learner or --of method, and name one"),
        (["--of", "learner"], 2, "several methods (2-fold, 3-fold)"),
        (["--of", "learner", "--method", "loo"], 2, "no method 'loo'. It has: 2-fold, 3-fold"),
        (["--of", "rows"], 2, "'rows' is not one of"),
        (["--report", "none/a.html"], 2, "there is no folder 'none'"),
    ],
)
def test_mistakes_are_sentences(call, store, words, code, sentence):
    """With the exit codes of the command line."""
    said = call("study", "compare", "--store", store, *words)
    assert (said.code, sentence in said.err) == (code, True), said.err


def test_a_store_that_is_not_there(call, tmp_path):
    """As of every command of studies."""
    said = call("study", "compare", "--store", tmp_path / "a.db")
    assert (said.code, "there is no such store" in said.err) == (3, True)
