"""The calibration in space asks the library, and resumes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.calibration import space
from benchmarks.calibration.space import Cell, main, run, table

CELL = Cell(0.15, 40)


@pytest.fixture(scope="module")
def lines():
    return [line for seed in range(2) for line in run(CELL, seed)]


def test_each_learner_says_its_risk_and_its_intervals(lines):
    """Around the value, and of the region for those that are not tuned."""
    assert len(lines) == 2 * len(space.LEARNERS)
    for line in lines:
        assert line["spatial"][0] < line["value"] < line["spatial"][1]
        assert line["labels"][0] < line["label_value"] < line["labels"][1]
        assert (line["region"] is None) == ("tuned" in line["learner"])


def test_no_interval_is_held_to_a_truth_that_it_took_part_in(lines):
    """The truth of a field is the mean of the others."""
    assert space._of_others([1.0, 2.0, 6.0]) == pytest.approx([4.0, 3.5, 1.5])
    words = table(lines).splitlines()
    assert words[0].split()[0] == "cell"
    assert any(word.startswith("all: ") for word in words)


def test_a_score_is_asked_of_the_classifiers_alone():
    """Its intervals stand beside its values; a width without Wald's is no number."""
    told = [line for seed in range(3) for line in run(CELL, seed, "auc")]
    assert {line["learner"].split()[0] for line in told} == {"classification"}
    for line in told:
        assert line["spatial"][0] < line["value"] < line["spatial"][1]
        assert (line["region"], line["wald"]) == (None, None)
    assert "nan" in table(told)


def test_it_goes_on_where_it_ended(tmp_path, monkeypatch, capsys):
    """A second call adds the further seed."""
    monkeypatch.setattr(space, "CELLS", (CELL,))
    store = tmp_path / "space.jsonl"
    for seeds in ("1", "2"):
        main(["--seeds", seeds, "--store", str(store)])
    kept = [json.loads(line) for line in store.read_text("utf-8").splitlines()]
    assert np.bincount([line["seed"] for line in kept]).tolist() == [6, 6]
    assert "all:" in capsys.readouterr().out
