"""The band of docs/learning-curves.md in short: it covers, and one without its errors does not."""

from __future__ import annotations

import pytest

from benchmarks import learning_curves
from truerisk.methods.parts import paired_losses


@pytest.fixture
def short(monkeypatch):
    """Fewer rows tell the truth."""
    monkeypatch.setattr(learning_curves, "TEST_ROWS", 1500)
    monkeypatch.setattr(learning_curves, "MOST_DRAWINGS", 25)


def test_the_band_covers(short):
    """Of 6 data sets most bands hold the truth, inside and at four times the rows."""
    cell = learning_curves.measure("difficult", "3-nn", 100, 6)
    assert cell.refused == 0
    assert (cell.coverage[1:] > 0.7).all()
    assert len(learning_curves.lines([cell])) == 4


def test_a_band_that_is_too_narrow_does_not(short, monkeypatch):
    """With a hundredth of the variance hardly any does."""
    monkeypatch.setattr(paired_losses, "ONCE", 0.018)
    cell = learning_curves.measure("difficult", "3-nn", 100, 6)
    assert cell.refused or (cell.coverage[1:] < 0.7).all()
