"""The battery of pairs of learners: twins are alike, its tests are the library's, it resumes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.calibration import differences
from benchmarks.calibration.differences import CELLS, TUNING, Duel, SoftThreshold, main, run
from benchmarks.calibration.duels import TESTS, table
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr

TWINS = Duel("simple", 40, "knn", "knn")
UNLIKE = Duel("linear", 40, "soft .1", "soft 2", "squared")


@pytest.fixture(scope="module")
def lines():
    """Three data sets of twins, and of two unlike rules."""
    return [{"cell": str(c), "seed": s, **run(c, s)} for c in (TWINS, UNLIKE) for s in range(3)]


def test_no_cell_of_the_judgement_served_the_choice():
    """Tuning and judging are about other cells, and both have equal and unequal learners."""
    assert not set(TUNING) & set(CELLS)
    for cells in (TUNING, CELLS):
        assert {cell.equal for cell in cells} == {True, False}


@pytest.mark.parametrize("duel", [TWINS, Duel("patients", 80, "knn", "knn")], ids=str)
def test_twins_are_alike(duel):
    """Both tables are drawn alike given y: over many drawings their class means agree."""
    sums = np.zeros((2, 2))
    for seed in range(60):
        tables, y, groups, _ = differences._tables(duel, np.random.default_rng(seed))
        assert (groups is None) == (duel is TWINS)
        sums += [[X[y == label, 0].mean() for label in (0, 1)] for X in tables]
    assert sums[0] / 60 == pytest.approx(sums[1] / 60, abs=0.15)


def test_the_truth_is_that_of_the_fitted_rules(lines):
    """Twins differ by nothing; a rule that moves its coefficients far has the larger risk."""
    assert [line["truth"] for line in lines[:3]] == [0.0] * 3
    assert all(line["truth"] < 0 for line in lines[3:])


def test_soft_thresholding_moves_the_coefficients_of_least_squares():
    """Towards 0, and not beyond it."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = X @ [2.0, 0.05, -1.0] + 3
    rule = SoftThreshold(0.1).fit(X, y)
    assert rule.coef_ == pytest.approx([1.9, 0.0, -0.9])
    assert rule.predict(X).mean() == pytest.approx(y.mean())


def test_the_tests_are_those_of_the_library():
    """What is rejected from the stored numbers is what `compare` rejects."""
    X, y = tr.datasets.make_difficult(60, random_state=2)
    models = GaussianNB(), KNeighborsClassifier(1)
    from truerisk.core.family import Family
    from truerisk.estimation.problem import pose
    from truerisk.estimation.run import compute

    line, found = {}, {}
    for k in (5, 10):
        method = tr.methods.Pairs(tr.methods.KFold(k))
        computed = [compute(pose(Family.of(m), X, y, random_state=0), method) for m in models]
        line[str(k)] = differences._facts(computed)
        found[k] = [tr.estimate_risk(m, X, y, cv=method) for m in models]
    for away in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5):
        for word, k in (("paired-cv", 10), ("paired-cv, 5", 5), ("nadeau-bengio", 10)):
            told = tr.compare(*found[k], test=word.partition(",")[0])
            assert TESTS[word](line, away) == (away not in told.interval)
    p_value = tr.compare(*found[10], test="mcnemar").p_value
    assert TESTS["mcnemar"](line, 0.0) == (p_value < 0.05)


def test_the_table_counts_what_is_rejected(lines):
    """A line for each cell; unequal risks have a truth and a power."""
    text = table(lines, [TWINS, UNLIKE])
    assert text.count(str(TWINS)) == 1
    assert text.count(str(UNLIKE)) == 2
    assert "error of the first kind" in text


def test_cells_are_chosen_by_their_names(tmp_path, monkeypatch, capsys):
    """Those whose name holds the word; a word that none has is refused."""
    monkeypatch.setattr(differences, "CELLS", (TWINS, UNLIKE))
    store = tmp_path / "lines.jsonl"
    asked = ["differences", "--seeds", "1", "--store", str(store), "--cells"]
    monkeypatch.setattr("sys.argv", [*asked, str(UNLIKE)])
    assert main() == 0
    assert str(TWINS) not in store.read_text("utf-8")
    assert str(UNLIKE) in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", [*asked, "nowhere"])
    with pytest.raises(SystemExit):
        main()
    assert "no cell has such a name" in capsys.readouterr().err


def test_it_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    """What is stored is not made again."""
    monkeypatch.setattr(differences, "CELLS", (TWINS,))
    store = tmp_path / "lines.jsonl"
    for seeds in ("1", "2"):
        monkeypatch.setattr("sys.argv", ["differences", "--seeds", seeds, "--store", str(store)])
        assert main() == 0
    found = [json.loads(line) for line in store.read_text("utf-8").splitlines()]
    assert [line["seed"] for line in found] == [0, 1]
    assert str(TWINS) in capsys.readouterr().out
