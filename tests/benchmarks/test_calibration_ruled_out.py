"""Log loss of answers that rule classes out, rated on drawings: a line for each cell, and one."""

from __future__ import annotations

import numpy as np
from benchmarks.calibration import ruled_out
from benchmarks.calibration.battery import Cell


def test_every_cell_has_its_line(monkeypatch, capsys):
    """One neighbour rules a class out in each answer, and is wrong in some: nothing is withheld."""
    monkeypatch.setattr(ruled_out, "CELLS", (Cell("digits", 100, "knn", "log"),))
    ruled_out.main(["--sets", "2"])
    cell, every = capsys.readouterr().out.splitlines()
    assert cell.startswith("digits, n=100, knn, log: withheld ")
    assert every.partition("; ")[2] == cell.partition("; ")[2]


def test_what_is_withheld_is_rated_as_it_would_have_been():
    """Four of five data sets have an interval, which three hold; the fifth would have held, too."""
    given = np.array([True, True, True, True, False])
    held = np.array([True, True, True, False, True])
    said = ruled_out._counted(given, held)
    assert said == "withheld 20.0%; held 75.0% of 4, withheld ones 100.0% of 1"
