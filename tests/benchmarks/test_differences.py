"""The battery of pairs of learners: twins are alike, its tests are the library's, it resumes."""

import json

import numpy as np
import pytest
from benchmarks.calibration import differences
from benchmarks.calibration.differences import CELLS, TUNING, Duel, SoftThreshold, main, run
from benchmarks.calibration.duels import TESTS, table
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.estimation.problem import problem_from_arguments
from truerisk.estimation.run import compute_risks
from truerisk.extend import Family

TWINS = Duel("simple", 40, "knn", "knn")
UNLIKE = Duel("linear", 40, "soft .1", "soft 2", "squared")


@pytest.fixture(scope="module")
def lines():
    """Three data sets of twins, and of two unlike rules."""
    return [{"cell": str(c), "seed": s, **run(c, s)} for c in (TWINS, UNLIKE) for s in range(3)]


def test_cells_of_the_judgement_served_no_choice():
    assert not set(TUNING) & set(CELLS)
    for cells in (TUNING, CELLS):
        assert {cell.equal for cell in cells} == {True, False}


@pytest.mark.parametrize("duel", [TWINS, Duel("patients", 80, "knn", "knn")], ids=str)
def test_twins_are_alike(duel):
    sums = np.zeros((2, 2))
    for seed in range(60):
        tables, y, groups, _ = differences._tables(duel, np.random.default_rng(seed))
        assert (groups is None) == (duel is TWINS)
        sums += [[X[y == label, 0].mean() for label in (0, 1)] for X in tables]
    assert sums[0] / 60 == pytest.approx(sums[1] / 60, abs=0.15)


def test_truth_is_that_of_the_fitted_rules(lines):
    assert [line["truth"] for line in lines[:3]] == [0.0] * 3
    assert all(line["truth"] < 0 for line in lines[3:])


def test_soft_thresholding_moves_the_coefficients_of_least_squares():
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = X @ [2.0, 0.05, -1.0] + 3
    rule = SoftThreshold(0.1).fit(X, y)
    assert rule.coef_ == pytest.approx([1.9, 0.0, -0.9])
    assert rule.predict(X).mean() == pytest.approx(y.mean())


def test_tests_reject_what_compare_rejects():
    """The stored numbers are enough."""
    X, y = tr.datasets.make_difficult(60, random_state=2)
    models = GaussianNB(), KNeighborsClassifier(1)
    line, found = {}, {}
    for k in (5, 10):
        method = tr.methods.Pairs(tr.methods.KFold(k))
        computed = [
            compute_risks(problem_from_arguments(Family.from_grid(m), X, y, random_state=0), method)
            for m in models
        ]
        line[str(k)] = differences._facts(computed)
        found[k] = [tr.estimate_risk(m, X, y, cv=method) for m in models]
    for away in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5):
        for word, k in (("paired-cv", 10), ("paired-cv, 5", 5), ("nadeau-bengio", 10)):
            told = tr.compare(*found[k], test=word.partition(",")[0])
            assert TESTS[word](line, away) == (away not in told.interval)
    p_value = tr.compare(*found[10], test="mcnemar").p_value
    assert TESTS["mcnemar"](line, 0.0) == (p_value < 0.05)


def test_table_counts_what_is_rejected(lines):
    text = table(lines, [TWINS, UNLIKE])
    assert text.count(str(TWINS)) == 1
    assert text.count(str(UNLIKE)) == 2
    assert "error of the first kind" in text


def test_differences_of_cells_chosen_by_name_go_on_where_they_were(tmp_path, monkeypatch, capsys):
    """What is stored is not made again, and a word that no name holds is refused."""
    monkeypatch.setattr(differences, "CELLS", (TWINS, UNLIKE))
    store = tmp_path / "lines.jsonl"

    def asked(seeds, *cells):
        asked = ["differences", "--seeds", seeds, "--store", str(store), "--cells", *cells]
        monkeypatch.setattr("sys.argv", asked)
        return main()

    assert asked("1", str(UNLIKE)) == asked("2", str(UNLIKE)) == 0
    found = [json.loads(line) for line in store.read_text("utf-8").splitlines()]
    assert [line["seed"] for line in found] == [0, 1]
    assert str(TWINS) not in store.read_text("utf-8")
    assert str(UNLIKE) in capsys.readouterr().out
    with pytest.raises(SystemExit):
        asked("2", "nowhere")
    assert "no cell has such a name" in capsys.readouterr().err
