"""Excess risk is estimation plus approximation error; the best polynomial is the projection."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.papers import reproduce
from truerisk.papers.insa_decomposition import (
    BAYES,
    DEGREES,
    NOISE,
    SIZES,
    approximation_errors,
    truth,
)


@pytest.fixture(scope="module")
def report():
    return reproduce("insa-decomposition", replicates=40, seed=0)


def test_what_the_document_says_holds(report) -> None:
    """An identity, two slopes, a minimum between, and what more rows do."""
    verdicts = [claim.verdict for claim in report.findings.claims]
    assert verdicts[:2] == ["holds", "holds"]
    assert set(verdicts[2:]) <= {"holds", "undecided"}
    assert all(q.value > 0 for claim in report.findings.claims[2:] for q in claim.quantities)


def test_the_approximation_error_is_that_of_least_squares_on_very_many_points() -> None:
    """The mean squared distance of the best fit on 20,001 equidistant points."""
    x = np.linspace(-1, 1, 20_001)
    for degree, found in zip(DEGREES, approximation_errors(), strict=True):
        fit = np.polynomial.Legendre.fit(x, truth(x), degree)
        assert found == pytest.approx(((fit(x) - truth(x)) ** 2).mean(), abs=2e-4)


def test_the_estimation_error_is_near_its_law(report) -> None:
    """σ² p/n for many rows and small degrees, whose approximation error hardly disturbs."""
    (figure,) = report.findings.figures
    assert BAYES == NOISE**2
    line = next(one for one in figure.panels[1].series if one.label == "degree 5")
    excess = line.y[-1] - approximation_errors()[4]
    assert excess == pytest.approx(BAYES * 6 / SIZES[-1], rel=0.25)
