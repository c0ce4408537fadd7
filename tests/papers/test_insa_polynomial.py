"""R² of the lecture, and Cp at degree 3."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr
from truerisk.papers import reproduce
from truerisk.papers.experiment import stream
from truerisk.papers.insa_polynomial import insa_polynomial
from truerisk.papers.lecture import NOISE, POINTS, curve


@pytest.fixture(scope="module")
def report():
    return reproduce("insa-polynomial", replicates=24, seed=0)


def test_r2_is_that_of_the_lecture(report) -> None:
    """.03, .73, .874 and 1 within 2.5 standard deviations of one data set."""
    for row in report.findings.tables[0].rows:
        assert abs(row.difference) < 2.5, row


def test_the_mean_of_cp_is_least_at_three(report) -> None:
    """And the training error takes the largest degree; that is worse."""
    shares = {row.name: row.ours for row in report.findings.tables[1].rows}
    assert shares["R²"] == 0 < shares["Cp"]
    assert report.findings.claims[0].verdict == "holds"
    of_cp = [q for q in report.findings.claims[1].quantities if q.name.startswith("Cp")]
    assert len(of_cp) == 5
    assert all(q.value > 0 for q in of_cp)
    assert report.findings.claims[2].verdict != "does not hold"


def test_criteria_are_those_of_a_user() -> None:
    """Cp of replicate 5 is what `risk_curve` says of its rows."""
    draws = insa_polynomial.replicate(0, 5)
    x = np.linspace(-1, 1, POINTS)
    noise = stream("insa polynomial", 0, 5).standard_normal(POINTS)
    y = curve(x) + np.sqrt(NOISE) * noise
    X = np.vander(x, 7, increasing=True)[:, 1:]
    from sklearn.linear_model import LinearRegression

    fits = [
        tr.estimate_risk(LinearRegression(), X[:, :d], y, method="apparent").value
        for d in range(1, 7)
    ]
    variance = fits[-1] * POINTS / (POINTS - 7)
    expected = np.array(fits) + 2 * np.arange(2, 8) * variance / POINTS
    assert draws["Cp"] == pytest.approx(expected)
    assert draws["R2"][:6] == pytest.approx(1 - np.array(fits) / y.var())


def test_fitted_polynomials_pass_nearer_and_nearer(report) -> None:
    """A panel per degree that the lecture shows; the last passes through all points."""
    fitted, _ = report.findings.figures
    assert [panel.title[:10] for panel in fitted.panels] == [
        "degree 1: ", "degree 2: ", "degree 5: ", "degree 10:",
    ]  # fmt: skip
    points, line, _ = fitted.panels[-1].series
    assert np.interp(points.x, line.x, line.y) == pytest.approx(points.y, abs=1e-6)
    r2 = insa_polynomial.replicate(0, 0)["R2"]
    assert fitted.panels[2].title == f"degree 5: R² = {r2[4]:.3f}"


def test_two_panels(report) -> None:
    """R² on the left; Cp beside the risk on the right."""
    _, figure = report.findings.figures
    assert [len(panel.series) for panel in figure.panels] == [1, 3]
