"""A comparison prints itself with what it assumed, and becomes JSON."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import truerisk as tr

A = np.array([0.12, 0.10, 0.14, 0.08, 0.16, 0.11])
B = np.array([0.15, 0.13, 0.14, 0.12, 0.18, 0.10])


def test_it_prints_and_says_what_it_assumed() -> None:
    """Difference, interval, statistic and p-value; then one line per assumption."""
    found = tr.compare(A, B, n_train=90, n_test=10)
    first, second = str(found).splitlines()
    assert first.startswith("nadeau-bengio: risk a − b -0.0183, 95 % interval [-0.04")
    assert f"t(5) = {found.statistic:.3f}, p = {found.p_value:.4g}" in first
    assert second.startswith("  assumed: differences of 6 splits")
    bayes = tr.compare(A, B, n_train=90, n_test=10, test="bayes")
    assert f"better {bayes.better:.3f}" in str(bayes)
    assert "practically the same" in str(bayes)
    alike = tr.compare(A, A, n_train=90, n_test=10)
    assert str(alike).splitlines()[-1].startswith("  note: every split")


def test_it_becomes_json_and_html() -> None:
    """Plain values under a schema; None stays null; HTML is escaped."""
    found = tr.compare(A, B, n_train=90, n_test=10, test="bayes")
    content = json.loads(found.to_json())
    assert content["schema"] == "truerisk.comparison/1"
    assert content["p_value"] is None
    assert content["better"] == found.better
    page = found._repr_html_()
    assert "P(a better)" in page
    assert "<table>" in page


def test_it_is_frozen() -> None:
    """A result cannot be changed."""
    with pytest.raises(FrozenInstanceError):
        tr.compare(A, B, n_train=90, n_test=10).difference = 0
