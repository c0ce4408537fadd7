"""The intervals of a validation in the battery: a line for each number, held to its truth."""

from __future__ import annotations

from benchmarks.calibration import validated


def test_every_number_is_held_to_its_truth(monkeypatch, capsys):
    """The truth is that of fresh rows, and the shares are those of the sets."""
    monkeypatch.setattr(validated, "FRESH", 2_000)
    validated.main(["--sets", "3", "--cell", "0"])
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == "LogisticRegression 150 x 3, shift -0.5: 3 sets"
    assert [line.split(" truth ")[0].strip() for line in lines] == list(validated.NAMES)
    slope = lines[0].split()
    assert 0.7 < float(slope[2].rstrip(",")) < 1.4
    assert float(slope[-1]) in (0, 0.333, 0.667, 1)
