"""The levels of the audit on searches of known risk: docs/audit-measured.md in short."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.audit_bias import Cell, cells, measure
from benchmarks.audit_selection import flagged, noise, selected

REPLICATES = 120
SHORT = [
    Cell(n, c, dependence, "alike")
    for n, c in ((20, 5), (20, 100), (100, 20), (200, 100))
    for dependence in ("independent", "correlated")
]


@pytest.mark.parametrize("cell", SHORT, ids=lambda c: f"{c.n_rows}-{c.n_candidates}-{c.dependence}")
def test_the_corrected_claim_is_nearly_unbiased(cell):
    """BBC within .05 at 20 rows and .02 from 100 on, and nearer to the truth than the claim.

    Pairs and nested within three standard errors of 0. The claim flatters in each situation.
    """
    measured = measure(cell, REPLICATES, seed=1)
    assert abs(measured.mean("bbc")) < (0.05 if cell.n_rows == 20 else 0.02)
    assert abs(measured.mean("bbc")) < abs(measured.mean("claim"))
    assert measured.mean("claim") < -0.02
    for level in ("pairs", "nested"):
        assert abs(measured.mean(level)) < 3 * measured.error(level)
    assert measured.mean("covered") > 0.93


def test_the_rough_correction_errs_in_both_directions():
    """Far too optimistic for many rules on few rows, pessimistic for many rows."""
    few = measure(Cell(20, 100, "independent", "alike"), 60)
    many = measure(Cell(200, 20, "independent", "spread"), 60)
    assert few.mean("tt") < -0.1
    assert many.mean("tt") > 0.005


def test_a_claim_that_is_not_corrected_fails_the_check():
    """The check of the bias is one that the raw claim does not pass."""
    cell = measure(Cell(100, 100, "independent", "alike"), 40)
    assert abs(cell.mean("claim")) > 0.05


def test_all_situations_are_listed():
    """20 to 500 rows, 5 to 300 rules, both dependences, both kinds of risks."""
    assert len(list(cells())) == 80


def test_selected_noise_is_suspected_and_unselected_is_not():
    """The short form of the table of selections."""
    rng = np.random.default_rng(0)
    assert flagged(selected(50, "F"), 5, rng) == 5
    assert flagged(noise(20), 20, rng) == 0
