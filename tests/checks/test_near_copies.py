"""Near copies among rows."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.checks.columns import columns_of, near_copies, neighbour_findings
from truerisk.core.table.data import Data


def codes(X, groups=None):
    """Codes of the findings."""
    data = Data.check(X, np.arange(len(X)) % 2, task="classification", groups=groups)
    return [f.code for f in neighbour_findings(data, columns_of(X))]


def test_rows_that_were_measured_twice_are_seen():
    """Each case twice with a small error, unless the groups are given."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 5)), 2, axis=0) + rng.normal(size=(80, 5)) / 100
    assert "near-copies" in codes(X)
    assert "near-copies" not in codes(X, groups=np.arange(80) // 2)


@pytest.mark.parametrize("p", [3, 5, 20])
def test_independent_rows_are_left_alone(p):
    """Normal and heavy-tailed rows in few and many dimensions."""
    rng = np.random.default_rng(p)
    assert "near-copies" not in codes(rng.normal(size=(200, p)))
    assert "near-copies" not in codes(rng.standard_t(3, size=(200, p)))


def test_the_usual_share_is_that_of_the_dimension():
    """Rows on a line have near neighbours by nature, and the law knows it."""
    t = np.random.default_rng(1).uniform(size=500)
    line = np.c_[t, t**2, np.sin(t)]
    assert "near-copies" not in codes(line)
    seen, usual = near_copies(line)
    assert seen == pytest.approx(usual, abs=0.12)
    assert seen > 0.3


def test_small_or_discrete_tables_have_no_answer():
    """Fewer than 30 rows, or counts instead of measurements."""
    rng = np.random.default_rng(0)
    assert near_copies(rng.normal(size=(20, 5))) is None
    assert near_copies(rng.integers(3, size=(100, 5)).astype(float)) is None
