"""The coverage of the best set: what is drawn, and the ways that are compared."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.best_set import CELLS, WAYS, Cell, drawn, main, rated

from truerisk.results.evaluation import PairedLosses


@pytest.mark.parametrize("cell", [Cell("patients", 60, "knn", 4), Cell("simple", 50)])
def test_a_data_set_has_losses_and_risks_of_every_candidate(cell):
    """Shares add to 1, groups go along, and the same seed draws the same."""
    found = drawn(cell, 3)
    assert found.paired.losses.shape == (len(found.risks), cell.n)
    assert found.paired.shares.sum() == pytest.approx(1)
    assert (found.paired.groups is None) == (cell.problem == "simple")
    assert ((found.risks > 0) & (found.risks < 0.7)).all()
    assert drawn(cell, 3).risks.tolist() == found.risks.tolist()


@pytest.mark.parametrize("way", WAYS)
def test_every_way_keeps_the_winner_and_drops_the_hopeless(way):
    """Two candidates alike, one that is always wrong."""
    rows = np.random.default_rng(0).random((3, 80)) < 0.2
    losses = np.where([[True], [True], [False]], rows, 1.0)
    kept = WAYS[way](PairedLosses(losses, np.full(80, 1 / 80)))
    assert kept[losses.mean(axis=1).argmin()]
    assert not kept[2]


def test_the_rating_counts_data_sets():
    """Coverage of the candidate with the smallest mean risk, and the mean size."""
    found = [drawn(Cell("simple", 50, "knn", 3), seed) for seed in range(4)]
    for covers, size in rated(found).values():
        assert 0 <= covers <= 1
        assert 1 / 3 <= size <= 1


def test_the_command_prints_a_line_a_problem(capsys):
    """With the summary that the page has."""
    assert main(["--sets", "2", "--only", "label-noise 100, knn"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("label-noise 100, knn")
    assert len(lines) == 1 + len(WAYS)
    assert len({str(cell) for cell in CELLS}) == len(CELLS)
