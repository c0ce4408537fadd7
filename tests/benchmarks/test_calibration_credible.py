"""The credible interval in the battery: counted by column, None where there is no posterior."""

from __future__ import annotations

import pytest
from benchmarks.calibration import credible
from benchmarks.calibration.credible import COLUMNS, Held, coverage

from truerisk.methods.bayesian import rule_errors


def test_intervals_are_counted_by_column():
    """Every interval holds the truth, lies above it or below it; standardised ones lie above."""
    found = coverage("difficult, n = 50", 20)
    assert list(found) == list(COLUMNS)
    for held in found.values():
        assert held.inside + held.above + held.below == pytest.approx(1)
    assert found["own rows"].above > 0.2
    assert found["raw units, own rows"].inside > 0.8


def test_a_rule_of_many_features_looks_too_good_by_its_own_rows():
    """Truths lie above its intervals; rows that it was not fitted on cover it."""
    found = coverage("sparse, n = 28", 20)
    assert found["own rows"].below > 0.1 > found["other rows"].below
    assert found["other rows"].inside > 0.8


def test_a_prior_that_takes_features_off_the_rows_is_too_high(monkeypatch, capsys):
    """Far beyond the bound no interval holds the error; within it most do."""
    monkeypatch.setattr(credible, "WIDENED", [(50, 20, "flat"), (50, 2, "flat")])
    monkeypatch.setattr(rule_errors, "MOST", rule_errors.MOST)  # which is lifted
    credible.main(["--inflation", "--sets", "5"])
    beyond, within = capsys.readouterr().out.splitlines()
    assert beyond.startswith("| 50 20 flat |")
    assert beyond.endswith("0 0 |")
    assert min(map(int, within.strip("| ").split()[-4:])) >= 60


def test_a_row_is_printed_per_problem(monkeypatch, capsys):
    """With shares in per cent."""
    monkeypatch.setattr(credible, "FRESH", 500)
    monkeypatch.setattr(
        credible, "PROBLEMS", {"simple, n = 50": credible.PROBLEMS["simple, n = 50"]}
    )
    credible.main(["--sets", "2"])
    head, row = capsys.readouterr().out.splitlines()
    assert head == "| | " + " | ".join(COLUMNS) + " |"
    assert row.startswith("| simple, n = 50 | ")
    assert str(Held(0.95, 0.03, 0.02)) == "95 (+3 −2)"
