"""What a note says of a model of all rows, held to drawings: a line for each cell and law."""

from __future__ import annotations

from benchmarks.calibration import all_rows


def test_every_cell_and_law_has_its_line(monkeypatch, capsys):
    """A law that takes nothing off leaves the fall as bias and the error as it is."""
    monkeypatch.setattr(all_rows, "CELLS", all_rows.CELLS[:1])
    monkeypatch.setattr(all_rows, "STEEP", -1.0)
    all_rows.main(["--sets", "3"])
    cell, nothing, *laws = capsys.readouterr().out.splitlines()
    assert cell.startswith("digits, n=100, knn, zero-one: risk 0.1")
    risk, fall = (float(cell.split(word)[1].split()[0]) for word in ("risk ", "falls by "))
    assert abs(float(nothing.split("|bias| ")[1].split(",")[0]) - abs(fall) / risk) < 0.002
    assert nothing.endswith("error 1.000, at most 1.000")
    assert len(laws) == 9
