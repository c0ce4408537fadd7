"""The claim against the honest risk."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from truerisk.auditing.on_scores import risk_findings
from truerisk.results.interval import ERROR, Interval, Scale


def codes(claimed, value=0.2, interval=(0.15, 0.25), std_error=None):
    """Codes of the findings."""
    ends = None if interval is None else Interval(*interval, "bbc")
    honest = SimpleNamespace(loss_value=value, loss_interval=ends, std_error=std_error)
    return [f.code for f in risk_findings(claimed, honest, ERROR)]


@pytest.mark.parametrize(("claimed", "refuted"), [(0.14, True), (0.15, False), (0.26, True)])
def test_a_claim_outside_the_interval_is_refuted(claimed, refuted):
    """On either side; the ends belong to the interval."""
    if refuted:
        assert "claim-refuted" in codes(claimed)
    else:
        assert "claim-refuted" not in codes(claimed)


def test_nothing_is_refuted_without_an_interval():
    """A number alone refutes nothing, however far."""
    assert "claim-refuted" not in codes(0.01, interval=None)


def test_optimism_above_a_tenth_is_large():
    """0.17 for an honest 0.2 is 15 % too small; 0.19 is 5 %."""
    assert "optimism-large" in codes(0.17)
    assert "optimism-large" not in codes(0.19)
    assert "optimism-large" not in codes(0.3)


def test_a_score_is_told_as_a_score():
    """An accuracy of .83 is .03 better than the honest .80: nobody reads of .17 and .20."""
    ends = Interval(0.18, 0.25, "bbc")
    honest = SimpleNamespace(loss_value=0.2, loss_interval=ends, std_error=None)
    refuted, large = risk_findings(0.17, honest, Scale(1.0))
    assert refuted.sentence == (
        "The claimed score 0.8300 is better than anything in the 95 % interval [0.7500, 0.8200]."
    )
    assert large.sentence.startswith(
        "The claimed score 0.8300 is 0.0300 better than the honest 0.8"
    )
    assert "risk" not in refuted.remedy + large.remedy


def test_optimism_within_the_noise_is_not_large():
    """Half a standard error of the honest value is no finding."""
    assert "optimism-large" not in codes(0.17, std_error=0.08)
    assert "optimism-large" not in codes(0.004, value=0.006, interval=(0.0, 0.02))


def test_no_value_has_no_finding():
    """Failed fits leave no honest value to compare with."""
    assert codes(0.1, value=None) == []
