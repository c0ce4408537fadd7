"""Figure 3 on few trials: what is not confirmed is said."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.experiments.kearns import kearns_trial
from truerisk.experiments.kearns_figure_3 import (
    LOO,
    LOO_LARGEST,
    ORACLE,
    RULES,
    S,
    gain,
    kearns_figure_3,
)


def test_choices_are_the_least_of_their_curves():
    """The oracle's is the true risk, and ties go to the smallest k, or to the largest."""
    draw = kearns_figure_3.replicate(0, 0)
    drawn = kearns_trial(0.2, 100, 0, 0)
    loo, k = drawn.leave_one_out, draw["k"][1, 1]
    assert k[ORACLE] == drawn.true.argmin() + 1
    assert k[LOO] == loo.argmin() + 1
    assert k[LOO_LARGEST] == len(loo) - loo[::-1].argmin()
    assert k[S] == drawn.criterion().argmin() + 1
    np.testing.assert_allclose(draw["true"][1, 1], drawn.true[k.astype(int) - 1])
    assert draw["estimate"][1, 1, LOO] == pytest.approx(loo.min())
    assert (draw["true"] >= draw["true"][..., [ORACLE]]).all()


def test_a_gain_is_a_ratio_of_means():
    """S halfway between leave-one-out and the oracle gains 50 %, without doubt if always so."""
    true = np.full((4, len(RULES)), 0.3)
    true[:, ORACLE], true[:, S] = 0.1, 0.2
    assert gain(true, LOO) == (pytest.approx(50), pytest.approx(0, abs=1e-9))


def test_what_is_not_confirmed_is_said(findings_of):
    """At n = 20: gains below 20 %, and S optimistic at noise .1; every size is judged."""
    claims = {claim.text: claim for claim in findings_of("kearns-figure-3").claims}
    gains = [claim for text, claim in claims.items() if "between 20 % and 80 %" in text]
    assert [len(claim.quantities) for claim in gains] == [9, 9]
    assert all(gain.quantities[0].value < 0 for gain in gains)
    assert {gain.verdict for gain in gains} <= {"undecided", "does not hold"}
    pessimistic = claims["S is pessimistic up to noise .1"]
    places = [q.name.split(", ", 2)[-1] for q in pessimistic.quantities]
    assert places == [f"n = {n}, noise 0.1" for n in (20, 100, 500)]
    assert pessimistic.verdict != "holds"
    assert pessimistic.quantities[0].value < 0 < pessimistic.quantities[1].value
    assert len(claims["S estimates the true risk of its choice better than LOO"].quantities) == 12


def test_who_outperforms_whom_is_judged():
    """S halfway to the oracle outperforms, and its gain is not tiny; a tenth worse it does not."""
    true = np.full((20, 3, 4, len(RULES)), 0.3) + 1e-6 * np.arange(20)[:, None, None, None]
    true[..., ORACLE] -= 0.2
    for away, verdicts in ((-0.1, ["holds", "does not hold"]), (0.1, ["does not hold"] * 2)):
        true[..., S] = true[..., LOO] + away
        draws = {"k": np.ones_like(true), "true": true, "estimate": true}
        found = {claim.text: claim.verdict for claim in kearns_figure_3.findings(draws).claims}
        said = [v for text, v in found.items() if "outperforms" in text or "tiny" in text]
        assert said == verdicts * 2


def test_the_documents_panels_and_a_paired_one(findings_of):
    """Along n."""
    (figure,) = findings_of("kearns-figure-3").figures
    assert [len(panel.series) for panel in figure.panels] == [3, 5, 1, 2, 2]
    assert all(s.x.tolist() == [20, 100, 500] for panel in figure.panels for s in panel.series)
