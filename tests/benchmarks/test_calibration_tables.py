"""Real tables as populations of the battery: drawn without replacement, rated by the rest."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.calibration.__main__ import main
from benchmarks.calibration.battery import SCORES, Cell
from benchmarks.calibration.tables import TABLES, here
from benchmarks.calibration.trial import run
from sklearn.datasets import load_diabetes, load_digits

from truerisk.datasets.documents import FOLDER


class Recorded:
    """A rule that says zeros and remembers the rows that it was asked about."""

    def predict(self, X):
        self.seen = X
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize("name", ["digits", "diabetes"])
def test_the_truth_leaves_the_sample_out(name):
    """No row is drawn twice, and those that rate a rule are all the others."""
    drawn, rule = TABLES[name].draw(100, np.random.default_rng(0)), Recorded()
    drawn.risk(rule, "")
    whole = {"digits": load_digits, "diabetes": load_diabetes}[name]().data
    sample = {row.tobytes() for row in drawn.X}
    rest = {row.tobytes() for row in rule.seen}
    assert (len(drawn.X), len(rule.seen)) == (100, len(whole) - 100)
    assert len(np.unique(whole, axis=0)) == len(whole)  # so that rows are known by their numbers
    assert (len(sample), len(rest)) == (100, len(whole) - 100)
    assert not sample & rest


def test_a_rule_is_rated_by_the_labels_of_the_rest():
    """A constant rule errs as often as the rest holds other digits; two of each are drawn."""
    digits = load_digits().target
    drawn = TABLES["digits"].draw(60, np.random.default_rng(1))
    zeros = (digits == 0).sum() - (drawn.y == 0).sum()
    assert drawn.risk(Recorded(), "") == pytest.approx(1 - zeros / (len(digits) - 60))
    assert np.bincount(drawn.y).min() >= 2
    odd = TABLES["odd-digits"].draw(60, np.random.default_rng(1))
    assert set(odd.y) == {0, 1}
    assert odd.risk(Recorded(), "zero-one") == pytest.approx(
        ((digits % 2).sum() - odd.y.sum()) / (len(digits) - 60)
    )


def test_drawings_differ_and_come_again():
    """By the generator that they are given."""
    one, same, other = (TABLES["digits"].draw(50, np.random.default_rng(s)) for s in (0, 0, 1))
    assert (one.X == same.X).all()
    assert (one.X != other.X).any()


def test_tables_of_documents_are_left_out_without_their_folder(tmp_path, monkeypatch, capsys):
    """The battery says which; those of scikit-learn are always there."""
    monkeypatch.delenv(FOLDER, raising=False)
    kept, missing = here(SCORES)
    assert missing == ["a1a", "ozone", "ozone-level", "satellite", "yeast"]
    assert {"digits", "odd-digits", "diabetes", "noise"} <= {cell.problem for cell in kept}
    monkeypatch.setattr(
        "benchmarks.calibration.trial.run", lambda cell, seed: {"truth": 0.2, "estimates": {}}
    )
    monkeypatch.setattr("benchmarks.calibration.battery.SCORES", (Cell("yeast", 150, "knn"),))
    given = ["--scores", "--store", str(tmp_path / "runs.db"), "--seeds", "1"]
    main(given)
    assert "left out for want of --papers: yeast" in capsys.readouterr().err
    monkeypatch.setenv(FOLDER, "")  # so that it is put back
    main([*given, "--papers", str(tmp_path)])
    assert capsys.readouterr().err.count("--papers") == 0


def test_a_table_has_every_score():
    """One trial of ten classes: a truth and intervals of the loss and of each score."""
    found = run(Cell("digits", 60, "knn", "zero-one", ("f1", "kappa")), 0)
    for said in (found, *found["scores"].values()):
        assert 0 < said["truth"] < 1
        value, low, high = said["estimates"]["default"]
        assert 0 <= low <= value <= high
    assert set(found["scores"]) == {"f1", "kappa"}
