"""Training error falls, test error turns; excess risk is estimation plus approximation error."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.losses import Absolute, Squared
from truerisk.papers.insa_optimism import (
    APPROXIMATION,
    BAYES,
    FEWER,
    NOISE,
    SIZES,
    STEP,
    _best,
    truth,
)


def test_the_l1_loss_wants_the_median_and_the_l2_loss_the_mean():
    """Log 2 and 1 of an exponential distribution."""
    assert _best(Absolute()) == pytest.approx(np.log(2), abs=STEP)
    assert _best(Squared()) == pytest.approx(1, abs=STEP)


def test_what_the_document_draws_holds(findings_of):
    """Down; down and, in so few training sets, up by two standard errors; below."""
    verdicts = [claim.verdict for claim in findings_of("insa-optimism").claims]
    assert verdicts == ["holds", "holds", "undecided", "undecided"]
    assert all(gap.value > 0 for gap in findings_of("insa-optimism").claims[3].quantities)
    (rise,) = findings_of("insa-optimism").claims[2].quantities
    assert rise.value > 2 * rise.std_error


def test_a_curve_that_runs_away_does_not_flatten_the_others(findings_of):
    """The means fill most of the height, and the key says how many curves leave the picture."""
    ((panel,),) = (figure.panels for figure in findings_of("insa-optimism").figures)
    (low, high), single = panel.limits, [one for one in panel.series if one.width < 1]
    means = np.concatenate([one.y for one in panel.series if one.width > 1])
    assert low == 0
    assert all(one.y.max() <= high for one in single if one.style[:2] == "C0")
    assert means.max() < high < 2 * means.max()
    leaving = [one.y.max() for one in single if one.y.max() > high and one.style[:2] == "C1"]
    (said,) = [one.label for one in single if one.label.startswith("test")]
    assert f"({len(leaving)} of 30 leave, up to {max(leaving):.1f})" in said


def test_what_the_document_says_holds(findings_of):
    """An optimum, an identity, two slopes, a minimum between, and what more rows do."""
    verdicts = [claim.verdict for claim in findings_of("insa-decomposition").claims]
    assert verdicts[:3] == ["holds"] * 3
    assert set(verdicts[3:]) <= {"holds", "undecided"}
    assert all(
        q.value > 0
        for claim in findings_of("insa-decomposition").claims[3:]
        for q in claim.quantities
    )


def test_the_approximation_error_is_that_of_least_squares_on_very_many_points() -> None:
    """The mean squared distance of the best fit on 20,001 equidistant points."""
    x = np.linspace(-1, 1, 20_001)
    for degree, found in zip(FEWER, APPROXIMATION, strict=True):
        fit = np.polynomial.Legendre.fit(x, truth(x), degree)
        assert found == pytest.approx(((fit(x) - truth(x)) ** 2).mean(), abs=2e-4)


def test_the_estimation_error_is_near_its_law(findings_of):
    """σ² p/n for many rows and small degrees, whose approximation error hardly disturbs."""
    (figure,) = findings_of("insa-decomposition").figures
    assert BAYES == NOISE**2
    line = next(one for one in figure.panels[1].series if one.label == "degree 5")
    excess = line.y[-1] - APPROXIMATION[4]
    assert excess == pytest.approx(BAYES * 6 / SIZES[-1], rel=0.25)
